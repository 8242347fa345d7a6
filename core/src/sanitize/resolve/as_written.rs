//! References that the grammar takes as they are written: then nothing is settled, and the definitions stay where they
//! stand.

use crate::{
    dialect::grammar::{Recursion, RefRule},
    error::Error,
    json::{Node, Text},
    options::Refs,
    sanitize::context::PassContext,
    schema::{
        definitions,
        keyword::{Keyword, Keywords, Role},
        references::{self, References},
        visit::{self, Visit},
    },
};

/// May every reference stay as it is?
pub(in crate::sanitize) fn as_written(
    root: &Node<'_>,
    references: &References,
    context: &PassContext,
) -> Result<bool, Error> {
    let rule = context.grammar.refs;
    let settles = context.refs == Refs::Inline || !matches!(rule.recursion, Recursion::Free);
    // Where what says nothing is written out as anything, a dynamic reference has to say where it leads.
    // So it has where it may not stand.
    let says_all = (context.types_everything && context.grammar.encodes())
        || context.grammar.refuses.contains(Keyword::DynamicRef);
    if settles
        || context.is_wrapped
        || root.get(Keyword::Ref).is_some()
        || (says_all && references::has_dynamic(root, &context.budget)?)
    {
        return Ok(false);
    }
    let mut fine = true;
    visit::walk(&context.budget, root, Keywords::ALL, &mut |node, place| {
        // Below an identifier a pointer begins somewhere else, and the identifier may go.
        if place.keyword.is_some() && node.get(Keyword::Id).is_some() {
            fine = false;
        }
        // Without its identifier a part of the document would read its references another way.
        fine = fine && !(context.grammar.refuses.contains(Keyword::Id) && node.get(Keyword::Id).is_some());
        // A part that refers to a definition becomes one schema with it.
        let is_part = |part: &Node<'_>| part.get(Keyword::Ref).is_some();
        fine = fine
            && !(context.grammar.merges_all_of(place.keyword.is_none())
                && node.get(Keyword::AllOf).and_then(Node::as_array).is_some_and(|parts| parts.iter().any(is_part)));
        if let Some(reference) = node.get(Keyword::Ref).and_then(Node::as_text) {
            let resolved = references.target_of(node).is_some();
            let alone = node.as_object().into_iter().flatten().all(|member| {
                let keyword = Keyword::named(&member.key);
                // Where `$ref` stands alone by its draft, what validates beside it would begin to count.
                let counts = context.draft.ref_stands_alone()
                    && keyword.is_some_and(|keyword| keyword.role() == Role::Assertion);
                member.key.is(Keyword::Ref)
                    || (!counts
                        && keyword.map_or(rule.beside == Keywords::ALL, |keyword| rule.beside.contains(keyword)))
            });
            fine = fine && resolved && alone && leads_to_table(reference, &rule);
        }
        Ok(if fine { Visit::Descend } else { Visit::Skip })
    })?;
    // What nothing leads to goes. (Where dynamic references lead, nobody has asked.)
    Ok(fine && (references::has_dynamic(root, &context.budget)? || !definitions::has_unreached(root, &context.budget)?))
}

/// A pointer to anywhere else would break when what it goes through is rewritten.
fn leads_to_table(reference: &Text<'_>, rule: &RefRule) -> bool {
    let Some(reference) = reference.value() else { return false };
    // Where references are not read as JSON Schema reads them, nothing is decoded either.
    let decoded = rule.anywhere && !rule.plain_pointers;
    let plain = |name: &str| !name.is_empty() && !name.contains('/') && (decoded || !name.contains(['%', '~']));
    let table = |prefix: &str| reference.strip_prefix(prefix).is_some_and(plain);
    (rule.to_root && reference == "#")
        || (rule.to_defs && table("#/$defs/"))
        || (rule.to_definitions && table("#/definitions/"))
}
