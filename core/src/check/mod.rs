//! `check`: reports what a dialect would refuse, reinterpret or ignore. It is a separate implementation of the tables
//! and of the provider's rules, and shares no code with `sanitize`.
//!
//! Violations are sorted into document order at the end, because rules traverse a document in different orders.

mod codex;
pub(crate) mod findings;
mod grammar;

use alloc::{string::String, vec::Vec};

use findings::{FindingLimit, Findings};

use crate::{
    budget::Budget,
    dialect::{self, grammar::Grammar, Dialect, Method},
    error::Error,
    json::Node,
    options::SanitizeOptions,
    report::Severity,
    rules::Constraint,
    schema::{protocol, references::Form},
};

/// A part of a schema that violates a constraint of a dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The constraint of the API.
    pub constraint: Constraint,
    /// Reaction of the API.
    pub severity: Severity,
    /// JSON Pointer to the faulty value.
    pub pointer: String,
    /// Message for people: what was expected, then what was found.
    pub message: String,
    /// Number of further violations of the constraint at this location that are not listed. Only the last of 100 listed
    /// ones has such a number. A location is the last keyword of a pointer.
    pub more: usize,
}

findings::finding!(Violation);

/// Returns the violations in document order, as many as the limit allows.
///
/// # Errors
/// `invalid-option`, `too-deep`, `budget-exceeded`.
pub fn check(node: &Node<'_>, options: &SanitizeOptions, limit: FindingLimit) -> Result<Vec<Violation>, Error> {
    find_violations(node, Form::Read, options, Extent::All(limit), &options.budget(node))
}

fn find_violations(
    node: &Node<'_>,
    form: Form,
    options: &SanitizeOptions,
    extent: Extent,
    budget: &Budget,
) -> Result<Vec<Violation>, Error> {
    let dialect = dialect::of(options)?;
    let violations = match dialect.method {
        Method::Codex { .. } => codex::check(node, extent, budget)?,
        Method::Rules(grammar) => check_by_grammar(node, form, (grammar, dialect), options, extent, budget)?,
    };
    // After the budget is spent, parts of the schema may have been skipped.
    budget.check(String::new)?;
    Ok(violations)
}

/// Checks a schema against a grammar, and accepts the spelling of Google's protocol if the API accepts it.
fn check_by_grammar(
    node: &Node<'_>,
    form: Form,
    grammar_and_dialect: (&Grammar, &Dialect),
    options: &SanitizeOptions,
    extent: Extent,
    budget: &Budget,
) -> Result<Vec<Violation>, Error> {
    if !(grammar_and_dialect.0.protocol_types && protocol::mentions_protocol_keywords(node)) {
        return check_respelled(node, form, grammar_and_dialect, options, extent, budget);
    }
    let mut respelled = node.copy(budget);
    protocol::respell(&mut respelled, budget, &mut |_, _, _| {})?;
    let mut violations = check_respelled(&respelled, form, grammar_and_dialect, options, extent, budget)?;
    let mut pointers = protocol::Pointers::into_schema(node, budget);
    for violation in &mut violations {
        violation.pointer = pointers.of(&violation.pointer);
    }
    budget.check(String::new)?;
    Ok(violations)
}

/// Checks a respelled schema. Returns no violations if an alternative of the grammar accepts the whole schema.
fn check_respelled(
    node: &Node<'_>,
    form: Form,
    (grammar, dialect): (&Grammar, &Dialect),
    options: &SanitizeOptions,
    extent: Extent,
    budget: &Budget,
) -> Result<Vec<Violation>, Error> {
    let check_by = |grammar, extent| grammar::check(node, form, (grammar, dialect), options, extent, budget);
    let violations = check_by(grammar, extent)?;
    if violations.is_empty() || options.alone || grammar.alternatives.is_empty() {
        return Ok(violations);
    }
    // The alternatives are tried if any violation is a refusal. The first violation may not be a refusal, so all
    // violations are needed.
    let all_violations = match extent {
        Extent::All(_) => violations,
        Extent::First => check_by(grammar, Extent::All(FindingLimit::LISTED))?,
    };
    if all_violations.iter().any(|violation| violation.severity == Severity::Refused) {
        for alternative in grammar.alternatives {
            if check_by(alternative, Extent::First)?.is_empty() {
                return Ok(Vec::new());
            }
        }
    }
    Ok(all_violations)
}

/// Returns true for each compiler that accepts a schema: the dialect's own compiler, then each of its alternatives.
pub(crate) fn backends(node: &Node<'_>, dialect: &Dialect, budget: &Budget) -> Result<Vec<bool>, Error> {
    let Method::Rules(grammar) = dialect.method else { return Ok(Vec::from([true])) };
    let options = SanitizeOptions::new(dialect.id());
    let check_by = |grammar, extent| grammar::check(node, Form::Read, (grammar, dialect), &options, extent, budget);
    let is_accepted = check_by(grammar, Extent::All(FindingLimit::LISTED))?
        .iter()
        .all(|violation| violation.severity != Severity::Refused);
    let mut are_accepted = Vec::from([is_accepted]);
    for alternative in grammar.alternatives {
        are_accepted.push(check_by(alternative, Extent::First)?.is_empty());
    }
    budget.check(String::new)?;
    Ok(are_accepted)
}

/// Returns true if `sanitize` has nothing to change. The search stops at the first violation.
pub(crate) fn accepts(node: &Node<'_>, form: Form, options: &SanitizeOptions, budget: &Budget) -> Result<bool, Error> {
    Ok(find_violations(node, form, options, Extent::First, budget)?.is_empty())
}

/// Returns the first violation, in document order, of a schema that passes have written. Nearly all such schemas are
/// accepted, so this function rarely costs more than [`accepts`].
pub(crate) fn first(
    written: &Node<'_>,
    options: &SanitizeOptions,
    budget: &Budget,
) -> Result<Option<Violation>, Error> {
    if accepts(written, Form::Written, options, budget)? {
        return Ok(None);
    }
    // Violations are sorted by node number, so the nodes are numbered as if the schema were read again.
    let mut renumbered = written.copy(budget);
    renumbered.number_in_order();
    let mut violations =
        find_violations(&renumbered, Form::Written, options, Extent::All(FindingLimit::LISTED), budget)?.into_iter();
    Ok(violations.find(|violation| violation.constraint != Constraint::IgnoredKeyword))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// As many as the limit allows.
    All(FindingLimit),
    /// Any violation, not necessarily the first in document order.
    First,
}

pub(crate) struct Found(Findings<Violation>);

impl Found {
    fn new(extent: Extent) -> Self {
        Found(Findings::new(match extent {
            Extent::All(limit) => limit,
            Extent::First => FindingLimit::LISTED,
        }))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn add(
        &mut self,
        value: &Node<'_>,
        (constraint, severity): (Constraint, Severity),
        (pointer, message): (String, String),
        budget: &Budget,
    ) {
        // If the budget is spent, the call ends with an error.
        if budget.pay(1 + pointer.len() / POINTER_BYTES_PER_STEP) {
            let violation = Violation { constraint, severity, pointer, message, more: 0 };
            self.0.add(value.origin().number().unwrap_or_default(), violation);
        }
    }

    pub(crate) fn finish(self) -> Vec<Violation> {
        self.0.finish()
    }
}

/// Number of bytes of a pointer that are written for one step of the budget.
const POINTER_BYTES_PER_STEP: usize = 128;
