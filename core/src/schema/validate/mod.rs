//! What a schema says against a value: every assertion of drafts 4 to 2020-12, three-valued.
//!
//! What cannot be judged is unknown, never guessed: `unevaluatedProperties` and `unevaluatedItems`, `$dynamicRef` and
//! `$recursiveRef`, references that lead out of the document, nowhere or to themselves, a `pattern` that no engine here
//! reads, a keyword whose value JSON Schema does not allow, and whatever is left when the steps are spent. `format` and
//! `content*` tell and do not judge.
//!
//! Sources: JSON Schema Validation, drafts 4, 6, 7, 2019-09 and 2020-12; OpenAPI 3.0.3 for `nullable`.

mod applicators;
mod arrays;
mod objects;
mod orders;
mod pattern;
pub(crate) mod place;
mod prepared;
mod scalars;
#[cfg(test)]
mod tests;
mod verdict;
pub(crate) mod words;

use alloc::{borrow::Cow, format, rc::Rc, string::String, vec::Vec};
use core::cell::OnceCell;

use super::{
    draft::Draft,
    instance_types::InstanceTypes,
    keyword::{InstanceType, Keyword},
    references::{self, Number, References},
};
use crate::{
    budget::Budget,
    collections::{Map, Set},
    error::{Code, Error},
    json::{self, Data, Node, Object, Order, Text},
};
use pattern::Patterns;
use place::Place;
pub(crate) use prepared::Prepared;
pub(crate) use verdict::Verdict;

/// The steps of one validation: every schema tried on a value is one, and so is every value that is compared.
const STEPS: usize = 100_000;

/// Maximum number of schemas inside one another, references counted: what is deeper is unknown. Each takes stack, and a
/// call does with 512 KiB.
const DEEPEST: usize = 256;

/// Maximum number of violations reported.
const MOST: usize = 100;

/// Whether arguments are valid, and what the schema says against them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Validation {
    /// Whether the schema takes them; `None` where that cannot be determined.
    pub valid: Option<bool>,
    /// What the schema says against them, at most 100; empty unless `valid` is `Some(false)`.
    pub errors: Vec<ArgumentViolation>,
}

/// One thing that a schema says against arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArgumentViolation {
    /// JSON Pointer into the arguments: what is wrong. What is missing is wrong with the object that lacks it.
    pub pointer: String,
    /// JSON Pointer into the schema: the keyword that says so, behind a reference where it stands.
    pub schema_pointer: String,
    /// The keyword's name; `false` for a schema that is `false`.
    pub keyword: &'static str,
    /// For people and models: what was expected, then what kind of value was found. It has names and kinds, and values
    /// of the schema, but no value of the arguments.
    pub message: String,
}

/// What of a schema every validation needs.
pub(crate) struct Validator<'s, 'a> {
    root: &'s Node<'a>,
    draft: Draft,
    /// Where references lead; none if there are none.
    references: Option<Cow<'s, References>>,
    /// Those of a schema that is kept.
    patterns: Option<&'s pattern::Read>,
    /// The pointers of what the references of a schema that is kept lead to.
    kept: Option<&'s Map<Number, String>>,
    /// Found with the first reference that is followed.
    targets: OnceCell<Targets<'s, 'a>>,
}

/// The schemas that references lead to, each with its pointer.
type Targets<'s, 'a> = Map<Number, (&'s Node<'a>, String)>;

impl<'s, 'a> Validator<'s, 'a> {
    /// Prepares a schema as it was read.
    ///
    /// # Errors
    /// `invalid-schema` if it is neither an object nor a boolean.
    pub(crate) fn new(root: &'s Node<'a>) -> Result<Self, Error> {
        if !matches!(root.data(), Data::Object(_) | Data::Bool(_)) {
            let found = format!("expected a schema (an object or a boolean), found {}", root.kind());
            return Err(Error::new(Code::InvalidSchema, "", found));
        }
        let draft = Draft::of(root);
        let references = resolved(root, draft).map(Cow::Owned);
        Ok(Validator { root, draft, references, patterns: None, kept: None, targets: OnceCell::new() })
    }

