//! OpenAPI's `discriminator`: its `mapping` names the branches of the sibling union by their references.
//!
//! Passes rewrite the branches like any other schemas; [`Discriminators::update_mappings`] then updates the mapping. If
//! a branch is still a reference, its entry gets that reference. If a branch was inlined, its entry would have no
//! target and is removed.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use crate::{
    budget::Budget,
    collections::{Map, Set},
    effect::Guidance,
    error::Error,
    json::{Data, Node, Object, Text},
    rules::Rule,
    sanitize::diagnostics::{ChangeKind, Diagnostics, Location},
    schema::{
        keyword::{Draft, Keyword, Keywords},
        references::{self, Form, Number, References},
        visit::{self, SchemaPath, Visit, VisitorMut},
    },
};

const REWRITE: ChangeKind = ChangeKind::of(Rule::RewriteRef);
const DROP: ChangeKind = ChangeKind::of(Rule::DropKeyword).guidance(Guidance::Lost);

const UNIONS: [Keyword; 2] = [Keyword::AnyOf, Keyword::OneOf];

#[derive(Default)]
pub(crate) struct Discriminators {
    /// Numbers of the discriminators next to a union.
    in_unions: Set<Number>,
    /// Entries of mappings that have a target. The value is the number of the branch's reference, if the entry names a
    /// branch.
    entries: Map<Number, Option<Number>>,
}

impl Discriminators {
    /// The schema must not be rewritten yet.
    pub(crate) fn of(root: &Node<'_>, budget: &Budget) -> Result<Self, Error> {
        let mut discriminators = Discriminators::default();
        let mut definitions: Option<References> = None;
        let mut open = Vec::from([root]);
        while let Some(node) = open.pop().filter(|_| budget.pay(1)) {
            match node.data() {
                Data::Array(items) => open.extend(items),
                Data::Object(object) => {
                    if let Some(discriminator) = object.object_at(Keyword::Discriminator) {
                        let definitions = match &mut definitions {
                            Some(known) => known,
                            None => definitions.insert(references::of(root, Form::Written, Draft::Y2020, budget)?),
                        };
                        discriminators.record(object, discriminator, definitions, budget);
                    }
                    open.extend(object.iter().map(|member| &member.value));
                }
                _ => {}
            }
        }
        Ok(discriminators)
    }

    fn record(&mut self, object: &Object<'_>, discriminator: &Object<'_>, definitions: &References, budget: &Budget) {
        if UNIONS.iter().any(|union| object.has(*union)) {
            self.in_unions.extend(object.get(Keyword::Discriminator).and_then(|value| value.origin().number()));
        }
        let branch_by_name: Map<String, Number> = branches(object)
            .filter_map(reference)
            .filter(|reference| budget.pay(1 + reference.as_text().map_or(0, |text| text.chars().len())))
            .filter_map(|reference| Some((reference.as_text()?.value()?.into_owned(), reference.origin().number()?)))
            .flat_map(|(text, number)| [(last_segment(&text), number), (text, number)])
            .collect();
        for entry in discriminator.object_at("mapping").into_iter().flatten() {
            let text = entry.value.as_text().and_then(Text::value);
            let (Some(text), Some(number)) = (text, entry.value.origin().number()) else { continue };
            let branch = branch_by_name.get(&*text).copied();
            if branch.is_some() || definitions.target(&entry.value).is_some() {
                self.entries.insert(number, branch);
            }
        }
    }

    pub(crate) fn update_mappings(
        &self,
        root: &mut Node<'_>,
        diagnostics: &mut Diagnostics,
        budget: &Budget,
    ) -> Result<(), Error> {
        if self.in_unions.is_empty() && self.entries.is_empty() {
            return Ok(());
        }
        let references = references::of(root, Form::Written, Draft::Y2020, budget)?;
        let mut updater = MappingUpdater { known: self, references, diagnostics, budget };
        visit::walk_mut(budget, root, Keywords::ALL, &mut updater)
    }
}

struct MappingUpdater<'e> {
    known: &'e Discriminators,
    references: References,
    diagnostics: &'e mut Diagnostics,
    budget: &'e Budget,
}

