//! Definitions that are kept: their names, and the copies that merge a definition with siblings of a reference to it.
//! Definitions that are not referenced are removed, along with reported changes inside them.
//!
//! If siblings of `$ref` are not accepted, `{"$ref": "#/$defs/a", …}` refers to a copy of the definition that is merged
//! with the siblings. The same siblings give the same definition, so a recursive definition is copied only once.

use alloc::{format, string::String, vec::Vec};

use crate::{
    budget::Budget,
    collections::{Map, Set},
    error::Error,
    json::{self, Data, Member, Node},
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
    },
    schema::{
        definitions::{reachable_definitions, reference_to, TABLES},
        intersect::{self, Merged},
        keyword::{Keyword, Keywords},
        references::{Form, Number, References},
        visit::{self, Polarity, Visit},
    },
};

/// Maximum number of definitions to inspect when searching for the siblings of a reference in its definition.
const MAX_SEEN: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Definition {
    pub(crate) target: Number,
    /// Siblings merged into the target, in canonical form.
    siblings: Option<String>,
}

impl Definition {
    pub(crate) const fn of(target: Number) -> Self {
        Definition { target, siblings: None }
    }

    pub(crate) const fn is_plain(&self) -> bool {
        self.siblings.is_none()
    }

    pub(crate) fn is_merged_copy_of(&self, target: Number) -> bool {
        self.target == target && self.siblings.is_some()
    }
}

pub(crate) enum MergeResult<'a> {
    /// The definition already exists, or already includes the siblings.
    Known(Definition),
    /// A new definition, with what each merge could not express.
    New(Definition, [Merged<'a>; 2]),
    TooMuch,
}

struct MergedDefinition<'a> {
    siblings: Node<'a>,
    body: Node<'a>,
}

pub(crate) struct Definitions<'e, 's, 'a> {
    budget: &'e Budget,
    references: &'e References,
    /// Targets of references, with their pointers.
    pub(crate) targets: Map<Number, (&'s Node<'a>, String)>,
    /// Keywords accepted as siblings of a reference.
    accepted_siblings: Keywords,
    names: Map<Definition, String>,
    by_name: Map<String, Definition>,
    /// For each name that was requested more than once, the next number to try as a suffix.
    next_suffixes: Map<String, usize>,
    merged: Map<Definition, MergedDefinition<'a>>,
    /// Number of nodes that merged definitions may still add.
    remaining_nodes: usize,
    queue: Vec<Definition>,
}

impl<'e, 's, 'a> Definitions<'e, 's, 'a> {
    pub(crate) fn new(
        root: &'s Node<'a>,
        references: &'e References,
        accepted_siblings: Keywords,
        remaining_nodes: usize,
        budget: &'e Budget,
    ) -> Self {
        let targets = references.targets(root, budget);
        Definitions {
            budget,
            references,
            targets,
            accepted_siblings,
            names: Map::new(),
            by_name: Map::new(),
            next_suffixes: Map::new(),
            merged: Map::new(),
            remaining_nodes,
            queue: Vec::new(),
        }
    }

    pub(crate) fn has_no_other_siblings(&self, node: &Node<'_>) -> bool {
        node.as_object().is_none_or(|object| object.iter().all(|member| self.accepts_sibling(member)))
    }

    pub(crate) fn accepts_sibling(&self, member: &Member<'_>) -> bool {
        member.key.is(Keyword::Ref)
            || Keyword::named(&member.key).is_some_and(|keyword| self.accepted_siblings.contains(keyword))
    }

    pub(crate) fn written(&self, name: &str) -> Option<&Definition> {
        self.by_name.get(name)
    }