    /// The schema that a reference leads to, and its pointer.
    fn target(&self, target: Number) -> Option<(&'s Node<'a>, &str)> {
        if let Some(kept) = self.kept {
            return Some((prepared::numbered(self.root, target)?, kept.get(&target)?));
        }
        let walk = || match &self.references {
            Some(references) => references.targets(self.root, &Budget::new(self.root.values_read(), None)),
            None => Targets::new(),
        };
        self.targets.get_or_init(walk).get(&target).map(|(schema, pointer)| (*schema, pointer.as_str()))
    }

    /// Judges arguments: they are an object, also where the root does not say so.
    pub(crate) fn arguments(&self, arguments: &Node<'_>) -> Validation {
        let mut run = Run::new(self, false);
        let (value_place, schema_place) = (Place::At(""), Place::At(""));
        // A reference from the root to itself adds nothing.
        let number = self.root.origin().number();
        let entered = number.map(|target| Entered { target, value: arguments, before: None });
        let at = At { value: &value_place, schema: &schema_place, level: 0, entered: entered.as_ref() };
        let is_untyped = !self.root.as_object().is_some_and(|root| root.has(Keyword::Type));
        let verdict = if is_untyped && arguments.as_object().is_none() {
            let found = || format!("expected arguments as an object, found {}", arguments.kind());
            run.refuse(at, Keyword::Type.name(), found)
        } else {
            run.schema(self.root, arguments, at)
        };
        Validation { valid: verdict.known(), errors: run.errors }
    }

    /// Judges a value of any kind.
    pub(crate) fn value(&self, value: &Node<'_>) -> Validation {
        let mut run = Run::new(self, false);
        let (value_place, schema_place) = (Place::At(""), Place::At(""));
        let at = At { value: &value_place, schema: &schema_place, level: 0, entered: None };
        let verdict = run.schema(self.root, value, at);
        Validation { valid: verdict.known(), errors: run.errors }
    }

    /// Whether the schema takes arguments, without a word about them.
    pub(crate) fn takes(&self, arguments: &Node<'_>) -> Verdict {
        if !self.root.as_object().is_some_and(|root| root.has(Keyword::Type)) && arguments.as_object().is_none() {
            return Verdict::Invalid;
        }
        self.judge().verdict(self.root, arguments)
    }

    /// Judges values by parts of this schema, within one budget.
    pub(crate) fn judge(&self) -> Judge<'_, 's, 'a> {
        Judge(Run::new(self, true))
    }

    /// Judges any value by the schema as it stands, without a word about it.
    pub(crate) fn verdict(&self, value: &Node<'_>) -> Verdict {
        let (value_place, schema_place) = (Place::At(""), Place::At(""));
        let at = At { value: &value_place, schema: &schema_place, level: 0, entered: None };
        Run::new(self, true).schema(self.root, value, at)
    }
}

/// Where the references of a schema lead; `None`: it has none.
fn resolved(root: &Node<'_>, draft: Draft) -> Option<References> {
    references::mentions_references(root).then(|| {
        // References of a schema that takes too long to look at lead nowhere.
        references::resolve(root, draft, &Budget::new(root.values_read(), None)).unwrap_or_default()
    })
}

/// Judges values by parts of a schema, without a word about it. All of it is paid from one budget.
pub(crate) struct Judge<'v, 's, 'a>(Run<'v, 's, 'a>);

