//! Finds properties that the schema mentions outside the objects that declare them: if such an object is closed, it
//! refuses properties that the schema describes elsewhere.

use alloc::string::String;

use crate::{
    budget::Budget,
    collections::{Map, Set},
    error::Error,
    json::{Node, Object, Text},
    schema::{
        join::Parts,
        keyword::{Keyword, Keywords},
        references::{self, Number},
        visit::{self, Visit},
    },
};

/// Keywords whose subschemas apply to an object as well, and may mention properties that the object refuses once it is
/// closed.
const BESIDE: Keywords = Keywords::of(&CONDITIONS).insert(Keyword::Contains);

/// Of these, the keywords that apply to the same object.
const CONDITIONS: [Keyword; 6] =
    [Keyword::If, Keyword::Then, Keyword::Else, Keyword::DependentSchemas, Keyword::Dependencies, Keyword::Not];

/// In-place applicators, including conditions.
const IN_PLACE: Keywords =
    Keywords::of(&CONDITIONS).insert(Keyword::AllOf).insert(Keyword::AnyOf).insert(Keyword::OneOf);

/// Table of properties.
type Table<'n, 'a> = Option<&'n Object<'a>>;

fn table<'n, 'a>(node: &'n Node<'a>) -> Table<'n, 'a> {
    node.object_at(Keyword::Properties)
}

/// Properties that a schema mentions outside the objects that declare them.
#[derive(Default)]
pub(crate) struct Naming {
    /// Names in conditions, and in parts that were removed.
    names: Set<String>,
    /// True if one of the names is not valid Unicode.
    unreadable: bool,
    /// Objects that declare additional properties, by number.
    wanted: Set<Number>,
    /// For the number of each branch of `oneOf`, the number of its schema: no instance matches two of these branches.
    alternatives: Map<Number, Number>,
}

/// Context of a part that mentions properties.
#[derive(Clone, Copy)]
struct Context<'n, 'a> {
    /// Properties that the object itself declares.
    known: Table<'n, 'a>,
    /// True if names in `required` count as mentioned.
    demands: bool,
}

impl Naming {
    /// Collects the properties that the input mentions.
    pub(crate) fn of(root: &Node<'_>, budget: &Budget) -> Result<Naming, Error> {
        let mut naming = Naming::default();
        let mut refers = false;
        visit::walk(budget, root, Keywords::ALL, &mut |node, place| {
            if node.as_object().is_some_and(|object| wants_others(object, 0)) {
                naming.wanted.extend(node.origin().number());
            }
            for branch in node.items_at(Keyword::OneOf).iter() {
                naming.alternatives.extend(branch.origin().number().zip(node.origin().number()));
            }
            let lists = node.object_at(Keyword::DependentRequired).into_iter().flatten();
            lists.for_each(|member| naming.list(&member.value, table(node)));
            for keyword in CONDITIONS {
                let Some(part) = node.get(keyword) else { continue };
                let has_many = matches!(keyword, Keyword::DependentSchemas | Keyword::Dependencies);
                let own = Context { known: table(node), demands: keyword != Keyword::Not };
                for part in part.as_object().filter(|_| has_many).into_iter().flatten().map(|member| &member.value) {
                    refers |= naming.beside(part, own, budget)?;
                }
                if !has_many {
                    refers |= naming.beside(part, own, budget)?;
                }
            }
            if let Some(part) = node.get(Keyword::Contains) {
                refers |= naming.beside(part, Context { known: None, demands: true }, budget)?;
            }
            let is_beside = place.keyword.is_some_and(|keyword| BESIDE.contains(keyword));
            Ok(if is_beside { Visit::Skip } else { Visit::Descend })
        })?;
        if refers {
            // Any target of a reference may also apply inside a condition.
            naming.beside(root, Context { known: None, demands: false }, budget)?;
        }
        Ok(naming)
    }

    /// Records a removed part that named properties of an object that is kept.
    pub(crate) fn removed(&mut self, part: &Node<'_>, budget: &Budget) -> Result<(), Error> {
        self.beside(part, Context { known: None, demands: true }, budget).map(drop)
    }

