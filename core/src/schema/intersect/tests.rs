//! Tests what merged schemas accept, instance by instance, with a real validator, the `jsonschema` crate. Random
//! schemas and instances use a small set of names, numbers and strings, so that they often overlap.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use serde_json::{json, Map, Value};
use std::{collections::BTreeMap, fs, path::PathBuf, println};

use super::{both, Merged};
use crate::{
    budget::Budget,
    json::Node,
    schema::{emptiness::are_disjoint, keyword::Keyword},
};

/// SplitMix64, which is reproducible.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn with_step(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.with_step(chances) == 0
    }

    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.with_step(list.len())].clone()
    }

    fn some<T: Clone>(&mut self, list: &[T]) -> Vec<T> {
        let start = self.with_step(list.len());
        let count = 1 + self.with_step(list.len().min(4));
        list.iter().cycle().skip(start).take(count).cloned().collect()
    }
}

const NAMES: [&str; 5] = ["a", "b", "ab", "c", "x"];
const PATTERNS: [&str; 3] = ["^a", "b$", "^x"];
const TYPES: [&str; 7] = ["null", "boolean", "object", "array", "number", "string", "integer"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    Scalars,
    Objects,
    Arrays,
    Branches,
}

const THEMES: [Theme; 4] = [Theme::Scalars, Theme::Objects, Theme::Arrays, Theme::Branches];

const SCALARS: &[&str] = &[
    "type",
    "type",
    "enum",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "description",
    "not",
];
const OBJECTS: &[&str] = &[
    "type",
    "required",
    "required",
    "minProperties",
    "maxProperties",
    "properties",
    "properties",
    "properties",
    "patternProperties",
    "additionalProperties",
    "additionalProperties",
    "additionalProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
    "enum",
];
const ARRAYS: &[&str] = &[
    "type",
    "minItems",
    "maxItems",
    "uniqueItems",
    "prefixItems",
    "prefixItems",
    "items",
    "items",
    "contains",
    "contains",
    "minContains",
    "maxContains",
    "unevaluatedItems",
    "enum",
];
const BRANCHES: &[&str] = &[
    "allOf",
    "anyOf",
    "anyOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "$ref",
    "type",
    "properties",
    "required",
    "enum",
    "minimum",
    "unevaluatedProperties",
    "title",
    "additionalProperties",
];

fn scalars() -> Vec<Value> {
    [
        json!(null),
        json!(true),
        json!(false),
        json!(-1),
        json!(0),
        json!(1),
        json!(1.0),
        json!(1.5),
        json!(2),
        json!(3),
        json!(6),
        json!(12),
    ]
    .into_iter()
    .chain(["", "a", "b", "ab", "abc", "x"].map(Value::from))
    .collect()
}

fn definitions() -> Value {
    json!({ "s": { "type": ["string", "object"], "maxLength": 2 }, "t": { "minimum": 1, "required": ["a"] } })
}

fn schema(random: &mut Random, theme: Theme, depth: usize) -> Value {
    match random.with_step(24) {
        0 => return json!(true),
        1 => return json!(false),
        2 => return json!({}),
        _ => {}
    }
    let keywords = match theme {
        _ if depth == 0 => SCALARS,
        Theme::Scalars => SCALARS,
        Theme::Objects => OBJECTS,
        Theme::Arrays => ARRAYS,
        Theme::Branches => BRANCHES,
    };
    let mut object = Map::new();
    for _ in 0..1 + random.with_step(4) {
        let keyword = random.pick(keywords);
        let value = value(random, theme, depth, keyword);
        object.insert(keyword.into(), value);
    }
    Value::Object(object)
}