impl<'a> VisitorMut<'a> for MappingUpdater<'_> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        let Some(discriminator) = node.get(Keyword::Discriminator) else { return Ok(Visit::Descend) };
        let is_alone = UNIONS.iter().all(|union| node.get(*union).is_none());
        if is_alone && discriminator.origin().number().is_some_and(|number| self.known.in_unions.contains(&number)) {
            self.diagnostics.report(path, Location::of(discriminator).removed(), DROP, || {
                String::from("removed `discriminator`: its union is gone")
            });
            if let Some(object) = node.as_object_mut() {
                object.remove(Keyword::Discriminator);
            }
        } else if let Some(mapping) = discriminator.object_at("mapping") {
            let entry_changes = self.entry_changes(node, mapping);
            if entry_changes.iter().any(|change| *change != EntryChange::Same) {
                self.rewrite(node, path, entry_changes);
            }
        }
        Ok(Visit::Descend)
    }
}

impl MappingUpdater<'_> {
    fn entry_changes<'a>(&self, schema: &Node<'a>, mapping: &Object<'a>) -> Vec<EntryChange<'a>> {
        let by_number: Map<Number, &Node<'a>> = schema
            .as_object()
            .into_iter()
            .flat_map(branches)
            .filter_map(reference)
            .filter(|_| self.budget.pay(1))
            .filter_map(|reference| Some((reference.origin().number()?, reference)))
            .collect();
        let change_of = |entry: &Node<'a>| {
            let Some(branch) = entry.origin().number().and_then(|number| self.known.entries.get(&number)) else {
                return EntryChange::Same;
            };
            let reference = branch.and_then(|branch| by_number.get(&branch)).and_then(|reference| reference.as_text());
            match reference {
                Some(text) if entry.as_text().is_some_and(|name| names_branch(name, text)) => EntryChange::Same,
                Some(text) => EntryChange::To(text.clone()),
                None if self.references.target(entry).is_some() => EntryChange::Same,
                None => EntryChange::Removed,
            }
        };
        mapping.iter().map(|entry| change_of(&entry.value)).collect()
    }

    fn rewrite<'a>(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, entry_changes: Vec<EntryChange<'a>>) {
        let Some(discriminator) = node.get(Keyword::Discriminator) else { return };
        let Some(mapping) = discriminator.get("mapping") else { return };
        let is_empty = entry_changes.iter().all(|change| *change == EntryChange::Removed);
        if entry_changes.contains(&EntryChange::Removed) {
            let to = if is_empty { Location::Nowhere } else { Location::of(mapping) };
            self.diagnostics.report(path, Location::of(mapping).to(to), DROP, || {
                String::from("removed entries from the `mapping` of `discriminator` whose definitions are gone")
            });
        }
        for (entry, change) in mapping.as_object().into_iter().flatten().zip(&entry_changes) {
            let EntryChange::To(text) = change else { continue };
            let location = Location::of(&entry.value);
            self.diagnostics.report(path, location.in_place(), REWRITE, || {
                format!("replaced the reference in `mapping` with `{}`", text.display())
            });
        }
        node.visit(Keyword::Discriminator, |discriminator| {
            let Some(object) = discriminator.as_object_mut() else { return };
            if is_empty {
                object.remove("mapping");
                return;
            }
            let Some(mapping) = object.get_mut("mapping").and_then(Node::as_object_mut) else { return };
            let mut entry_changes = entry_changes.into_iter();
            mapping.retain(|entry| match entry_changes.next() {
                Some(EntryChange::Removed) => false,
                Some(EntryChange::To(text)) => {
                    entry.value.replace(Data::String(text));
                    true
                }
                _ => true,
            });
        });
    }
}

#[derive(PartialEq, Eq)]
enum EntryChange<'a> {
    Same,
    To(Text<'a>),
    Removed,
}

fn branches<'n, 'a>(object: &'n Object<'a>) -> impl Iterator<Item = &'n Node<'a>> {
    UNIONS.into_iter().filter_map(|union| object.array_at(union)).flatten()
}

fn reference<'n, 'a>(branch: &'n Node<'a>) -> Option<&'n Node<'a>> {
    branch.get(Keyword::Ref).filter(|reference| reference.as_text().is_some())
}

/// An entry names a branch by the branch's reference, or by the bare name of the definition.
fn names_branch(entry: &Text<'_>, reference: &Text<'_>) -> bool {
    entry == reference || reference.value().is_some_and(|reference| entry.is(&last_segment(&reference)))
}

fn last_segment(reference: &str) -> String {
    reference.rsplit('/').next().unwrap_or_default().to_string()
}
