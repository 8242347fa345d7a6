//! Splits names, descriptions and queries into words.
//!
//! Words are runs of letters and digits, in lower case, which are also split where the case changes. Plurals become
//! singular. Chinese and Japanese have no spaces between words, so each pair of adjacent characters is a word.
//!
//! `unicode-segmentation` is not used. By the Unicode standard, `mcp__slack.post` is one word, and so is each Chinese
//! character and each Thai letter. All rules here except the pairs would still be needed. Measured 2026-11-22 (1.13.3
//! as the outer split, words split again at punctuation, no pairs): the ranking of real queries is the same, Chinese
//! queries also match tools where the characters are not adjacent (the fixture `chinese` forbids that), WebAssembly
//! grows by 8 KB gzipped, and splitting takes 3 to 5 times as long.

use alloc::string::String;

/// Splits a text into words. `GitHub` becomes `git`, `hub` and `github`, because users write either form.
pub(super) fn split(text: &str, add_word: &mut dyn FnMut(&str)) {
    let mut scratch = String::new();
    for run in text.split(|letter: char| !letter.is_alphanumeric()) {
        if run.is_ascii() {
            split_at_case_changes(run, &mut scratch, add_word);
            continue;
        }
        // A change of script is a word boundary: `PDF转换` is two words.
        let mut rest = run;
        while let Some(first) = rest.chars().next() {
            let dense = is_cjk(first);
            let end = rest.find(|letter| is_cjk(letter) != dense).unwrap_or(rest.len());
            let (part, tail) = rest.split_at(end);
            match dense {
                true => split_into_pairs(part, add_word),
                false => split_at_case_changes(part, &mut scratch, add_word),
            }
            rest = tail;
        }
    }
}

/// Splits a text into words, and adds each identifier as one word. `get_user` also adds `getuser`, so a whole name has
/// more weight than its parts.
pub(super) fn split_with_identifiers(text: &str, add_word: &mut dyn FnMut(&str)) {
    split(text, add_word);
    for chunk in text.split(char::is_whitespace) {
        let inner = chunk.trim_matches(|letter: char| !letter.is_alphanumeric());
        if inner.contains(|letter: char| !letter.is_alphanumeric()) {
            let joined: String =
                inner.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
            add_word(&joined);
        }
    }
}

fn is_cjk(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
        || matches!(letter, '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn split_into_pairs(run: &str, add_word: &mut dyn FnMut(&str)) {
    let mut ends = run.char_indices().map(|(at, letter)| at + letter.len_utf8());
    let Some(mut end) = ends.next() else { return };
    let mut start = 0;
    if end == run.len() {
        add_word(run);
    }
    for next in ends {
        add_word(run.get(start..next).unwrap_or_default());
        (start, end) = (end, next);
    }
}

fn split_at_case_changes(run: &str, scratch: &mut String, add_word: &mut dyn FnMut(&str)) {
    let mut start = 0;
    let mut before = Case::Other;
    let mut last = 0;
    for (at, letter) in run.char_indices() {
        let case = Case::of(letter);
        // `getUser` is split before the capital, `HTTPServer` before the capital that begins the next word.
        let split = match (before, case) {
            (Case::Lower | Case::Other, Case::Upper) => at,
            (Case::Upper, Case::Lower) => last,
            _ => start,
        };
        if split > start {
            add_in_lower_case(run.get(start..split).unwrap_or_default(), scratch, add_word);
            start = split;
        }
        (before, last) = (case, at);
    }
    if start > 0 {
        add_in_lower_case(run.get(start..).unwrap_or_default(), scratch, add_word);
    }
    add_in_lower_case(run, scratch, add_word);
}

#[derive(Clone, Copy)]
enum Case {
    Upper,
    Lower,
    /// Digits, and letters of scripts that have no case.
    Other,
}

impl Case {
    fn of(letter: char) -> Case {
        if letter.is_uppercase() {
            Case::Upper
        } else if letter.is_lowercase() {
            Case::Lower
        } else {
            Case::Other
        }
    }
}

fn add_in_lower_case(word: &str, scratch: &mut String, add_word: &mut dyn FnMut(&str)) {
    if word.is_empty() {
        return;
    }
    scratch.clear();
    if word.is_ascii() {
        scratch.push_str(word);
        scratch.make_ascii_lowercase();
    } else {
        scratch.extend(word.chars().flat_map(char::to_lowercase));
    }
    remove_plural_ending(scratch);
    add_word(scratch);
}

/// Removes the ending of a plural. Also removes the ending of a verb in the third person, which does no harm.
fn remove_plural_ending(word: &mut String) {
    if word.len() < 4 || !word.ends_with('s') || ["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        return;
    }
    let cut = if word.len() > 4 && word.ends_with("ies") {
        word.truncate(word.len() - 3);
        word.push('y');
        return;
    } else if ["sses", "xes", "ches", "shes", "zzes"].iter().any(|end| word.ends_with(end)) {
        2
    } else {
        1
    };
    word.truncate(word.len() - cut);
}

/// Words of a query that do not describe a tool. They are ignored if the query has other words.
const FILLER: [&str; 62] = [
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "can", "could", "do", "for", "from",
    "have", "how", "i", "in", "into", "is", "it", "its", "me", "my", "need", "of", "on", "one", "onto", "or", "our",
    "out", "please", "should", "so", "some", "someone", "that", "the", "their", "them", "there", "these", "this",
    "those", "to", "tool", "us", "using", "want", "was", "we", "what", "when", "which", "who", "why", "with", "you",
    "your",
];

pub(super) fn is_filler(word: &str) -> bool {
    FILLER.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{is_filler, split, split_with_identifiers, FILLER};
    use alloc::{string::String, vec::Vec};

    fn words(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        split(text, &mut |word| out.push(word.into()));
        out
    }

    #[test]
    fn names_are_split_at_punctuation_and_case_changes() {
        assert_eq!(words("mcp__slack.post-message"), ["mcp", "slack", "post", "message"]);
        assert_eq!(words("getUserEmail"), ["get", "user", "email", "getuseremail"]);
        assert_eq!(words("HTTPServer"), ["http", "server", "httpserver"]);
        assert_eq!(words("S3 ec2Instance"), ["s3", "ec2", "instance", "ec2instance"]);
        assert_eq!(words("ÉcoleÉté"), ["école", "été", "écoleété"]);
        assert!(words(" _-. ").is_empty());
    }

    #[test]
    fn plurals_become_singular() {
        assert_eq!(words("queries boxes classes branches events"), ["query", "box", "class", "branch", "event"]);
        assert_eq!(words("status access this gas"), ["status", "access", "this", "gas"]);
    }

    #[test]
    fn scripts_without_spaces_become_pairs_of_characters() {
        assert_eq!(words("查询天气"), ["查询", "询天", "天气"]);
        assert_eq!(words("PDF转换v2"), ["pdf", "转换", "v2"]);
        assert_eq!(words("天"), ["天"]);
    }

    #[test]
    fn identifiers_are_also_kept_as_whole_words() {
        let mut out: Vec<String> = Vec::new();
        split_with_identifiers("call get_user-info, now.", &mut |word| out.push(word.into()));
        assert_eq!(out, ["call", "get", "user", "info", "now", "getuserinfo"]);
    }

    #[test]
    fn filler_words_are_sorted_and_normalized() {
        assert!(FILLER.is_sorted());
        assert!(FILLER.iter().all(|word| words(word) == [*word]));
        assert!(is_filler("the") && !is_filler("theme"));
    }
}
