//! Answers of an API: it accepted the request, refused it, or failed otherwise. Removes private data from an API's
//! messages: keys, accounts, request ids, people, addresses.

use std::borrow::Cow;

use toolwire::internal::json::{self, Node};

use super::search::Refusal;
use crate::terminal::cut;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Accepted(u16),
    Refused(Refusal),
    /// A temporary failure, with the delay in seconds if the API states it.
    Busy(Refusal, Option<u32>),
    /// Failure that another request would not avoid: the key, the model or the address is wrong.
    Other(Refusal),
}

const REFUSED: [u16; 2] = [400, 422];
/// Status codes of temporary failures, in addition to all from 500 on.
const BUSY: [u16; 3] = [408, 425, 429];

/// `given` is the host's `{ status, retryAfter, body }`.
pub(crate) fn read(reply: &str, private: &Private) -> Answer {
    let reply = json::read(reply).unwrap_or_default();
    let number = |node: Option<&Node<'_>>| node.and_then(Node::as_u64).and_then(|status| u16::try_from(status).ok());
    let status = number(reply.get("status")).unwrap_or_default();
    let body = text(reply.get("body")).unwrap_or_default();
    let read = json::read(&body).unwrap_or_default();
    let document = read.as_array().and_then(|list| list.first()).unwrap_or(&read);
    // A gateway may have sent status 200 before it knew of the error.
    let inner = number(document.get("error").and_then(|error| error.get("code"))).filter(|code| *code >= 400);
    let is_fine = (200..300).contains(&status);
    let has_error = document.get("error").is_some_and(|error| !error.is_null());
    if is_fine && !has_error {
        return Answer::Accepted(status);
    }
    let status = inner.filter(|_| is_fine).unwrap_or(status);
    let found = words(document).unwrap_or_else(|| body.trim().to_string());
    let text = if found.is_empty() { "no message".into() } else { private.redact(&found, MAX_ANSWER) };
    let refusal = Refusal { status, text };
    match status {
        status if REFUSED.contains(&status) => Answer::Refused(refusal),
        status if BUSY.contains(&status) || status >= 500 => {
            let wait = reply.text_at("retryAfter").map(|text| text.display().into_owned());
            Answer::Busy(refusal, wait.and_then(|wait| wait.trim().parse::<f64>().ok()).map(|wait| wait.ceil() as u32))
        }
        _ => Answer::Other(refusal),
    }
}

fn words(document: &Node<'_>) -> Option<String> {
    let error = document.get("error");
    // A gateway also includes the message of the API behind it.
    let passed = error.and_then(|error| text(error.get("metadata")?.get("raw")));
    let message = text(error.and_then(|error| error.get("message")))
        .or_else(|| text(error))
        .or_else(|| text(document.get("message")))
        .or_else(|| text(document.get("detail")));
    match (message, passed) {
        (Some(message), Some(passed)) => Some(format!("{message}: {passed}")),
        (message, passed) => message.or(passed).or_else(|| {
            let first = document.get("detail").or_else(|| document.get("errors"))?.as_array()?.first()?;
            text(first.get("msg")).or_else(|| text(first.get("message"))).or_else(|| text(Some(first)))
        }),
    }
}

fn text(node: Option<&Node<'_>>) -> Option<String> {
    node.and_then(Node::as_text).map(|text| text.display().into_owned()).filter(|text| !text.trim().is_empty())
}

/// Words before or after the name of a tool.
const BEFORE: [&str; 3] = ["function", "tool", "functiondeclaration"];

/// Returns the index of the tool that an error names, by a number or by its name next to a word for tools. Returns
/// `None` if the error names no tool, or if several tools are possible.
pub(crate) fn named(text: &str, numbered: &[&str], names: &[Option<&str>]) -> Option<usize> {
    let lower = text.to_lowercase();
    for before in numbered {
        for (at, before) in lower.match_indices(before) {
            let rest = lower.get(at + before.len()..).unwrap_or_default();
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            if let Some(number) = digits.parse().ok().filter(|number| *number < names.len()) {
                return Some(number);
            }
        }
    }
    let is_meant = |name: &str| {
        text.match_indices(name).any(|(at, _)| {
            let (before, rest) = text.split_at_checked(at).unwrap_or_default();
            let quote = before.chars().next_back().filter(|quote| "'\"`".contains(*quote));
            let after = rest.get(name.len()..).unwrap_or_default();
            let Some(quote) = quote.filter(|quote| after.starts_with(*quote)) else { return false };
            let word =
                |text: &str| text.trim_end_matches(|character: char| !character.is_alphanumeric()).to_lowercase();
            let before = word(before.trim_end_matches(quote));
            let before = before.rsplit(|character: char| !character.is_alphanumeric()).next().unwrap_or_default();
            let after = after.trim_start_matches(quote).trim_start().to_lowercase();
            BEFORE.contains(&before) || after.starts_with("functiondeclaration")
        })
    };
    let mut meant = names.iter().enumerate().filter(|(_, name)| name.is_some_and(&is_meant));
    match (meant.next(), meant.next()) {
        (Some((at, _)), None) => Some(at),
        _ => None,
    }
}

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
/// Minimum number of characters after such a prefix. With fewer, the text is an ordinary word.
const MIN_REST: usize = 6;