impl<'s, 'a> Judge<'_, 's, 'a> {
    /// What a schema of this document says of a value.
    pub(crate) fn verdict(&mut self, schema: &'s Node<'a>, value: &Node<'_>) -> Verdict {
        let (value_place, schema_place) = (Place::At(""), Place::At(""));
        let number = schema.origin().number();
        let entered = number.map(|target| Entered { target, value, before: None });
        let at = At { value: &value_place, schema: &schema_place, level: 0, entered: entered.as_ref() };
        self.0.forget_orders();
        self.0.schema(schema, value, at)
    }

    /// Asks several questions about one value, which is looked through once for all of them.
    pub(crate) fn together<R>(&mut self, inside: impl FnOnce(&mut Self) -> R) -> R {
        self.0.orders = Map::new();
        self.0.keeps_orders = true;
        let result = inside(self);
        self.0.keeps_orders = false;
        self.0.orders = Map::new();
        result
    }

    /// What one keyword of a schema says of a value.
    pub(crate) fn keyword(&mut self, keyword: Keyword, schema: &'s Object<'a>, value: &Node<'_>) -> Verdict {
        let Some(says) = schema.get(keyword).filter(|_| self.knows(keyword)) else { return Verdict::Valid };
        if !self.0.budget.pay(1) {
            return Verdict::Unknown;
        }
        if value.is_null() && is_nullable(schema) {
            return Verdict::Valid;
        }
        let (value_place, above) = (Place::At(""), Place::At(""));
        let schema_place = Place::Name(&above, keyword.name());
        let at = At { value: &value_place, schema: &schema_place, level: 0, entered: None };
        self.0.forget_orders();
        self.0.keyword(keyword, says, schema, value, at)
    }

    /// Whether a name matches a pattern of `patternProperties`; `None`: it cannot be determined.
    pub(crate) fn matches(&mut self, pattern: &Text<'_>, schema: &Node<'_>, name: &Text<'_>) -> Option<bool> {
        self.0.named(pattern, schema, name)
    }

    /// The schema that a reference leads to.
    pub(crate) fn target(&mut self, reference: &'s Node<'a>) -> Option<&'s Node<'a>> {
        self.0.end_of(reference).map(|(_, schema, _)| schema)
    }

    /// Whether the schema's draft has a keyword.
    pub(crate) fn knows(&self, keyword: Keyword) -> bool {
        self.0.prepared.draft.knows(keyword)
    }

    /// Whether the keywords beside a reference count.
    pub(crate) fn ref_stands_alone(&self) -> bool {
        self.0.prepared.draft.ref_stands_alone()
    }

    /// What pays.
    pub(crate) fn budget(&self) -> &Budget {
        &self.0.budget
    }

    /// The whole schema.
    pub(crate) fn root(&self) -> &'s Node<'a> {
        self.0.prepared.root
    }
}

/// Where a validation is.
#[derive(Clone, Copy)]
struct At<'p> {
    value: &'p Place<'p>,
    schema: &'p Place<'p>,
    /// How many schemas are around this one.
    level: usize,
    entered: Option<&'p Entered<'p>>,
}

/// A reference that is being followed, and those before it.
struct Entered<'p> {
    target: Number,
    value: &'p Node<'p>,
    before: Option<&'p Entered<'p>>,
}

/// One validation.
struct Run<'v, 's, 'a> {
    prepared: &'v Validator<'s, 'a>,
    budget: Budget,
    patterns: Patterns,
    /// Where chains of references end, by each of their links; `None`: nowhere.
    ends: Map<Number, Option<Number>>,
    /// The values of long enums, by the number of the keyword's value, as they are compared.
    listed: Map<Number, Set<String>>,
    /// The members of objects in order, by where the objects stand in memory: of the schema, which stays there.
    declared: Map<usize, Rc<Order>>,
    /// The same of the value, which may be changed between two questions.
    orders: Map<usize, Rc<Order>>,
    /// All questions until further notice are about one value.
    keeps_orders: bool,
    /// Nothing is told while this is not 0: of two branches that both refuse a value neither is at fault.
    silent: usize,
    errors: Vec<ArgumentViolation>,
}

impl<'v, 's, 'a> Run<'v, 's, 'a> {
    fn new(prepared: &'v Validator<'s, 'a>, is_silent: bool) -> Self {
        Run {
            prepared,
            budget: Budget::new(0, Some(STEPS)),
            patterns: Patterns::default(),
            ends: Map::new(),
            listed: Map::new(),
            declared: Map::new(),
            orders: Map::new(),
            keeps_orders: false,
            silent: usize::from(is_silent),
            errors: Vec::new(),
        }
    }

    /// Notes what a keyword refuses.
    #[inline(never)]
    fn refuse(&mut self, at: At<'_>, keyword: &'static str, message: impl FnOnce() -> String) -> Verdict {
        if !self.is_silent() {
            let (pointer, schema_pointer) = (at.value.pointer(), at.schema.pointer());
            self.errors.push(ArgumentViolation { pointer, schema_pointer, keyword, message: message() });
        }
        Verdict::Invalid
    }

    /// True if further violations are not reported.
    fn is_silent(&self) -> bool {
        self.silent > 0 || self.errors.len() >= MOST
    }

    /// What a keyword says, if it is known whether it holds.
    fn told(&mut self, holds: Option<bool>, at: At<'_>, keyword: Keyword, message: impl FnOnce() -> String) -> Verdict {
        match holds {
            Some(true) => Verdict::Valid,
            Some(false) => self.refuse(at, keyword.name(), message),
            None => Verdict::Unknown,
        }
    }

