//! Validates a value against a schema: every assertion of drafts 4 to 2020-12, with a three-valued result.
//!
//! The result is unknown, never guessed, for:
//! - `unevaluatedProperties`, `unevaluatedItems`, `$dynamicRef` and `$recursiveRef`;
//! - references that leave the document, do not resolve or point to themselves;
//! - a `pattern` that toolwire's own engine does not support, and a keyword with an invalid value;
//! - everything that is not yet validated when the budget is spent.
//!
//! `format` and `content*` are annotations and not validated.
//!
//! Sources: JSON Schema Validation, drafts 4, 6, 7, 2019-09 and 2020-12; OpenAPI 3.0.3 for `nullable`.

mod applicators;
mod containers;
mod scalars;
#[cfg(test)]
mod tests;
pub(crate) mod words;

use alloc::{borrow::Cow, format, rc::Rc, string::String, vec::Vec};
use core::cell::OnceCell;

use super::{
    instance_types::InstanceTypes,
    keyword::{Draft, InstanceType, Keyword},
    protocol,
    references::{self, Number, References},
};
use crate::{
    budget::Budget,
    collections::{Map, Set},
    error::{Code, Error},
    json::{self, Data, Node, Object, Order, Pointer, Step, Text},
};
use scalars::Patterns;

/// Number of steps of a validation. Applying a schema to a value, or comparing two values, is a step.
const STEPS: usize = 100_000;

/// Maximum nesting of schemas, including references. Deeper schemas have an unknown result. Each level needs stack, and
/// a call must run in 512 KiB.
const MAX_LEVEL: usize = 256;

const MAX_ERRORS: usize = 100;

/// Result of validating arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Validation {
    /// True if the schema accepts the arguments; `None` if that cannot be determined.
    pub valid: Option<bool>,
    /// Violations, at most 100; empty unless `valid` is `Some(false)`.
    pub errors: Vec<ArgumentViolation>,
}

/// One violation of a schema by arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArgumentViolation {
    /// JSON Pointer into the arguments to the invalid value. A missing member is reported at its object.
    pub pointer: String,
    /// JSON Pointer into the schema to the violated keyword; after a reference, to its location in the target.
    pub schema_pointer: String,
    /// The keyword's name; `false` for a schema that is `false`.
    pub keyword: &'static str,
    /// Message for people and models: what was expected, then the kind of value that was found. It contains names and
    /// kinds, and values of the schema, but no value of the arguments.
    pub message: String,
}

pub(crate) struct Validator<'s, 'a> {
    root: &'s Node<'a>,
    draft: Draft,
    /// `None` if there are no references.
    references: Option<Cow<'s, References>>,
    /// Compiled patterns of a prepared schema.
    patterns: Option<&'s scalars::ReadPatterns>,
    /// Pointers to the targets of a prepared schema.
    prepared_targets: Option<&'s Map<Number, String>>,
    /// Targets by number, collected when the first reference is followed.
    targets: OnceCell<Targets<'s, 'a>>,
}

/// Targets by number, each with its pointer.
type Targets<'s, 'a> = Map<Number, (&'s Node<'a>, String)>;

impl<'s, 'a> Validator<'s, 'a> {
    pub(crate) fn new(root: &'s Node<'a>) -> Result<Self, Error> {
        if !matches!(root.data(), Data::Object(_) | Data::Bool(_)) {
            let message = format!("expected a schema (an object or a boolean), found {}", root.kind());
            return Err(Error::new(Code::InvalidSchema, "", message));
        }
        let draft = Draft::of(root);
        let references = resolve_references(root, draft).map(Cow::Owned);
        Ok(Validator { root, draft, references, patterns: None, prepared_targets: None, targets: OnceCell::new() })
    }

    fn target(&self, target: Number) -> Option<(&'s Node<'a>, &str)> {
        if let Some(pointers) = self.prepared_targets {
            return Some((node_with_number(self.root, target)?, pointers.get(&target)?));
        }
        let walk = || match &self.references {
            Some(references) => references.targets(self.root, &Budget::new(self.root.values_read(), None)),
            None => Targets::new(),
        };
        self.targets.get_or_init(walk).get(&target).map(|(schema, pointer)| (*schema, pointer.as_str()))
    }

