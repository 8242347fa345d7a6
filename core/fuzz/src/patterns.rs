//! Patterns in both spellings: any string is read or refused, every search ends, and its result agrees with the results
//! for the parts.

use std::time::{Duration, Instant};

use arbitrary::Unstructured;
use serde_json::json;
use toolwire::{options::SearchMode, search_tools, validate_arguments, SearchOptions};

/// Pieces of patterns, in either spelling.
const PIECES: [&str; 53] = [
    "a", "b", "é", "🐲", " ", "\n", ".", "^", "$", "|", "(", "(?:", ")", "[", "[^", "]", "-", "*", "+", "?", "{2}",
    "{0,3}", "{1,}", "{,2}", "{", "}", "\\", "\\d", "\\W", "\\s", "\\b", "\\B", "\\u", "\\x41", "\\0", "\\1", "(?=",
    "(?i)", "(?P<n>", "(?<n>", "(?#", "\\Z", "{999}", "&&", "--", "a-z", "\\p{L}", "#", "(?:||)", "(?:\\b|)",
    "(?:a?b?)", "{8000}", "{30}",
];

/// Length of a string that is long enough to reveal steps that the budget does not count, and the maximum duration of a
/// search in seconds on a busy machine. Counted steps take a hundredth of a second.
const LONG: usize = 50_000;
const SECONDS: u64 = 5;

pub(crate) fn verdict(data: &mut Unstructured<'_>) -> arbitrary::Result<Result<usize, String>> {
    let (one, two) = (pattern(data)?, pattern(data)?);
    let text: String = if data.arbitrary()? { pieces(data, 12)? } else { data.arbitrary()? };
    Ok(judge(&one, &two, &text))
}

fn pattern(data: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    if data.int_in_range(0..=7_u8)? == 0 {
        data.arbitrary()
    } else {
        pieces(data, 8)
    }
}

fn pieces(data: &mut Unstructured<'_>, limit: usize) -> arbitrary::Result<String> {
    let count = data.int_in_range(0..=limit)?;
    (0..count).map(|_| Ok(*data.choose(&PIECES)?)).collect()
}

/// Returns whether a schema's pattern matches; `None` if that cannot be determined.
fn matches(pattern: &str, text: &str) -> Option<bool> {
    let schema = json!({ "properties": { "v": { "pattern": pattern } } });
    validate_arguments(&json!({ "v": text }), &schema).ok()?.valid
}

fn judge(one: &str, two: &str, text: &str) -> Result<usize, String> {
    let tools = json!([{ "name": "a", "description": text }]);
    let options = SearchOptions::default().mode(SearchMode::Regex);
    if let Err(error) = search_tools(&tools, one, &options) {
        if error.pointer() != "/query" {
            return Err(format!("{one:?} was refused as {error}"));
        }
    }
    // Only patterns with repetition can have many states.
    if one.contains('{') {
        let (begun, long) = (Instant::now(), text.chars().cycle().take(LONG).collect::<String>());
        matches(one, &long);
        if begun.elapsed() > Duration::from_secs(SECONDS) {
            return Err(format!("{one:?} in a long {text:?} takes {:?}", begun.elapsed()));
        }
    }
    let (Some(first), Some(second)) = (matches(one, text), matches(two, text)) else { return Ok(1) };
    // Both patterns may define the same group name.
    let either = matches(&format!("(?:{one})|(?:{two})"), text);
    if either.is_some_and(|either| either != (first || second)) {
        return Err(format!("{one:?} or {two:?} in {text:?}: {first}, {second}, and together {either:?}"));
    }
    for same in [format!("(?:{one}){{1}}"), format!("(?:{one}|{one})"), format!("(?:(?:{one})(?:)*){{1,3}}")] {
        let again = matches(&same, text);
        if again.is_some_and(|again| again != first) {
            return Err(format!("{one:?} in {text:?}: {first}, and as {same:?} {again:?}"));
        }
    }
    Ok(1)
}
