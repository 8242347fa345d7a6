//! What each rule is for: without it, `check` finds what it would have repaired.
#![allow(clippy::panic, reason = "a test stops where it cannot go on")]

extern crate std;

use alloc::{rc::Rc, string::String, vec::Vec};

use crate::{
    check,
    dialect::{self, Method},
    json,
    options::SanitizeOptions,
    report::Recorder,
    sanitize::pass::off::without,
};

/// A rule, a schema that needs it, and what `check` finds in the result without it.
const NEEDED: &[(&str, &str, &str)] = &[
    ("repair", r#"{"type":"declare-object","properties":{"v":{"type":"int"}}}"#, "unknown-type"),
    ("upgrade-draft", r#"{"type":"declare-object","properties":{"v":{"type":"array","items":[{"type":"string"}]}}}"#, "array-items"),
    ("inline", r##"{"type":"declare-object","properties":{"a":{"type":"string"},"v":{"$ref":"#/properties/a"}}}"##, "ref-form"),
    ("booleans", r#"{"type":"declare-object","properties":{"v":true}}"#, "not-a-schema"),
    ("declare-object", r#"{"description":"x"}"#, "root-object"),
    ("property-names", r#"{"type":"declare-object","properties":{"anyOf":{"type":"string"}}}"#, "reserved-name"),
    ("ref-like-keys", r##"{"type":"declare-object","properties":{"v":{"type":"declare-object","default":{"$ref":"#"}}}}"##, "ref-place"),
    (
        "slash-keys",
        r##"{"type":"declare-object","properties":{"v":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"declare-object","properties":{"n":{"$ref":"#/$defs/n"}},"patternProperties":{"a/b":{"type":"string"}}}}}"##,
        "slash-in-definition",
    ),
    ("enum", r#"{"type":"declare-object","properties":{"v":{"enum":["a"]}}}"#, "enum-without-type"),
    (
        "any-of",
        r#"{"type":"declare-object","properties":{"v":{"type":"string","anyOf":[{"minLength":1},{"pattern":"a"}]}}}"#,
        "type-beside-any-of",
    ),
    ("type-array", r#"{"type":"declare-object","properties":{"v":{"type":["string","null"],"default":null}}}"#, "beside-type-list"),
    ("required", r#"{"type":"declare-object","properties":{"v":{"type":"declare-object","required":["a"]}}}"#, "required-unknown"),
    ("root", r#"{"type":"declare-object","anyOf":[{"properties":{}},{"properties":{}}]}"#, "type-beside-any-of"),
    (
        "end-recursion",
        r##"{"type":"declare-object","properties":{"v":{"$ref":"#/$defs/n"}},"required":["v"],"$defs":{"n":{"type":"array","items":{"$ref":"#/$defs/n"}}}}"##,
        "endless-recursion",
    ),
    ("fit", TOO_LONG, "too-many-bytes"),
];

/// More than the 60 bytes it is given: the example has to go.
const TOO_LONG: &str = r#"{"type":"declare-object","properties":{},"examples":["a long example"]}"#;

/// PassContext that the validator does not need, and why they are there.
const NOT_NEEDED: &[(&str, &str)] = &[
    // The documentation wants a type everywhere; the validator accepts schemas without one.
    ("infer-type", r#"{"type":"declare-object","properties":{"v":{"description":"x"}}}"#),
    // Definitions that nothing needs go in the end anyway; so early they need not be rewritten first.
    ("drop-tables", r#"{"type":"declare-object","properties":{},"$defs":{"a":true,"b/c":{"type":"string"}}}"#),
];

fn found(schema: &str, options: &SanitizeOptions) -> Vec<&'static str> {
    let mut node = json::read(schema).unwrap_or_else(|error| panic!("{schema}: {error}"));
    // The rules alone: the public function would turn what `check` finds into an error.
    let dialect = dialect::of(options).unwrap_or_else(|error| panic!("{error}"));
    let Method::Rules(grammar) = dialect.method else { panic!("`{}` has no grammar", dialect.name) };
    let budget = Rc::new(options.budget(&node));
    crate::sanitize::pipeline::sanitize(
        &mut node,
        dialect,
        grammar,
        options,
        super::Finish::Written(&|_| false),
        &mut Recorder::off(),
        &budget,
    )
    .unwrap_or_else(|error| panic!("{schema}: {error}"));
    // As text, so that nothing but what a provider sees counts.
    let text: String = json::write(&node);
    let node = json::read(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let violations = check::check(&node, options).unwrap_or_else(|error| panic!("{text}: {error}"));
    violations.into_iter().map(|violation| violation.rule).collect()
}

#[test]
fn check_notices_each_rule_that_does_not_run() {
    for (rule, schema, expected) in NEEDED {
        let options = match *rule {
            "fit" => SanitizeOptions::new("moonshot").max_bytes(60),
            _ => SanitizeOptions::new("moonshot"),
        };
        assert_eq!(found(schema, &options), Vec::<&str>::new(), "with `{rule}`: {schema}");
        let without_it = without(rule, || found(schema, &options));
        assert!(without_it.contains(expected), "without `{rule}`: {schema} gave {without_it:?}, not {expected}");
    }
}

#[test]
fn the_validator_does_not_need_these() {
    let options = SanitizeOptions::new("moonshot");
    for (rule, schema) in NOT_NEEDED {
        assert_eq!(without(rule, || found(schema, &options)), Vec::<&str>::new(), "without `{rule}`: {schema}");
    }
}
