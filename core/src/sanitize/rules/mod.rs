//! The general rules: they write towards a grammar and never ask for a dialect's name.
//!
//! Two walks do the work: one on the way down, which makes a schema of whatever stands there and gives every idea one
//! spelling, and one on the way up, which says each schema so that the grammar accepts it. References are settled between
//! them, the root and the limits after them.

mod alone;
mod booleans;
mod break_cycles;
mod combinators;
mod conflicts;
mod containers;
mod context;
mod definitions;
mod describe;
mod doubt;
mod dynamic_refs;
pub(super) mod encode;
mod endless;
mod enums;
mod fit;
mod flatten;
pub(in crate::sanitize) mod json_text;
mod kept;
mod kinds;
mod lists;
mod malformed;
pub(in crate::sanitize) mod names;
mod nesting;
mod notes;
mod nullable;
mod one_object;
mod patterned;
mod reference_cutter;
mod refs;
mod refused;
mod required;
mod respell;
mod rounds;
mod says;
mod slashes;
mod stray;
mod switch;
#[cfg(test)]
mod tests;
mod types;
mod unions;
mod unroll;
mod unused;

use alloc::{format, rc::Rc, string::String};

use crate::{
    budget::Budget,
    dialect::{
        grammar::{Grammar, Typed},
        Dialect,
    },
    error::{Code, Error},
    json::Node,
    options::{Refs, SanitizeOptions, Untyped},
    report::Recorder,
    schema::{
        draft::Draft,
        keyword::{Keyword, Keywords},
        resolve,
        walk::{self, Next, Place, Rewrite},
    },
    sorted::Set,
};
use context::PassContext;
use notes::Notes;
use switch::runs;

/// How often the rules run; the second time finds nothing to do in most schemas that were changed.
const MOST_ROUNDS: usize = 8;

/// From this round on definitions no longer grow: a union that is a branch of itself, with more beside it, may never be done.
const LAST_GROWTH: usize = 5;

/// Rewrites a schema into a grammar.
///
/// They run until they find nothing more to do, so that a second call finds nothing either: what was cut may have been what made
/// a definition recursive or too deep, joining brings keywords that hint at a type, and what a union leaves beside a reference
/// that stays is said in a definition of its own. Where `finish` says so they end at once; then it gives true.
pub(super) fn sanitize(
    node: &mut Node<'_>,
    dialect: &'static Dialect,
    grammar: &'static Grammar,
    options: &SanitizeOptions,
    finish: Finish<'_>,
    recorder: &mut Recorder,
    budget: &Rc<Budget>,
) -> Result<bool, Error> {
    flatten::refuse_no_object(node, grammar, budget)?;
    refuse_options(grammar, options)?;
    let mut notes = Notes::new(node, recorder, budget)?;
    let draft = Draft::of(node);
    notes = round(node, dialect, options, PassContext::new(node, grammar, options, draft, notes, budget)?)?;
    let mut is_settled = node.is_intact();
    let mut ends = !is_settled && finish.is_done(node);
    for count in 1..MOST_ROUNDS {
        if is_settled || ends {
            break;
        }
        let before = rounds::renumber(node);
        notes.read_as(&before);
        // What is read now was written here, in the words of today.
        let mut rules = PassContext::new(node, grammar, options, Draft::Y2020, notes, budget)?;
        rules.may_grow = count < LAST_GROWTH;
        notes = round(node, dialect, options, rules)?;
        is_settled = node.is_intact();
        rounds::restore(node, &before);
        ends = !is_settled && finish.is_done(node);
    }
    // What reads a model's answer wants the schema as it is before this.
    if finish.is_written() && grammar.encodes() {
        let before = rounds::renumber(node);
        notes.read_as(&before);
        let mut rules = PassContext::new(node, grammar, options, Draft::Y2020, notes, budget)?;
        encode::write(node, &mut rules)?;
        notes = rules.notes;
        rounds::restore(node, &before);
        // What was written as text refers to nothing any more, so what was recursive may not be.
        if options.refs == Some(Refs::Inline) && resolve::mentions_references(node) {
            let before = rounds::renumber(node);
            notes.read_as(&before);
            let mut rules = PassContext::new(node, grammar, options, Draft::Y2020, notes, budget)?;
            let references = resolve::resolve(node, Draft::Y2020, budget)?;
            refs::settle(node, &references, Set::new(), &mut rules)?;
            notes = rules.notes;
            rounds::restore(node, &before);
        }
    }
    notes.finish(node, |rule| dialect.because(rule), recorder);
    Ok(ends)
}