fn value(random: &mut Random, theme: Theme, depth: usize, keyword: &str) -> Value {
    let below = |random: &mut Random| {
        let theme = if random.one_in(3) { random.pick(&THEMES) } else { theme };
        let depth = depth.saturating_sub(1);
        if random.one_in(2) {
            schema(random, Theme::Scalars, depth)
        } else {
            schema(random, theme, depth)
        }
    };
    let schemas = |random: &mut Random| (0..1 + random.with_step(3)).map(|_| below(random)).collect::<Vec<_>>();
    let table = |random: &mut Random, names: &[&str]| -> Value {
        random.some(names).into_iter().map(|name| (String::from(name), below(random))).collect::<Map<_, _>>().into()
    };
    match keyword {
        "type" if random.one_in(2) => json!(random.pick(&TYPES)),
        "type" => {
            let mut types = random.some(&TYPES);
            types.truncate(3);
            json!(types)
        }
        "enum" => {
            let mut values = random.some(&scalars());
            if theme != Theme::Scalars {
                values.extend((0..3).map(|_| instance(random, theme, 2)));
            }
            let mut different: Vec<Value> = Vec::new();
            for value in values {
                if !different.contains(&value) {
                    different.push(value);
                }
            }
            json!(different)
        }
        "const" => random.pick(&scalars()),
        "minimum" | "exclusiveMinimum" => json!(random.pick(&[-1.0, 0.0, 1.0, 1.5])),
        "maximum" | "exclusiveMaximum" => random.pick(&[json!(0), json!(1), json!(2), json!(6.0)]),
        "multipleOf" => random.pick(&[json!(1), json!(2), json!(3), json!(4), json!(6), json!(0.5)]),
        "minLength" | "minItems" | "minProperties" | "minContains" => json!(random.with_step(3)),
        "maxLength" | "maxItems" | "maxProperties" | "maxContains" => json!(1 + random.with_step(3)),
        "pattern" => json!(random.pick(&PATTERNS)),
        "uniqueItems" => json!(!random.one_in(4)),
        "required" => json!(random.some(&NAMES[..3])),
        "properties" => table(random, &NAMES),
        "patternProperties" => table(random, &PATTERNS),
        "additionalProperties" if random.one_in(3) => json!(false),
        "dependentRequired" => random
            .some(&NAMES[..2])
            .into_iter()
            .map(|name| (String::from(name), json!(random.some(&NAMES))))
            .collect::<Map<_, _>>()
            .into(),
        "dependentSchemas" => table(random, &NAMES[..2]),
        "prefixItems" | "allOf" | "anyOf" | "oneOf" => json!(schemas(random)),
        "unevaluatedProperties" | "unevaluatedItems" if random.one_in(2) => json!(false),
        "$ref" => json!(random.pick(&["#/$defs/s", "#/$defs/t"])),
        "description" | "title" => json!(random.pick(&["one", "two", "one two"])),
        _ => below(random),
    }
}

fn instance(random: &mut Random, theme: Theme, depth: usize) -> Value {
    let composite = depth > 0 && !random.one_in(4);
    let inner = |random: &mut Random| {
        let theme = if random.one_in(2) { Theme::Scalars } else { theme };
        instance(random, theme, depth.saturating_sub(1))
    };
    match theme {
        Theme::Objects | Theme::Branches if composite => {
            let names = (0..random.with_step(4)).map(|_| random.pick(&NAMES)).collect::<Vec<_>>();
            names.into_iter().map(|name| (String::from(name), inner(random))).collect::<Map<_, _>>().into()
        }
        Theme::Arrays if composite => (0..random.with_step(4)).map(|_| inner(random)).collect::<Vec<_>>().into(),
        _ => random.pick(&scalars()),
    }
}

extern crate std;

/// Override it with `TOOLWIRE_PAIRS`.
const PAIRS: usize = 2_000;
const INSTANCES: usize = 60;

fn judge(schema: &Value) -> Option<jsonschema::Validator> {
    let document = json!({ "$defs": definitions(), "allOf": [schema] });
    let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012).should_validate_formats(false);
    options.build(&document).ok()
}

/// Returns the merged schema with every residual added as `allOf` at its location.
fn completed(merged: &Merged<'_>) -> Value {
    let mut whole = merged.node.to_value().unwrap();
    for left in &merged.residual {
        let place = whole.pointer_mut(&left.at.render()).expect("a place in the merged schema");
        if !place.is_object() {
            *place = json!({ "allOf": [place.take()] });
        }
        let parts = place.as_object_mut().unwrap().entry("allOf").or_insert_with(|| json!([]));
        parts.as_array_mut().unwrap().push(left.schema.to_value().unwrap());
    }
    whole
}

#[derive(Debug, Default)]
struct Tally {
    pairs: usize,
    exact: usize,
    left_over: usize,
    inexact: usize,
    disjoint: usize,
    verdicts: usize,
    accepted_by_both: usize,
    accepted_by_one: usize,
    left: BTreeMap<Keyword, usize>,
}

impl Tally {
    fn pair(&mut self, outer: &Value, inner: &Value, instances: &[Value]) {
        let (Some(judge_outer), Some(judge_inner)) = (judge(outer), judge(inner)) else { return };
        let (outer_node, inner_node) = (Node::from_value(outer).unwrap(), Node::from_value(inner).unwrap());
        let budget = Budget::new(0, None);
        let claimed_disjoint = are_disjoint(&budget, &outer_node, &inner_node);
        assert_eq!(claimed_disjoint, are_disjoint(&budget, &inner_node, &outer_node), "{outer}\n{inner}");
        let merged = both(&budget, outer_node, inner_node);
        let node = merged.node.to_value().unwrap();
        let story = || format!("outer  {outer}\ninner  {inner}\nmerged {node}\n{:?}", merged.residual);
        let judge_merged = judge(&node).unwrap_or_else(|| panic!("the merge is not a valid schema:\n{}", story()));
        self.pairs += 1;
        self.disjoint += usize::from(claimed_disjoint);
        self.exact += usize::from(merged.is_exact());
        self.left_over += usize::from(!merged.residual.is_empty());
        self.inexact += usize::from(merged.inexact);
        for left in &merged.residual {
            *self.left.entry(left.keyword).or_default() += 1;
        }
        if merged.inexact {
            return;
        }
        let alone = |keyword| !matches!(keyword, Keyword::UnevaluatedItems | Keyword::UnevaluatedProperties);
        let completed = merged.residual.iter().all(|left| alone(left.keyword)).then(|| completed(&merged));
        let judge_completed = completed.as_ref().map(|whole| judge(whole).unwrap());
        for instance in instances {
            let (one, two) = (judge_outer.is_valid(instance), judge_inner.is_valid(instance));
            let accepted = judge_merged.is_valid(instance);
            self.verdicts += 1;
            self.accepted_by_both += usize::from(one && two);
            self.accepted_by_one += usize::from(one != two);
            if one && two {
                assert!(!claimed_disjoint, "not disjoint: {instance}\n{}", story());
                assert!(accepted, "narrower: {instance}\n{}", story());
            } else if merged.is_exact() {
                assert!(!accepted, "wider: {instance}\n{}", story());
            }
            if let Some(judge) = &judge_completed {
                assert_eq!(judge.is_valid(instance), one && two, "incomplete: {instance}\n{}", story());
            }
        }
    }
}

