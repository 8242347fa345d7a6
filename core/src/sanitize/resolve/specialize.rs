//! The definitions that stay: their names, and those that have grown by what stood beside a reference to them.
//!
//! Nothing may stand beside a reference, so `{"$ref": "#/$defs/a", …}` refers to a definition that says both. The same
//! siblings make the same definition, and that is how recursion through it closes.

use alloc::{format, string::String, vec::Vec};

use crate::{
    budget::Budget,
    collections::{Map, Set},
    json::{self, Data, Member, Node},
    schema::{
        intersect::{self, Merged},
        keyword::{Keyword, Keywords},
        references::{Number, References},
    },
};

/// How many definitions are gone through to find that a definition says already what stands beside a reference to it.
const MOST_SEEN: usize = 32;

/// A target as it is, or one that has grown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::sanitize) struct Definition {
    pub(in crate::sanitize) target: Number,
    /// What it has grown by, in canonical form.
    with: Option<String>,
}

impl Definition {
    /// A target as it is.
    pub(in crate::sanitize) const fn of(target: Number) -> Self {
        Definition { target, with: None }
    }

    /// Is it this target, and more?
    pub(in crate::sanitize) fn has_grown_from(&self, target: Number) -> bool {
        self.target == target && self.with.is_some()
    }
}

/// What became of a reference with something beside it.
pub(in crate::sanitize) enum Growth<'a> {
    /// The definition is there already, or needs none of it.
    Known(Definition),
    /// A new definition, and what joining could not say.
    New(Definition, [Merged<'a>; 2]),
    /// Definitions have grown too much.
    TooMuch,
}

struct Specialized<'a> {
    siblings: Node<'a>,
    body: Node<'a>,
}

pub(in crate::sanitize) struct Definitions<'e, 's, 'a> {
    budget: &'e Budget,
    references: &'e References,
    /// What references refer to, and where it stands.
    pub(in crate::sanitize) targets: Map<Number, (&'s Node<'a>, String)>,
    /// What may stand beside a reference.
    beside: Keywords,
    names: Map<Definition, String>,
    /// The same, by their names.
    written: Map<String, Definition>,
    /// For each name that was asked for more than once, the first number behind it that may be free.
    counts: Map<String, usize>,
    grown: Map<Definition, Specialized<'a>>,
    /// How many nodes they may still grow by.
    spare: usize,
    queue: Vec<Definition>,
}

impl<'e, 's, 'a> Definitions<'e, 's, 'a> {
    pub(in crate::sanitize) fn new(
        root: &'s Node<'a>,
        references: &'e References,
        beside: Keywords,
        spare: usize,
        budget: &'e Budget,
    ) -> Self {
        let targets = references.targets(root, budget);
        Definitions {
            budget,
            references,
            targets,
            beside,
            names: Map::new(),
            written: Map::new(),
            counts: Map::new(),
            grown: Map::new(),
            spare,
            queue: Vec::new(),
        }
    }

    /// Does nothing stand beside this reference but what may?
    pub(in crate::sanitize) fn stands_alone(&self, node: &Node<'_>) -> bool {
        node.as_object().is_none_or(|object| object.iter().all(|member| self.may_stand_beside(member)))
    }

    pub(in crate::sanitize) fn may_stand_beside(&self, member: &Member<'_>) -> bool {
        member.key.is(Keyword::Ref) || Keyword::named(&member.key).is_some_and(|keyword| self.beside.contains(keyword))
    }

    /// The definition that was given this name.
    pub(in crate::sanitize) fn written(&self, name: &str) -> Option<&Definition> {
        self.written.get(name)
    }

