//! Tests properties that fixtures do not show: time is linear, and spellings are preserved.

use alloc::{format, string::String};

use super::{read_tolerant, Tolerance};
use crate::{json::write, limits::MAX_DEPTH, report::LeftReason};

fn reason(text: &str) -> Option<LeftReason> {
    read_tolerant(text, Tolerance::default()).err().map(|refusal| refusal.reason)
}

#[test]
fn any_depth_ends_without_a_panic() {
    let deep = |levels: usize| format!("{}'x'{}", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(reason(&deep(MAX_DEPTH)), None);
    assert_eq!(reason(&deep(MAX_DEPTH + 1)), Some(LeftReason::TooDeep));
    assert_eq!(reason(&"[".repeat(200_000)), Some(LeftReason::TooDeep));
    assert_eq!(reason(&"{'a':[".repeat(200_000)), Some(LeftReason::TooDeep));
    assert_eq!(reason(&"{'a':1}".repeat(50_000)), None);
}

#[test]
fn spellings_are_kept() {
    let text = "{a: 1.10, b: 1e400, c: '\\ud800 \\u00e9 \"x\"', \"d\": \"\\/\",}";
    let read = read_tolerant(text, Tolerance::default()).map(|reading| write(&reading.node));
    let expected = r#"{"a":1.10,"b":1e400,"c":"\ud800 \u00e9 \"x\"","d":"\/"}"#;
    assert_eq!(read.as_deref().ok(), Some(expected));
}

#[test]
fn truncated_text_is_not_read() {
    let whole = "```json\n{'a': [1, 'b', {\"c\": True}], d: null}\n```";
    for (end, _) in whole.char_indices() {
        let half: String = whole.chars().take(end).collect();
        let found = reason(&half);
        // Only the closing fence may be missing.
        assert!(found.is_some() || half.trim_end_matches('`').ends_with("}\n") || half.ends_with('}'), "{half}");
    }
}