#[test]
fn merged_random_schemas_accept_what_both_accept() {
    let pairs = std::env::var("TOOLWIRE_PAIRS").ok().and_then(|pairs| pairs.parse().ok()).unwrap_or(PAIRS);
    let mut random = Random::new(7);
    let mut tally = Tally::default();
    for number in 0..pairs {
        let theme = THEMES[number % THEMES.len()];
        let depth = 1 + random.with_step(3);
        let (outer, inner) = (schema(&mut random, theme, depth), schema(&mut random, theme, depth));
        let instances: Vec<Value> = (0..INSTANCES).map(|_| instance(&mut random, theme, 2)).collect();
        tally.pair(&outer, &inner, &instances);
    }
    println!("{tally:#?}");
    // Otherwise the test would prove little.
    assert!(tally.pairs * 10 > pairs * 9, "{tally:?}");
    assert!(tally.exact * 10 > tally.pairs * 6, "{tally:?}");
    assert!(tally.left_over * 20 > tally.pairs, "{tally:?}");
    assert!(tally.disjoint * 20 > tally.pairs, "{tally:?}");
    assert!(tally.accepted_by_both * 10 > tally.verdicts, "{tally:?}");
    assert!(tally.accepted_by_one * 10 > tally.verdicts, "{tally:?}");
}

#[test]
fn merging_with_itself_or_with_true_changes_nothing() {
    let mut random = Random::new(11);
    for number in 0..PAIRS {
        let schema = schema(&mut random, THEMES[number % THEMES.len()], 3);
        let node = Node::from_value(&schema).unwrap();
        for (outer, inner) in
            [(node.clone(), node.clone()), (node.clone(), Node::bool(true)), (Node::empty_object(), node.clone())]
        {
            let merged = both(&Budget::new(0, None), outer, inner);
            assert!(merged.is_exact() && !merged.guidance_lost, "{schema}\n{merged:?}");
            let stays = merged.node.is_intact() && merged.node.origin() == node.origin();
            let anything = schema == json!({}) || schema == json!(true);
            assert!(stays || anything, "{schema}\n{:?}", merged.node.to_value());
        }
    }
}

/// Merges every two schemas of the same file of the official suite, and tests the instances of both.
#[test]
fn merged_suite_schemas_accept_what_both_accept() {
    let read = |folder: &str| {
        fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder).join("test_suite.jsonl"))
    };
    let whole = read("../../shared/data");
    let min_pairs = if whole.is_ok() { 4_000 } else { 1_000 };
    let text = whole.or_else(|_| read("../tests/sample")).expect("the JSON Schema test suite or its sample");
    let mut files: BTreeMap<String, Vec<(Value, Vec<Value>)>> = BTreeMap::new();
    let mut skipped = 0;
    for line in text.lines() {
        let mut group: Value = serde_json::from_str(line).unwrap();
        let names_places = ["$ref", "$dynamicRef", "$id", "$anchor", "$dynamicAnchor"].iter().any(|key| {
            let quoted = format!("\"{key}\"");
            group["schema"].to_string().contains(&quoted)
        });
        let dialect = group["schema"].get("$schema").and_then(Value::as_str).unwrap_or("none");
        let usual = group["draft"] == "draft2020-12" && (dialect == "none" || dialect.ends_with("/2020-12/schema"));
        if names_places || !usual {
            skipped += 1;
            continue;
        }
        if let Some(schema) = group["schema"].as_object_mut() {
            schema.remove("$schema");
        }
        let source = group["source"].as_str().unwrap().split('#').next().unwrap().into();
        let instances = group["tests"].as_array().unwrap().iter().map(|test| test["data"].clone()).collect();
        files.entry(source).or_default().push((group["schema"].take(), instances));
    }
    let mut tally = Tally::default();
    for groups in files.values() {
        for (outer, ours) in groups {
            for (inner, theirs) in groups {
                tally.pair(outer, inner, &[ours.as_slice(), theirs].concat());
            }
        }
    }
    println!("{skipped} groups skipped (references or another draft)\n{tally:#?}");
    assert!(tally.pairs > min_pairs, "{tally:?}");
    assert!(tally.exact * 2 > tally.pairs, "{tally:?}");
}