    /// Validates arguments, which must be an object even if the root does not declare it.
    pub(crate) fn arguments(&self, arguments: &Node<'_>) -> Validation {
        let mut run = Run::new(self);
        let (value_location, schema_location) = (Location::At(""), Location::At(""));
        // A reference from the root to itself has no effect.
        let number = self.root.origin().number();
        let entered = number.map(|target| Entered { target, value: arguments, before: None });
        let at = At { value: &value_location, schema: &schema_location, level: 0, entered: entered.as_ref() };
        let is_untyped = !self.root.as_object().is_some_and(|root| root.has(Keyword::Type));
        let verdict = if is_untyped && arguments.as_object().is_none() {
            let message = || format!("expected the arguments to be an object, found {}", arguments.kind());
            run.refuse(at, Keyword::Type.name(), message)
        } else {
            run.schema(self.root, arguments, at)
        };
        Validation { valid: verdict.known(), errors: run.errors }
    }

    pub(crate) fn value(&self, value: &Node<'_>) -> Validation {
        let mut run = Run::new(self);
        let (value_location, schema_location) = (Location::At(""), Location::At(""));
        let at = At { value: &value_location, schema: &schema_location, level: 0, entered: None };
        let verdict = run.schema(self.root, value, at);
        Validation { valid: verdict.known(), errors: run.errors }
    }

    pub(crate) fn judge_arguments(&self, arguments: &Node<'_>) -> Verdict {
        self.judge().judge_arguments(arguments)
    }

    /// Returns a judge, which has one budget for all its validations.
    pub(crate) fn judge(&self) -> Judge<'_, 's, 'a> {
        Judge(Run::silent(self))
    }

    pub(crate) fn judge_within(&self, budget: Budget) -> Judge<'_, 's, 'a> {
        Judge(Run { budget, ..Run::silent(self) })
    }

    pub(crate) fn verdict(&self, value: &Node<'_>) -> Verdict {
        let (value_location, schema_location) = (Location::At(""), Location::At(""));
        let at = At { value: &value_location, schema: &schema_location, level: 0, entered: None };
        Run::silent(self).schema(self.root, value, at)
    }
}

fn resolve_references(root: &Node<'_>, draft: Draft) -> Option<References> {
    references::mentions_references(root).then(|| {
        // References of a schema that exceeds the budget are treated as unresolved.
        references::resolve(root, draft, &Budget::new(root.values_read(), None)).unwrap_or_default()
    })
}

/// Validates values against parts of a schema, without collecting violations, within one budget.
pub(crate) struct Judge<'v, 's, 'a>(Run<'v, 's, 'a>);

impl<'s, 'a> Judge<'_, 's, 'a> {
    pub(crate) fn judge_arguments(&mut self, arguments: &Node<'_>) -> Verdict {
        let root = self.root();
        if !root.as_object().is_some_and(|root| root.has(Keyword::Type)) && arguments.as_object().is_none() {
            return Verdict::Invalid;
        }
        self.verdict(root, arguments)
    }

    /// `schema` must be part of the root.
    pub(crate) fn verdict(&mut self, schema: &'s Node<'a>, value: &Node<'_>) -> Verdict {
        let (value_location, schema_location) = (Location::At(""), Location::At(""));
        let number = schema.origin().number();
        let entered = number.map(|target| Entered { target, value, before: None });
        let at = At { value: &value_location, schema: &schema_location, level: 0, entered: entered.as_ref() };
        self.0.forget_value_indexes();
        self.0.schema(schema, value, at)
    }

    /// Runs several validations of one value, whose members are indexed only once.
    pub(crate) fn with_shared_indexes<R>(&mut self, validate: impl FnOnce(&mut Self) -> R) -> R {
        self.0.value_indexes = Map::new();
        self.0.keeps_value_indexes = true;
        let result = validate(self);
        self.0.keeps_value_indexes = false;
        self.0.value_indexes = Map::new();
        result
    }

    pub(crate) fn keyword(&mut self, keyword: Keyword, schema: &'s Object<'a>, value: &Node<'_>) -> Verdict {
        let Some(keyword_value) = schema.get(keyword).filter(|_| self.knows(keyword)) else { return Verdict::Valid };
        if !self.0.budget.pay(1) {
            return Verdict::Unknown;
        }
        if value.is_null() && is_nullable(schema) {
            return Verdict::Valid;
        }
        let (value_location, above) = (Location::At(""), Location::At(""));
        let schema_location = Location::Name(&above, keyword.name());
        let at = At { value: &value_location, schema: &schema_location, level: 0, entered: None };
        self.0.forget_value_indexes();
        self.0.keyword(keyword, keyword_value, schema, value, at)
    }

    /// Matches a name against a pattern of `patternProperties`. Returns `None` if the result cannot be determined.
    pub(crate) fn matches(&mut self, pattern: &Text<'_>, schema: &Node<'_>, name: &Text<'_>) -> Option<bool> {
        self.0.name_matches(pattern, schema, name)
    }

    pub(crate) fn target(&mut self, reference: &'s Node<'a>) -> Option<&'s Node<'a>> {
        self.0.end_of(reference).map(|(_, schema, _)| schema)
    }

    pub(crate) fn knows(&self, keyword: Keyword) -> bool {
        self.0.prepared.draft.knows(keyword)
    }

    pub(crate) fn ignores_ref_siblings(&self) -> bool {
        self.0.prepared.draft.ignores_ref_siblings()
    }

    pub(crate) fn budget(&self) -> &Budget {
        &self.0.budget
    }

    pub(crate) fn root(&self) -> &'s Node<'a> {
        self.0.prepared.root
    }
}

