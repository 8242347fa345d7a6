//! Response formats whose root must be an object: a schema that describes something else becomes the schema of the one
//! property of an object.
//!
//! That comes before all passes, which then read the object as if the caller had written it.

use alloc::{
    borrow::Cow,
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use crate::{
    budget::Budget,
    dialect::{grammar::Grammar, Dialect},
    error::{Code, Error},
    json::{push_token, Member, Node, Object, Text},
    report::{Change, Effect},
    rules::Rule,
    sanitize::canonicalize::repair::known_type,
    schema::{
        draft::Draft,
        instance_types::InstanceTypes,
        keyword::{Keyword, Role},
        misplaced::misplaced,
        references::{self, Form, References},
        uri,
    },
};

/// Keywords that imply an object if `type` is absent.
const OF_OBJECTS: [Keyword; 4] =
    [Keyword::Properties, Keyword::Required, Keyword::PatternProperties, Keyword::AdditionalProperties];
/// Unions. One object of all their branches would be a loss.
const UNIONS: [Keyword; 2] = [Keyword::AnyOf, Keyword::OneOf];
/// Lists of values, which may be of any kind.
const VALUES: [Keyword; 2] = [Keyword::Enum, Keyword::Const];
/// How many schemas are looked at before a root counts as an object.
const MAX_STEPS: usize = 1_000;
/// How far down.
const MAX_LEVELS: usize = 64;
/// What the wrapped schema is called while its references are resolved: they start from it, and not from the wrapper.
const BASE: &str = "toolwire:answer";

/// What was done to a root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wrapped {
    /// The schema has an identifier that the caller did not write.
    is_named: bool,
    /// Its `$ref` became the first part of `allOf`.
    has_part: bool,
}

