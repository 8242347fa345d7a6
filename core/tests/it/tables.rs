//! Checks the tables of the dialects for consistency. Every violation of `check` rests on a fact. Every fact of
//! confidence A or B has a fixture with a schema that the fact refuses, and a fixture with a schema that it does not
//! refuse.
#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, and `value[\"name\"]` of serde_json returns null instead of panicking"
)]

use crate::print_uncaptured;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use serde_json::{json, Value};
use toolwire::{check, dialects, reports::Fact, reports::Grade, Dialect, SanitizeOptions};

fn fixtures(function: &str) -> Vec<Value> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(function);
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_str::<Vec<Value>>(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    // `sanitize/rules` has a file for each rule.
    let folders = [folder.join("rules"), folder];
    let files = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten())
        .map(|entry| entry.path());
    let cases: Vec<Value> = files.filter(|path| path.is_file()).flat_map(read).collect();
    assert!(!cases.is_empty(), "{function} has no fixtures");
    cases
}

fn input(case: &Value) -> String {
    let part = |part: &Value| {
        let (text, times) = (part[0].as_str().unwrap_or_default(), part[1].as_u64().unwrap_or_default());
        text.repeat(usize::try_from(times).unwrap_or_default())
    };
    match (&case["inputText"], &case["inputParts"]) {
        (Value::String(text), _) => text.clone(),
        (_, Value::Array(parts)) => parts.iter().map(part).collect(),
        _ => case["input"].to_string(),
    }
}

fn dialects_with_grammar() -> impl Iterator<Item = &'static Dialect> {
    dialects().iter().filter(|dialect| !dialect.name.starts_with("codex"))
}

/// Returns true if the first fact covers all rules that no other fact names: `portable` refuses what any of its
/// surfaces refuses.
fn covers_all(dialect: &Dialect) -> bool {
    matches!(dialect.facts, [fact, ..] if fact.rules.is_empty() && dialect.name == "portable")
}

fn ids(fact: &Fact) -> Vec<&'static str> {
    fact.rules.iter().map(|constraint| constraint.id()).collect()
}

/// Rules for whole requests, which `check` does not enforce. Fixtures of `checkTools` cover them.
const REQUEST_RULES: &[&str] = &[
    "tool-name",
    "qualified-name",
    "mcp-header",
    "strict-flag",
    "no-arguments",
    "description-length",
    "description-not-string",
    "empty-description",
    "too-many-tools",
    "too-many-strict-tools",
    "too-many-optional-properties",
    "too-many-unions",
    "too-complex",
    "definition-conflict",
    "mixed-backends",
    "too-many-strict-properties",
];

/// Keys by rule. An accepted schema must contain one of them to show that the rule does not refuse too much. For other
/// rules, any accepted schema shows that.
const SUBJECTS: &[(&str, &[&str])] = &[
    ("type-beside-any-of", &["anyOf"]),
    ("any-of-first-keys", &["anyOf"]),
    ("beside-any-of", &["anyOf"]),
    ("any-of-shared", &["anyOf"]),
    ("combinator-not-list", &["anyOf"]),
    ("any-of-size", &["anyOf"]),
    ("type-beside-ref", &["$ref"]),
    ("ref-form", &["$ref"]),
    ("ref-target", &["$ref"]),
    ("ref-place", &["$ref"]),
    ("ref-shared", &["$ref"]),
    ("ref-any-of", &["$ref"]),
    ("beside-ref", &["$ref"]),
    ("recursion", &["$ref"]),
    ("endless-recursion", &["$ref"]),
    ("left-recursion", &["$ref"]),
    ("enum-kind", &["enum"]),
    ("enum-contradicts", &["enum"]),
    ("enum-without-type", &["enum"]),
    ("enum-value", &["enum"]),
    ("enum-empty", &["enum"]),
    ("enum-not-list", &["enum"]),
    ("enum-too-long", &["enum"]),
    ("too-many-enum-values", &["enum"]),
    ("array-items", &["items", "prefixItems"]),
    ("array-without-items", &["items", "prefixItems"]),
    ("open-items", &["items"]),
    ("items-not-schema", &["items"]),
    ("required-unknown", &["required"]),
    ("required-not-strings", &["required"]),
    ("not-required", &["required"]),
    ("property-name", &["properties"]),
    ("reserved-name", &["properties"]),
    ("object-without-properties", &["properties"]),
    ("object-openness", &["additionalProperties"]),
    ("object-not-closed", &["additionalProperties"]),
    ("map", &["additionalProperties"]),
    ("pattern", &["pattern", "patternProperties"]),
    ("pattern-anchors", &["pattern", "patternProperties"]),
    ("array-openness", &["prefixItems"]),
    ("format", &["format"]),
    ("keyword-too-large", &["minItems", "maxItems", "minLength", "maxLength"]),
];