    /// What a definition that has grown says.
    pub(in crate::sanitize) fn body(&self, definition: &Definition) -> Option<Node<'a>> {
        Some(self.grown.get(definition)?.body.copy(self.budget))
    }

    /// Takes from what is left for growing.
    pub(in crate::sanitize) fn spend(&mut self, nodes: usize) -> bool {
        let left = self.spare.checked_sub(nodes);
        self.spare = left.unwrap_or(self.spare);
        left.is_some()
    }

    /// The definition that says what this one says and what stands beside a reference to it.
    ///
    /// `held` is what the definition holds, without what does not apply beside a reference.
    pub(in crate::sanitize) fn grow(&mut self, node: &Node<'a>, from: &Definition, held: &Node<'a>) -> Growth<'a> {
        let (siblings, at) = self.siblings(node);
        let joined = match self.grown.get(from) {
            Some(grown) => intersect::both(self.budget, siblings, grown.siblings.copy(self.budget)),
            None => Merged::exact(siblings),
        };
        let definition = Definition { target: from.target, with: Some(json::canonical(&joined.node)) };
        if self.grown.contains_key(&definition) {
            return Growth::Known(definition);
        }
        if self.says(held, &joined.node, &mut Set::from([from.target])) {
            return Growth::Known(Definition::of(from.target));
        }
        let body = intersect::both_at(self.budget, joined.node.copy(self.budget), held.copy(self.budget), at);
        if !self.spend(json::size(&body.node, self.budget)) {
            return Growth::TooMuch;
        }
        self.grown.insert(
            definition.clone(),
            Specialized { siblings: joined.node.copy(self.budget), body: body.node.copy(self.budget) },
        );
        Growth::New(definition, [joined, body])
    }

    /// What stands beside a reference and may not, and before which of its keys the reference stood.
    fn siblings(&self, node: &Node<'a>) -> (Node<'a>, usize) {
        let mut siblings = node.copy(self.budget);
        let Some(object) = siblings.as_object_mut() else { return (siblings, 0) };
        object.retain(|member| member.key.is(Keyword::Ref) || !self.may_stand_beside(member));
        let at = object.position(Keyword::Ref).unwrap_or_default();
        object.remove(Keyword::Ref);
        (siblings, at)
    }

    /// Does a schema say all of this already? Every branch of a union has to; what refers back to it says what it says.
    fn says(&self, schema: &Node<'a>, all: &Node<'a>, seen: &mut Set<Number>) -> bool {
        let merged = intersect::both(self.budget, all.copy(self.budget), schema.copy(self.budget));
        if merged.is_exact() && json::same_within(self.budget, &merged.node, schema) {
            return true;
        }
        if let Some(target) = schema.get(Keyword::Ref).and_then(|reference| self.references.target(reference)) {
            let Some((body, _)) = self.targets.get(&target) else { return false };
            return !seen.insert(target) || (seen.len() <= MOST_SEEN && self.says(body, all, seen));
        }
        let branches = schema.get(Keyword::AnyOf).and_then(Node::as_array).unwrap_or_default();
        !branches.is_empty() && branches.iter().all(|branch| self.says(branch, all, seen))
    }

    /// The name of a definition; asking for it puts it on the list.
    pub(in crate::sanitize) fn name(&mut self, definition: &Definition) -> String {
        if let Some(name) = self.names.get(definition) {
            return name.clone();
        }
        let pointer = self.targets.get(&definition.target).map(|(_, pointer)| pointer.as_str()).unwrap_or_default();
        let stem = stem(pointer);
        let mut name = stem.clone();
        let next = self.counts.entry(stem.clone()).or_insert(2);
        // The name is the target's own, should it stay too.
        while self.written.contains_key(&name) || (definition.with.is_some() && name == stem) {
            name = format!("{stem}_{next}");
            *next += 1;
        }
        self.written.insert(name.clone(), definition.clone());
        self.names.insert(definition.clone(), name.clone());
        self.queue.push(definition.clone());
        name
    }

    /// A definition that was asked for, its name, and what it holds, its own references not yet settled.
    pub(in crate::sanitize) fn next(&mut self) -> Option<(Definition, String, Node<'a>)> {
        let definition = self.queue.pop()?;
        let body = match (self.grown.get(&definition), self.targets.get(&definition.target)) {
            (Some(grown), _) => grown.body.copy(self.budget),
            (None, Some((target, _))) => target.copy(self.budget),
            (None, None) => Node::new(Data::Bool(true)),
        };
        let name = self.names.get(&definition).cloned().unwrap_or_default();
        Some((definition, name, body))
    }
}

/// A name for what stands at a pointer: its last token.
///
/// A name that we make is never a number: a JavaScript object would put it before all other members. One of the
/// caller's own stays.
fn stem(pointer: &str) -> String {
    let spell = |token: &str| -> String {
        let plain = token.replace("~1", "_").replace("~0", "_");
        plain
            .chars()
            .map(
                |character| {
                    if character.is_ascii_alphanumeric() || "_-.".contains(character) {
                        character
                    } else {
                        '_'
                    }
                },
            )
            .collect()
    };
    let mut tokens = pointer.rsplit('/');
    let (last, around) = (tokens.next().unwrap_or_default(), tokens.next().unwrap_or_default());
    let is_number = !last.is_empty() && last.bytes().all(|digit| digit.is_ascii_digit());
    match spell(last) {
        stem if stem.is_empty() => String::from("root"),
        stem if is_number && !matches!(around, "$defs" | "definitions") => format!("{}_{stem}", spell(around)),
        stem => stem,
    }
}