/// Replaces a root that describes no object by an object with one property of this name. Returns `None` if it did not.
///
/// # Errors
/// `not-representable` if no answer is possible.
pub(super) fn wrap(
    root: &mut Node<'_>,
    name: &str,
    grammar: &Grammar,
    budget: &Budget,
) -> Result<Option<Wrapped>, Error> {
    if root.as_bool() == Some(false) {
        let message = "expected a schema that accepts some answer, found `false`, which accepts nothing";
        return Err(Error::new(Code::NotRepresentable, "", message));
    }
    let is_object = Search { root, grammar, budget, references: None, steps: MAX_STEPS }.is_object(root, MAX_LEVELS);
    if is_object || misplaced(root).is_some() || !(root.as_object().is_some() || root.as_bool().is_some()) {
        return Ok(None);
    }
    let draft = Draft::of(root);
    let mut wrapped = Wrapped::default();
    if references::mentions_references(root) {
        if let Some(object) = root.as_object_mut() {
            wrapped.has_part = draft.ref_stands_alone() && show_identifier(object);
            wrapped.is_named = begin_resource(object, draft);
        }
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
    Ok(Some(wrapped))
}

/// In old drafts nothing counts beside `$ref`, an identifier included: the reference becomes a part of `allOf`, and
/// what does not count goes. Returns whether there was one.
fn show_identifier(object: &mut Object<'_>) -> bool {
    let Some(reference) = object.remove(Keyword::Ref) else { return false };
    object.retain(|member| {
        Keyword::named(&member.key)
            .is_none_or(|keyword| matches!(keyword.role(), Role::Annotation | Role::Meta | Role::Definitions))
    });
    let part = Object::from_unique([Member { key: Text::literal("$ref"), value: reference }].into());
    object.set(Text::literal("allOf"), Node::array([Node::object(part)].into()));
    true
}

/// Gives a schema an identifier, unless it has one from which its references start. Returns whether it did.
fn begin_resource(object: &mut Object<'_>, draft: Draft) -> bool {
    let key = if draft == Draft::Four { "id" } else { "$id" };
    let given = object.get(key).and_then(Node::as_text).and_then(Text::value).map(Cow::into_owned);
    let (base, fragment) = given.as_deref().map_or(("", None), uri::split_fragment);
    if !base.is_empty() {
        return false;
    }
    let anchor = fragment.filter(|anchor| !anchor.is_empty()).map_or_else(String::new, |anchor| format!("#{anchor}"));
    object.set(Text::literal(key), Node::string(format!("{BASE}{anchor}")));
    true
}

/// Reports the wrapping before the other changes, of which the pointers lead into the caller's schema again.
pub(super) fn report(changes: &mut Vec<Change>, name: &str, wrapped: Wrapped, dialect: &Dialect) {
    if wrapped.is_named {
        let own = [pointer_to(name) + "/$id", pointer_to(name) + "/id"];
        changes.retain(|change| change.rule != Rule::DropIdentifier.id() || !own.contains(&change.pointer));
    }
    for change in changes.iter_mut() {
        change.pointer = pointer_in_the_input(&change.pointer, name, wrapped);
    }
    let Effect { accepts, guidance, encoded } = Rule::WrapRoot.effect();
    let wrapped = Change {
        pointer: String::new(),
        output_pointer: Some(pointer_to(name)),
        rule: Rule::WrapRoot.id(),
        accepts,
        guidance,
        encoded,
        reason: dialect.reason(Rule::WrapRoot, ""),
        message: format!("put the schema under the property `{name}` of an object"),
    };
    changes.insert(0, wrapped);
}

/// The error about a wrapped schema, with a pointer into the caller's.
pub(super) fn in_the_input(error: Error, name: &str, wrapped: Wrapped) -> Error {
    let pointer = pointer_in_the_input(error.pointer(), name, wrapped);
    error.at(pointer)
}

fn pointer_in_the_input(pointer: &str, name: &str, wrapped: Wrapped) -> String {
    match pointer.strip_prefix(&pointer_to(name)) {
        Some(inner) if wrapped.has_part && (inner == "/allOf" || inner.starts_with("/allOf/0")) => {
            inner.strip_prefix("/allOf/0").unwrap_or_default().into()
        }
        Some(inner) if inner.is_empty() || inner.starts_with('/') => inner.into(),
        _ if is_made_here(pointer) => String::new(),
        _ => pointer.into(),
    }
}

/// Returns true for the members that the wrapper added.
fn is_made_here(pointer: &str) -> bool {
    ["/type", "/properties", "/required", "/additionalProperties"].contains(&pointer)
}

/// The pointer to the wrapped schema.
fn pointer_to(name: &str) -> String {
    let mut pointer = String::from("/properties");
    push_token(&mut pointer, name);
    pointer
}

struct Search<'s, 'a> {
    root: &'s Node<'a>,
    grammar: &'s Grammar,
    budget: &'s Budget,
    /// Found when they are first asked for: most roots have none.
    references: Option<References>,
    steps: usize,
}

impl<'s, 'a> Search<'s, 'a> {
    /// Does a schema describe an object, in a form that can stand at the root without a loss?
    fn is_object(&mut self, schema: &'s Node<'a>, levels: usize) -> bool {
        let (Some(steps), Some(levels)) = (self.steps.checked_sub(1), levels.checked_sub(1)) else { return true };
        self.steps = steps;
        let Some(object) = schema.as_object() else { return false };
        self.budget.pay(1 + object.len());
        let is_refused = |keyword: &Keyword| {
            object.get(*keyword).is_some_and(|value| {
                self.grammar.refuses_at_root(*keyword, value) || self.grammar.refuses.contains(*keyword)
            })
        };
        if UNIONS.iter().chain(&VALUES).any(is_refused) {
            return false;
        }
        if object.get(Keyword::Ref).is_some() {
            return self.target(schema).is_none_or(|target| self.is_object(target, levels));
        }
        if object.get(Keyword::Nullable).and_then(Node::as_bool) == Some(true) {
            return false;
        }
        match InstanceTypes::declared(schema) {
            // No type of JSON Schema is named: it is repaired later.
            Some(InstanceTypes::NONE) if names_object(schema) => return true,
            None | Some(InstanceTypes::NONE) => {}
            Some(types) => return types == InstanceTypes::OBJECT,
        }
        let branches = |keyword: Keyword| object.get(keyword).and_then(Node::as_array).unwrap_or_default();
        let mut is_object = |branch: &'s Node<'a>| self.is_object(branch, levels);
        OF_OBJECTS.iter().any(|keyword| object.has(*keyword))
            || branches(Keyword::AllOf).iter().any(&mut is_object)
            || UNIONS.iter().any(|keyword| {
                let branches = branches(*keyword);
                !branches.is_empty() && branches.iter().all(&mut is_object)
            })
    }

    fn target(&mut self, schema: &Node<'a>) -> Option<&'s Node<'a>> {
        let (root, budget) = (self.root, self.budget);
        // Where the budget is spent, the walks after this one say so.
        let references = self
            .references
            .get_or_insert_with(|| references::of(root, Form::Read, Draft::of(root), budget).unwrap_or_default());
        references.located(root, references.target_of(schema)?)
    }
}

/// Does the name of a type stand for `object` in another spelling?
fn names_object(schema: &Node<'_>) -> bool {
    let name = schema.get(Keyword::Type).and_then(Node::as_text).and_then(Text::value);
    name.is_some_and(|name| known_type(&name) == Some(Some("object")))
}

/// Does a schema by itself say that its instances are objects? References are not followed.
pub(super) fn declares_object(schema: &Node<'_>) -> bool {
    fn declares(schema: &Node<'_>, levels: usize) -> bool {
        let Some(levels) = levels.checked_sub(1) else { return false };
        let branches = |keyword: Keyword| schema.get(keyword).and_then(Node::as_array).unwrap_or_default();
        InstanceTypes::declared(schema) == Some(InstanceTypes::OBJECT)
            || branches(Keyword::AllOf).iter().any(|branch| declares(branch, levels))
            || UNIONS.iter().any(|keyword| {
                let branches = branches(*keyword);
                !branches.is_empty() && branches.iter().all(|branch| declares(branch, levels))
            })
    }
    declares(schema, MAX_LEVELS)
}