fn subject(rule: &str) -> Option<&'static [&'static str]> {
    SUBJECTS.iter().find(|(known, _)| *known == rule).map(|(_, keys)| *keys)
}

/// An accepted list that is close to violating a rule shows that the rule does not refuse too much.
fn comes_near(rule: &str, case: &Value) -> bool {
    let text = input(case);
    let tools = text.matches("\"name\"").count();
    match rule {
        // Hosted tools count but have no names, so the length of the list is used.
        "too-many-tools" => serde_json::from_str::<Vec<Value>>(&text).is_ok_and(|list| list.len() >= 128),
        "too-many-strict-tools" => tools >= 20,
        "too-many-optional-properties" | "too-many-unions" => text.matches("\"type\"").count() > 16,
        "strict-flag" => text.contains("\"strict\""),
        "empty-description" | "description-length" => text.contains("\"description\""),
        _ => tools > 0,
    }
}

fn rules_without_case(dialect: &Dialect, rules: &[&'static str], cases: &[Value]) -> Vec<String> {
    let has_dialect = |case: &&Value| {
        case["options"]["dialects"].as_array().is_some_and(|names| names.iter().any(|name| name == dialect.name))
    };
    let finds = |case: &Value, rule: &str| {
        let found = case["expected"].as_array().into_iter().flatten();
        found.clone().any(|one| one["dialect"] == dialect.name && one["constraint"] == rule)
    };
    let mut faults = Vec::new();
    for rule in rules {
        let mut relevant = cases.iter().filter(has_dialect).filter(|case| case["expected"].is_array());
        if !relevant.clone().any(|case| finds(case, rule)) {
            faults.push(format!("{}: no fixture of `checkTools` is refused by `{rule}`", dialect.name));
        }
        if !relevant.any(|case| !finds(case, rule) && comes_near(rule, case)) {
            faults.push(format!("{}: no fixture of `checkTools` comes near `{rule}` and is accepted", dialect.name));
        }
    }
    faults
}

#[test]
fn facts_have_fixtures() {
    let cases = fixtures("check");
    let lists = fixtures("checkTools");
    let (mut facts, mut of_requests, mut faults) = (0, 0, Vec::new());
    for dialect in dialects_with_grammar() {
        let of_dialect: Vec<&Value> = cases.iter().filter(|case| case["options"]["dialect"] == dialect.name).collect();
        for fact in dialect.facts.iter().filter(|fact| matches!(fact.confidence, Grade::A | Grade::B)) {
            if fact.rules.is_empty() {
                continue;
            }
            let rules = ids(fact);
            if rules.iter().all(|rule| REQUEST_RULES.contains(rule)) {
                of_requests += 1;
                faults.extend(rules_without_case(dialect, &rules, &lists));
                continue;
            }
            facts += 1;
            let is_its = |rule: &Value| rule.as_str().is_some_and(|rule| rules.contains(&rule));
            let finds = |case: &Value| {
                case["expected"].as_array().is_some_and(|found| found.iter().any(|one| is_its(&one["constraint"])))
            };
            let is_fine = |case: &Value| case["expected"].as_array().is_some_and(Vec::is_empty);
            let is_about = |case: &Value| {
                let text = input(case);
                let mentions = |key: &&str| text.contains(&format!("\"{key}\""));
                rules.iter().any(|rule| subject(rule).is_none_or(|keys| keys.iter().any(mentions)))
            };
            if !of_dialect.iter().any(|case| finds(case)) {
                faults
                    .push(format!("{}: no fixture is refused because {} ({:?})", dialect.name, fact.statement, rules));
            }
            if !of_dialect.iter().any(|case| is_fine(case) && is_about(case)) {
                faults.push(format!(
                    "{}: no accepted fixture has a keyword that this is about: {} ({:?})",
                    dialect.name, fact.statement, rules
                ));
            }
        }
    }
    print_uncaptured(&format!(
        "{facts} facts of confidence A and B about schemas, {of_requests} about requests, {} without a fixture",
        faults.len()
    ));
    assert!(faults.is_empty(), "{} facts without a fixture\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_finding_is_based_on_a_fact() {
    let mut schemas: Vec<String> =
        ["check", "sanitize"].into_iter().flat_map(fixtures).map(|case| input(&case)).collect();
    schemas.extend(invalid_schemas().iter().map(Value::to_string));
    let mut unclaimed: BTreeMap<(&str, &str), String> = BTreeMap::new();
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for dialect in dialects_with_grammar().filter(|dialect| !covers_all(dialect)) {
        let options = SanitizeOptions::new(dialect.id());
        for schema in &schemas {
            for violation in check(schema, &options).unwrap_or_default() {
                found.entry(dialect.name).or_default().insert(violation.constraint.id());
                // A serialized Zod validator is a mistake of the caller, so no fact about an API describes it.
                let is_zod = violation.constraint.id() == "ignored-keyword" && violation.pointer.ends_with("/def");
                if !is_zod && !dialect.facts.iter().any(|fact| ids(fact).contains(&violation.constraint.id())) {
                    unclaimed.entry((dialect.name, violation.constraint.id())).or_insert_with(|| schema.clone());
                }
            }
        }
        // A fact whose rule is never violated is not enforced by its table.
        let sure = dialect.facts.iter().filter(|fact| fact.confidence != Grade::C);
        for rule in sure.flat_map(ids).filter(|rule| !REQUEST_RULES.contains(rule)) {
            if !found.get(dialect.name).is_some_and(|found| found.contains(&rule)) {
                unclaimed.entry((dialect.name, rule)).or_insert_with(|| "named by a fact, but never violated".into());
            }
        }
    }
    for (dialect, rules) in &found {
        print_uncaptured(&format!("  {dialect:<20} {:>3} rules", rules.len()));
    }
    let faults: Vec<String> =
        unclaimed.iter().map(|((dialect, rule), schema)| format!("{dialect}: `{rule}`: {schema}")).collect();
    assert!(faults.is_empty(), "{} rules without a fact, or without a violation\n{}", faults.len(), faults.join("\n"));
}

fn stating_the_metaschema() -> impl Iterator<Item = &'static Dialect> {
    dialects_with_grammar().filter(|dialect| {
        dialect.facts.iter().any(|fact| {
            fact.statement.contains("2020-12") && fact.rules.iter().any(|rule| rule.id() == "keyword-value")
        })
    })
}

#[test]
fn dialects_that_state_the_metaschema_refuse_invalid_schemas() {
    let invalid: Vec<Value> =
        invalid_schemas().into_iter().filter(|schema| !jsonschema::draft202012::meta::is_valid(schema)).collect();
    let (mut judged, mut faults) = (0, Vec::new());
    for dialect in stating_the_metaschema() {
        let options = SanitizeOptions::new(dialect.id());
        let is_refused = |schema: &Value| {
            let found = check(schema, &options).unwrap_or_default();
            found.iter().any(|violation| violation.severity == toolwire::reports::Severity::Refused)
        };
        // Validators that support several drafts accept tuples in `items`.
        let tuple = json!({"type": "array", "items": [{"type": "string"}]});
        let takes_tuples = !is_refused(&json!({"type": "object", "properties": {"p": tuple}, "required": ["p"]}));
        for schema in &invalid {
            let is_tuple = |value: &Value| value["items"].as_array().is_some_and(|items| !items.is_empty());
            if takes_tuples && (is_tuple(schema) || is_tuple(&schema["properties"]["p"])) {
                continue;
            }
            judged += 1;
            if !is_refused(schema) {
                faults.push(format!("{}: {schema} is not refused", dialect.name));
            }
            if toolwire::sanitize(schema, &options).is_ok_and(|result| is_refused(&result.schema)) {
                faults.push(format!("{}: the output of `sanitize` for {schema} is refused", dialect.name));
            }
        }
    }
    print_uncaptured(&format!(
        "{judged} malformed schemas checked against {} dialects",
        stating_the_metaschema().count()
    ));
    assert!(judged > 1_000 && faults.is_empty(), "{} accepted\n{}", faults.len(), faults.join("\n"));
}

/// Returns every keyword with every kind of invalid value, and a few valid ones.
fn invalid_schemas() -> Vec<Value> {
    let keywords = [
        "type",
        "properties",
        "required",
        "items",
        "additionalProperties",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "if",
        "enum",
        "const",
        "$ref",
        "$defs",
        "definitions",
        "description",
        "pattern",
        "format",
        "$id",
        "$schema",
        "default",
        "patternProperties",
        "prefixItems",
        "minimum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "uniqueItems",
        "nullable",
        "x-unknown",
        "dependentRequired",
        "propertyNames",
        "contains",
        "minContains",
    ];
    let values = [
        json!(null),
        json!(true),
        json!(false),
        json!(5),
        json!(5_000),
        json!(1.5),
        json!("#"),
        json!("object"),
        json!("array"),
        json!("enum"),
        json!("(?<n>a)"),
        json!("#/$defs/a"),
        json!("#/definitions/a"),
        json!("#/properties/q"),
        json!([]),
        json!({}),
        json!([{}]),
        json!([null]),
        json!(["a"]),
        json!(["a", "a"]),
        json!(["a/b", 1, null, {}, ""]),
        json!(["string", "object", "null"]),
        json!([{"type": "string"}, {"type": "object", "properties": {"a": {"type": "string"}}}]),
        json!({"a": null}),
        json!({"a": {"$ref": "#/$defs/a"}}),
        json!({"a": {"type": "object", "properties": {"b": {"$ref": "#/$defs/a"}}, "required": ["b"]}}),
        json!({"type": "string"}),
        json!({"$ref": "#"}),
    ];
    let mut schemas = Vec::new();
    for keyword in keywords {
        for value in &values {
            let inner = json!({keyword: value});
            for kind in ["string", "object", "array"] {
                let mut typed = inner.clone();
                if let Some(object) = typed.as_object_mut() {
                    object.entry("type").or_insert_with(|| json!(kind));
                }
                schemas.push(json!({"type": "object", "properties": {"p": typed, "q": {}}, "required": ["p"]}));
            }
            schemas.push(json!({"type": "object", "properties": {"p": inner}}));
            schemas.push(json!({"type": "object", "properties": {}, keyword: value}));
        }
    }
    schemas
}

/// If a message names a replacement for a keyword, the dialect must accept the replacement at the same location.
#[test]
fn replacements_named_in_messages_are_accepted() {
    let branches = json!([{"type": "object", "properties": {}}, {"type": "object", "properties": {}}]);
    let mut replaced = 0;
    for dialect in dialects_with_grammar() {
        let options = SanitizeOptions::new(dialect.id());
        let found = |schema: &Value| check(schema, &options).unwrap_or_else(|error| panic!("{error}"));
        for (keyword, value, other, replacement) in
            [("oneOf", branches.clone(), "anyOf", branches.clone()), ("const", json!({}), "enum", json!([{}]))]
        {
            for is_root in [true, false] {
                let place = |keyword: &str, value: &Value| {
                    let part = json!({ "type": "object", "properties": {}, keyword: value });
                    if is_root {
                        part
                    } else {
                        json!({ "type": "object", "properties": { "a": part }, "required": ["a"] })
                    }
                };
                let pointer = |keyword: &str| format!("{}/{keyword}", if is_root { "" } else { "/properties/a" });
                let names = |one: &toolwire::reports::Violation| one.message.contains("` instead of `");
                let refused = found(&place(keyword, &value));
                if !refused.iter().any(|one| one.pointer == pointer(keyword) && names(one)) {
                    continue;
                }
                replaced += 1;
                let again = found(&place(other, &replacement));
                let wrong =
                    again.iter().find(|one| one.pointer == pointer(other) && one.constraint.id().ends_with("keyword"));
                assert!(wrong.is_none(), "{}: {wrong:?}", dialect.name);
            }
        }
    }
    assert!(replaced > 5, "{replaced}");
}
