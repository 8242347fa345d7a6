//! Finds parts of a schema in which the effect of a change depends on its use: definitions that are used inside `not`,
//! `oneOf` and the like, and everything if `unevaluated*` occurs.

use alloc::{string::String, vec::Vec};
use core::ops::Range;

use crate::{
    budget::Budget,
    collections::{self, Map},
    error::Error,
    json::Node,
    schema::{
        definitions,
        keyword::{Keyword, Keywords},
        references::{self, Number},
        visit::{self, Polarity, Visit},
    },
};

/// Nodes at which only the effect `same` is certain.
#[derive(Default)]
pub(crate) struct PolarityMap {
    everywhere: bool,
    /// Definitions, and siblings of references, as sorted ranges of node numbers.
    definitions: Vec<Range<Number>>,
}

impl PolarityMap {
    /// Finds these nodes in a numbered schema.
    pub(crate) fn of(root: &Node<'_>, budget: &Budget) -> Result<PolarityMap, Error> {
        let mut search = PolaritySearch {
            budget,
            bodies: Map::new(),
            open: Vec::new(),
            beside: Vec::new(),
            everywhere: false,
            by_name: true,
        };
        for table in definitions::TABLES {
            for member in root.object_at(table).into_iter().flatten() {
                if let Some(reference) = definitions::reference_to(table, member) {
                    search.bodies.insert(reference, Body { schema: &member.value, reached: None });
                }
            }
        }
        search.all(root)?;
        let unsure = search.bodies.values().filter(|body| body.reached == Some(Polarity::Mixed));
        let mut definitions: Vec<Range<Number>> = unsure.map(|body| references::numbers(body.schema)).collect();
        definitions.append(&mut search.beside);
        let mut definitions = collections::by(definitions, |one, two| one.start.cmp(&two.start));
        // Of nested ranges, keeps the outermost.
        definitions.dedup_by(|inner, outer| inner.end <= outer.end);
        Ok(PolarityMap { everywhere: search.everywhere, definitions })
    }

    /// True if the effect of a change at this node is uncertain.
    pub(crate) fn covers(&self, node: Number) -> bool {
        let after = self.definitions.partition_point(|range| range.start <= node);
        let around = after.checked_sub(1).and_then(|place| self.definitions.get(place));
        self.everywhere || around.is_some_and(|range| range.contains(&node))
    }
}

struct Body<'n, 'a> {
    schema: &'n Node<'a>,
    /// Worst polarity of the references that lead here: `Positive` or `Mixed`.
    reached: Option<Polarity>,
}

struct PolaritySearch<'n, 'a> {
    budget: &'n Budget,
    /// Definitions by reference.
    bodies: Map<String, Body<'n, 'a>>,
    open: Vec<(String, Polarity)>,
    /// References with siblings in non-positive positions: the siblings may become part of a definition.
    beside: Vec<Range<Number>>,
    everywhere: bool,
    /// True if every reference names its definition.
    by_name: bool,
}

impl<'n, 'a> PolaritySearch<'n, 'a> {
    /// Visits everything that is reachable from the root.
    fn all(&mut self, root: &'n Node<'a>) -> Result<(), Error> {
        self.by_name = !references::has_dynamic(root, self.budget)?;
        self.schema(root, Polarity::Positive)?;
        while let Some((name, polarity)) = self.open.pop() {
            let Some(body) = self.bodies.get_mut(&name) else { continue };
            if body.reached == Some(Polarity::Mixed) || body.reached == Some(polarity) {
                continue;
            }
            body.reached = Some(polarity);
            let schema = body.schema;
            self.schema(schema, polarity)?;
        }
        if !self.by_name {
            // Any schema may be reached from anywhere.
            visit::walk(self.budget, root, Keywords::ALL, &mut |node, place| {
                let refers = references::KEYWORDS.iter().any(|keyword| node.get(keyword).is_some());
                self.everywhere |= has_unevaluated(node) || (place.polarity != Polarity::Positive && refers);
                Ok(if self.everywhere { Visit::Skip } else { Visit::Descend })
            })?;
        }
        Ok(())
    }

    /// Visits a schema, except its tables of definitions.
    fn schema(&mut self, schema: &Node<'_>, polarity: Polarity) -> Result<(), Error> {
        visit::walk(self.budget, schema, Keywords::ALL, &mut |node, place| {
            if matches!(place.keyword, Some(Keyword::Defs | Keyword::Definitions)) {
                return Ok(Visit::Skip);
            }
            self.everywhere |= has_unevaluated(node);
            if let Some(reference) = node.text_at(Keyword::Ref) {
                let unsure = polarity == Polarity::Mixed || place.polarity != Polarity::Positive;
                if unsure && node.as_object().is_some_and(|object| object.len() > 1) {
                    self.beside.push(references::numbers(node));
                }
                let reference = reference.value().unwrap_or_default();
                if self.bodies.contains_key(&*reference) {
                    self.open.push((reference.into_owned(), if unsure { Polarity::Mixed } else { Polarity::Positive }));
                } else {
                    self.by_name &= reference == "#";
                    self.everywhere |= reference == "#" && unsure;
                }
            }
            Ok(if self.everywhere { Visit::Skip } else { Visit::Descend })
        })
    }
}

/// True if the schema has `unevaluated*`, which depends on all siblings.
fn has_unevaluated(node: &Node<'_>) -> bool {
    ["unevaluatedProperties", "unevaluatedItems"].iter().any(|keyword| node.get(keyword).is_some())
}
