//! Compares patterns with the crate `regex`, which reads a pattern like ECMA-262 if the pattern contains no sets, no
//! `.` and no hyphens in unusual places. Constructs specific to a language are compared in that language:
//! `npm/test/pattern-oracle.test.js` and `python/tests/test_pattern_oracle.py`.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

use serde_json::json;
use toolwire::validate_arguments;

/// Parts of patterns with the same meaning in both engines.
const ATOMS: [&str; 16] =
    ["a", "b", "ab", "é", "\\n", "[ab]", "[^a]", "[b-z]", "(", "(?:", "(?:|", "(?:||)", ")", "|", "^", "$"];
const QUANTIFIERS: [&str; 10] = ["*", "+", "?", "??", "*?", "{2}", "{0,2}", "{1,}", "{0}", "{7}"];
const TEXTS: [&str; 10] = ["", "a", "b", "ab", "ba", "aab", "abab", "\nb", "éa", "bbbbbab"];

/// Knuth's 64-bit generator, to avoid a dependency.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits fit") % limit
    }

    fn pattern(&mut self) -> String {
        let (mut pattern, mut open) = (String::new(), 0_usize);
        for _ in 0..1 + self.below(7) {
            let atom = ATOMS[self.below(ATOMS.len())];
            match atom {
                ")" if open == 0 => continue,
                ")" => open -= 1,
                _ => open += usize::from(atom.starts_with('(')),
            }
            pattern.push_str(atom);
            while self.below(3) == 0 {
                pattern.push_str(QUANTIFIERS[self.below(QUANTIFIERS.len())]);
            }
        }
        // Sometimes leaves a group unclosed.
        if self.below(50) > 0 {
            pattern.push_str(&")".repeat(open));
        }
        pattern
    }
}

#[test]
fn searches_agree_with_the_crate_regex() {
    let (mut random, mut judged, mut refused) = (Random(2026), 0, 0);
    let odd = regex::Regex::new(r"(?:^|[*+?}^$|(])[*+?{]").expect("it is a pattern");
    for _ in 0..22_000 {
        let pattern = random.pattern();
        let theirs = regex::Regex::new(&pattern);
        let ours = |text: &str| {
            validate_arguments(&json!({ "v": text }), &json!({"properties": {"v": {"pattern": pattern}}}))
                .expect("they are arguments and a schema")
                .valid
        };
        if ours("").is_none() {
            refused += 1;
            // ECMA-262 does not allow a quantifier after another one, or without an atom.
            let is_odd = odd.is_match(&pattern.replace("(?:", "("));
            assert!(theirs.is_err() || is_odd, "only `regex` accepts `{pattern}`");
            continue;
        }
        let theirs = theirs.unwrap_or_else(|error| panic!("only toolwire accepts `{pattern}`: {error}"));
        for text in TEXTS {
            assert_eq!(ours(text), Some(theirs.is_match(text)), "`{pattern}` in {text:?}");
            judged += 1;
        }
    }
    println!("{judged} searches judged, {refused} patterns refused");
    assert!(judged > 80_000 && refused > 1_000, "{judged} judged, {refused} refused");
}
