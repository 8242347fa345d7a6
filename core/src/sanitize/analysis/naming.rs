//! What a schema says of properties elsewhere than in the objects that name them: closing those objects loses more than
//! properties that nobody spoke of.

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

/// Under these stands what holds of an object besides, and what is gone once the object is closed.
const BESIDE: Keywords = Keywords::of(&CONDITIONS).insert(Keyword::Contains);

/// Of these, those that speak of the same object.
const CONDITIONS: [Keyword; 6] =
    [Keyword::If, Keyword::Then, Keyword::Else, Keyword::DependentSchemas, Keyword::Dependencies, Keyword::Not];

/// Under these stands what speaks of the same object.
const IN_PLACE: Keywords =
    Keywords::of(&CONDITIONS).insert(Keyword::AllOf).insert(Keyword::AnyOf).insert(Keyword::OneOf);

/// A table of properties.
type Table<'n, 'a> = Option<&'n Object<'a>>;

fn table<'n, 'a>(node: &'n Node<'a>) -> Table<'n, 'a> {
    node.get(Keyword::Properties).and_then(Node::as_object)
}

/// What a schema says of properties beside the objects that name them.
#[derive(Default)]
pub(in crate::sanitize) struct Naming {
    /// What is named in conditions, and in parts that were removed.
    names: Set<String>,
    /// A name that is no Unicode text is among them.
    unreadable: bool,
    /// The objects of which it is said that there may be others, by their numbers.
    wanted: Set<Number>,
    /// By the number of each branch of a `oneOf`, that of the schema which says that no two of them accept the same.
    alternatives: Map<Number, Number>,
}

/// How a part says something.
#[derive(Clone, Copy)]
struct Said<'n, 'a> {
    /// What the object that it speaks of names itself.
    known: Table<'n, 'a>,
    /// What is required in it is wanted.
    demands: bool,
}

impl Naming {
    /// What the input says.
    pub(in crate::sanitize) fn of(root: &Node<'_>, budget: &Budget) -> Result<Naming, Error> {
        let mut naming = Naming::default();
        let mut refers = false;
        visit::walk(budget, root, Keywords::ALL, &mut |node, place| {
            if node.as_object().is_some_and(|object| wants_others(object, 0)) {
                naming.wanted.extend(node.origin().number());
            }
            for branch in node.get(Keyword::OneOf).and_then(Node::as_array).into_iter().flatten() {
                naming.alternatives.extend(branch.origin().number().zip(node.origin().number()));
            }
            let lists = node.get(Keyword::DependentRequired).and_then(Node::as_object).into_iter().flatten();
            lists.for_each(|member| naming.list(&member.value, table(node)));
            for keyword in CONDITIONS {
                let Some(part) = node.get(keyword) else { continue };
                let has_many = matches!(keyword, Keyword::DependentSchemas | Keyword::Dependencies);
                let own = Said { known: table(node), demands: keyword != Keyword::Not };
                for part in part.as_object().filter(|_| has_many).into_iter().flatten().map(|member| &member.value) {
                    refers |= naming.beside(part, own, budget)?;
                }
                if !has_many {
                    refers |= naming.beside(part, own, budget)?;
                }
            }
            if let Some(part) = node.get(Keyword::Contains) {
                refers |= naming.beside(part, Said { known: None, demands: true }, budget)?;
            }
            let is_beside = place.keyword.is_some_and(|keyword| BESIDE.contains(keyword));
            Ok(if is_beside { Visit::Skip } else { Visit::Descend })
        })?;
        if refers {
            // Whatever is referred to may hold besides, too.
            naming.beside(root, Said { known: None, demands: false }, budget)?;
        }
        Ok(naming)
    }

    /// A part is removed that named properties of an object that stays.
    pub(in crate::sanitize) fn removed(&mut self, part: &Node<'_>, budget: &Budget) -> Result<(), Error> {
        self.beside(part, Said { known: None, demands: true }, budget).map(drop)
    }

    /// These become one object. It wants others if one of them does: one that names nothing wants any.
    pub(in crate::sanitize) fn joined(
        &mut self,
        objects: &[Object<'_>],
        parts: Option<Parts<'_, '_, '_>>,
        into: Number,
    ) {
        let is_map = |object: &Object<'_>, more: usize| {
            let table = object.get(Keyword::Properties).and_then(Node::as_object);
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

    /// Whether closing an object shuts out more than what nobody spoke of.
    pub(in crate::sanitize) fn speaks_of_others(&self, node: &Node<'_>, number: Number) -> bool {
        let is_known = |name: &String| table(node).is_some_and(|table| table.has(name.as_str()));
        self.unreadable || self.wanted.contains(&number) || !self.names.iter().all(is_known)
    }

    /// Whether the input says that nothing is accepted by both of these branches.
    pub(in crate::sanitize) fn are_alternatives(&self, one: &Node<'_>, two: &Node<'_>) -> bool {
        let of = |branch: &Node<'_>| Some((self.alternatives.get(&branch.origin().number()?)?, branch.origin()));
        of(one).zip(of(two)).is_some_and(|(one, two)| one.0 == two.0 && one.1.number() != two.1.number())
    }

    /// Notes what is named in a part; `true` if it refers to others.
    fn beside(&mut self, part: &Node<'_>, said: Said<'_, '_>, budget: &Budget) -> Result<bool, Error> {
        // A list of names, as `dependencies` may hold one.
        self.list(part, said.known);
        let mut refers = false;
        // How deep the schema stands that first spoke of another value.
        let mut other: Option<usize> = None;
        visit::walk(budget, part, Keywords::ALL, &mut |node, place| {
            other = other.filter(|depth| place.depth > *depth);
            if place.keyword.is_some_and(|keyword| !IN_PLACE.contains(keyword)) {
                other = other.or(Some(place.depth));
            }
            let known = said.known.filter(|_| other.is_none());
            refers |= references::KEYWORDS.iter().any(|keyword| node.get(keyword).is_some());
            table(node).into_iter().flatten().for_each(|member| self.name(&member.key, known));
            if let Some(names) = node.get(Keyword::Required).filter(|_| said.demands) {
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

/// Does a schema say that there are properties besides those that it names, and so many more?
fn wants_others(schema: &Object<'_>, more: usize) -> bool {
    let is_open = |keyword: Keyword| schema.get(keyword).is_some_and(|schema| schema.as_bool() != Some(false));
    let count = |keyword: Keyword| schema.get(keyword).and_then(Node::as_object).map_or(0, Object::len);
    let least = schema.get(Keyword::MinProperties).and_then(Node::as_number);
    let least: Option<usize> = least.and_then(|least| least.parse().ok());
    is_open(Keyword::AdditionalProperties)
        || is_open(Keyword::UnevaluatedProperties)
        || count(Keyword::PatternProperties) > 0
        || least.is_some_and(|least| least > count(Keyword::Properties) + more)
}
