//! Follows the advice of the linter, as `check --fix` writes it: for every dialect, on the shortest fixture that
//! violates each constraint, and on ten schemas around it. Afterwards, the findings of the rule have disappeared, none
//! was added, and an independent validator accepts the same arguments as before. Constraints without a fix are in
//! [`BY_HAND`], with the reason.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

#[path = "../../../core/tests/it/report_soundness/instances.rs"]
mod instances;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write as _,
    panic::AssertUnwindSafe,
    path::Path,
    thread,
};

use instances::Dice;
use jsonschema::{Draft, Validator};
use serde_json::{json, Map, Value};
use toolwire::{check, dialects, SanitizeOptions};
use toolwire_command::{Command, Need, Printed};

/// Constraints without a fix that loses nothing, with the reason. Those marked with `true` have an unsafe fix for at
/// least one example.
const BY_HAND: &[(&str, bool, &str)] = &[
    ("any-of-shared", true, "the API reads the siblings of a union as parts of its branches"),
    (
        "any-of-size",
        true,
        "a union without branches accepts nothing, and the user must decide which branches to remove",
    ),
    ("braces-in-name", false, "the server reads the name of the property"),
    ("defs-not-object", true, "the invalid value of `$defs` is lost"),
    ("endless-recursion", true, "a schema that accepts nothing is a mistake"),
    ("enum-contradicts", true, "either the type or the values are wrong"),
    ("enum-empty", true, "a schema that accepts nothing is a mistake"),
    ("format", true, "other programs read the format"),
    ("keyword-too-large", true, "the API enforces no larger number"),
    ("map", false, "key-value pairs are different arguments, which the server would have to read"),
    ("maximum-below-minimum", true, "one of the two numbers is wrong"),
    ("pattern-anchors", true, "without anchors, the pattern accepts more in every other API"),
    ("pattern-not-enforced", false, "the API enforces no other pattern that accepts the same"),
    ("property-name", false, "the server reads the name of the property"),
    ("ref-not-string", true, "the meaning of the reference is unknown"),
    ("reserved-name", false, "the server reads the name of the property"),
    ("slash-in-definition", true, "the value with this key is lost"),
    ("too-deep", true, "the levels below the limit are removed"),
    ("unknown-keyword", true, "the meaning of the key is unknown"),
];

/// Longest schema that is an example.
const LONGEST: usize = 700;
const FILE: &str = "schema.json";

/// Returns the text of the file after `check --fix`. The dialect may be `all`.
fn fixed(dialect: &str, schema: &str, is_unsafe: bool) -> String {
    let mut arguments = vec!["check", "--fix", "--quiet", "--show", "ignored", "--dialect", dialect, FILE];
    if is_unsafe {
        arguments.push("--unsafe-fixes");
    }
    let file = run(&arguments, schema).files.into_iter().find(|file| file.path == FILE);
    file.map_or_else(|| schema.into(), |file| file.content)
}

fn run(arguments: &[&str], schema: &str) -> Printed {
    let mut command = Command::new(&json!({"arguments": arguments}).to_string());
    while let Some(need) = command.need() {
        match need {
            Need::File(path) | Need::RegularFile(path) if path == FILE => command.give(schema.as_bytes()),
            _ => command.fail("ENOENT"),
        }
    }
    while command.step().is_some() {}
    command.finish()
}

fn rules_in(profile: &str, schema: &str) -> BTreeSet<String> {
    let printed = run(&["check", "--json", "--profile", profile, FILE], schema);
    let document: Value = serde_json::from_str(&printed.stdout).expect("a document");
    let findings = document["findings"].as_array().into_iter().flatten();
    findings.filter_map(|finding| finding["rule"].as_str().map(String::from)).collect()
}