    pub(crate) fn body(&self, definition: &Definition) -> Option<Node<'a>> {
        Some(self.merged.get(definition)?.body.copy(self.budget))
    }

    /// Returns false if merged definitions may not add this many nodes.
    pub(crate) fn spend(&mut self, nodes: usize) -> bool {
        let remaining = self.remaining_nodes.checked_sub(nodes);
        self.remaining_nodes = remaining.unwrap_or(self.remaining_nodes);
        remaining.is_some()
    }

    /// `definition_body` is the body of the definition, without siblings of references that have no effect.
    pub(crate) fn merge_siblings(
        &mut self,
        node: &Node<'a>,
        from: &Definition,
        definition_body: &Node<'a>,
    ) -> MergeResult<'a> {
        let (siblings, reference_index) = self.siblings(node);
        let siblings_of_both = match self.merged.get(from) {
            Some(merged) => intersect::both(self.budget, siblings, merged.siblings.copy(self.budget)),
            None => Merged::exact(siblings),
        };
        let definition = Definition { target: from.target, siblings: Some(json::canonical(&siblings_of_both.node)) };
        if self.merged.contains_key(&definition) {
            return MergeResult::Known(definition);
        }
        if self.includes(definition_body, &siblings_of_both.node, &mut Set::from([from.target])) {
            return MergeResult::Known(Definition::of(from.target));
        }
        let body = intersect::both_at(
            self.budget,
            siblings_of_both.node.copy(self.budget),
            definition_body.copy(self.budget),
            reference_index,
        );
        if !self.spend(json::size(&body.node, self.budget)) {
            return MergeResult::TooMuch;
        }
        self.merged.insert(
            definition.clone(),
            MergedDefinition { siblings: siblings_of_both.node.copy(self.budget), body: body.node.copy(self.budget) },
        );
        MergeResult::New(definition, [siblings_of_both, body])
    }

    /// Returns the siblings that are not accepted, and the position of the reference among them.
    fn siblings(&self, node: &Node<'a>) -> (Node<'a>, usize) {
        let mut siblings = node.copy(self.budget);
        let Some(object) = siblings.as_object_mut() else { return (siblings, 0) };
        object.retain(|member| member.key.is(Keyword::Ref) || !self.accepts_sibling(member));
        let at = object.position(Keyword::Ref).unwrap_or_default();
        object.remove(Keyword::Ref);
        (siblings, at)
    }

    /// Returns true if merging the siblings into the schema changes nothing. Every branch of a union must include the
    /// siblings. A reference back to a schema under test is treated as including them.
    fn includes(&self, schema: &Node<'a>, siblings: &Node<'a>, seen: &mut Set<Number>) -> bool {
        let merged = intersect::both(self.budget, siblings.copy(self.budget), schema.copy(self.budget));
        if merged.is_exact() && json::same_within(self.budget, &merged.node, schema) {
            return true;
        }
        if let Some(target) = schema.get(Keyword::Ref).and_then(|reference| self.references.target(reference)) {
            let Some((body, _)) = self.targets.get(&target) else { return false };
            return !seen.insert(target) || (seen.len() <= MAX_SEEN && self.includes(body, siblings, seen));
        }
        let branches = schema.items_at(Keyword::AnyOf);
        !branches.is_empty() && branches.iter().all(|branch| self.includes(branch, siblings, seen))
    }

    /// Returns the name of a definition, and queues a new definition to be written.
    pub(crate) fn name(&mut self, definition: &Definition) -> String {
        if let Some(name) = self.names.get(definition) {
            return name.clone();
        }
        let pointer = self.targets.get(&definition.target).map(|(_, pointer)| pointer.as_str()).unwrap_or_default();
        let stem = stem(pointer);
        let mut name = stem.clone();
        let suffix = self.next_suffixes.entry(stem.clone()).or_insert(2);
        // The plain name is reserved for the unmerged target.
        while self.by_name.contains_key(&name) || (definition.siblings.is_some() && name == stem) {
            name = format!("{stem}_{suffix}");
            *suffix += 1;
        }
        self.by_name.insert(name.clone(), definition.clone());
        self.names.insert(definition.clone(), name.clone());
        self.queue.push(definition.clone());
        name
    }

    /// Returns the next queued definition. References in its body are not resolved yet.
    pub(crate) fn next_queued(&mut self) -> Option<(Definition, String, Node<'a>)> {
        let definition = self.queue.pop()?;
        let body = match (self.merged.get(&definition), self.targets.get(&definition.target)) {
            (Some(merged), _) => merged.body.copy(self.budget),
            (None, Some((target, _))) => target.copy(self.budget),
            (None, None) => Node::new(Data::Bool(true)),
        };
        let name = self.names.get(&definition).cloned().unwrap_or_default();
        Some((definition, name, body))
    }
}

