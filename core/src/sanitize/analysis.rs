//! Analyses of a whole schema for passes and reports.
//!
//! [`Naming`] finds properties that the schema mentions outside the objects that declare them. A closed object refuses
//! such properties. [`PolarityMap`] finds parts of a schema where the effect of a change depends on its use:
//! definitions that are used inside `not`, `oneOf` and the like, and everything if `unevaluated*` occurs.

use alloc::{string::String, vec::Vec};
use core::ops::Range;

use crate::{
    budget::Budget,
    collections::{self, Map, Set},
    error::Error,
    json::{Node, Object, Text},
    schema::{
        definitions,
        join::Parts,
        keyword::{Keyword, Keywords},
        references::{self, Number},
        visit::{self, Polarity, Visit},
    },
};

/// Keywords with subschemas that also apply to an object. They may mention properties, which the object refuses once it
/// is closed.
const CONDITIONAL: Keywords = Keywords::of(&CONDITIONS).insert(Keyword::Contains);

/// Keywords with subschemas that apply to the same instance.
const CONDITIONS: [Keyword; 6] =
    [Keyword::If, Keyword::Then, Keyword::Else, Keyword::DependentSchemas, Keyword::Dependencies, Keyword::Not];

const IN_PLACE: Keywords =
    Keywords::of(&CONDITIONS).insert(Keyword::AllOf).insert(Keyword::AnyOf).insert(Keyword::OneOf);

type Table<'n, 'a> = Option<&'n Object<'a>>;

fn table<'n, 'a>(node: &'n Node<'a>) -> Table<'n, 'a> {
    node.object_at(Keyword::Properties)
}

#[derive(Default)]
pub(crate) struct Naming {
    /// Names in conditions, and in parts that were removed.
    names: Set<String>,
    /// True if any name is not valid Unicode.
    has_invalid_unicode: bool,
    /// Objects that declare additional properties, by number.
    open_objects: Set<Number>,
    /// Number of the schema with `oneOf`, by the number of each branch.
    one_of_by_branch: Map<Number, Number>,
}

#[derive(Clone, Copy)]
struct Context<'n, 'a> {
    /// Properties that the object itself declares.
    declared: Table<'n, 'a>,
    /// True if names in `required` are treated as mentioned.
    includes_required: bool,
}

impl Naming {
    pub(crate) fn of(root: &Node<'_>, budget: &Budget) -> Result<Naming, Error> {
        let mut naming = Naming::default();
        let mut has_references = false;
        visit::walk(budget, root, Keywords::ALL, &mut |node, path| {
            if node.as_object().is_some_and(|object| accepts_additional(object, 0)) {
                naming.open_objects.extend(node.origin().number());
            }
            for branch in node.items_at(Keyword::OneOf).iter() {
                naming.one_of_by_branch.extend(branch.origin().number().zip(node.origin().number()));
            }
            let lists = node.object_at(Keyword::DependentRequired).into_iter().flatten();
            lists.for_each(|member| naming.add_all(&member.value, table(node)));
            for keyword in CONDITIONS {
                let Some(part) = node.get(keyword) else { continue };
                let has_many = matches!(keyword, Keyword::DependentSchemas | Keyword::Dependencies);
                let context = Context { declared: table(node), includes_required: keyword != Keyword::Not };
                for part in part.as_object().filter(|_| has_many).into_iter().flatten().map(|member| &member.value) {
                    has_references |= naming.collect_names(part, context, budget)?;
                }
                if !has_many {
                    has_references |= naming.collect_names(part, context, budget)?;
                }
            }
            if let Some(part) = node.get(Keyword::Contains) {
                has_references |=
                    naming.collect_names(part, Context { declared: None, includes_required: true }, budget)?;
            }
            let is_beside = path.keyword.is_some_and(|keyword| CONDITIONAL.contains(keyword));
            Ok(if is_beside { Visit::Skip } else { Visit::Descend })
        })?;
        if has_references {
            // Any target of a reference may also apply inside a condition.
            naming.collect_names(root, Context { declared: None, includes_required: false }, budget)?;
        }
        Ok(naming)
    }

    /// Adds the names in a removed part. They may be properties of a kept object.
    pub(crate) fn add_names_of_removed(&mut self, part: &Node<'_>, budget: &Budget) -> Result<(), Error> {
        self.collect_names(part, Context { declared: None, includes_required: true }, budget).map(drop)
    }