#[derive(Clone, Copy)]
struct At<'p> {
    value: &'p Location<'p>,
    schema: &'p Location<'p>,
    /// Number of enclosing schemas.
    level: usize,
    entered: Option<&'p Entered<'p>>,
}

/// A reference that is being followed, and the references before it.
struct Entered<'p> {
    target: Number,
    value: &'p Node<'p>,
    before: Option<&'p Entered<'p>>,
}

struct Run<'v, 's, 'a> {
    prepared: &'v Validator<'s, 'a>,
    budget: Budget,
    patterns: Patterns,
    /// For each target that is only a reference: the last target of its chain of references; `None` if the chain does
    /// not resolve.
    ends: Map<Number, Option<Number>>,
    /// Canonical values of long enums, by node number of the list.
    listed: Map<Number, Set<String>>,
    /// Indexes of the schema's objects, by address; these objects do not move.
    schema_indexes: Map<usize, Rc<Order>>,
    /// Indexes of the value's objects, which may change between two validations.
    value_indexes: Map<usize, Rc<Order>>,
    /// True while all validations have one value, so that its indexes stay valid.
    keeps_value_indexes: bool,
    /// Number of enclosing checks whose violations are not reported, such as the checks of the branches of a union.
    silent_checks: usize,
    errors: Vec<ArgumentViolation>,
}

impl<'v, 's, 'a> Run<'v, 's, 'a> {
    fn silent(prepared: &'v Validator<'s, 'a>) -> Self {
        Run { silent_checks: 1, ..Run::new(prepared) }
    }

    fn new(prepared: &'v Validator<'s, 'a>) -> Self {
        Run {
            prepared,
            budget: Budget::new(0, Some(STEPS)),
            patterns: Patterns::default(),
            ends: Map::new(),
            listed: Map::new(),
            schema_indexes: Map::new(),
            value_indexes: Map::new(),
            keeps_value_indexes: false,
            silent_checks: 0,
            errors: Vec::new(),
        }
    }

    #[inline(never)]
    fn refuse(&mut self, at: At<'_>, keyword: &'static str, message: impl FnOnce() -> String) -> Verdict {
        if !self.is_silent() {
            let (pointer, schema_pointer) = (at.value.pointer(), at.schema.pointer());
            self.errors.push(ArgumentViolation { pointer, schema_pointer, keyword, message: message() });
        }
        Verdict::Invalid
    }

    fn is_silent(&self) -> bool {
        self.silent_checks > 0 || self.errors.len() >= MAX_ERRORS
    }

    fn verdict_of(
        &mut self,
        holds: Option<bool>,
        at: At<'_>,
        keyword: Keyword,
        message: impl FnOnce() -> String,
    ) -> Verdict {
        match holds {
            Some(true) => Verdict::Valid,
            Some(false) => self.refuse(at, keyword.name(), message),
            None => Verdict::Unknown,
        }
    }

    fn check_silently(&mut self, schema: &'s Node<'a>, value: &Node<'_>, at: At<'_>) -> Verdict {
        self.silent_checks += 1;
        let verdict = self.schema(schema, value, at);
        self.silent_checks -= 1;
        verdict
    }