/// Private strings that depend on the request.
#[derive(Debug, Default)]
pub(crate) struct Private {
    pub(crate) texts: Vec<(String, &'static str)>,
}

impl Private {
    pub(crate) fn redact(&self, text: &str, max_length: usize) -> String {
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

fn is_between(character: char) -> bool {
    character.is_whitespace() || "'\"`<>(){}[],;\\|".contains(character)
}

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

fn without_ids(word: &str) -> Cow<'_, str> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '-' || character == '_';
    if !word.split(|character| !is_part(character)).any(is_id) && !BEGINNINGS.iter().any(|begin| is_key(word, begin)) {
        return Cow::Borrowed(word);
    }
    let mut out = String::with_capacity(word.len());
    for part in word.split_inclusive(|character| !is_part(character)) {
        let name = part.trim_end_matches(|character| !is_part(character));
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
    let has = |test: fn(&char) -> bool| rest.chars().any(|character| test(&character));
    rest.len() >= MIN_REST && (has(char::is_ascii_digit) || has(char::is_ascii_uppercase)) && !rest.contains("__")
}

fn is_id(word: &str) -> bool {
    let count = |test: fn(&char) -> bool| word.chars().filter(test).count();
    let (digits, letters) = (count(char::is_ascii_digit), count(char::is_ascii_alphabetic));
    let is_hex = word.bytes().all(|character| character.is_ascii_hexdigit() || character == b'-');
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
    use super::{named, read, Answer, Private, Refusal, MAX_ANSWER};

    /// The errors come from real APIs, as quoted in issues.
    #[test]
    fn the_tool_that_an_error_names_is_found() {
        let names = [Some("plot"), Some("md"), Some("get_me"), None];
        let of_tools = |text: &str| named(text, &["tools[", "tools.", "tool "], &names);
        let openai = "Invalid schema for function 'get_me': In context=(), object schema missing properties.";
        assert_eq!(of_tools(openai), Some(2));
        assert_eq!(of_tools("Invalid 'tools[2].function.name': string does not match pattern."), Some(2));
        let anthropic = "tools.1.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12";
        assert_eq!(of_tools(anthropic), Some(1));
        assert_eq!(of_tools("tools.13.custom.input_schema.type: Field required"), None, "there is no such tool");
        assert_eq!(of_tools("Tool 0 function has invalid 'parameters' schema: None is not of type 'array'"), Some(0));
        let moonshot = "tools.function.parameters is not a valid moonshot flavored json schema, details: \
                        <At path 'plot': type is not defined>";
        assert_eq!(of_tools(moonshot), None, "a property may have the name of a tool");
        let vertex = "Unable to submit request because `md` functionDeclaration `parameters.f` schema didn't specify \
                      the schema type field.";
        assert_eq!(of_tools(vertex), Some(1));
        let gemini = "GenerateContentRequest.tools[0].function_declarations[3].parameters.properties[sorts]: ...";
        assert_eq!(named(gemini, &["function_declarations["], &names), Some(3));
        assert_eq!(of_tools("Function 'md' and function 'plot' have the same name"), None);
    }

    #[test]
    fn answers_are_classified_by_status_and_error() {
        let read = |given: &str| read(given, &Private::default());
        let refusal = |status, text: &str| Refusal { status, text: text.into() };
        assert_eq!(read(r#"{"status": 200, "body": "{\"error\": null}"}"#), Answer::Accepted(200));
        let given =
            r#"{"status": 400, "retryAfter": null, "body": "{\"error\": {\"message\": \"items: missing field\"}}"}"#;
        assert_eq!(read(given), Answer::Refused(refusal(400, "items: missing field")));
        let given = r#"{"status": 200, "body": "{\"error\": {\"code\": 429, \"message\": \"later\"}}"}"#;
        assert_eq!(read(given), Answer::Busy(refusal(429, "later"), None));
        let given = r#"{"status": 503, "retryAfter": "2.5", "body": "[{\"error\": {\"message\": \"busy\"}}]"}"#;
        assert_eq!(read(given), Answer::Busy(refusal(503, "busy"), Some(3)));
        assert_eq!(
            read(r#"{"status": 422, "body": "{\"detail\": [{\"msg\": \"no\"}]}"}"#),
            Answer::Refused(refusal(422, "no"))
        );
        assert_eq!(read(r#"{"status": 404, "body": "<html>"}"#), Answer::Other(refusal(404, "<html>")));
        assert_eq!(read("nonsense"), Answer::Other(refusal(0, "no message")));
    }

    #[test]
    fn private_strings_are_redacted() {
        let private = Private { texts: Vec::from([("tools.acme.corp".into(), "(host)")]) };
        let redacted = |text: &str| private.redact(text, MAX_ANSWER);
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