    /// What a schema says of a value, without a word about it.
    fn quietly(&mut self, schema: &'s Node<'a>, value: &Node<'_>, at: At<'_>) -> Verdict {
        self.silent += 1;
        let verdict = self.schema(schema, value, at);
        self.silent -= 1;
        verdict
    }

    /// What a schema says of a value.
    fn schema(&mut self, schema: &'s Node<'a>, value: &Node<'_>, at: At<'_>) -> Verdict {
        if at.level > DEEPEST || !self.budget.pay(1) {
            return Verdict::Unknown;
        }
        let at = At { level: at.level + 1, ..at };
        let object = match schema.data() {
            Data::Bool(true) => return Verdict::Valid,
            Data::Bool(false) => {
                return self.refuse(at, "false", || format!("expected nothing here, found {}", value.kind()))
            }
            Data::Object(object) => object,
            _ => return Verdict::Unknown,
        };
        if self.prepared.references.is_some() && self.prepared.draft.ref_stands_alone() {
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
            let place = Place::Name(at.schema, keyword.name());
            let at = At { schema: &place, ..at };
            verdict = verdict.and(self.keyword(keyword, &member.value, object, value, at));
            if verdict == Verdict::Invalid && self.is_silent() {
                break;
            }
        }
        verdict
    }

    /// What one keyword of a schema says of a value.
    fn keyword(
        &mut self,
        keyword: Keyword,
        says: &'s Node<'a>,
        schema: &'s Object<'a>,
        value: &Node<'_>,
        at: At<'_>,
    ) -> Verdict {
        match (keyword.applies_to(), value.data()) {
            (None, _) => self.of_any(keyword, says, schema, value, at),
            (Some(InstanceType::Number), Data::Number(number)) => self.of_number(keyword, says, schema, number, at),
            (Some(InstanceType::String), Data::String(text)) => self.of_string(keyword, says, text, at),
            (Some(InstanceType::Array), Data::Array(items)) => self.of_array(keyword, says, schema, items, at),
            (Some(InstanceType::Object), Data::Object(members)) => {
                self.of_object(keyword, says, schema, members, value, at)
            }
            (_, Data::Verbatim(_)) => Verdict::Unknown,
            // A keyword for another kind.
            _ => Verdict::Valid,
        }
    }

    fn of_any(
        &mut self,
        keyword: Keyword,
        says: &'s Node<'a>,
        schema: &'s Object<'a>,
        value: &Node<'_>,
        at: At<'_>,
    ) -> Verdict {
        match keyword {
            Keyword::Type => self.types(says, value, at),
            Keyword::Enum => self.listed(says, value, at),
            Keyword::Const => self.constant(says, value, at),
            Keyword::Ref => self.reference(says, value, at),
            Keyword::AllOf => self.all_of(says, value, at),
            Keyword::AnyOf => self.any_of(says, value, at),
            Keyword::OneOf => self.one_of(says, value, at),
            Keyword::Not => self.not(says, value, at),
            Keyword::If => self.condition(says, schema, value, at),
            Keyword::DynamicRef | Keyword::RecursiveRef => Verdict::Unknown,
            _ => Verdict::Valid,
        }
    }

    /// How a count compares with the limit that a keyword sets; `None`: it sets none.
    fn against(&self, count: usize, limit: &Node<'_>) -> Option<core::cmp::Ordering> {
        if let Some(limit) = limit.as_u64() {
            return Some((count as u64).cmp(&limit));
        }
        let limit = limit.as_number().filter(|limit| self.budget.pay(limit.len() / 16))?;
        let is_count = json::is_integral(limit) && json::compare(limit, "0").is_ge();
        is_count.then(|| json::compare(&format!("{count}"), limit))
    }
}

/// Does the schema admit null beside its `type`, as OpenAPI 3.0 says it?
pub(crate) fn is_nullable(schema: &Object<'_>) -> bool {
    schema.get(Keyword::Nullable).and_then(Node::as_bool) == Some(true) && schema.has(Keyword::Type)
}

/// What `type` admits; `None`: it is no type, and no list of them.
fn admitted(says: &Node<'_>) -> Option<InstanceTypes> {
    InstanceTypes::of_keyword(says)
}