    fn schema(&mut self, schema: &'s Node<'a>, value: &Node<'_>, at: At<'_>) -> Verdict {
        if at.level > MAX_LEVEL || !self.budget.pay(1) {
            return Verdict::Unknown;
        }
        let at = At { level: at.level + 1, ..at };
        let object = match schema.data() {
            Data::Bool(true) => return Verdict::Valid,
            Data::Bool(false) => {
                return self.refuse(at, "false", || format!("expected nothing here, found {}", value.kind()));
            }
            Data::Object(object) => object,
            _ => return Verdict::Unknown,
        };
        if self.prepared.references.is_some() && self.prepared.draft.ignores_ref_siblings() {
            if let Some(reference) = object.get(Keyword::Ref).filter(|reference| reference.as_text().is_some()) {
                return self.reference(reference, value, at);
            }
        }
        if value.is_null() && is_nullable(object) {
            return Verdict::Valid;
        }
        if !self.budget.pay(object.len() / 8) {
            return Verdict::Unknown;
        }
        let mut verdict = Verdict::Valid;
        for member in object {
            let Some(keyword) = Keyword::named(&member.key).filter(|keyword| self.prepared.draft.knows(*keyword))
            else {
                continue;
            };
            let location = Location::Name(at.schema, keyword.name());
            let at = At { schema: &location, ..at };
            verdict = verdict.and(self.keyword(keyword, &member.value, object, value, at));
            if verdict == Verdict::Invalid && self.is_silent() {
                break;
            }
        }
        verdict
    }

    fn keyword(
        &mut self,
        keyword: Keyword,
        keyword_value: &'s Node<'a>,
        schema: &'s Object<'a>,
        value: &Node<'_>,
        at: At<'_>,
    ) -> Verdict {
        match (keyword.applies_to(), value.data()) {
            (None, _) => self.check_any_type(keyword, keyword_value, schema, value, at),
            (Some(InstanceType::Number), Data::Number(number)) => {
                self.check_number(keyword, keyword_value, schema, number, at)
            }
            (Some(InstanceType::String), Data::String(text)) => self.check_string(keyword, keyword_value, text, at),
            (Some(InstanceType::Array), Data::Array(items)) => {
                self.check_array(keyword, keyword_value, schema, items, at)
            }
            (Some(InstanceType::Object), Data::Object(members)) => {
                self.check_object(keyword, keyword_value, schema, members, value, at)
            }
            (_, Data::Verbatim(_)) => Verdict::Unknown,
            // The keyword applies to another type.
            _ => Verdict::Valid,
        }
    }

    fn check_any_type(
        &mut self,
        keyword: Keyword,
        keyword_value: &'s Node<'a>,
        schema: &'s Object<'a>,
        value: &Node<'_>,
        at: At<'_>,
    ) -> Verdict {
        match keyword {
            Keyword::Type => self.check_type(keyword_value, value, at),
            Keyword::Enum => self.check_enum(keyword_value, value, at),
            Keyword::Const => self.check_const(keyword_value, value, at),
            Keyword::Ref => self.reference(keyword_value, value, at),
            Keyword::AllOf => self.all_of(keyword_value, value, at),
            Keyword::AnyOf => self.any_of(keyword_value, value, at),
            Keyword::OneOf => self.one_of(keyword_value, value, at),
            Keyword::Not => self.not(keyword_value, value, at),
            Keyword::If => self.condition(keyword_value, schema, value, at),
            Keyword::DynamicRef | Keyword::RecursiveRef => Verdict::Unknown,
            _ => Verdict::Valid,
        }
    }

    fn compare_count(&self, count: usize, limit: &Node<'_>) -> Option<core::cmp::Ordering> {
        if let Some(limit) = limit.as_u64() {
            return Some((count as u64).cmp(&limit));
        }
        let limit = limit.as_number().filter(|limit| self.budget.pay(limit.len() / 16))?;
        let is_count = json::is_integral(limit) && json::compare(limit, "0").is_ge();
        is_count.then(|| json::compare(&format!("{count}"), limit))
    }
}

/// Returns true if the schema accepts null in addition to its `type`, by OpenAPI 3.0.
pub(crate) fn is_nullable(schema: &Object<'_>) -> bool {
    schema.get(Keyword::Nullable).and_then(Node::as_bool) == Some(true) && schema.has(Keyword::Type)
}

fn admitted(keyword_value: &Node<'_>) -> Option<InstanceTypes> {
    InstanceTypes::of_keyword(keyword_value)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Valid,
    Invalid,
    Unknown,
}

impl Verdict {
    /// Combines two verdicts: invalid if one of them is invalid, even if the other is unknown.
    pub(crate) const fn and(self, other: Verdict) -> Verdict {
        match (self, other) {
            (Verdict::Invalid, _) | (_, Verdict::Invalid) => Verdict::Invalid,
            (Verdict::Valid, Verdict::Valid) => Verdict::Valid,
            _ => Verdict::Unknown,
        }
    }

    pub(crate) const fn known(self) -> Option<bool> {
        match self {
            Verdict::Valid => Some(true),
            Verdict::Invalid => Some(false),
            Verdict::Unknown => None,
        }
    }
}