/// Schemas before and after following the advice about a rule.
const FOLLOWED: &[(&str, &str, &str)] = &[
    (
        "array-items",
        r#"{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"},{"type":"integer"}]}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}}"#,
    ),
    (
        "required-not-strings",
        r#"{"type":"object","properties":{"a":{"type":"string","required":true}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#,
    ),
    (
        "array-without-items",
        r#"{"type":"object","properties":{"a":{"type":"array"}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}"#,
    ),
    ("root-object", r#"{"type":"string"}"#, r#"{"type":"object","properties":{"value":{"type":"string"}}}"#),
    ("object-without-properties", r#"{"type":"object"}"#, r#"{"type":"object","properties":{}}"#),
];

#[test]
fn the_advice_is_true_in_the_whole_profile() {
    for (rule, before, after) in FOLLOWED {
        assert!(rules_in("ordinary", before).contains(*rule), "{rule}: {before}");
        assert_eq!(rules_in("ordinary", after), BTreeSet::new(), "{rule}: {after}");
    }
}

fn has_reason(stderr: &str, rule: &str) -> bool {
    stderr.lines().any(|line| line.starts_with("not fixed: ") && line.contains(&format!("`{rule}`")))
}

#[test]
fn findings_beyond_the_limit_are_counted() {
    let branches = vec![r#"{"type":"array"}"#; 150].join(",");
    let schema = format!(r#"{{"type":"object","properties":{{"a":{{"anyOf":[{branches}]}}}}}}"#);
    let run = |more: &[&str]| run(&[&["check", "--dialect", "openai-chat", FILE], more].concat(), &schema);
    let text = run(&[]);
    assert_eq!(text.stdout.lines().filter(|line| line.contains("expected `items`")).count(), 100, "{}", text.stdout);
    assert!(text.stdout.contains("(50 more like this are not listed)"), "{}", text.stdout);
    assert!(text.stderr.contains("150 findings refused"), "{}", text.stderr);
    let document: Value = serde_json::from_str(&run(&["--json"]).stdout).expect("a document");
    let findings = document["findings"].as_array().expect("findings");
    assert_eq!((findings.len(), findings[99]["more"].as_u64()), (100, Some(50)));
    // A baseline contains all findings, because fixing some of them must not reveal others.
    let baseline = run(&["--baseline", "known.json", "--update-baseline"]);
    let content = baseline.files.first().map(|file| file.content.as_str()).unwrap_or_default();
    assert_eq!(content.matches("array-without-items").count(), 150);
}

#[test]
fn findings_are_fixed_or_have_a_reason_in_each_profile() {
    let inputs: BTreeSet<String> = examples().into_values().collect();
    let (mut faults, mut count) = (Vec::new(), 0);
    for profile in ["ordinary", "strict"] {
        for before in &inputs {
            let old = rules_in(profile, before);
            if old.is_empty() {
                continue;
            }
            let printed = run(&["check", "--fix", "--profile", profile, FILE], before);
            let file = printed.files.iter().find(|file| file.path == FILE);
            let after = file.map_or(before.as_str(), |file| file.content.as_str());
            for rule in rules_in(profile, after) {
                count += 1;
                if !old.contains(&rule) {
                    faults.push(format!("{profile}: the fix causes `{rule}`\n  in  {before}\n  out {after}"));
                } else if !has_reason(&printed.stderr, &rule) {
                    faults.push(format!("{profile}: no reason for `{rule}`\n  in  {before}\n  err {}", printed.stderr));
                }
            }
        }
    }
    assert!(count > 100 && faults.is_empty(), "{count} reasons, {} faults\n{}", faults.len(), faults.join("\n"));
}

fn findings(dialect: &str, schema: &str) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for ((constraint, _), count) in by_keyword(dialect, schema) {
        *counts.entry(constraint).or_default() += count;
    }
    counts
}

/// Returns the number of findings that are refused or reinterpreted, by constraint and by the keyword at which they are.
fn by_keyword(dialect: &str, schema: &str) -> BTreeMap<(&'static str, String), usize> {
    let mut counts = BTreeMap::new();
    for violation in check(schema, &SanitizeOptions::new(dialect.parse().expect("a dialect"))).unwrap_or_default() {
        let mut steps = violation.pointer.rsplit('/');
        let (last, above) = (steps.next().unwrap_or_default(), steps.next().unwrap_or_default());
        let is_name = ["properties", "patternProperties", "$defs", "definitions"].contains(&above);
        let is_keyword = !is_name && last.parse::<usize>().is_err();
        let keyword = if is_keyword { last.replace("definitions", "$defs") } else { String::new() };
        *counts.entry((violation.constraint.id(), keyword)).or_default() += 1;
    }
    counts
}

/// Returns the example of each constraint in each dialect: of the fixtures that violate it, the one with the fewest
/// violations, or the shortest of several. Only dialects of APIs have fixes.
fn examples() -> BTreeMap<(&'static str, &'static str), String> {
    let mut best = BTreeMap::<(&str, &str), (usize, String)>::new();
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures"));
    let mut inputs = BTreeSet::<(String, String)>::new();
    for folder in ["check", "sanitize", "sanitize/rules"] {
        for entry in fs::read_dir(root.join(folder)).expect("fixtures").flatten().filter(|entry| entry.path().is_file())
        {
            let cases = fs::read_to_string(entry.path()).expect("a file");
            for case in serde_json::from_str::<Vec<Value>>(&cases).expect("cases") {
                let options = &case["options"];
                let is_plain = options.as_object().is_some_and(|options| options.len() == 1);
                if let (Some(dialect), Some(input), true) = (options["dialect"].as_str(), case.get("input"), is_plain) {
                    inputs.insert((dialect.into(), input.to_string()));
                }
            }
        }
    }
    let is_of_an_api = |name: &str| !name.starts_with("codex");
    for (name, input) in inputs.iter().filter(|(_, input)| input.len() <= LONGEST) {
        let Some(dialect) = dialects().iter().find(|dialect| dialect.name == name && is_of_an_api(name)) else {
            continue;
        };
        let found = findings(name, input);
        let weight = found.values().sum::<usize>();
        for constraint in found.into_keys() {
            let known = best.entry((dialect.name, constraint)).or_insert_with(|| (weight, input.clone()));
            if (weight, input.len()) < (known.0, known.1.len()) {
                *known = (weight, input.clone());
            }
        }
    }
    best.into_iter().map(|(key, (_, input))| (key, input)).collect()
}

/// Returns schemas that contain the schema in the locations where real tools have schemas.
fn around(schema: &Value) -> Vec<Value> {
    let object = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let mut described = schema.clone();
    if let Some(members) = described.as_object_mut() {
        members.entry("description").or_insert_with(|| json!("Where it is."));
    }
    let mut made = vec![
        object(json!({"p": schema}), json!(["p"])),
        json!({"type": "object", "properties": {"p": schema, "q": {"type": "string"}}}),
        object(json!({"p": {"type": "array", "items": schema}}), json!(["p"])),
        object(json!({"p": {"anyOf": [schema, {"type": "null"}]}}), json!(["p"])),
        object(json!({"p": object(json!({"q": schema}), json!(["q"]))}), json!(["p"])),
        object(json!({"p": schema, "q": schema}), json!(["p", "q"])),
        object(json!({"p": described}), json!(["p"])),
        json!({"type": "object", "properties": {"q": {"type": "object", "additionalProperties": {"type": "integer"}}, "p": schema}}),
    ];
    // Tuples that accept further items, and references in unions and in recursive definitions.
    let tuple = json!({"type": "array", "prefixItems": [schema, {"type": "string"}]});
    let mut open_tuple = tuple.clone();
    open_tuple["items"] = json!({});
    made.push(json!({"type": "object", "properties": {"p": tuple}}));
    made.push(json!({"type": "object", "properties": {"p": open_tuple}, "additionalProperties": true}));
    for name in ["A", "List<int> of"] {
        let reference =
            json!({"$ref": format!("#/$defs/{}", name.replace(' ', "%20").replace('<', "%3C").replace('>', "%3E"))});
        let mut beside = reference.clone();
        beside["maxLength"] = json!(1);
        let node = json!({"type": "object", "properties": {"b": beside, "p": schema}});
        let mut root =
            json!({"type": "object", "properties": {"b": {"oneOf": [{"minimum": 3}, beside]}, "c": reference}});
        let mut inner = Map::new();
        inner.insert(name.into(), node);
        root["$defs"] = Value::Object(inner);
        made.push(root);
    }
    for definitions in ["$defs", "definitions"] {
        let reference = json!({"$ref": format!("#/{definitions}/D")});
        let mut root = object(json!({"p": reference, "q": reference}), json!(["p", "q"]));
        let mut inner = Map::new();
        inner.insert("D".into(), schema.clone());
        root[definitions] = Value::Object(inner);
        made.push(root);
    }
    made
}

fn validator(schema: &Value) -> Option<Validator> {
    let is_old = schema.to_string().contains("\"items\":[")
        || schema["$schema"].as_str().is_some_and(|name| name.contains("draft-07"));
    let draft = if is_old { Draft::Draft7 } else { Draft::Draft202012 };
    jsonschema::options().with_draft(draft).should_validate_formats(true).build(schema).ok()
}

/// Returns objects that the schema may accept, and variants that differ in one place.
fn values(schema: &Value, dice: &mut Dice) -> Vec<Value> {
    let mut values = instances::instances(schema, 6, dice);
    let mut leaves = Vec::new();
    for value in &values {
        collect(value, String::new(), &mut |pointer| leaves.push((value.clone(), pointer)));
    }
    for (value, pointer) in leaves.into_iter().take(24) {
        for other in [json!(null), json!("x"), json!(1), json!(2.5), json!({}), json!([])] {
            let mut changed = value.clone();
            *changed.pointer_mut(&pointer).expect("a place") = other;
            values.push(changed);
        }
    }
    values.retain(Value::is_object);
    values
}

fn collect(value: &Value, pointer: String, each: &mut dyn FnMut(String)) {
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                let below = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
                each(below.clone());
                collect(inner, below, each);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, inner)| collect(inner, format!("{pointer}/{at}"), each));
        }
        _ => {}
    }
}

