//! Siblings of `$ref`: up to draft 7 they usually have no effect. They have an effect if the reference was moved (from
//! a part of `allOf`, or from another schema) into a schema with keywords that already applied.
//!
//! References in parts of `allOf` become references with siblings, if the grammar needs parts merged into their schema.
//! References that are kept are spelled as the dialect reads them. If a sibling is not accepted, the reference points
//! to a definition that includes the sibling.

use alloc::{format, string::String, vec, vec::Vec};

use super::{Inliner, KEEP};
use crate::{
    effect::{Accepts, Guidance},
    error::Error,
    json::{Data, Flags, Member, Node, Object, Text},
    rules::{Constraint, Rule},
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
        legalize::all_of,
        resolve::definitions::{Definition, MergeResult},
    },
    schema::{
        keyword::{Keyword, Keywords, Role, Subschemas},
        references::Form,
        visit::{self, Polarity, SchemaPath, Visit, VisitorMut},
    },
};

const DROP: ChangeKind = ChangeKind::of(Rule::DropRefSibling);

/// Marks the reference, so that siblings added from now on apply regardless of the draft.
pub(crate) fn mark_siblings_as_applying(node: &mut Node<'_>) {
    node.visit(Keyword::Ref, |reference| reference.flag(Flags::APPLIES));
}

pub(crate) fn siblings_apply(node: &Node<'_>) -> bool {
    node.get(Keyword::Ref).is_some_and(|reference| reference.flags().intersects(Flags::APPLIES))
}

/// Removes the siblings that the draft ignores, and marks the reference, so that later siblings apply.
pub(crate) struct DropIgnoredSiblings<'r> {
    pub(crate) context: &'r mut PassContext,
}

impl<'a> VisitorMut<'a> for DropIgnoredSiblings<'_> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        if node.get(Keyword::Ref).is_some_and(|reference| reference.as_text().is_some()) && !siblings_apply(node) {
            drop_ignored_siblings(node, path.polarity, self.context);
            mark_siblings_as_applying(node);
        }
        Ok(Visit::Descend)
    }
}

fn is_assertion(member: &Member<'_>) -> bool {
    !member.key.is(Keyword::Ref)
        && Keyword::named(&member.key).is_some_and(|keyword| !matches!(keyword.role(), Role::Annotation | Role::Meta))
}

/// Removes siblings of `$ref` that have no effect up to draft 7. Annotations are kept.
pub(crate) fn drop_ignored_siblings(node: &mut Node<'_>, polarity: Polarity, context: &mut PassContext) {
    let Some(object) = node.as_object().filter(|object| object.iter().any(is_assertion)) else { return };
    context.effects.inlined_more = true;
    for member in context.budget.each(object).filter(|member| is_assertion(member)) {
        let keyword = member.key.display().into_owned();
        context.diagnostics.report(polarity, Location::under(node, keyword.clone()).removed(), DROP, || {
            format!("removed `{keyword}`: it has no effect next to `$ref` in this draft")
        });
    }
    if let Some(object) = node.as_object_mut() {
        object.retain(|member| !is_assertion(member));
    }
}

pub(crate) fn only_annotations(node: &Node<'_>) -> bool {
    let annotates = |member: &Member<'_>| {
        Keyword::named(&member.key).is_some_and(|keyword| matches!(keyword.role(), Role::Annotation | Role::Meta))
    };
    node.as_object().is_some_and(|object| object.iter().all(annotates))
}

fn merges_all_of(path: &SchemaPath<'_, '_>, context: &PassContext) -> bool {
    context.grammar.merges_all_of(path.keyword.is_none())
}

pub(crate) fn flatten_nested_all_of(node: &mut Node<'_>, path: &SchemaPath<'_, '_>, context: &mut PassContext) {
    if !merges_all_of(path, context) {
        return;
    }
    // In old drafts, siblings of a reference have no effect.
    let ignores_ref_siblings = context.draft.ignores_ref_siblings();
    let has_all_of = |part: &Node<'_>| {
        part.get(Keyword::AllOf).is_some_and(|parts| parts.as_array().is_some())
            && !(ignores_ref_siblings && part.get(Keyword::Ref).is_some() && !siblings_apply(part))
    };
    if !node.array_at(Keyword::AllOf).is_some_and(|parts| parts.iter().any(has_all_of)) {
        return;
    }
    context.effects.inlined_more = true;
    let Some(object) = node.as_object_mut() else { return };
    let Some(parts) = object.get_mut(Keyword::AllOf).and_then(Node::as_array_mut) else { return };
    let mut pending: Vec<Node<'_>> = core::mem::take(parts).into_iter().rev().collect();
    while let Some(mut part) = pending.pop() {
        let inner = if has_all_of(&part) {
            part.as_object_mut().and_then(|object| object.remove(Keyword::AllOf))
        } else {
            None
        };
        if let Some(Data::Array(inner)) = inner.map(Node::into_data) {
            pending.extend(inner.into_iter().rev());
            if part.as_object().is_some_and(Object::is_empty) {
                continue;
            }
        }
        parts.push(part);
    }
}

