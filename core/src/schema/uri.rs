//! Resolves URI references, as far as `$id` and `$ref` need them (RFC 3986, section 5). Also checks the spellings that
//! metaschemas require of anchors, URIs and vocabularies.
//!
//! Nothing is ever fetched. URIs are only names here, and any text is accepted: a base may be relative, empty or not a
//! URI. A reference with a scheme is left unchanged, including its dots.
//!
//! No library is used. The sizes are gzipped WebAssembly beyond this file, measured 2026-11-22: first the code alone
//! after wasm-opt, then the whole module before wasm-opt. `iri-string` 0.7.14 passes all fixtures, costs 4.5 and 6.4
//! KB, needs an invented base for schemas without one, and resolves nothing against text that is not an IRI
//! (`https://{host}/a.json`). `fluent-uri` 0.4.1 costs 1.7 and 3.6 KB and five macro crates, and refuses references
//! relative to `urn:a:b`.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use crate::json::{Node, Text};

pub(crate) fn split_fragment(reference: &str) -> (&str, Option<&str>) {
    match reference.split_once('#') {
        Some((uri, fragment)) => (uri, Some(fragment)),
        None => (reference, None),
    }
}

/// `reference` must not contain a fragment; `base` is the URI of its resource.
pub(crate) fn resolve(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.into();
    }
    if scheme(reference).is_some() {
        return reference.into();
    }
    let (base_scheme, base_rest) = match scheme(base) {
        Some(length) => base.split_at(length + 1),
        None => ("", base),
    };
    if reference.starts_with("//") {
        return format!("{base_scheme}{reference}");
    }
    let (authority, base_path) = match base_rest.strip_prefix("//") {
        Some(rest) => {
            let end = rest.find(['/', '?']).unwrap_or(rest.len());
            let (authority, path) = rest.split_at(end);
            (format!("//{authority}"), path)
        }
        None => (String::new(), base_rest),
    };
    let base_path = base_path.split('?').next().unwrap_or_default();
    if let Some(query) = reference.strip_prefix('?') {
        return format!("{base_scheme}{authority}{base_path}?{query}");
    }
    let (path, query) = match reference.split_once('?') {
        Some((path, query)) => (path, format!("?{query}")),
        None => (reference, String::new()),
    };
    let merged = if path.starts_with('/') {
        without_dots(path)
    } else {
        let folder = base_path.rfind('/').map_or("", |end| base_path.get(..=end).unwrap_or_default());
        let folder = if folder.is_empty() && !authority.is_empty() { "/" } else { folder };
        without_dots(&format!("{folder}{path}"))
    };
    format!("{base_scheme}{authority}{merged}{query}")
}

/// Decodes percent-encoded bytes; `None` if the result is not UTF-8.
pub fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code = tail
            .get(..2)
            .filter(|hex| *first == b'%' && hex.iter().all(u8::is_ascii_hexdigit))
            .and_then(|hex| u8::from_str_radix(core::str::from_utf8(hex).ok()?, 16).ok());
        match code {
            Some(code) => {
                bytes.push(code);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// Returns the length of the scheme.
fn scheme(uri: &str) -> Option<usize> {
    let end = uri.find(':')?;
    let name = uri.get(..end)?;
    let valid = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|character| character.is_ascii_alphanumeric() || "+-.".contains(character));
    valid.then_some(end)
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.split('/').collect();
    let last = segments.len().saturating_sub(1);
    for (index, segment) in segments.into_iter().enumerate() {
        match segment {
            "." if index == last => kept.push(""),
            "." => {}
            ".." => {
                if kept.len() > 1 || kept.first().is_some_and(|first| !first.is_empty()) {
                    kept.pop();
                }
                if index == last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    kept.join("/")
}

pub(crate) fn is_anchor(text: &Text<'_>) -> bool {
    let text = text.display();
    let is_letter = |character: char| character.is_ascii_alphabetic() || character == '_';
    text.starts_with(is_letter) && text.chars().all(|one| is_letter(one) || one.is_ascii_digit() || "-.".contains(one))
}

pub(crate) fn names_vocabularies(value: &Node<'_>) -> bool {
    value.as_object().is_some_and(|table| table.iter().all(|member| member.value.as_bool().is_some()))
}

pub(crate) fn is_uri(text: &Text<'_>) -> bool {
    let text = text.display();
    let is_of_scheme = |one: char| one.is_ascii_alphanumeric() || "+-.".contains(one);
    text.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.starts_with(|one: char| one.is_ascii_alphabetic())
            && scheme.chars().all(is_of_scheme)
            && !rest.is_empty()
    })
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn references_are_resolved_as_in_rfc_3986_section_5_4() {
        let base = "http://a/b/c/d;p?q";
        for (reference, expected) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
        ] {
            assert_eq!(resolve(base, reference), expected, "{reference}");
        }
    }
}