    /// Records that objects were merged. The merged object must accept additional properties if one of the objects
    /// accepts them explicitly, or declares no properties at all.
    pub(crate) fn joined(&mut self, objects: &[Object<'_>], parts: Option<Parts<'_, '_, '_>>, into: Number) {
        let is_map = |object: &Object<'_>, more: usize| {
            let table = object.object_at(Keyword::Properties);
            more == 0 && table.is_none_or(Object::is_empty) && !object.has(Keyword::AdditionalProperties)
        };
        let wants = |(at, object): (usize, &Object<'_>)| {
            let more = parts.map_or(0, |parts| parts.more(at, object));
            wants_others(object, more) || is_map(object, more)
        };
        if objects.iter().enumerate().any(wants) {
            self.wanted.insert(into);
        }
    }

    /// True if closing an object refuses properties that the schema mentions.
    pub(crate) fn mentions_others(&self, node: &Node<'_>, number: Number) -> bool {
        let is_known = |name: &String| table(node).is_some_and(|table| table.has(name.as_str()));
        self.unreadable || self.wanted.contains(&number) || !self.names.iter().all(is_known)
    }

    /// True if these are branches of the same `oneOf`, so that no instance matches both.
    pub(crate) fn are_alternatives(&self, one: &Node<'_>, two: &Node<'_>) -> bool {
        let of = |branch: &Node<'_>| Some((self.alternatives.get(&branch.origin().number()?)?, branch.origin()));
        of(one).zip(of(two)).is_some_and(|(one, two)| one.0 == two.0 && one.1.number() != two.1.number())
    }

    /// Collects the names in a part. Returns true if it contains references.
    fn beside(&mut self, part: &Node<'_>, context: Context<'_, '_>, budget: &Budget) -> Result<bool, Error> {
        // `dependencies` may hold a list of names.
        self.list(part, context.known);
        let mut refers = false;
        // Depth of the outermost enclosing schema that applies to a different value.
        let mut other: Option<usize> = None;
        visit::walk(budget, part, Keywords::ALL, &mut |node, place| {
            other = other.filter(|depth| place.depth > *depth);
            if place.keyword.is_some_and(|keyword| !IN_PLACE.contains(keyword)) {
                other = other.or(Some(place.depth));
            }
            let known = context.known.filter(|_| other.is_none());
            refers |= references::KEYWORDS.iter().any(|keyword| node.get(keyword).is_some());
            table(node).into_iter().flatten().for_each(|member| self.name(&member.key, known));
            if let Some(names) = node.get(Keyword::Required).filter(|_| context.demands) {
                self.list(names, known);
            }
            Ok(Visit::Descend)
        })?;
        Ok(refers)
    }

    fn list(&mut self, names: &Node<'_>, known: Table<'_, '_>) {
        names.as_array().into_iter().flatten().filter_map(Node::as_text).for_each(|name| self.name(name, known));
    }

    fn name(&mut self, name: &Text<'_>, known: Table<'_, '_>) {
        if known.is_some_and(|known| known.get_text(name).is_some()) {
            return;
        }
        match name.value() {
            Some(name) => self.names.extend(Some(name.into_owned())),
            None => self.unreadable = true,
        }
    }
}

/// True if a schema accepts or requires more properties than it declares; `more` counts the common properties that it
/// does not repeat.
fn wants_others(schema: &Object<'_>, more: usize) -> bool {
    let is_open = |keyword: Keyword| schema.get(keyword).is_some_and(|schema| schema.as_bool() != Some(false));
    let count = |keyword: Keyword| schema.object_at(keyword).map_or(0, Object::len);
    let min = schema.get(Keyword::MinProperties).and_then(Node::as_number);
    let min: Option<usize> = min.and_then(|min| min.parse().ok());
    is_open(Keyword::AdditionalProperties)
        || is_open(Keyword::UnevaluatedProperties)
        || count(Keyword::PatternProperties) > 0
        || min.is_some_and(|min| min > count(Keyword::Properties) + more)
}