    /// Records the merged object as open if one of the objects accepts additional properties, or declares no properties
    /// at all.
    pub(crate) fn record_merged(&mut self, objects: &[Object<'_>], parts: Option<Parts<'_, '_, '_>>, into: Number) {
        let is_map = |object: &Object<'_>, more: usize| {
            let table = object.object_at(Keyword::Properties);
            more == 0 && table.is_none_or(Object::is_empty) && !object.has(Keyword::AdditionalProperties)
        };
        let wants = |(at, object): (usize, &Object<'_>)| {
            let more = parts.map_or(0, |parts| parts.missing_common(at, object));
            accepts_additional(object, more) || is_map(object, more)
        };
        if objects.iter().enumerate().any(wants) {
            self.open_objects.insert(into);
        }
    }

    /// Returns true if closing an object refuses properties that the schema mentions.
    pub(crate) fn mentions_others(&self, node: &Node<'_>, number: Number) -> bool {
        let is_known = |name: &String| table(node).is_some_and(|table| table.has(name.as_str()));
        self.has_invalid_unicode || self.open_objects.contains(&number) || !self.names.iter().all(is_known)
    }

    /// Returns the number of the schema with `oneOf`, and the number of its branch. No instance matches two branches of
    /// one `oneOf`.
    pub(crate) fn alternative(&self, branch: &Node<'_>) -> Option<(Number, Number)> {
        let number = branch.origin().number()?;
        Some((*self.one_of_by_branch.get(&number)?, number))
    }

    /// Returns true if the part contains references.
    fn collect_names(&mut self, part: &Node<'_>, context: Context<'_, '_>, budget: &Budget) -> Result<bool, Error> {
        // `dependencies` may hold a list of names.
        self.add_all(part, context.declared);
        let mut has_references = false;
        // Depth of the outermost enclosing schema that applies to a different instance.
        let mut other_instance_depth: Option<usize> = None;
        visit::walk(budget, part, Keywords::ALL, &mut |node, path| {
            other_instance_depth = other_instance_depth.filter(|depth| path.depth > *depth);
            if path.keyword.is_some_and(|keyword| !IN_PLACE.contains(keyword)) {
                other_instance_depth = other_instance_depth.or(Some(path.depth));
            }
            let declared = context.declared.filter(|_| other_instance_depth.is_none());
            has_references |= references::KEYWORDS.iter().any(|keyword| node.get(keyword).is_some());
            table(node).into_iter().flatten().for_each(|member| self.add(&member.key, declared));
            if let Some(names) = node.get(Keyword::Required).filter(|_| context.includes_required) {
                self.add_all(names, declared);
            }
            Ok(Visit::Descend)
        })?;
        Ok(has_references)
    }

    fn add_all(&mut self, names: &Node<'_>, declared: Table<'_, '_>) {
        names.as_array().into_iter().flatten().filter_map(Node::as_text).for_each(|name| self.add(name, declared));
    }

    fn add(&mut self, name: &Text<'_>, declared: Table<'_, '_>) {
        if declared.is_some_and(|declared| declared.get_text(name).is_some()) {
            return;
        }
        match name.value() {
            Some(name) => self.names.extend(Some(name.into_owned())),
            None => self.has_invalid_unicode = true,
        }
    }
}

/// `more` is the number of common properties that the schema does not repeat.
fn accepts_additional(schema: &Object<'_>, more: usize) -> bool {
    let is_open = |keyword: Keyword| schema.get(keyword).is_some_and(|schema| schema.as_bool() != Some(false));
    let count = |keyword: Keyword| schema.object_at(keyword).map_or(0, Object::len);
    let min = schema.get(Keyword::MinProperties).and_then(Node::as_number);
    let min: Option<usize> = min.and_then(|min| min.parse().ok());
    is_open(Keyword::AdditionalProperties)
        || is_open(Keyword::UnevaluatedProperties)
        || count(Keyword::PatternProperties) > 0
        || min.is_some_and(|min| min > count(Keyword::Properties) + more)
}

/// The nodes at which any effect other than `same` is uncertain.
#[derive(Default)]
pub(crate) struct PolarityMap {
    covers_all: bool,
    /// Definitions, and siblings of references, as sorted ranges of node numbers.
    definitions: Vec<Range<Number>>,
}

