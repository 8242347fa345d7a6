//! Answers of an API: it accepted the request, refused it, or failed otherwise.

use toolwire::json::{self, Node};

use super::{
    redact::{Private, MAX_ANSWER},
    search::Refusal,
};

/// Answer of an API.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Accepted(u16),
    /// The request is wrong.
    Refused(Refusal),
    /// Temporary failure, with the delay if the API states one.
    Busy(Refusal, Option<u32>),
    /// Failure that another request would not avoid: the key, the model or the address is wrong.
    Other(Refusal),
}

/// Status codes for a request that is wrong.
const REFUSED: [u16; 2] = [400, 422];
/// Status codes of temporary failures, in addition to all from 500 on.
const BUSY: [u16; 3] = [408, 425, 429];

/// Parses the host's answer: `{ status, retryAfter, body }`. Private parts are removed from messages.
pub(crate) fn read(given: &str, private: &Private) -> Answer {
    let given = json::read(given).unwrap_or_default();
    let number = |node: Option<&Node<'_>>| node.and_then(Node::as_u64).and_then(|status| u16::try_from(status).ok());
    let status = number(given.get("status")).unwrap_or_default();
    let body = text(given.get("body")).unwrap_or_default();
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
    let text = if found.is_empty() { "no words".into() } else { private.removed(&found, MAX_ANSWER) };
    let refusal = Refusal { status, text };
    match status {
        status if REFUSED.contains(&status) => Answer::Refused(refusal),
        status if BUSY.contains(&status) || status >= 500 => {
            let wait = given.text_at("retryAfter").map(|text| text.display().into_owned());
            Answer::Busy(refusal, wait.and_then(|wait| wait.trim().parse::<f64>().ok()).map(|wait| wait.ceil() as u32))
        }
        _ => Answer::Other(refusal),
    }
}

/// Returns the message of an error, in the formats of all APIs.
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
/// `None` if it names no tool, or if several tools are possible.
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
            let word = |text: &str| text.trim_end_matches(|one: char| !one.is_alphanumeric()).to_lowercase();
            let before = word(before.trim_end_matches(quote));
            let before = before.rsplit(|one: char| !one.is_alphanumeric()).next().unwrap_or_default();
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

#[cfg(test)]
mod tests {
    use super::{named, read, Answer, Private, Refusal};

    /// Errors of real APIs, as quoted in issues.
    #[test]
    fn a_named_tool_is_found() {
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
    fn answers_are_read() {
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
        assert_eq!(read("nonsense"), Answer::Other(refusal(0, "no words")));
    }
}
