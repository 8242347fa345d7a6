//! Response formats that need an object as their root: any other schema becomes the only property of an object.
//!
//! Wrapping precedes all passes, which then see the object as if the caller had written it.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use crate::{
    budget::Budget,
    dialect::{grammar::Grammar, reason::Cause, Dialect},
    effect::Effect,
    error::{Code, Error},
    json::{push_token, Member, Node, Object, Text},
    report::Change,
    rules::Rule,
    sanitize::canonicalize::repair::known_type,
    schema::{
        emptiness::admits_object,
        instance_types::InstanceTypes,
        keyword::{Draft, Keyword},
        misplaced::find_misplaced,
        references::{self, Form, References},
    },
};

/// Keywords that imply an object if `type` is absent.
const OBJECT_KEYWORDS: [Keyword; 4] =
    [Keyword::Properties, Keyword::Required, Keyword::PatternProperties, Keyword::AdditionalProperties];
/// Merging all branches of a union into one object would lose meaning.
const UNIONS: [Keyword; 2] = [Keyword::AnyOf, Keyword::OneOf];
const VALUE_KEYWORDS: [Keyword; 2] = [Keyword::Enum, Keyword::Const];
/// Number of schemas after which a root is treated as an object.
const MAX_SCHEMAS: usize = 1_000;
/// Number of levels after which a schema is treated as an object.
const MAX_LEVELS: usize = 64;

/// Wraps the root in an object if necessary. Returns true if the root was wrapped.
///
/// References inside the schema still resolve against the schema, not against the new root. [`unwrapped`] returns the
/// schema.
pub(super) fn wrap(root: &mut Node<'_>, name: &str, grammar: &Grammar, budget: &Budget) -> Result<bool, Error> {
    if root.as_bool() == Some(false) {
        let message = "expected a schema that accepts an answer, found `false`, which accepts nothing";
        return Err(Error::new(Code::NotRepresentable, "", message));
    }
    let is_object = RootTypeSearch { root, grammar, budget, references: None, steps: MAX_SCHEMAS }
        .accepts_only_objects(root, MAX_LEVELS);
    // Object keywords do not prove that the schema accepts an object, because another keyword may exclude objects.
    let may_be_object =
        || InstanceTypes::declared(root).is_some() || admits_object(root, Form::Read, Draft::of(root), budget);
    if is_object && may_be_object()
        || find_misplaced(root).is_some()
        || !(root.as_object().is_some() || root.as_bool().is_some())
    {
        return Ok(false);
    }
    let mut outer = Object::new();
    if let Some(draft) = root.as_object_mut().and_then(|object| object.remove(Keyword::Schema)) {
        outer.set(Text::literal("$schema"), draft);
    }
    let schema = core::mem::take(root);
    let property = Member { key: Text::from(name.to_string()), value: schema };
    outer.set(Text::literal("type"), Node::literal("object"));
    outer.set(Text::literal("properties"), Node::object(Object::from_unique([property].into())));
    outer.set(Text::literal("required"), Node::array([Node::string(name.to_string())].into()));
    outer.set(Text::literal("additionalProperties"), Node::bool(false));
    *root = Node::object(outer);
    root.make_document();
    Ok(true)
}

pub(super) fn unwrapped<'n, 'a>(root: &'n Node<'a>, name: Option<&str>) -> &'n Node<'a> {
    name.and_then(|name| root.get(Keyword::Properties)?.get(name)).unwrap_or(root)
}

pub(super) fn report(changes: &mut Vec<Change>, name: &str, dialect: &Dialect) {
    for change in changes.iter_mut() {
        change.pointer = pointer_in_input(&change.pointer, name);
    }
    let Effect { accepts, guidance, encoded } = Rule::WrapRoot.effect();
    let wrapped = Change {
        pointer: String::new(),
        output_pointer: Some(pointer_to(name)),
        rule: Rule::WrapRoot,
        accepts,
        guidance,
        encoded,
        reason: dialect.reason(Rule::WrapRoot, Cause::default()),
        message: format!("wrapped the schema in an object with the property `{name}`"),
    };
    changes.insert(0, wrapped);
}

pub(super) fn error_in_input(error: Error, name: &str) -> Error {
    let pointer = pointer_in_input(error.pointer(), name);
    error.at(pointer)
}

