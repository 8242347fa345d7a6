//! Spelling of references. Detects that the grammar accepts all references as written. Then no reference is resolved,
//! and the definitions are not moved.
//!
//! Respells `$dynamicRef` and `$recursiveRef` as `$ref`. They resolve differently only if another document refers to
//! this one, and no document refers to the schema of a tool.

use alloc::{format, vec, vec::Vec};

use crate::{
    dialect::grammar::{Recursion, RefRule},
    effect::Accepts,
    error::Error,
    json::{Flags, Node, Text},
    options::Refs,
    rules::Rule,
    sanitize::{
        context::PassContext,
        diagnostics::{ChangeKind, Location},
    },
    schema::{
        definitions,
        keyword::{Keyword, Keywords, Role},
        references::{self, Form, Number, References},
        visit::{self, SchemaPath, Visit, VisitorMut},
    },
};

pub(crate) fn as_written(root: &Node<'_>, references: &References, context: &PassContext) -> Result<bool, Error> {
    let rule = context.grammar.refs;
    let must_resolve = context.refs == Refs::Inline || !matches!(rule.recursion, Recursion::Free);
    // Dynamic references must be resolved if the grammar refuses them, or if a schema without assertions would be
    // written as "anything".
    let resolves_dynamic =
        (context.requires_types && context.grammar.encodes()) || context.grammar.refuses.contains(Keyword::DynamicRef);
    if must_resolve
        || context.is_wrapped
        || root.get(Keyword::Ref).is_some()
        || (resolves_dynamic && references::has_dynamic(root, &context.budget)?)
    {
        return Ok(false);
    }
    let mut can_stay = true;
    visit::walk(&context.budget, root, Keywords::ALL, &mut |node, path| {
        // `$id` in a subschema changes the base of the pointers in it, and may be removed.
        if path.keyword.is_some() && node.get(Keyword::Id).is_some() {
            can_stay = false;
        }
        // If `$id` must be removed, the references in this schema would resolve differently.
        can_stay = can_stay && !(context.grammar.refuses.contains(Keyword::Id) && node.get(Keyword::Id).is_some());
        // A part of `allOf` that refers to a definition is merged with it.
        let is_part = |part: &Node<'_>| part.get(Keyword::Ref).is_some();
        can_stay = can_stay
            && !(context.grammar.merges_all_of(path.keyword.is_none())
                && node.array_at(Keyword::AllOf).is_some_and(|parts| parts.iter().any(is_part)));
        let mut written = references::KEYWORDS.iter().filter_map(|keyword| node.get(keyword));
        // A dynamic reference without a target might get one when schemas move. Anchors are known only in the input.
        let resolved = |value: &Node<'_>| {
            context.form == Form::Written || value.as_text().is_none() || references.target(value).is_some()
        };
        // A reference to the other table of definitions resolves only when it is rewritten.
        can_stay = can_stay && written.all(|value| resolved(value) && !references.is_misnamed(value));
        if let Some(reference) = node.text_at(Keyword::Ref) {
            let has_accepted_siblings = node.as_object().into_iter().flatten().all(|member| {
                let keyword = Keyword::named(&member.key);
                // If the draft ignores siblings of `$ref`, rewriting would make assertions among them apply.
                let is_ignored_assertion = context.draft.ignores_ref_siblings()
                    && keyword.is_some_and(|keyword| keyword.role() == Role::Assertion);
                member.key.is(Keyword::Ref)
                    || (!is_ignored_assertion
                        && keyword.map_or(rule.beside == Keywords::ALL, |keyword| rule.beside.contains(keyword)))
            });
            can_stay = can_stay
                && references.target_of(node).is_some()
                && has_accepted_siblings
                && points_to_table(reference, &rule);
        }
        Ok(if can_stay { Visit::Descend } else { Visit::Skip })
    })?;
    // Unused definitions are removed. (Targets of dynamic references are not searched for.)
    Ok(can_stay
        && (references::has_dynamic(root, &context.budget)? || !definitions::has_unreached(root, &context.budget)?))
}

