//! Rewrites a regular expression for engines that match it against the whole string, whereas JSON Schema searches for
//! it.
//!
//! Sources: xgrammar 0.2.8, regex_converter.cc, run: `b` matches only `b`, and an anchor that does not begin or end a
//! branch is ignored with a warning; Cohere, structured outputs: `^` and `$` are not supported.

use alloc::{format, string::String, vec::Vec};

/// Any text, in a form that all engines read alike.
const ANY: &str = "[\\s\\S]*";

/// Returns true if all branches are anchored at both ends, so searching and matching are equivalent.
pub(crate) fn is_whole(pattern: &str) -> bool {
    branches(pattern).is_some_and(|branches| {
        branches.iter().all(|branch| branch.begins && branch.ends && !branch.is_anchored_inside)
    })
}

/// Returns true if the pattern has an anchor, or does not compile.
pub(crate) fn is_anchored(pattern: &str) -> bool {
    let is_anchored = |branch: &Branch<'_>| branch.begins || branch.ends || branch.is_anchored_inside;
    branches(pattern).is_none_or(|branches| branches.iter().any(is_anchored))
}

/// Returns an equivalent pattern that matches the whole string; `None` if the position of an anchor is not supported.
pub(crate) fn whole(pattern: &str) -> Option<String> {
    completed(pattern).map(|body| format!("^{body}$"))
}

/// Returns such a pattern without anchors, for engines that match the whole string.
pub(crate) fn unanchored(pattern: &str) -> Option<String> {
    completed(pattern)
}

/// Returns the pattern with text of any kind at the ends of branches that are not anchored.
fn completed(pattern: &str) -> Option<String> {
    let branches = branches(pattern)?;
    if branches.iter().any(|branch| branch.is_anchored_inside) {
        return None;
    }
    let complete = |branch: &Branch<'_>| {
        let before = if branch.begins { "" } else { ANY };
        let after = if branch.ends { "" } else { ANY };
        format!("{before}{}{after}", branch.body)
    };
    let completed: Vec<String> = branches.iter().map(complete).collect();
    match completed.as_slice() {
        [one] => Some(one.clone()),
        _ => Some(format!("(?:{})", completed.join("|"))),
    }
}

/// One alternative of a pattern.
struct Branch<'p> {
    /// The alternative without the anchors at its ends.
    body: &'p str,
    /// True if it begins with `^`.
    begins: bool,
    /// True if it ends with `$`.
    ends: bool,
    /// True if there is another anchor in it.
    is_anchored_inside: bool,
}

/// Returns the top-level alternatives, or `None` if the pattern does not compile.
fn branches(pattern: &str) -> Option<Vec<Branch<'_>>> {
    let mut found = Vec::new();
    let (mut start, mut depth, mut in_class, mut is_escaped) = (0, 0_usize, false, false);
    // Positions of anchors in the branch.
    let mut anchors: Vec<usize> = Vec::new();
    for (at, character) in pattern.char_indices().chain([(pattern.len(), '|')]) {
        let ends_all = at == pattern.len();
        if !ends_all && core::mem::take(&mut is_escaped) {
            continue;
        }
        match character {
            '\\' => is_escaped = true,
            // Engines disagree about `]` as the first character of a class.
            '[' if !in_class => {
                let inside = pattern.get(at + 1..)?;
                if inside.strip_prefix('^').unwrap_or(inside).starts_with(']') {
                    return None;
                }
                in_class = true;
            }
            ']' => in_class = false,
            _ if in_class && !ends_all => {}
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            '^' | '$' => anchors.push(at),
            '|' if ends_all && (depth > 0 || in_class || is_escaped) => return None,
            '|' if depth == 0 => {
                let text = pattern.get(start..at)?;
                let begins = anchors.first() == Some(&start) && text.starts_with('^');
                let ends = anchors.last().is_some_and(|last| last + 1 == at) && text.ends_with('$');
                let body = text.get(usize::from(begins)..text.len() - usize::from(ends))?;
                let is_anchored_inside = anchors.len() > usize::from(begins) + usize::from(ends);
                found.push(Branch { body, begins, ends, is_anchored_inside });
                anchors.clear();
                start = at + 1;
            }
            _ => {}
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::{is_anchored, is_whole, unanchored, whole};

    #[test]
    fn search_patterns_become_whole_matches() {
        for (pattern, expected) in [
            ("b", Some(r"^[\s\S]*b[\s\S]*$")),
            ("^b", Some(r"^b[\s\S]*$")),
            ("b$", Some(r"^[\s\S]*b$")),
            ("^a|b$", Some(r"^(?:a[\s\S]*|[\s\S]*b)$")),
            ("^(a|b)", Some(r"^(a|b)[\s\S]*$")),
            (r"\^[$^|]\$", Some(r"^[\s\S]*\^[$^|]\$[\s\S]*$")),
            ("", Some(r"^[\s\S]*[\s\S]*$")),
            ("(^a)b", None),
            ("a$b", None),
            ("^^a", None),
            ("[a", None),
            ("[]a|b]", None),
            ("[^]|a]", None),
            ("[[|]a", Some(r"^[\s\S]*[[|]a[\s\S]*$")),
            ("(a", None),
            ("a)", None),
            (r"a\", None),
        ] {
            assert_eq!(whole(pattern).as_deref(), expected, "{pattern}");
            assert!(expected.is_none_or(is_whole), "{pattern} twice");
        }
    }

    #[test]
    fn anchored_patterns_are_whole() {
        for pattern in ["^a$", "^(?:a|b)$", "^a$|^b$", r"^\$$", "^$", "^[$]$"] {
            assert!(is_whole(pattern), "{pattern}");
        }
        for pattern in ["a", "^a", "a$", "^a|b$", "^(^a)$", r"^a\$", "^"] {
            assert!(!is_whole(pattern), "{pattern}");
        }
    }

    #[test]
    fn anchors_are_removed() {
        assert!(is_anchored("^a") && is_anchored("(a$)") && !is_anchored(r"\^[$]"));
        assert_eq!(unanchored("^a$").as_deref(), Some("a"));
        assert_eq!(unanchored("^a").as_deref(), Some(r"a[\s\S]*"));
        assert_eq!(unanchored("^a$|^b$").as_deref(), Some("(?:a|b)"));
    }
}