/// Returns the last token of the pointer as a name.
///
/// A generated name is never a number, because JavaScript objects put numeric keys first. A name that the caller gave
/// to a definition is kept even if it is a number.
fn stem(pointer: &str) -> String {
    let with_accepted_characters = |token: &str| -> String {
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
    let (last, parent) = (tokens.next().unwrap_or_default(), tokens.next().unwrap_or_default());
    let is_number = !last.is_empty() && last.bytes().all(|digit| digit.is_ascii_digit());
    match with_accepted_characters(last) {
        stem if stem.is_empty() => String::from("root"),
        stem if is_number && !matches!(parent, "$defs" | "definitions") => {
            format!("{}_{stem}", with_accepted_characters(parent))
        }
        stem => stem,
    }
}

const PRUNE: ChangeKind = ChangeKind::of(Rule::PruneDefinition);

pub(crate) const TABLE_KEYWORDS: Keywords = Keywords::of(&[Keyword::Defs, Keyword::Definitions]);

/// Removes the tables of definitions from a document without references.
pub(crate) fn drop_tables<'a>(node: &mut Node<'a>, polarity: Polarity, context: &mut PassContext) {
    for table in TABLES {
        let Some(value) = node.get(table) else { continue };
        let location = Location::of(value);
        context
            .diagnostics
            .report(polarity, location.removed(), PRUNE, || format!("removed `{table}`: nothing refers to it"));
        if let Some(object) = node.as_object_mut() {
            object.remove(table);
        }
    }
}

pub(crate) fn record_pruned(
    source: &Node<'_>,
    references: &References,
    used: &Set<Number>,
    context: &mut PassContext,
) -> Result<(), Error> {
    if !context.diagnostics.is_on() {
        return Ok(());
    }
    let mut unused: Vec<Number> = Vec::new();
    let mut names: Vec<(Location, String)> = Vec::new();
    visit::walk(&context.budget, source, Keywords::ALL, &mut |node, path| {
        let in_table = matches!(path.keyword, Some(Keyword::Defs | Keyword::Definitions));
        if in_table && !references.points_into(node, path, used) {
            names.push((Location::of(node), crate::json::Pointer::render(path.pointer)));
            unused.extend(node.origin().number());
            return Ok(Visit::Skip);
        }
        Ok(Visit::Descend)
    })?;
    // In later rounds, definitions may contain copies of other parts of the input.
    if context.form == Form::Read {
        context.diagnostics.retract(&unused);
    }
    for (location, pointer) in names {
        context.diagnostics.report(Polarity::Positive, location.removed(), PRUNE, || {
            format!("removed `{pointer}`: nothing refers to it")
        });
    }
    Ok(())
}

pub(crate) fn prune(root: &mut Node<'_>, budget: &Budget) -> Result<(), Error> {
    let Some(table) = root.object_at(Keyword::Defs) else { return Ok(()) };
    let reached = reachable_definitions(root, budget)?;
    let is_reached =
        |member: &Member<'_>| reference_to("$defs", member).is_some_and(|reference| reached.contains(&reference));
    if table.iter().all(is_reached) {
        return Ok(());
    }
    let Some(object) = root.as_object_mut() else { return Ok(()) };
    let is_empty = object.get_mut(Keyword::Defs).and_then(Node::as_object_mut).is_none_or(|table| {
        table.retain(|member| is_reached(member));
        table.is_empty()
    });
    if is_empty {
        object.remove(Keyword::Defs);
    }
    Ok(())
}