/// Returns true if a pointer points to a table entry or to the root. Any other pointer would break if a schema on its
/// path were rewritten.
fn points_to_table(reference: &Text<'_>, rule: &RefRule) -> bool {
    let Some(reference) = reference.value() else { return false };
    // An API that does not resolve references by JSON Schema does not decode them either.
    let is_decoded = rule.anywhere && !rule.plain_pointers;
    let is_plain = |name: &str| !name.is_empty() && !name.contains('/') && (is_decoded || !name.contains(['%', '~']));
    let points_into_table = |prefix: &str| reference.strip_prefix(prefix).is_some_and(is_plain);
    (rule.to_root && reference == "#")
        || (rule.to_defs && points_into_table("#/$defs/"))
        || (rule.to_definitions && points_into_table("#/definitions/"))
}

const RESPELL: ChangeKind = ChangeKind::of(Rule::DynamicRefToRef);

/// Respells dynamic references, also in targets that are not subschemas of the source of the definitions.
pub(crate) fn respell_dynamic<'a>(
    root: &mut Node<'a>,
    source: &mut Node<'a>,
    references: &References,
    context: &mut PassContext,
) -> Result<(), Error> {
    let budget = context.budget.clone();
    let mut outside: Vec<Number> = Vec::new();
    for target in references.targets_outside_subschemas(source, &budget) {
        if references::has_dynamic(target, &budget)? {
            outside.extend(target.origin().number());
        }
    }
    let is_dynamic = context.survey.keywords.intersects(Keywords::of(&[Keyword::DynamicRef, Keyword::RecursiveRef]));
    let mut respell = Respell { references, context };
    if is_dynamic {
        visit::walk_mut(&budget, root, Keywords::ALL, &mut respell)?;
        visit::walk_mut(&budget, source, Keywords::ALL, &mut respell)?;
    }
    for number in outside {
        if let Some(target) = references::node_with_number_mut(source, number, &budget) {
            visit::walk_mut(&budget, target, Keywords::ALL, &mut respell)?;
        }
    }
    Ok(())
}

struct Respell<'r> {
    references: &'r References,
    context: &'r mut PassContext,
}

impl<'a> VisitorMut<'a> for Respell<'_> {
    fn enter(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>) -> Result<Visit, Error> {
        for keyword in ["$dynamicRef", "$recursiveRef"] {
            self.respell_keyword(node, path, keyword);
        }
        Ok(Visit::Descend)
    }
}

impl Respell<'_> {
    /// The reference and its siblings both apply, in every draft that has dynamic references.
    fn respell_keyword<'a>(&mut self, node: &mut Node<'a>, path: &SchemaPath<'_, 'a>, keyword: &'static str) {
        let Some(value) = node.get(keyword).filter(|value| value.as_text().is_some()) else { return };
        // Another anchor of this name might be the intended one.
        let is_ambiguous = self.references.is_ambiguous(value);
        let effect = if is_ambiguous { RESPELL.accepts(Accepts::Mixed) } else { RESPELL };
        // Next to a `$ref`, the reference becomes a part of `allOf`, and the part gets the number of the reference.
        let from = Location::of(value);
        let to = if node.get(Keyword::Ref).is_some() { from.clone() } else { Location::under(node, "$ref") };
        self.context.diagnostics.report(path, from.to(to), effect, || format!("replaced `{keyword}` with `$ref`"));
        self.context.effects.respelled = true;
        self.context.effects.inlined_more = true;
        let Some(object) = node.as_object_mut() else { return };
        let at = object.position(keyword).unwrap_or_default();
        let Some(mut value) = object.remove(keyword) else { return };
        value.flag(Flags::APPLIES);
        if !object.has(Keyword::Ref) {
            object.insert_at(at, Text::literal("$ref"), value);
            return;
        }
        let origin = value.origin();
        let part = Node::record([("$ref", value)]).with_origin(origin);
        match object.get_mut(Keyword::AllOf).and_then(Node::as_array_mut) {
            Some(parts) => parts.push(part),
            None => object.set(Text::literal("allOf"), Node::array(vec![part])),
        }
    }
}