/// Returns a value that only one of two schemas accepts, or a message if the validator refuses the second schema.
/// Returns `None` if both accept the same values, or if the validator cannot judge the first schema.
fn difference(before: &str, after: &str, dice: &mut Dice) -> Option<Value> {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    let (one, two) = (read(before)?, read(after)?);
    // The validator does not support OpenAPI's `nullable`, or remote references. No draft has both forms of tuples.
    let has = |text: &str| before.contains(text);
    if has("\"nullable\"") || has("\"$ref\":\"http") || (has("\"items\":[") && has("\"prefixItems\"")) {
        return None;
    }
    // The result for a schema that applies to itself endlessly is undefined.
    if findings("llama-cpp", before).contains_key("left-recursion") {
        return None;
    }
    let first = validator(&one)?;
    let Some(second) = validator(&two) else { return Some(json!("the fixed schema does not compile")) };
    let valid = |validator: &Validator, value: &Value| {
        std::panic::catch_unwind(AssertUnwindSafe(|| validator.is_valid(value))).ok()
    };
    let mut all = values(&one, dice);
    all.extend(values(&two, dice));
    all.into_iter()
        .find(|value| matches!((valid(&first, value), valid(&second, value)), (Some(one), Some(two)) if one != two))
}

fn new_finding(dialect: &str, before: &str, after: &str) -> Option<String> {
    let old = by_keyword(dialect, before);
    let is_new = |(key, count): &(&(&str, String), &usize)| **count > old.get(*key).copied().unwrap_or_default();
    let new = by_keyword(dialect, after);
    let ((rule, keyword), _) = new.iter().find(is_new)?;
    Some(format!("{dialect}: `{rule}` is new at `{keyword}`\n  in  {before}\n  out {after}"))
}