/// Moves the reference of a part out of `allOf`, so that it is handled as a reference with siblings. Merging part by
/// part would not end if a definition contains itself as a part. Returns false if no part is a reference.
pub(crate) fn flatten_reference_part<'a>(
    node: &mut Node<'a>,
    path: &SchemaPath<'_, 'a>,
    context: &mut PassContext,
) -> bool {
    if !merges_all_of(path, context) || node.get(Keyword::Ref).is_some() {
        return false;
    }
    let refers = |part: &Node<'_>| part.get(Keyword::Ref).is_some_and(|reference| reference.as_text().is_some());
    let Some(parts) = node.array_at(Keyword::AllOf) else { return false };
    let Some(at) = parts.iter().position(refers) else { return false };
    context.effects.inlined_more = true;
    let (location, count) = (Location::under(node, "allOf"), parts.len());
    let Some(object) = node.as_object_mut() else { return false };
    let all_of_index = object.position(Keyword::AllOf).unwrap_or_default();
    let Some(parts) = object.get_mut(Keyword::AllOf).and_then(Node::as_array_mut) else { return false };
    let Some(part) = parts.get_mut(at) else { return false };
    if context.draft.ignores_ref_siblings() && !siblings_apply(part) {
        drop_ignored_siblings(part, path.polarity, context);
    }
    let reference = part.as_object_mut().and_then(|part| part.remove(Keyword::Ref));
    if part.as_object().is_some_and(Object::is_empty) {
        parts.remove(at);
    }
    if parts.is_empty() {
        object.remove(Keyword::AllOf);
    }
    if let Some(reference) = reference {
        object.insert_at(all_of_index, Text::literal("$ref"), reference);
        mark_siblings_as_applying(node);
    }
    context.diagnostics.report(path, location.to(Location::of(node)), all_of::ALL_OF, || {
        format!("merged the {count} parts of `allOf`")
    });
    true
}

const DROP_DRAFT: ChangeKind =
    ChangeKind::of(Rule::DropRefSibling).guidance(Guidance::Same).caused_by(Constraint::BesideRef);
const TOO_MUCH: ChangeKind =
    ChangeKind::of(Rule::DropRefSibling).accepts(Accepts::Wider).caused_by(Constraint::BesideRef);

impl<'a> Inliner<'_, '_, 'a> {
    pub(crate) fn write_kept_reference(
        &mut self,
        node: &mut Node<'a>,
        path: &SchemaPath<'_, 'a>,
        definition: &Definition,
    ) -> Result<(), Error> {
        if path.keyword.is_none() {
            self.drop_draft(node);
        }
        let outer_texts = self.take_texts(node);
        let is_alone = self.definitions.has_no_other_siblings(node);
        let definition =
            if is_alone { definition.clone() } else { self.merge_siblings(node, path.polarity, definition)? };
        let name = self.definitions.name(&definition);
        let reference = format!("#/$defs/{name}");
        let forbidden_parents = self.context.grammar.refs.not_directly_under;
        let is_forbidden_parent = |keyword: Keyword| {
            let allowed_parents = self.context.grammar.refs.only_under;
            // Schemas in a list are not checked.
            allowed_parents.is_some_and(|allowed| !allowed.contains(keyword))
                && keyword.subschemas() != Subschemas::Schemas
        };
        let may_wrap =
            !self.context.grammar.refuses.contains(Keyword::AllOf) && !forbidden_parents.contains(Keyword::AllOf);
        let needs_wrapper = may_wrap
            && path.keyword.is_some_and(|keyword| forbidden_parents.contains(keyword) || is_forbidden_parent(keyword));
        self.context.effects.inlined_more |= !is_alone || needs_wrapper || !outer_texts.is_empty();
        // Siblings that appear in later rounds were added, and reported, by another rule.
        let was_merged = self.context.form == Form::Read && !is_alone;
        if !node.get(Keyword::Ref).is_some_and(|spelled| spelled.is_text(&reference))
            || was_merged
            || needs_wrapper
            || !outer_texts.is_empty()
        {
            let (from, to) = (Location::of_reference(node), Location::under(node, "$ref"));
            let effect = KEEP.caused_by(match (needs_wrapper, is_alone && outer_texts.is_empty()) {
                (true, _) => Constraint::RefPlace,
                (false, true) => Constraint::RefForm,
                (false, false) => Constraint::BesideRef,
            });
            self.context
                .diagnostics
                .report(path, from.to(to), effect, || format!("replaced the reference with `{reference}`"));
        }
        if !self.definitions.has_no_other_siblings(node) {
            if let Some(object) = node.as_object_mut() {
                object.retain(|member| self.definitions.accepts_sibling(member));
            }
        }
        node.visit(Keyword::Ref, |written| {
            // A reference that already has this spelling is not touched.
            if written.as_text().and_then(Text::as_plain) != Some(reference.as_str()) {
                *written.data_mut() = Data::String(reference.into());
            }
            written.flag(Flags::RESOLVED);
        });
        let origin = node.origin();
        if needs_wrapper {
            let inner = Node::new(core::mem::take(node).into_data()).with_origin(origin);
            *node = Node::record([("allOf", Node::array(vec![inner]))]).with_origin(origin);
        }
        if !outer_texts.is_empty() {
            let inner = Node::new(core::mem::take(node).into_data()).with_origin(origin);
            let mut members = outer_texts;
            members.push(Member { key: Text::literal("anyOf"), value: Node::array(vec![inner]) });
            *node = Node::object(Object::from_unique(members)).with_origin(origin);
        }
        Ok(())
    }