impl PolarityMap {
    /// The schema must be numbered.
    pub(crate) fn of(root: &Node<'_>, budget: &Budget) -> Result<PolarityMap, Error> {
        let mut search = PolaritySearch {
            budget,
            bodies: Map::new(),
            pending: Vec::new(),
            siblings: Vec::new(),
            everywhere: false,
            all_by_name: true,
        };
        for table in definitions::TABLES {
            for member in root.object_at(table).into_iter().flatten() {
                if let Some(reference) = definitions::reference_to(table, member) {
                    search.bodies.insert(reference, Body { schema: &member.value, polarity: None });
                }
            }
        }
        search.all(root)?;
        let uncertain = search.bodies.values().filter(|body| body.polarity == Some(Polarity::Mixed));
        let mut definitions: Vec<Range<Number>> = uncertain.map(|body| references::number_range(body.schema)).collect();
        definitions.append(&mut search.siblings);
        let mut definitions = collections::sorted_by(definitions, |one, two| one.start.cmp(&two.start));
        // Keeps only the outermost of nested ranges.
        definitions.dedup_by(|inner, outer| inner.end <= outer.end);
        Ok(PolarityMap { covers_all: search.everywhere, definitions })
    }

    pub(crate) fn covers(&self, node: Number) -> bool {
        let index_after = self.definitions.partition_point(|range| range.start <= node);
        let enclosing = index_after.checked_sub(1).and_then(|index| self.definitions.get(index));
        self.covers_all || enclosing.is_some_and(|range| range.contains(&node))
    }
}

struct Body<'n, 'a> {
    schema: &'n Node<'a>,
    /// Worst polarity of the references that point to the definition: `Positive` or `Mixed`.
    polarity: Option<Polarity>,
}

struct PolaritySearch<'n, 'a> {
    budget: &'n Budget,
    /// Definitions by reference.
    bodies: Map<String, Body<'n, 'a>>,
    pending: Vec<(String, Polarity)>,
    /// References with siblings in positions that are not positive. The siblings may become part of a definition.
    siblings: Vec<Range<Number>>,
    everywhere: bool,
    /// True if every reference names its definition.
    all_by_name: bool,
}

impl<'n, 'a> PolaritySearch<'n, 'a> {
    fn all(&mut self, root: &'n Node<'a>) -> Result<(), Error> {
        self.all_by_name = !references::has_dynamic(root, self.budget)?;
        self.schema(root, Polarity::Positive)?;
        while let Some((name, polarity)) = self.pending.pop() {
            let Some(body) = self.bodies.get_mut(&name) else { continue };
            if body.polarity == Some(Polarity::Mixed) || body.polarity == Some(polarity) {
                continue;
            }
            body.polarity = Some(polarity);
            let schema = body.schema;
            self.schema(schema, polarity)?;
        }
        if !self.all_by_name {
            // Any schema may be reached from anywhere.
            visit::walk(self.budget, root, Keywords::ALL, &mut |node, path| {
                let refers = references::KEYWORDS.iter().any(|keyword| node.get(keyword).is_some());
                self.everywhere |= has_unevaluated(node) || (path.polarity != Polarity::Positive && refers);
                Ok(if self.everywhere { Visit::Skip } else { Visit::Descend })
            })?;
        }
        Ok(())
    }

    fn schema(&mut self, schema: &Node<'_>, polarity: Polarity) -> Result<(), Error> {
        visit::walk(self.budget, schema, Keywords::ALL, &mut |node, path| {
            if matches!(path.keyword, Some(Keyword::Defs | Keyword::Definitions)) {
                return Ok(Visit::Skip);
            }
            self.everywhere |= has_unevaluated(node);
            if let Some(reference) = node.text_at(Keyword::Ref) {
                let is_uncertain = polarity == Polarity::Mixed || path.polarity != Polarity::Positive;
                if is_uncertain && node.as_object().is_some_and(|object| object.len() > 1) {
                    self.siblings.push(references::number_range(node));
                }
                let reference = reference.value().unwrap_or_default();
                if self.bodies.contains_key(&*reference) {
                    self.pending.push((
                        reference.into_owned(),
                        if is_uncertain { Polarity::Mixed } else { Polarity::Positive },
                    ));
                } else {
                    self.all_by_name &= reference == "#";
                    self.everywhere |= reference == "#" && is_uncertain;
                }
            }
            Ok(if self.everywhere { Visit::Skip } else { Visit::Descend })
        })
    }
}

/// `unevaluated*` depends on all siblings.
fn has_unevaluated(node: &Node<'_>) -> bool {
    ["unevaluatedProperties", "unevaluatedItems"].iter().any(|keyword| node.get(keyword).is_some())
}
