//! Strings that hold JSON, read again: where the schema that was sent asks for text because the dialect has no other way to say it.
//!
//! Follows the schema that was sent, made again from the original. A string elsewhere stays one, and so does text that is no JSON.

use alloc::{rc::Rc, string::String};
use core::cell::Cell;

use super::{
    rules::{encode::shape::Definitions, json_text::Holds},
    stays, write,
};
use crate::{
    budget::Budget,
    dialect::{
        grammar::{Anything, Grammar},
        Dialect,
    },
    error::Error,
    json::{self, Child, Data, Node},
    options::SanitizeOptions,
    report::Recorder,
    sorted::Set,
};

/// How many steps choosing branches may take for all arguments together; after that the first branch of the right kind is taken.
const STEPS: usize = 100_000;

/// Reads the texts that hold JSON. A schema that `sanitize` refuses asks for none.
pub(super) fn read(
    arguments: &mut Node<'_>,
    schema: &Node<'_>,
    dialect: &'static Dialect,
    grammar: &'static Grammar,
    options: &SanitizeOptions,
    budget: &Rc<Budget>,
) -> Result<(), Error> {
    let asks = grammar.anything == Anything::JsonText || grammar.enums.integers_as_text;
    if !asks || !holds_text(arguments, budget) || stays(schema, grammar, options, budget)? {
        return Ok(());
    }
    let mut written = schema.copy(budget);
    if write(&mut written, dialect, grammar, options, &mut Recorder::off(), budget).is_err() {
        return budget.check(String::new);
    }
    let definitions = Definitions::of(&written, budget);
    Texts { budget, definitions: &definitions, steps: Cell::new(STEPS) }.value(arguments, &written);
    budget.check(String::new)
}

/// Is there a string somewhere that may be JSON? In most arguments there is none.
fn holds_text(node: &Node<'_>, budget: &Budget) -> bool {
    let mut open = alloc::vec![node];
    while let Some(node) = open.pop().filter(|_| budget.pay(1)) {
        match node.data() {
            Data::String(text) if begins_json(&text.display()) => return true,
            Data::Array(items) => open.extend(items),
            Data::Object(object) => open.extend(object.iter().map(|member| &member.value)),
            _ => {}
        }
    }
    false
}

fn begins_json(text: &str) -> bool {
    text.trim_start().starts_with(|first: char| matches!(first, '{' | '[' | '"' | '-' | '0'..='9' | 't' | 'f' | 'n'))
}

/// What JSON a text is, borrowing nothing.
fn held(text: &str) -> Option<Node<'static>> {
    json::read(text).ok().map(|node| node.detached())
}

/// A string that is quoted, because as it is it would be read as an object: the string that was meant.
fn unquoted(held: &Node<'_>) -> bool {
    let Some(text) = held.as_text().and_then(|text| text.value()) else { return false };
    self::held(&text).is_some_and(|inner| inner.as_object().is_some() || unquoted(&inner))
}

struct Texts<'d, 's, 'n> {
    budget: &'d Budget,
    definitions: &'d Definitions<'s, 'n>,
    steps: Cell<usize>,
}

