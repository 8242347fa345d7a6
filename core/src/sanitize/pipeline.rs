//! The general rules: they write towards a grammar and never ask for a dialect's name.
//!
//! Two walks do the work: one on the way down, which makes a schema of whatever stands there and gives every idea one
//! spelling, and one on the way up, which says each schema so that the grammar accepts it. References are settled between
//! them, the root and the limits after them.

#[cfg(test)]
mod tests;

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
    sanitize::{
        canonicalize::upgrade_draft,
        canonicalize::Canonicalize,
        context::PassContext,
        diagnostics::Notes,
        encode, fit,
        legalize::{self, all_of, any_of_alone, root},
        legalize::{property_names, slash_keys},
        resolve::{as_written, break_cycles, dynamic, inline, prune, unending, unroll},
        rounds,
        switch::runs,
    },
    schema::{draft::Draft, keyword::Keywords, references, walk},
    sorted::Set,
};

/// How often the rules run; the second time finds nothing to do in most schemas that were changed.
const MOST_ROUNDS: usize = 8;

/// From this round on definitions no longer grow: a union that is a branch of itself, with more beside it, may never be done.
const LAST_GROWTH: usize = 5;

/// Rewrites a schema into a grammar.
///
/// They run until they find nothing more to do, so that a second call finds nothing either: what was cut may have been what made
/// a definition recursive or too deep, joining brings keywords that hint at a type, and what a union leaves beside a reference
/// that stays is said in a definition of its own. Where `finish` says so they end at once; then it gives true.
pub(in crate::sanitize) fn sanitize(
    node: &mut Node<'_>,
    dialect: &'static Dialect,
    grammar: &'static Grammar,
    options: &SanitizeOptions,
    finish: Finish<'_>,
    recorder: &mut Recorder,
    budget: &Rc<Budget>,
) -> Result<bool, Error> {
    root::refuse_no_object(node, grammar, budget)?;
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
        if options.refs == Some(Refs::Inline) && references::mentions_references(node) {
            let before = rounds::renumber(node);
            notes.read_as(&before);
            let mut rules = PassContext::new(node, grammar, options, Draft::Y2020, notes, budget)?;
            let references = references::resolve(node, Draft::Y2020, budget)?;
            inline::settle(node, &references, Set::new(), &mut rules)?;
            notes = rules.notes;
            rounds::restore(node, &before);
        }
    }
    notes.finish(node, |rule| dialect.because(rule), recorder);
    Ok(ends)
}

/// Runs every rule once; gives the notes back.
fn round<'a>(node: &mut Node<'a>, dialect: &'static Dialect, options: &SanitizeOptions, mut rules: PassContext) -> Result<Notes, Error> {
    let references = if rules.no_references { None } else { Some(references::resolve(node, rules.draft, &rules.budget)?) };
    let budget = rules.budget.clone();
    walk::rewrite(&budget, node, Keywords::ALL, &mut Canonicalize { rules: &mut rules })?;
    rules.stood = rules.present;
    rules.counts_evaluated = rules.present;
    rules.judges_names = rules.lists_objects
        || property_names::JUDGES.iter().any(|keyword| rules.present.has(*keyword) && !rules.grammar.refuses.has(*keyword));
    if let Some(references) = references.as_ref().filter(|_| runs("refs")) {
        if runs("cycles") {
            break_cycles::cut(node, references, &mut rules)?;
        }
        rules.leaves_definitions = as_written::as_written(node, references, &rules)?;
        if !rules.leaves_definitions {
            let dynamic = dynamic::respell(node, references, &mut rules)?;
            inline::settle(node, references, dynamic, &mut rules)?;
        }
        // What is put in place of a reference brings what it has.
        rules.present = Keywords::ALL;
        rules.no_slash = rules.grammar.refs.no_slash_in_definitions && slash_keys::stand_in_definitions(node);
    }
    upgrade_draft::declare_draft(node, &mut rules)?;
    if runs("unroll") {
        unroll::unroll(node, &mut rules)?;
    }
    all_of::join(node, &mut rules)?;
    if runs("alone") {
        any_of_alone::join(node, &mut rules)?;
    }
    walk::rewrite(&budget, node, Keywords::ALL, &mut legalize::Up::new(&mut rules))?;
    if runs("root") {
        root::root(node, &mut rules)?;
    }
    // What was joined may stand beside references now.
    upgrade_draft::declare_draft(node, &mut rules)?;
    if runs("endless") {
        unending::cut(node, &mut rules)?;
    }
    if !rules.leaves_definitions {
        prune::prune(node, &budget)?;
    }
    if runs("fit") {
        fit::fit(node, dialect, options, &mut rules)?;
    }
    if rules.grammar.encodes() {
        encode::plain(node, dialect, &mut rules)?;
    }
    if !rules.leaves_definitions {
        prune::prune(node, &budget)?;
    }
    budget.check(String::new)?;
    Ok(rules.notes)
}

/// How far a schema is rewritten.
#[derive(Clone, Copy)]
pub(in crate::sanitize) enum Finish<'f> {
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
pub(in crate::sanitize) fn refuse_options(grammar: &Grammar, options: &SanitizeOptions) -> Result<(), Error> {
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