#[derive(Default)]
struct Tally {
    faults: Vec<String>,
    /// Constraints whose findings a safe fix removes, those that need an unsafe fix, and those that no fix removes.
    fixed: BTreeSet<&'static str>,
    fixed_unsafely: BTreeSet<&'static str>,
    left: BTreeMap<&'static str, String>,
    schemas: usize,
    written: usize,
}

fn follow(examples: &[(&(&'static str, &'static str), &String)]) -> Tally {
    let mut tally = Tally::default();
    let mut dice = Dice(0x5eed_0019);
    for ((dialect, constraint), example) in examples {
        let number = |text: &str| findings(dialect, text).get(constraint).copied().unwrap_or_default();
        let with_loss = fixed(dialect, example, true);
        if number(&with_loss) == 0 {
            tally.fixed_unsafely.insert(constraint);
        }
        tally.faults.extend(new_finding(dialect, example, &with_loss));
        tally.left.entry(constraint).or_insert_with(|| format!("{dialect}: {example}"));
        let schema: Value = serde_json::from_str(example).expect("JSON");
        let others = around(&schema).into_iter().map(|schema| schema.to_string());
        for before in [(*example).clone()].into_iter().chain(others) {
            tally.schemas += 1;
            let after = fixed(dialect, &before, false);
            if after == before {
                continue;
            }
            tally.written += 1;
            if number(&before) > 0 && number(&after) == 0 {
                tally.fixed.insert(constraint);
            }
            tally.faults.extend(new_finding(dialect, &before, &after));
            if let Some(value) = difference(&before, &after, &mut dice) {
                tally
                    .faults
                    .push(format!("{dialect}, {constraint}: only one accepts {value}\n  in  {before}\n  out {after}"));
            }
            if fixed(dialect, &after, false) != after {
                tally.faults.push(format!("{dialect}: fixed twice\n  in  {before}\n  out {after}"));
            }
        }
    }
    tally
}