impl<'d, 's: 'd, 'n> Texts<'d, 's, 'n> {
    fn value(&self, value: &mut Node<'_>, schema: &'d Node<'n>) {
        let Some(schema) = self.definitions.follow(schema).filter(|_| self.pay(value)) else { return };
        if let Some(text) = value.as_text().and_then(|text| text.value().map(|text| text.into_owned())) {
            if let Some(read) = self.meant(&text, schema) {
                value.replace(read.into_data());
            }
            return;
        }
        if let Some(branches) = branches(schema) {
            let fitting = |loosely: bool| branches.iter().find(|branch| self.fits(value, branch, loosely));
            if let Some(branch) = fitting(false).or_else(|| fitting(true)) {
                self.value(value, branch);
            }
            return;
        }
        // The visitor never fails.
        let _ = value.visit_children::<()>(|child, inner| {
            if let Some(below) = below(schema, &child) {
                self.value(inner, below);
            }
            Ok(())
        });
    }

    fn pay(&self, value: &Node<'_>) -> bool {
        let members = value.as_object().map_or(0, json::Object::len) + value.as_array().map_or(0, <[_]>::len);
        self.budget.pay(1 + members)
    }

    /// What a text stands for; `None`: itself.
    fn meant(&self, text: &str, schema: &'d Node<'n>) -> Option<Node<'static>> {
        let mut asked = Asked::default();
        self.gather(schema, text, &mut asked, &mut Set::new());
        if !(asked.anything || asked.object || asked.integer) {
            return None;
        }
        let held = held(text).filter(|_| self.budget.pay(text.len()))?;
        let reads = asked.anything
            || (asked.object && (held.as_object().is_some() || (asked.string && unquoted(&held))))
            || (asked.integer && !asked.string && held.as_number().is_some());
        reads.then_some(held)
    }

    /// What the branches of a schema ask of this text.
    fn gather(&self, schema: &'d Node<'n>, text: &str, asked: &mut Asked, seen: &mut Set<*const Node<'n>>) {
        let Some(schema) = self.definitions.follow(schema).filter(|_| self.budget.pay(1)) else { return };
        if !seen.insert(core::ptr::from_ref(schema)) {
            return;
        }
        for branch in branches(schema).into_iter().flatten() {
            self.gather(branch, text, asked, seen);
        }
        match Holds::by(schema) {
            Some(Holds::Anything) => asked.anything = true,
            Some(Holds::Object) => asked.object = true,
            Some(Holds::Integer) => asked.integer |= lists(schema, text),
            None => asked.string |= schema.get("type").is_some_and(|name| name.is_text("string")) && lists(schema, text),
        }
    }

    /// Does a value look as what a schema asks for? `loosely`: of the right kind.
    fn fits(&self, value: &Node<'_>, schema: &'d Node<'n>, loosely: bool) -> bool {
        let steps = self.steps.get();
        self.steps.set(steps.saturating_sub(1));
        let loosely = loosely || steps == 0;
        let Some(schema) = self.definitions.follow(schema).filter(|_| self.pay(value)) else { return false };
        if let Some(branches) = branches(schema) {
            return steps == 0 || branches.iter().any(|branch| self.fits(value, branch, loosely));
        }
        let is_of = |name: &str| schema.get("type").is_none_or(|known| known.is_text(name));
        match value.data() {
            Data::Null => schema.get("nullable").and_then(Node::as_bool) == Some(true) || is_of("null"),
            Data::Bool(_) => is_of("boolean"),
            Data::Number(text) => is_of("number") || (is_of("integer") && json::is_integral(text)),
            Data::String(text) => is_of("string") && text.value().is_some_and(|text| lists(schema, &text)),
            Data::Array(items) => {
                let each = |item: &Node<'_>| schema.get("items").is_none_or(|below| self.fits(item, below, false));
                is_of("array") && (loosely || items.iter().all(each))
            }
            Data::Object(members) => {
                let required = schema.get("required").and_then(Node::as_array).unwrap_or_default();
                let has = |name: &Node<'_>| name.as_text().is_some_and(|name| members.get_text(name).is_some());
                let table = schema.get("properties").and_then(Node::as_object);
                let property = |name: &json::Text<'_>| table.and_then(|table| table.get_text(name));
                let all = || members.iter().all(|member| property(&member.key).is_none_or(|below| self.fits(&member.value, below, false)));
                is_of("object") && (loosely || (required.iter().all(has) && all()))
            }
            Data::Verbatim(_) => false,
        }
    }
}

/// What the branches of a union ask of one text.
#[derive(Default)]
struct Asked {
    anything: bool,
    object: bool,
    integer: bool,
    /// The string that it is.
    string: bool,
}

fn branches<'s, 'n>(schema: &'s Node<'n>) -> Option<&'s [Node<'n>]> {
    schema.get("anyOf").and_then(Node::as_array)
}

/// The schema of a member or an item.
fn below<'s, 'n>(schema: &'s Node<'n>, child: &Child<'_, '_>) -> Option<&'s Node<'n>> {
    match child {
        Child::Member(name) => schema.get("properties").and_then(Node::as_object).and_then(|table| table.get_text(name)),
        Child::Item(_) => schema.get("items"),
    }
}

/// Is a text among the values that a schema lists, if it lists any?
fn lists(schema: &Node<'_>, text: &str) -> bool {
    schema.get("enum").and_then(Node::as_array).is_none_or(|values| values.iter().any(|known| known.is_text(text)))
}
