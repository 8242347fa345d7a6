//! Tests of the index of `ignore`.

use super::*;

fn ignore(rules: &[&str], tools: &[&str], dialects: &[&str]) -> Ignore {
    let owned = |words: &[&str]| words.iter().map(|word| String::from(*word)).collect();
    Ignore { line: 0, rules: owned(rules), tools: owned(tools), dialects: owned(dialects) }
}

/// Finds the matching entries by comparing with each of them.
fn fitting(ignores: &[Ignore], rule: &str, tool: Option<&str>) -> BTreeSet<usize> {
    let fits = |ignore: &Ignore| {
        let is_tool = |pattern: &String| tool.is_some_and(|tool| WildMatch::new(pattern).matches(tool));
        (ignore.rules.is_empty() || ignore.rules.iter().any(|word| word == rule))
            && (ignore.tools.is_empty() || ignore.tools.iter().any(is_tool))
    };
    ignores.iter().enumerate().filter(|(_, ignore)| fits(ignore)).map(|(at, _)| at).collect()
}

/// 8,000 findings with 1,000 entries of `ignore` once took 4.7 seconds.
#[test]
fn findings_are_compared_only_with_matching_entries() {
    let names: Vec<String> = (0..1_000).map(|number| format!("tool_{number:04}")).collect();
    let mut ignores: Vec<Ignore> = names.iter().map(|name| ignore(&["type-union"], &[name], &[])).collect();
    ignores.extend(names.iter().map(|name| ignore(&[], &[&format!("{name}_*")], &["gemini"])));
    ignores.extend(names.iter().map(|name| ignore(&[], &[&format!("*_{name}")], &[])));
    ignores.extend((0..1_000).map(|_| ignore(&["type-union"], &[], &["gemini"])));
    let index = Index::of(&ignores);
    let compared: usize = names.iter().map(|name| index.candidates("type-union", Some(name)).len()).sum();
    // The entry for this name, and the first of the entries for all tools.
    assert_eq!(compared, 2 * names.len());
    assert_eq!(index.candidates("type-union", Some("tool_0007_x")), BTreeSet::from([1_007, 3_000]));
    assert_eq!(index.candidates("other", Some("x_tool_0007")), BTreeSet::from([2_007]));
}

#[test]
fn index_agrees_with_a_linear_search() {
    let tools = ["", "a", "ab", "ba", "a*", "*a", "?b", "a?", "*", "?", "*b*", "é*", "*é", "a*b", "**"];
    let names = ["", "a", "b", "ab", "ba", "aab", "é", "éa", "aé", "abc"];
    for tool in tools {
        for rules in [&[][..], &["one"], &["one", "two"]] {
            let ignores = [ignore(rules, &[tool], &["gemini"]), ignore(rules, &["ab", "*é"], &[])];
            let index = Index::of(&ignores);
            for name in names {
                for rule in ["one", "three"] {
                    let (found, all) = (index.candidates(rule, Some(name)), fitting(&ignores, rule, Some(name)));
                    assert_eq!(found, all, "{tool:?} {rules:?} {name:?} {rule}");
                    assert_eq!(index.candidates(rule, None), fitting(&ignores, rule, None), "{tool:?} {rules:?}");
                }
            }
        }
    }
}

/// Of several entries that match the same findings, the first is used and the others are stale, as without the index.
#[test]
fn first_of_equal_entries_is_used() {
    let ignores = [ignore(&["one"], &[], &["gemini"]), ignore(&["one"], &[], &["gemini"]), ignore(&["one"], &[], &[])];
    assert_eq!(Index::of(&ignores).candidates("one", None), BTreeSet::from([0, 2]));
}