#[test]
fn following_the_advice_fixes_the_schema() {
    let examples = examples();
    let all: Vec<_> = examples.iter().collect();
    // Two threads, because the test machines have at least two cores.
    let (one, two) = all.split_at(all.len() / 2);
    let (mut tally, other) = thread::scope(|scope| {
        let other = scope.spawn(|| follow(two));
        (follow(one), other.join().expect("the other half"))
    });
    tally.faults.extend(other.faults);
    tally.fixed.extend(other.fixed);
    tally.fixed_unsafely.extend(other.fixed_unsafely);
    for (rule, example) in other.left {
        tally.left.entry(rule).or_insert(example);
    }
    tally.schemas += other.schemas;
    tally.written += other.written;
    let _ = writeln!(
        std::io::stderr(),
        "{} examples and {} schemas, {} of them fixed; {} constraints with a safe fix",
        all.len(),
        tally.schemas,
        tally.written,
        tally.fixed.len()
    );
    let mut faults = tally.faults;
    let rules: BTreeSet<&str> = examples.keys().map(|(_, rule)| *rule).collect();
    for rule in rules.iter().filter(|rule| !tally.fixed.contains(**rule)) {
        let row = BY_HAND.iter().find(|(known, ..)| known == rule);
        let is_unsafe = tally.fixed_unsafely.contains(rule);
        if row.is_none_or(|(_, known, _)| *known != is_unsafe) {
            let example = tally.left.get(rule).map_or("", String::as_str);
            faults
                .push(format!("`{rule}` is not fixed (unsafe: {is_unsafe}), and BY_HAND does not list it: {example}"));
        }
    }
    for (rule, ..) in BY_HAND {
        if tally.fixed.contains(rule) || !rules.contains(rule) {
            faults.push(format!("`{rule}` is in BY_HAND, and is fixed or never found"));
        }
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn fixes_for_one_dialect_do_not_break_others() {
    let inputs: BTreeSet<String> = examples().into_values().collect();
    let all: Vec<&String> = inputs.iter().collect();
    let follow = |inputs: &[&String]| {
        let (mut faults, mut written) = (Vec::new(), 0);
        let mut dice = Dice(0x5eed_0020);
        for before in inputs {
            let after = fixed("all", before, false);
            if after == **before {
                continue;
            }
            written += 1;
            faults.extend(dialects().iter().filter_map(|dialect| new_finding(dialect.name, before, &after)));
            if let Some(value) = difference(before, &after, &mut dice) {
                faults.push(format!("only one accepts {value}\n  in  {before}\n  out {after}"));
            }
        }
        (faults, written)
    };
    let (one, two) = all.split_at(all.len() / 2);
    let ((mut faults, written), other) = thread::scope(|scope| {
        let other = scope.spawn(|| follow(two));
        (follow(one), other.join().expect("the other half"))
    });
    faults.extend(other.0);
    let written = written + other.1;
    let _ = writeln!(std::io::stderr(), "{} schemas for all dialects together, {written} of them fixed", all.len());
    assert!(written > 50 && faults.is_empty(), "{written} fixed, {} faults\n{}", faults.len(), faults.join("\n"));
}
