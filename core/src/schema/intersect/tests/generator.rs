//! Random schemas and instances over a small set of names, numbers and strings, so that they often overlap.

use alloc::{string::String, vec::Vec};
use serde_json::{json, Map, Value};

/// Reproducible random numbers (SplitMix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }

    fn some<T: Clone>(&mut self, list: &[T]) -> Vec<T> {
        let start = self.below(list.len());
        let count = 1 + self.below(list.len().min(4));
        list.iter().cycle().skip(start).take(count).cloned().collect()
    }
}

const NAMES: [&str; 5] = ["a", "b", "ab", "c", "x"];
const PATTERNS: [&str; 3] = ["^a", "b$", "^x"];
const TYPES: [&str; 7] = ["null", "boolean", "object", "array", "number", "string", "integer"];

/// Keywords that a pair of schemas mostly uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Theme {
    Scalars,
    Objects,
    Arrays,
    Branches,
}

pub(super) const THEMES: [Theme; 4] = [Theme::Scalars, Theme::Objects, Theme::Arrays, Theme::Branches];

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

/// Definitions that `$ref` may name.
pub(super) fn definitions() -> Value {
    json!({ "s": { "type": ["string", "object"], "maxLength": 2 }, "t": { "minimum": 1, "required": ["a"] } })
}

pub(super) fn schema(random: &mut Random, theme: Theme, depth: usize) -> Value {
    match random.below(24) {
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
    for _ in 0..1 + random.below(4) {
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
    let schemas = |random: &mut Random| (0..1 + random.below(3)).map(|_| below(random)).collect::<Vec<_>>();
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
        "minLength" | "minItems" | "minProperties" | "minContains" => json!(random.below(3)),
        "maxLength" | "maxItems" | "maxProperties" | "maxContains" => json!(1 + random.below(3)),
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

pub(super) fn instance(random: &mut Random, theme: Theme, depth: usize) -> Value {
    let composite = depth > 0 && !random.one_in(4);
    let inner = |random: &mut Random| {
        let theme = if random.one_in(2) { Theme::Scalars } else { theme };
        instance(random, theme, depth.saturating_sub(1))
    };
    match theme {
        Theme::Objects | Theme::Branches if composite => {
            let names = (0..random.below(4)).map(|_| random.pick(&NAMES)).collect::<Vec<_>>();
            names.into_iter().map(|name| (String::from(name), inner(random))).collect::<Map<_, _>>().into()
        }
        Theme::Arrays if composite => (0..random.below(4)).map(|_| inner(random)).collect::<Vec<_>>().into(),
        _ => random.pick(&scalars()),
    }
}
