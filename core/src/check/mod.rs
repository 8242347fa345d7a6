//! `check`: what a dialect would reject. Written from the tables and the provider's rules; shares no code with
//! `sanitize`.

mod codex;
mod grammar;
mod violations;

use alloc::{string::String, vec::Vec};

use crate::{
    budget::Budget,
    dialect::{self, grammar::Grammar, Dialect, Method},
    error::Error,
    json::Node,
    options::SanitizeOptions,
    report::Severity,
    rules::Constraint,
    schema::references::Form,
};

/// One thing that a dialect does not take as it is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The kebab-case name of the API's constraint.
    pub constraint: &'static str,
    /// What the API does with it.
    pub severity: Severity,
    /// JSON Pointer to what is at fault.
    pub pointer: String,
    /// For people: what was expected, then what was found.
    pub message: String,
}

/// Every violation, in document order.
///
/// # Errors
/// `unknown-dialect`, `invalid-option`, `too-deep`.
pub fn check(node: &Node<'_>, options: &SanitizeOptions) -> Result<Vec<Violation>, Error> {
    look(node, Form::Read, options, Extent::All, &options.budget(node))
}

fn look(
    node: &Node<'_>,
    form: Form,
    options: &SanitizeOptions,
    extent: Extent,
    budget: &Budget,
) -> Result<Vec<Violation>, Error> {
    let dialect = dialect::of(options)?;
    let found = match dialect.method {
        Method::Codex { .. } => codex::check(node, budget)?,
        Method::Rules(grammar) => by_grammar(node, form, (grammar, dialect), options, extent, budget)?,
    };
    // What some part did not look at, because nothing was left to pay with, might be wrong.
    budget.check(String::new)?;
    Ok(found)
}

/// What a grammar refuses, unless one of its alternatives takes the whole.
fn by_grammar(
    node: &Node<'_>,
    form: Form,
    (grammar, dialect): (&Grammar, &Dialect),
    options: &SanitizeOptions,
    extent: Extent,
    budget: &Budget,
) -> Result<Vec<Violation>, Error> {
    let by = |grammar, extent| grammar::check(node, form, (grammar, dialect), options, extent, budget);
    let found = by(grammar, extent)?;
    if found.is_empty() || options.alone || grammar.alternatives.is_empty() {
        return Ok(found);
    }
    // What is only taken otherwise goes no further than the first.
    let all = if extent == Extent::All { found } else { by(grammar, Extent::All)? };
    if all.iter().any(|violation| violation.severity == Severity::Refused) {
        for alternative in grammar.alternatives {
            if by(alternative, Extent::First)?.is_empty() {
                return Ok(Vec::new());
            }
        }
    }
    Ok(all)
}

/// Which compilers take a schema: the dialect's own, and each of its alternatives.
pub(crate) fn backends(node: &Node<'_>, dialect: &Dialect, budget: &Budget) -> Result<Vec<bool>, Error> {
    let Method::Rules(grammar) = dialect.method else { return Ok(Vec::from([true])) };
    let options = SanitizeOptions::new(dialect.name);
    let by = |grammar, extent| grammar::check(node, Form::Read, (grammar, dialect), &options, extent, budget);
    let own = by(grammar, Extent::All)?.iter().all(|violation| violation.severity != Severity::Refused);
    let mut takes = Vec::from([own]);
    for alternative in grammar.alternatives {
        takes.push(by(alternative, Extent::First)?.is_empty());
    }
    budget.check(String::new)?;
    Ok(takes)
}

/// Whether there is nothing that `sanitize` would mend, without looking further than the first, and without a word
/// about it.
pub(crate) fn accepts(node: &Node<'_>, form: Form, options: &SanitizeOptions, budget: &Budget) -> Result<bool, Error> {
    Ok(look(node, form, options, Extent::First, budget)?.is_empty())
}

/// The first violation in document order of a schema that passes have written. Where there is none, which is nearly
/// always, that costs no more than [`accepts`].
pub(crate) fn first(
    written: &Node<'_>,
    options: &SanitizeOptions,
    budget: &Budget,
) -> Result<Option<Violation>, Error> {
    if accepts(written, Form::Written, options, budget)? {
        return Ok(None);
    }
    // Document order is that of the numbers that its nodes would have if they were read again.
    let mut again = written.copy(budget);
    again.number_in_order();
    let mut found = look(&again, Form::Written, options, Extent::All, budget)?.into_iter();
    Ok(found.find(|violation| violation.constraint != Constraint::IgnoredKeyword.id()))
}

/// How much of what is wrong is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Everything.
    All,
    /// Something, whatever comes first to hand.
    First,
}