fn pointer_in_input(pointer: &str, name: &str) -> String {
    match pointer.strip_prefix(&pointer_to(name)) {
        Some(inner) if inner.is_empty() || inner.starts_with('/') => inner.into(),
        _ if is_part_of_wrapper(pointer) => String::new(),
        _ => pointer.into(),
    }
}

fn is_part_of_wrapper(pointer: &str) -> bool {
    ["/type", "/properties", "/required", "/additionalProperties"].contains(&pointer)
}

fn pointer_to(name: &str) -> String {
    let mut pointer = String::from("/properties");
    push_token(&mut pointer, name);
    pointer
}

struct RootTypeSearch<'s, 'a> {
    root: &'s Node<'a>,
    grammar: &'s Grammar,
    budget: &'s Budget,
    /// Collected on first use, because most roots have no references.
    references: Option<References>,
    steps: usize,
}

impl<'s, 'a> RootTypeSearch<'s, 'a> {
    /// Returns true if a schema describes an object in a form that can be the root without loss.
    fn accepts_only_objects(&mut self, schema: &'s Node<'a>, levels: usize) -> bool {
        let (Some(steps), Some(levels)) = (self.steps.checked_sub(1), levels.checked_sub(1)) else { return true };
        self.steps = steps;
        let Some(object) = schema.as_object() else { return false };
        self.budget.pay(1 + object.len());
        let is_refused = |keyword: &Keyword| {
            object.get(*keyword).is_some_and(|value| {
                self.grammar.refuses_at_root(*keyword, value) || self.grammar.refuses.contains(*keyword)
            })
        };
        if UNIONS.iter().chain(&VALUE_KEYWORDS).any(is_refused) {
            return false;
        }
        if object.get(Keyword::Nullable).and_then(Node::as_bool) == Some(true) {
            return false;
        }
        if let Some(target) = self.target(schema) {
            return self.accepts_only_objects(target, levels);
        }
        match InstanceTypes::declared(schema) {
            // Not a type of JSON Schema; a later pass repairs it.
            Some(InstanceTypes::NONE) if names_object(schema) => return true,
            None | Some(InstanceTypes::NONE) => {}
            Some(types) => return types == InstanceTypes::OBJECT,
        }
        let branches = |keyword: Keyword| object.items_at(keyword);
        // A value that is not an object shows that the schema describes more than objects.
        self.budget.pay(branches(Keyword::Enum).len());
        let mut values = branches(Keyword::Enum).iter().chain(object.get(Keyword::Const));
        if values.any(|value| value.as_object().is_none()) {
            return false;
        }
        let mut is_object = |branch: &'s Node<'a>| self.accepts_only_objects(branch, levels);
        OBJECT_KEYWORDS.iter().any(|keyword| object.has(*keyword))
            || branches(Keyword::AllOf).iter().any(&mut is_object)
            || UNIONS.iter().any(|keyword| {
                let branches = branches(*keyword);
                !branches.is_empty() && branches.iter().all(&mut is_object)
            })
    }

    fn target(&mut self, schema: &Node<'a>) -> Option<&'s Node<'a>> {
        let (root, budget) = (self.root, self.budget);
        // If the budget is spent, the walks after this one report it.
        let references = self
            .references
            .get_or_insert_with(|| references::of(root, Form::Read, Draft::of(root), budget).unwrap_or_default());
        references.target_node(root, references.target_of(schema)?)
    }
}

/// Returns true for `object` and its other spellings, such as `dict`.
fn names_object(schema: &Node<'_>) -> bool {
    let name = schema.text_at(Keyword::Type).and_then(Text::value);
    name.is_some_and(|name| known_type(&name) == Some(Some("object")))
}

/// Returns true if the schema, or its branches, declare the type `object`. References are not followed.
pub(crate) fn declares_object(schema: &Node<'_>) -> bool {
    fn declares(schema: &Node<'_>, levels: usize) -> bool {
        let Some(levels) = levels.checked_sub(1) else { return false };
        let branches = |keyword: Keyword| schema.items_at(keyword);
        InstanceTypes::declared(schema) == Some(InstanceTypes::OBJECT)
            || branches(Keyword::AllOf).iter().any(|branch| declares(branch, levels))
            || UNIONS.iter().any(|keyword| {
                let branches = branches(*keyword);
                !branches.is_empty() && branches.iter().all(|branch| declares(branch, levels))
            })
    }
    declares(schema, MAX_LEVELS)
}