    /// Removes `$schema` if it is not accepted as a sibling of the root's reference. In a definition, it would no
    /// longer declare the draft.
    fn drop_draft(&mut self, node: &mut Node<'a>) {
        let is_draft =
            |member: &Member<'a>| member.key.is(Keyword::Schema) && !self.definitions.accepts_sibling(member);
        if !node.as_object().is_some_and(|object| object.iter().any(is_draft)) {
            return;
        }
        let Some(draft) = node.remove("$schema") else { return };
        self.context.effects.inlined_more = true;
        self.context.diagnostics.report(Polarity::Positive, Location::of(&draft).removed(), DROP_DRAFT, || {
            String::from(
                "removed `$schema`, which is not allowed next to a reference: all keywords follow the current draft",
            )
        });
    }

    /// Removes annotations that may not be siblings of a reference, and returns them for an enclosing schema. Returns
    /// an empty list if the schema also has other siblings that are not accepted.
    fn take_texts(&self, node: &mut Node<'a>) -> Vec<Member<'a>> {
        let is_accepted = |member: &Member<'a>| self.definitions.accepts_sibling(member);
        let is_text = |member: &Member<'a>| {
            !is_accepted(member)
                && Keyword::named(&member.key)
                    .is_some_and(|keyword| keyword.role() == Role::Annotation && keyword.applies_to().is_none())
        };
        let only_texts = |object: &Object<'a>| {
            object.iter().any(is_text) && object.iter().all(|member| is_accepted(member) || is_text(member))
        };
        if !node.as_object().is_some_and(only_texts) {
            return Vec::new();
        }
        let Some(object) = node.as_object_mut() else { return Vec::new() };
        let (inner, outer_texts) = core::mem::take(object).into_members().into_iter().partition(is_accepted);
        *object = Object::from_unique(inner);
        outer_texts
    }

    fn merge_siblings(
        &mut self,
        node: &mut Node<'a>,
        polarity: Polarity,
        from: &Definition,
    ) -> Result<Definition, Error> {
        let location = Location::of(node);
        let Some(mut body) =
            self.definitions.targets.get(&from.target).map(|(target, _)| target.copy(&self.context.budget))
        else {
            return Ok(from.clone());
        };
        if self.context.draft.ignores_ref_siblings() {
            // Siblings apply from now on, so the siblings that the draft ignores are removed from both sides before the
            // merge.
            mark_siblings_as_applying(node);
            let budget = self.context.budget.clone();
            let mut visitor = DropIgnoredSiblings { context: &mut *self.context };
            visit::walk_mut_at(&budget, node, polarity, Keywords::ALL, &mut visitor)?;
            visit::walk_mut_at(&budget, &mut body, polarity, Keywords::ALL, &mut visitor)?;
        }
        Ok(match self.definitions.merge_siblings(node, from, &body) {
            MergeResult::Known(definition) => definition,
            MergeResult::New(definition, merges) => {
                merges.iter().for_each(|merged| all_of::report_conflicts(merged, polarity, &location, self.context));
                definition
            }
            MergeResult::TooMuch => {
                self.context.diagnostics.report(polarity, location.in_place(), TOO_MUCH, || {
                    String::from("removed the keywords next to a recursive reference: definitions have grown too much")
                });
                self.context.diagnostics.remove_names(node, &self.context.budget)?;
                from.clone()
            }
        })
    }
}