/// Maximum number of bytes of pointers that are kept for each value of the schema. If the pointers are longer (deep
/// schemas with long names), each validation that follows a reference builds them again.
const MAX_POINTER_BYTES: usize = 64;

/// A schema with precomputed data for every validation.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    root: Node<'static>,
    draft: Draft,
    references: Option<References>,
    /// Pointers, by the number of the target.
    targets: Option<Map<Number, String>>,
    patterns: scalars::ReadPatterns,
}

impl Prepared {
    pub(crate) fn new(schema: &Node<'_>) -> Option<Prepared> {
        if !matches!(schema.data(), Data::Object(_) | Data::Bool(_)) {
            return None;
        }
        let mut root = protocol::read(schema).detached();
        // References identify their targets by these numbers.
        root.number_in_order();
        let draft = Draft::of(&root);
        let references = resolve_references(&root, draft);
        let targets = references.as_ref().and_then(|references| pointers(&root, references));
        let patterns = scalars::patterns_of(&root);
        Some(Prepared { root, draft, references, targets, patterns })
    }

    pub(crate) fn schema(&self) -> &Node<'static> {
        &self.root
    }

    /// `None` if the schema has no references.
    pub(crate) fn references(&self) -> Option<&References> {
        self.references.as_ref()
    }

    pub(crate) fn validator(&self) -> Validator<'_, 'static> {
        let references = self.references.as_ref().map(Cow::Borrowed);
        let patterns = Some(&self.patterns).filter(|patterns| !patterns.is_empty());
        let prepared_targets = self.targets.as_ref();
        Validator {
            root: &self.root,
            draft: self.draft,
            references,
            patterns,
            prepared_targets,
            targets: OnceCell::new(),
        }
    }
}

/// Returns `None` if the pointers are too long.
fn pointers(root: &Node<'_>, references: &References) -> Option<Map<Number, String>> {
    let targets = references.targets(root, &Budget::new(root.values_read(), None));
    let bytes: usize = targets.values().map(|(_, pointer)| pointer.len()).sum();
    let is_small = bytes <= MAX_POINTER_BYTES.saturating_mul(root.values_read());
    let are_numbered = targets
        .iter()
        .all(|(number, (schema, _))| node_with_number(root, *number).is_some_and(|node| core::ptr::eq(node, *schema)));
    (is_small && are_numbered).then(|| targets.into_iter().map(|(number, (_, pointer))| (number, pointer)).collect())
}

/// Finds a node by its number. Numbers follow document order, so a node is inside the last child with a number that is
/// not greater.
fn node_with_number<'s, 'a>(root: &'s Node<'a>, number: Number) -> Option<&'s Node<'a>> {
    let is_before = |node: &Node<'_>| node.origin().number().is_some_and(|node_number| node_number <= number);
    let mut node = root;
    while node.origin().number()? != number {
        node = match node.data() {
            Data::Array(items) => items.get(items.partition_point(is_before).checked_sub(1)?)?,
            Data::Object(object) => {
                let members = object.members();
                let after = members.partition_point(|member| is_before(&member.value));
                &members.get(after.checked_sub(1)?)?.value
            }
            _ => return None,
        };
    }
    Some(node)
}

#[derive(Clone, Copy)]
pub(crate) enum Location<'p> {
    /// A known pointer.
    At(&'p str),
    Name(&'p Location<'p>, &'static str),
    Member(&'p Location<'p>, &'p Text<'p>),
    Item(&'p Location<'p>, usize),
}

impl Location<'_> {
    pub(crate) fn length(&self) -> usize {
        let (mut length, mut next) = (0, Some(self));
        while let Some(location) = next {
            next = match *location {
                Location::At(pointer) => {
                    length += pointer.len();
                    None
                }
                Location::Name(above, name) => {
                    length += name.len();
                    Some(above)
                }
                Location::Member(above, name) => {
                    length += name.chars().len();
                    Some(above)
                }
                Location::Item(above, _) => Some(above),
            };
        }
        length
    }

    pub(crate) fn pointer(&self) -> String {
        let (mut start, mut steps, mut next) = ("", Vec::new(), Some(self));
        while let Some(location) = next {
            let (above, step) = match *location {
                Location::At(pointer) => {
                    start = pointer;
                    break;
                }
                Location::Name(above, name) => (above, Step::Name(name)),
                Location::Member(above, name) => (above, Step::Member(name.borrowed())),
                Location::Item(above, index) => (above, Step::Index(index)),
            };
            steps.push(step);
            next = Some(above);
        }
        let mut below = Pointer::root();
        steps.into_iter().rev().for_each(|step| below.push(step));
        [start, &below.render()].concat()
    }
}
