//! Removes private data from an API's messages: keys, accounts, request ids, people, addresses.

use std::borrow::Cow;

use crate::terminal::cut;

/// Maximum length of a recorded or shown answer.
pub(crate) const MAX_ANSWER: usize = 2000;

/// Prefixes of keys, and of ids of accounts and requests.
const BEGINNINGS: [&str; 28] = [
    "sk-",
    "sk_",
    "pk-",
    "rk-",
    "gsk_",
    "xai-",
    "AIza",
    "AQ.",
    "ya29.",
    "hf_",
    "fw_",
    "csk-",
    "AKIA",
    "ASIA",
    "ABSK",
    "org-",
    "org_",
    "proj-",
    "proj_",
    "req-",
    "req_",
    "user-",
    "acct-",
    "acct_",
    "key-",
    "resp_",
    "msg_",
    "chatcmpl-",
];
/// Minimum number of characters after such a prefix; with fewer, the text is an ordinary word.
const MIN_REST: usize = 6;

/// Further private strings, which depend on the request.
#[derive(Debug, Default)]
pub(crate) struct Private {
    /// Texts with their replacements.
    pub(crate) texts: Vec<(String, &'static str)>,
}

impl Private {
    /// Returns the text without private data, with at most `max_length` characters.
    pub(crate) fn removed(&self, text: &str, max_length: usize) -> String {
        let mut text = Cow::Borrowed(text);
        for (private, instead) in &self.texts {
            if !private.is_empty() && text.contains(private.as_str()) {
                text = text.replace(private.as_str(), instead).into();
            }
        }
        let mut out = String::with_capacity(text.len());
        let mut rest: &str = &text;
        while !rest.is_empty() {
            let end = rest.find(is_between).unwrap_or(rest.len());
            let (word, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
            out.push_str(&without_marks(word));
            let mut others = behind.chars();
            out.extend(others.next());
            rest = others.as_str();
        }
        cut(&out, max_length).into_owned()
    }
}

fn is_between(one: char) -> bool {
    one.is_whitespace() || "'\"`<>(){}[],;\\|".contains(one)
}

/// Redacts a word.
fn without_marks(word: &str) -> Cow<'_, str> {
    if let Some((scheme, rest)) = word.split_once("://") {
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
        let host = host.rsplit('@').next().unwrap_or_default();
        let path: String = path.map(|path| format!("/{}", without_ids(path))).unwrap_or_default();
        return format!("{scheme}://{host}{path}").into();
    }
    let mail = word.split_once('@');
    if mail.is_some_and(|(before, behind)| !before.is_empty() && behind.contains('.')) {
        return "(email)".into();
    }
    if word.contains("***") {
        return "(key)".into();
    }
    without_ids(word)
}

/// Replaces identifiers in a word with `(id)`.
fn without_ids(word: &str) -> Cow<'_, str> {
    let is_part = |one: char| one.is_ascii_alphanumeric() || one == '-' || one == '_';
    if !word.split(|one| !is_part(one)).any(is_id) && !BEGINNINGS.iter().any(|begin| is_key(word, begin)) {
        return Cow::Borrowed(word);
    }
    let mut out = String::with_capacity(word.len());
    for part in word.split_inclusive(|one| !is_part(one)) {
        let name = part.trim_end_matches(|one| !is_part(one));
        out.push_str(if is_id(name) { "(id)" } else { name });
        out.push_str(part.get(name.len()..).unwrap_or_default());
    }
    // A key may contain full stops, which separate the parts above, so the whole word is examined, too.
    if BEGINNINGS.iter().any(|begin| is_key(&out, begin)) {
        return "(id)".into();
    }
    out.into()
}

fn is_key(word: &str, begin: &str) -> bool {
    let rest = word.strip_prefix(begin).unwrap_or_default();
    let has = |test: fn(&char) -> bool| rest.chars().any(|one| test(&one));
    rest.len() >= MIN_REST && (has(char::is_ascii_digit) || has(char::is_ascii_uppercase)) && !rest.contains("__")
}

fn is_id(word: &str) -> bool {
    let count = |test: fn(&char) -> bool| word.chars().filter(test).count();
    let (digits, letters) = (count(char::is_ascii_digit), count(char::is_ascii_alphabetic));
    let is_hex = word.bytes().all(|one| one.is_ascii_hexdigit() || one == b'-');
    BEGINNINGS.iter().any(|begin| is_key(word, begin))
        // Ids of accounts and projects
        || (digits >= 9 && digits == word.len())
        // UUIDs and similar ids
        || (is_hex && word.len() >= 16 && digits > 1)
        // Random characters
        || (digits + letters == word.len() && word.len() >= 20 && digits >= 3 && letters > 0)
        || (word.len() >= 32 && digits >= 6 && count(char::is_ascii_uppercase) > 2)
}

#[cfg(test)]
mod tests {
    use super::{Private, MAX_ANSWER};

    #[test]
    fn private_strings_are_redacted() {
        let private = Private { texts: Vec::from([("tools.acme.corp".into(), "(host)")]) };
        let redacted = |text: &str| private.removed(text, MAX_ANSWER);
        for (text, expected) in [
            ("Incorrect API key provided: sk-proj-********abcd.", "Incorrect API key provided: (key)"),
            ("key 'sk-ant-api03-AbC12345'", "key '(id)'"),
            ("in organization org-AbCdEf123456 on tokens", "in organization (id) on tokens"),
            ("(request id: req_011CSHoEeqs5C35K2UUDn6xS)", "(request id: (id))"),
            ("trace 123e4567-e89b-12d3-a456-426614174000.", "trace (id)."),
            ("projects/123456789012/locations", "projects/(id)/locations"),
            ("write to ada@example.com", "write to (email)"),
            ("see https://u:p@platform.openai.com/docs?key=abc.", "see https://platform.openai.com/docs"),
            ("at tools.acme.corp:8080", "at (host):8080"),
        ] {
            assert_eq!(redacted(text), expected);
        }
        for text in [
            "Invalid schema for function 'mcp__plugin_oh-my-claudecode_x__ask_codex': In context=('properties', 'a1')",
            "tools.13.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 \
             (https://json-schema.org/draft/2020-12)",
            "Invalid value at 'request.tools[0].function_declarations[23].parameters.properties[16].value.enum[0]' \
             (TYPE_STRING), 2",
        ] {
            assert_eq!(redacted(text), text);
        }
    }
}
