//! References that are kept: spelled as the dialect reads them. If a sibling is not accepted, the reference leads to a
//! definition that includes it.

use alloc::{format, string::String, vec, vec::Vec};

use crate::{
    error::Error,
    json::{Data, Member, Node, Object, Text},
    report::{Accepts, Guidance},
    rules::Rule,
    sanitize::{
        diagnostics::{merge_conflicts, ChangeKind, Location},
        resolve::{
            inline::{siblings, Inliner, KEEP},
            reference_marks,
            specialize::{Definition, Growth},
        },
    },
    schema::{
        keyword::{Keyword, Keywords, Role, Subschemas},
        references::Form,
        visit::{self, Polarity, SchemaPath},
    },
};

const DRAFT: ChangeKind = ChangeKind::of(Rule::DropRefSibling).guidance(Guidance::Same);
const ENOUGH: ChangeKind = ChangeKind::of(Rule::DropRefSibling).accepts(Accepts::Wider);

impl<'a> Inliner<'_, '_, 'a> {
    /// Keeps a reference, in the spelling of the dialect.
    pub(crate) fn keep(
        &mut self,
        node: &mut Node<'a>,
        place: &SchemaPath<'_, 'a>,
        definition: &Definition,
    ) -> Result<(), Error> {
        if place.keyword.is_none() {
            self.drop_draft(node);
        }
        let around = self.texts_around(node);
        let is_alone = self.definitions.has_no_other_siblings(node);
        let definition = if is_alone { definition.clone() } else { self.grow(node, place.polarity, definition)? };
        let name = self.definitions.name(&definition);
        let reference = format!("#/$defs/{name}");
        let inside = self.context.grammar.refs.not_directly_under;
        let elsewhere = |keyword: Keyword| {
            let only = self.context.grammar.refs.only_under;
            // Schemas in a list are not checked.
            only.is_some_and(|only| !only.contains(keyword)) && keyword.holds() != Subschemas::Schemas
        };
        let may_wrap = !self.context.grammar.refuses.contains(Keyword::AllOf) && !inside.contains(Keyword::AllOf);
        let wrapped = may_wrap && place.keyword.is_some_and(|keyword| inside.contains(keyword) || elsewhere(keyword));
        self.context.inlined_more |= !is_alone || wrapped || !around.is_empty();
        // Siblings that appear in later rounds were added, and reported, by another rule.
        let joined = self.context.form == Form::Read && !is_alone;
        if !node.get(Keyword::Ref).is_some_and(|spelled| spelled.is_text(&reference))
            || joined
            || wrapped
            || !around.is_empty()
        {
            let (from, to) = (Location::of_reference(node), Location::under(node, "$ref"));
            self.context
                .diagnostics
                .report(place, from.to(to), KEEP, || format!("replaced the reference with `{reference}`"));
        }
        let Some(object) = node.as_object_mut() else { return Ok(()) };
        object.retain(|member| self.definitions.accepts_sibling(member));
        if let Some(written) = object.get_mut(Keyword::Ref) {
            let marks = written.marks();
            written.replace(Data::String(reference.into()));
            written.mark(marks | reference_marks::SETTLED);
        }
        let origin = node.origin();
        if wrapped {
            let inner = Node::new(core::mem::take(node).into_data()).with_origin(origin);
            *node = Node::record([("allOf", Node::array(vec![inner]))]).with_origin(origin);
        }
        if !around.is_empty() {
            let inner = Node::new(core::mem::take(node).into_data()).with_origin(origin);
            let mut members = around;
            members.push(Member { key: Text::literal("anyOf"), value: Node::array(vec![inner]) });
            *node = Node::object(Object::from_unique(members)).with_origin(origin);
        }
        Ok(())
    }

    /// Removes `$schema` from a root that is a reference, if it is not accepted as a sibling. Moved into a definition,
    /// it would no longer declare the draft.
    fn drop_draft(&mut self, node: &mut Node<'a>) {
        let is_draft =
            |member: &Member<'a>| member.key.is(Keyword::Schema) && !self.definitions.accepts_sibling(member);
        if !node.as_object().is_some_and(|object| object.iter().any(is_draft)) {
            return;
        }
        let Some(draft) = node.remove("$schema") else { return };
        self.context.inlined_more = true;
        self.context.diagnostics.report(Polarity::Positive, Location::of(&draft).removed(), DRAFT, || {
            String::from(
                "removed `$schema`, which is not allowed next to a reference: all keywords follow the current draft",
            )
        });
    }

    /// Takes annotations that may not be siblings of a reference out of the schema, to be written around it; returns an
    /// empty list if other siblings are not accepted either.
    fn texts_around(&self, node: &mut Node<'a>) -> Vec<Member<'a>> {
        let alone = |member: &Member<'a>| self.definitions.accepts_sibling(member);
        let is_text = |member: &Member<'a>| {
            !alone(member)
                && Keyword::named(&member.key)
                    .is_some_and(|keyword| keyword.role() == Role::Annotation && keyword.applies_to().is_none())
        };
        let only_texts = |object: &Object<'a>| {
            object.iter().any(is_text) && object.iter().all(|member| alone(member) || is_text(member))
        };
        if !node.as_object().is_some_and(only_texts) {
            return Vec::new();
        }
        let Some(object) = node.as_object_mut() else { return Vec::new() };
        let (inner, around) = core::mem::take(object).into_members().into_iter().partition(alone);
        *object = Object::from_unique(inner);
        around
    }

    /// Returns a definition that merges this one with the siblings of a reference to it.
    fn grow(&mut self, node: &mut Node<'a>, polarity: Polarity, from: &Definition) -> Result<Definition, Error> {
        let location = Location::of(node);
        let Some(mut body) =
            self.definitions.targets.get(&from.target).map(|(target, _)| target.copy(&self.context.budget))
        else {
            return Ok(from.clone());
        };
        if self.context.draft.ignores_ref_siblings() {
            // Siblings here apply, so those that the draft ignores are removed from both sides before the merge.
            siblings::let_apply(node);
            let budget = self.context.budget.clone();
            let mut settle = siblings::Settle { context: &mut *self.context };
            visit::walk_mut_at(&budget, node, polarity, Keywords::ALL, &mut settle)?;
            visit::walk_mut_at(&budget, &mut body, polarity, Keywords::ALL, &mut settle)?;
        }
        Ok(match self.definitions.grow(node, from, &body) {
            Growth::Known(definition) => definition,
            Growth::New(definition, joined) => {
                joined.iter().for_each(|merged| merge_conflicts::note(merged, polarity, &location, self.context));
                definition
            }
            Growth::TooMuch => {
                self.context.diagnostics.report(polarity, location.in_place(), ENOUGH, || {
                    String::from("removed the keywords next to a recursive reference: definitions have grown too much")
                });
                self.context.diagnostics.remove_names(node, &self.context.budget)?;
                from.clone()
            }
        })
    }
}
