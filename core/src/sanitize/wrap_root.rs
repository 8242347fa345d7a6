//! Response formats whose root must be an object: a schema that describes something else becomes the schema of the one
//! property of an object.
//!
//! That comes before all passes, which then read the object as if the caller had written it.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use crate::{
    budget::Budget,
    dialect::{grammar::Grammar, Dialect},
    error::Error,
    json::{push_token, Member, Node, Object, Text},
    report::{Change, Effect},
    rules::Rule,
    schema::{
        draft::Draft,
        instance_types::InstanceTypes,
        keyword::{Keyword, Keywords},
        misplaced::misplaced,
        references::{self, Form, References},
        visit::{self, SchemaPath, Visit, VisitorMut},
    },
};

/// Keywords that show that an object is meant, where no type does.
const OF_OBJECTS: [Keyword; 4] =
    [Keyword::Properties, Keyword::Required, Keyword::PatternProperties, Keyword::AdditionalProperties];
/// Unions, which one object of all branches says with a loss.
const UNIONS: [Keyword; 2] = [Keyword::AnyOf, Keyword::OneOf];
/// Lists of values, which may be of any kind.
const VALUES: [Keyword; 2] = [Keyword::Enum, Keyword::Const];
/// How many schemas are looked at before a root counts as an object.
const MAX_STEPS: usize = 10_000;
/// How far down.
const MAX_LEVELS: usize = 64;

/// Replaces a root that describes no object by an object with one property of this name. Returns whether it did.
///
/// Definitions stay at the root. References to anything else of the schema lead into the property.
///
/// # Errors
/// `too-deep`, `budget-exceeded`.
pub(super) fn wrap<'a>(root: &mut Node<'a>, name: &str, grammar: &Grammar, budget: &Budget) -> Result<bool, Error> {
    let is_object = Search { root, grammar, budget, references: None, steps: MAX_STEPS }.is_object(root, MAX_LEVELS);
    if is_object || misplaced(root).is_some() || !(root.as_object().is_some() || root.as_bool().is_some()) {
        return Ok(false);
    }
    let mut outer = Object::new();
    if let Some(draft) = root.as_object_mut().and_then(|object| object.remove(Keyword::Schema)) {
        outer.set(Text::literal("$schema"), draft);
    }
    // A root with an identifier is what its references start from, wherever it stands.
    if root.get(Keyword::Id).is_none() {
        let stays = |member: &Member<'a>| stays_at_the_root(&member.key);
        let mut kept = Vec::new();
        if let Some(object) = root.as_object_mut().filter(|object| object.iter().any(stays)) {
            let (stay, inside): (Vec<_>, Vec<_>) = core::mem::take(object).into_members().into_iter().partition(stays);
            *object = Object::from_unique(inside);
            kept = stay;
        }
        let mut below = Below { prefix: pointer_to(name) };
        visit::walk_mut(budget, root, Keywords::ALL, &mut below)?;
        for mut member in kept {
            for schema in member.value.as_object_mut().into_iter().flat_map(Object::members_mut) {
                visit::walk_mut(budget, &mut schema.value, Keywords::ALL, &mut below)?;
            }
            outer.set(member.key, member.value);
        }
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

/// Reports the wrapping before the other changes, of which the pointers lead into the caller's schema again.
pub(super) fn report(changes: &mut Vec<Change>, name: &str, dialect: &Dialect) {
    for change in changes.iter_mut() {
        change.pointer = pointer_in_the_input(&change.pointer, name);
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
pub(super) fn in_the_input(error: Error, name: &str) -> Error {
    let pointer = pointer_in_the_input(error.pointer(), name);
    error.at(pointer)
}

fn pointer_in_the_input(pointer: &str, name: &str) -> String {
    match pointer.strip_prefix(&pointer_to(name)) {
        Some(inner) if inner.is_empty() || inner.starts_with('/') => inner.into(),
        _ if is_made_here(pointer) => String::new(),
        _ => pointer.into(),
    }
}

/// Does a pointer lead to what only the wrapped schema has?
fn is_made_here(pointer: &str) -> bool {
    ["/type", "/properties", "/required", "/additionalProperties"].contains(&pointer)
}

/// The pointer to the wrapped schema.
fn pointer_to(name: &str) -> String {
    let mut pointer = String::from("/properties");
    push_token(&mut pointer, name);
    pointer
}

/// Definitions, and what no keyword of JSON Schema is, such as `components`.
fn stays_at_the_root(key: &Text<'_>) -> bool {
    match Keyword::named(key) {
        None => true,
        Some(keyword) => matches!(keyword, Keyword::Defs | Keyword::Definitions),
    }
}

/// Points references at the place where the schema stands now.
struct Below {
    prefix: String,
}

impl<'a> VisitorMut<'a> for Below {
    fn enter(&mut self, node: &mut Node<'a>, _: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        for keyword in [Keyword::Ref, Keyword::DynamicRef, Keyword::RecursiveRef] {
            let reference = node.get(keyword).and_then(Node::as_text).and_then(Text::value);
            let Some(moved) = reference.and_then(|reference| self.moved(&reference)) else { continue };
            if let Some(object) = node.as_object_mut() {
                object.remove(keyword);
                object.set(Text::literal("$ref"), Node::string(moved));
            }
        }
        Ok(Visit::Descend)
    }
}

impl Below {
    /// A reference by pointer as it is spelled now, if it changes.
    fn moved(&self, reference: &str) -> Option<String> {
        let pointer = reference.strip_prefix('#')?;
        if pointer.is_empty() {
            return Some(format!("#{}", self.prefix));
        }
        let token = pointer.strip_prefix('/')?.split('/').next()?;
        let token = token.replace("%24", "$").replace("~1", "/").replace("~0", "~");
        (!stays_at_the_root(&Text::from(token))).then(|| format!("#{}{pointer}", self.prefix))
    }
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
        self.budget.pay(1);
        let Some(object) = schema.as_object() else { return false };
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
        if let Some(types) = InstanceTypes::declared(schema) {
            return types == InstanceTypes::OBJECT;
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