/// Runs every rule once; gives the notes back.
fn round<'a>(node: &mut Node<'a>, dialect: &'static Dialect, options: &SanitizeOptions, mut rules: PassContext) -> Result<Notes, Error> {
    let references = if rules.no_references { None } else { Some(resolve::resolve(node, rules.draft, &rules.budget)?) };
    let budget = rules.budget.clone();
    walk::rewrite(&budget, node, Keywords::ALL, &mut Down { rules: &mut rules })?;
    rules.stood = rules.present;
    rules.counts_evaluated = rules.present;
    rules.judges_names =
        rules.lists_objects || names::JUDGES.iter().any(|keyword| rules.present.has(*keyword) && !rules.grammar.refuses.has(*keyword));
    if let Some(references) = references.as_ref().filter(|_| runs("refs")) {
        if runs("cycles") {
            break_cycles::cut(node, references, &mut rules)?;
        }
        rules.leaves_definitions = kept::as_written(node, references, &rules)?;
        if !rules.leaves_definitions {
            let dynamic = dynamic_refs::respell(node, references, &mut rules)?;
            refs::settle(node, references, dynamic, &mut rules)?;
        }
        // What is put in place of a reference brings what it has.
        rules.present = Keywords::ALL;
        rules.no_slash = rules.grammar.refs.no_slash_in_definitions && slashes::stand_in_definitions(node);
    }
    respell::declare_draft(node, &mut rules)?;
    if runs("unroll") {
        unroll::unroll(node, &mut rules)?;
    }
    combinators::join(node, &mut rules)?;
    if runs("alone") {
        alone::join(node, &mut rules)?;
    }
    walk::rewrite(&budget, node, Keywords::ALL, &mut says::Up::new(&mut rules))?;
    if runs("root") {
        flatten::root(node, &mut rules)?;
    }
    // What was joined may stand beside references now.
    respell::declare_draft(node, &mut rules)?;
    if runs("endless") {
        endless::cut(node, &mut rules)?;
    }
    if !rules.leaves_definitions {
        unused::prune(node, &budget)?;
    }
    if runs("fit") {
        fit::fit(node, dialect, options, &mut rules)?;
    }
    if rules.grammar.encodes() {
        encode::plain(node, dialect, &mut rules)?;
    }
    if !rules.leaves_definitions {
        unused::prune(node, &budget)?;
    }
    budget.check(String::new)?;
    Ok(rules.notes)
}

pub(super) use flatten::refuse_no_object;
pub(super) use types::has_untyped;

/// How far a schema is rewritten.
#[derive(Clone, Copy)]
pub(super) enum Finish<'f> {
    /// Until nothing is left but to encode what the surface cannot say.
    Plain,
    /// To the end, which is reached early where this says so.
    Written(&'f dyn Fn(&Node<'_>) -> bool),
}

impl Finish<'_> {
    fn is_done(&self, node: &Node<'_>) -> bool {
        match self {
            Finish::Plain => false,
            Finish::Written(is_done) => is_done(node),
        }
    }

    const fn is_written(&self) -> bool {
        matches!(self, Finish::Written(_))
    }
}

/// Wishes that the grammar cannot grant.
pub(super) fn refuse_options(grammar: &Grammar, options: &SanitizeOptions) -> Result<(), Error> {
    let refused = |name: &str, why: &str| {
        let dialect = &options.dialect;
        let message = format!("expected another `{name}`, because `{dialect}` {why}, found \"keep\"");
        Err(Error::new(Code::InvalidOption, format!("/{name}"), message))
    };
    if options.untyped == Some(Untyped::Keep) && grammar.typed != Typed::No {
        return refused("untyped", "refuses schemas without a type");
    }
    if options.refs == Some(Refs::Keep) && !(grammar.refs.anywhere || grammar.refs.to_defs) {
        return refused("refs", "has no references");
    }
    Ok(())
}

/// The walk down: each schema is repaired and respelled before anything looks inside it.
struct Down<'r> {
    rules: &'r mut PassContext,
}

impl<'a> Rewrite<'a> for Down<'_> {
    fn enter(&mut self, node: &mut Node<'a>, place: &Place<'_, 'a>) -> Result<Next, Error> {
        if runs("malformed") {
            malformed::repair(node, place, self.rules);
        }
        let Some(present) = node.as_object().map(Keywords::in_object) else { return Ok(Next::Into) };
        if self.rules.no_references && present.meet(unused::CONCERNS) && runs("tables") {
            unused::drop_tables(node, place.position, self.rules);
        }
        let is_tuple = || node.get("items").is_some_and(|items| items.as_array().is_some());
        let respells = present.meet(respell::CONCERNS.with(Keyword::PatternProperties)) || (present.has(Keyword::Items) && is_tuple());
        if respells && runs("respell") {
            respell::respell(node, place, self.rules);
            patterned::say(node, place, self.rules);
        }
        let present = if respells { node.as_object().map_or(present, Keywords::in_object) } else { present };
        self.rules.present = self.rules.present.and(present);
        self.rules.lists_objects |= names::lists_objects(node, present);
        Ok(Next::Into)
    }
}
