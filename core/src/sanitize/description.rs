//! Describes what the grammar cannot express, in a parenthesis at the end of `description`.

use alloc::{format, string::String, vec::Vec};

use crate::{
    dialect::grammar::Grammar,
    json::{self, Node, Text},
    schema::keyword::Keyword,
};

const MAX_KEYWORD_LENGTH: usize = 32;

/// Appends `(key: value; key: value)` to the description, with strings unquoted and other values as compact JSON. New
/// entries extend an existing parenthesis of this form, without repeating its entries.
pub(crate) fn append<'a>(node: &mut Node<'a>, facts: &[(&str, &Node<'_>)]) {
    let entries = facts.iter().map(|(keyword, value)| match value.as_text().and_then(|text| text.value()) {
        Some(text) => format!("{keyword}: {text}"),
        None => format!("{keyword}: {}", json::write_plain(value)),
    });
    let text = match node.text_at(Keyword::Description).map(Text::value) {
        Some(Some(text)) => text.into_owned(),
        // An unpaired surrogate cannot be written, so the description is left unchanged.
        Some(None) => return,
        None => String::new(),
    };
    let (before, existing) = split_parenthesis(&text);
    let new: Vec<String> =
        entries.filter(|entry| !existing.is_some_and(|existing| contains_entry(existing, entry))).collect();
    if new.is_empty() {
        return;
    }
    let new = new.join("; ");
    let text = match existing {
        Some(existing) => format!("{before}({existing}; {new})"),
        None if text.is_empty() => format!("({new})"),
        None => format!("{text} ({new})"),
    };
    if let Some(object) = node.as_object_mut() {
        match object.get_mut(Keyword::Description) {
            Some(description) => description.replace(json::Data::String(Text::new(text))),
            None => object.set(Text::literal("description"), Node::string(text)),
        }
    }
}

/// Returns the text before the parenthesis at the end, and the content of the parenthesis. The parenthesis must begin
/// with a keyword and a colon, so a parenthesis that the author wrote is not mistaken for it.
fn split_parenthesis(text: &str) -> (&str, Option<&str>) {
    let starts_with_keyword = |after: &str| {
        let end = after.bytes().take(MAX_KEYWORD_LENGTH).position(|byte| byte == b':');
        let (Some(keyword), Some(rest)) = (end.and_then(|end| after.get(..end)), end.and_then(|end| after.get(end..)))
        else {
            return false;
        };
        rest.starts_with(": ") && (keyword == "value" || Keyword::named(&Text::new(String::from(keyword))).is_some())
    };
    let Some(inside) = text.strip_suffix(')') else { return (text, None) };
    for (index, _) in inside.rmatch_indices('(') {
        let (before, after) = (inside.get(..index).unwrap_or_default(), inside.get(index + 1..).unwrap_or_default());
        if (before.is_empty() || before.ends_with(' ')) && starts_with_keyword(after) {
            return (before, Some(after));
        }
    }
    (text, None)
}

fn contains_entry(existing: &str, entry: &str) -> bool {
    let Some((before, after)) = existing.split_once(entry) else { return false };
    (before.is_empty() || before.ends_with("; ")) && (after.is_empty() || after.starts_with("; "))
}

/// Returns true if this schema may have a description, and the API shows that description to the model.
pub(crate) fn can_describe(node: &Node<'_>, is_root: bool, grammar: &Grammar) -> bool {
    let is_shown = grammar.describes_root || !is_root;
    is_shown && (node.get(Keyword::Ref).is_none() || grammar.refs.beside.contains(Keyword::Description))
}
