//! The general rules: they write towards a grammar and never ask for a dialect's name.
//!
//! Two walks do the work: one on the way down, which makes a schema of whatever stands there and gives every idea one
//! spelling, and one on the way up, which says each schema so that the grammar accepts it. References are settled between
//! them, the root and the limits after them.

mod alone;
mod booleans;
mod combinators;
mod conflicts;
mod containers;
mod describe;
mod endless;
mod enums;
mod fit;
mod flatten;
mod json_text;
mod kept;
mod kinds;
mod lists;
mod malformed;
pub(in crate::sanitize) mod names;
mod nesting;
mod notes;
mod nullable;
mod refs;
mod refused;
mod required;
mod respell;
mod says;
mod stray;
mod switch;
#[cfg(test)]
mod tests;
mod types;
mod unions;
mod unroll;
mod unused;
mod unwind;

use alloc::{format, string::String};

use crate::{
    dialect::{
        grammar::{Anything, Grammar, Typed},
        Dialect,
    },
    error::{Code, Error},
    json::Node,
    limits::MAX_NODES,
    options::{Hints, Refs, SanitizeOptions, Untyped},
    report::Recorder,
    schema::{
        draft::Draft,
        keyword::Keywords,
        resolve,
        walk::{self, Next, Place, Rewrite},
    },
    sorted::Map,
};
use notes::Notes;
use switch::runs;

/// What the rules work with: the grammar, the caller's wishes, and the notes.
struct Rules {
    grammar: &'static Grammar,
    draft: Draft,
    refs: Refs,
    untyped: Untyped,
    hints: Hints,
    max_nodes: usize,
    /// Something was respelled that older drafts say otherwise.
    respelled: bool,
    /// Nothing refers to any definition, so they all go.
    no_references: bool,
    /// Definitions stay that could be inlined, because that was asked for or would be too much.
    keeps_definitions: bool,
    /// References stay as they are written, and definitions where they stand.
    leaves_definitions: bool,
    /// A schema without a type gets one.
    types_everything: bool,
    /// The types of the definitions that stay, where they have one.
    definition_types: Map<String, String>,
    /// How many schemas stand above the deepest one.
    deepest: usize,
    notes: Notes,
}

/// Rewrites a schema into a grammar.
pub(super) fn sanitize(
    node: &mut Node<'_>,
    dialect: &'static Dialect,
    grammar: &'static Grammar,
    options: &SanitizeOptions,
    recorder: &mut Recorder,
) -> Result<(), Error> {
    flatten::refuse_no_object(node, grammar)?;
    refuse_options(grammar, options)?;
    let mut rules = Rules {
        grammar,
        draft: Draft::of(node),
        refs: options.refs.unwrap_or(if grammar.refs.kept_by_default { Refs::Keep } else { Refs::Inline }),
        untyped: options.untyped.unwrap_or(if grammar.anything == Anything::Unsaid { Untyped::Keep } else { Untyped::Any }),
        hints: options.hints.unwrap_or(Hints::Describe),
        max_nodes: options.max_nodes.unwrap_or(MAX_NODES),
        respelled: false,
        definition_types: Map::new(),
        deepest: 0,
        keeps_definitions: false,
        leaves_definitions: false,
        types_everything: grammar.typed != Typed::No || grammar.anything != Anything::Unsaid || options.untyped.is_some(),
        no_references: !resolve::has_references(node),
        notes: Notes::new(node, recorder),
    };
    let references = (!rules.no_references).then(|| resolve::resolve(node, rules.draft));
    walk::rewrite(node, Keywords::ALL, &mut Down { rules: &mut rules })?;
    respell::declare_draft(node, &mut rules);
    if let Some(references) = references.as_ref().filter(|_| runs("refs")) {
        rules.leaves_definitions = kept::as_written(node, references, &rules);
        if !rules.leaves_definitions {
            refs::settle(node, references, &mut rules)?;
        }
    }
    if runs("unroll") {
        unroll::unroll(node, &mut rules)?;
    }
    combinators::join(node, &mut rules)?;
    if runs("alone") {
        alone::join(node, &mut rules)?;
    }
    walk::rewrite(node, Keywords::ALL, &mut says::Up::new(&mut rules))?;
    if runs("root") {
        flatten::root(node, &mut rules)?;
    }
    if runs("endless") {
        endless::cut(node, &mut rules)?;
    }
    if !rules.leaves_definitions {
        unwind::unwind(node, &mut rules)?;
    }
    // What is cut may be what made a definition recursive; inlining it then may need room again.
    loop {
        if runs("fit") {
            fit::fit(node, dialect, options, &mut rules)?;
        }
        if rules.leaves_definitions || !unwind::unwind(node, &mut rules)? {
            break;
        }
    }
    rules.notes.finish(node, |rule| dialect.because(rule), recorder);
    Ok(())
}

/// Wishes that the grammar cannot grant.
fn refuse_options(grammar: &Grammar, options: &SanitizeOptions) -> Result<(), Error> {
    let refused = |name: &str, why: &str| {
        let dialect = &options.dialect;
        Err(Error::new(
            Code::InvalidOption,
            format!("/{name}"),
            format!("expected another `{name}`, because `{dialect}` {why}, found \"keep\""),
        ))
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
    rules: &'r mut Rules,
}

impl<'a> Rewrite<'a> for Down<'_> {
    fn enter(&mut self, node: &mut Node<'a>, place: &Place<'_, 'a>) -> Result<Next, Error> {
        if runs("malformed") {
            malformed::repair(node, place, self.rules);
        }
        if self.rules.no_references && runs("tables") {
            unused::drop_tables(node, place.position, self.rules);
        }
        if runs("respell") {
            respell::respell(node, place, self.rules);
        }
        Ok(Next::Into)
    }
}
