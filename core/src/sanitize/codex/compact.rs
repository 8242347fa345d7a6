//! What Codex gives up when a schema is too large, step by step until it fits. Best effort, not a cap.

use alloc::{format, string::String, vec::Vec};

use super::{
    keep::APPLICATORS,
    notes::{Left, Note, Notes},
};
use crate::{
    error::Error,
    json::{self, Data, Node, Object, Pointer, Step},
    report::{Accepts, Guidance},
    rules::Rule,
    schema::{
        keyword::{Keyword, Keywords},
        reach::{self, TABLES},
        walk::{self, Next, Place, Position, Rewrite},
    },
    sorted::Set,
};

/// From this many steps below the root, structure is given up.
const DEEP: usize = 3;

const COMBINATORS: [&str; 3] = ["anyOf", "oneOf", "allOf"];
const STRUCTURE: [&str; 7] = ["items", "anyOf", "oneOf", "allOf", "properties", "additionalProperties", "$ref"];

/// The schemas that count as steps: definitions do not.
const STEPS: Keywords =
    Keywords::of(&[Keyword::Properties, Keyword::Items, Keyword::AdditionalProperties, Keyword::AnyOf, Keyword::OneOf, Keyword::AllOf]);

/// Gives up meaning, the cheapest first, until the schema's compact text is within `max_bytes`.
pub(super) fn compact(root: &mut Node<'_>, max_bytes: usize, notes: &mut Notes<'_>) -> Result<(), Error> {
    let fits = |root: &Node<'_>| json::plain_length(root) <= max_bytes;
    if fits(root) {
        return Ok(());
    }
    walk::rewrite(notes.budget, root, APPLICATORS, &mut Descriptions { notes, max_bytes })?;
    if fits(root) {
        return Ok(());
    }
    let refers = |node: &Node<'_>, _: usize| node.get("$ref").and_then(Node::as_text).and_then(reach::definition).is_some();
    empty(root, APPLICATORS, Rule::CompactReferences, &refers, max_bytes, notes)?;
    drop_tables(root, max_bytes, notes);
    if fits(root) {
        return Ok(());
    }
    let deep = |node: &Node<'_>, depth: usize| depth >= DEEP && STRUCTURE.iter().any(|keyword| node.get(keyword).is_some());
    empty(root, STEPS, Rule::CompactDepth, &deep, max_bytes, notes)?;
    if fits(root) {
        return Ok(());
    }
    let combined = |node: &Node<'_>, _: usize| COMBINATORS.iter().any(|keyword| node.get(keyword).is_some());
    empty(root, APPLICATORS, Rule::CompactCombinators, &combined, max_bytes, notes)
}

struct Descriptions<'n, 'r> {
    notes: &'n mut Notes<'r>,
    max_bytes: usize,
}

impl<'a> Rewrite<'a> for Descriptions<'_, '_> {
    fn enter(&mut self, node: &mut Node<'a>, place: &Place<'_, 'a>) -> Result<Next, Error> {
        if node.get("description").is_some() {
            let note = Note { rule: Rule::CompactDescriptions, accepts: Accepts::Same, guidance: Guidance::Lost, left: Left::Nothing };
            let max_bytes = self.max_bytes;
            self.notes.note(node, place, Some("description"), note, || format!("removed `description` to get down to {max_bytes} bytes"));
            if let Some(object) = node.as_object_mut() {
                object.remove("description");
            }
        }
        Ok(Next::Into)
    }
}

/// Makes `{}` of every schema that `gives_up` names by what it is and how deep it stands.
fn empty<'a>(
    root: &mut Node<'a>,
    through: Keywords,
    rule: Rule,
    gives_up: &dyn Fn(&Node<'a>, usize) -> bool,
    max_bytes: usize,
    notes: &mut Notes<'_>,
) -> Result<(), Error> {
    // Two passes, so that what earlier rules said of the schemas below is forgotten before these changes are noted.
    if notes.is_on() {
        let mut gone = Set::new();
        walk::visit(notes.budget, root, through, &mut |node, place| {
            if !gives_up(node, place.depth) {
                return Ok(Next::Into);
            }
            gone.insert(place.pointer.render());
            Ok(Next::Skip)
        })?;
        notes.forget(&gone);
    }
    walk::rewrite(notes.budget, root, through, &mut Empty { notes, rule, gives_up, max_bytes })
}

struct Empty<'e, 'r, 'a> {
    notes: &'e mut Notes<'r>,
    rule: Rule,
    gives_up: &'e dyn Fn(&Node<'a>, usize) -> bool,
    max_bytes: usize,
}

impl<'a> Rewrite<'a> for Empty<'_, '_, 'a> {
    fn enter(&mut self, node: &mut Node<'a>, place: &Place<'_, 'a>) -> Result<Next, Error> {
        if !(self.gives_up)(node, place.depth) {
            return Ok(Next::Into);
        }
        let note = Note { rule: self.rule, accepts: Accepts::Wider, guidance: Guidance::Lost, left: Left::Here };
        let max_bytes = self.max_bytes;
        self.notes.note(node, place, None, note, || format!("emptied a schema to get down to {max_bytes} bytes"));
        node.replace(Data::Object(Object::new()));
        Ok(Next::Skip)
    }
}

/// The root tables go with the last references to them.
fn drop_tables(root: &mut Node<'_>, max_bytes: usize, notes: &mut Notes<'_>) {
    let tables: Vec<&'static str> = TABLES.into_iter().filter(|table| root.get(table).is_some()).collect();
    for table in tables {
        if let Some(definitions) = root.get(table).filter(|_| notes.is_on()) {
            let mut pointer = Pointer::root();
            pointer.push(Step::Name(table));
            notes.forget(&Set::from([pointer.render()]));
            let note = Note { rule: Rule::CompactReferences, accepts: Accepts::Same, guidance: Guidance::Lost, left: Left::Nothing };
            notes.note_at(definitions, &pointer, Position::Positive, None, note, || -> String {
                format!("removed `{table}` to get down to {max_bytes} bytes")
            });
        }
        if let Some(object) = root.as_object_mut() {
            object.remove(table);
        }
    }
}
