//! Random schemas: `sanitize` never panics, and either keeps its promises or returns an error that states the reason.

use std::{collections::BTreeMap, panic};

use serde_json::{json, Map, Value};
use toolwire::{options::Limit, Code, Dialect, SanitizeOptions};

use super::{assert_no_faults, effect, print_uncaptured, sanitize_and_check};

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides.max(1)
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())].clone()
    }
}

/// Part of the error message with which `sanitize` refuses a schema if `check` still finds a violation in the result.
const REFUSED: &str = "can express, found one that it cannot";

const NAMES: [&str; 12] =
    ["a", "b", "type", "$ref", "properties", "required", "__proto__", "a/b", "x~y", "{id}", "anyOf", "dollar_ref_"];
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];
const REFERENCES: [&str; 14] = [
    "#",
    "#/$defs/a",
    "#/$defs/b",
    "#/$defs/a/properties/a",
    "#/properties/a",
    "#/definitions/b",
    "#/$defs/a~1b",
    "#/$defs/%7Bid%7D",
    "#here",
    "#/properties/$ref",
    "#/nowhere",
    "https://example.com/x",
    "",
    "#/$defs/b/items",
];

fn value(dice: &mut Dice) -> Value {
    match dice.roll(9) {
        0 => Value::Null,
        1 => json!(dice.roll(2) == 0),
        2 => json!(dice.roll(4)),
        3 => json!(1.5),
        4 => json!([]),
        5 => json!({}),
        6 => json!({"$ref": "#"}),
        7 => json!([1, "1", null]),
        _ => json!(dice.pick(&NAMES)),
    }
}

fn table(dice: &mut Dice, depth: usize, malformed: usize) -> Value {
    let count = dice.roll(4);
    Value::Object(
        (0..count).map(|_| (dice.pick(&NAMES).to_string(), schema(dice, depth, malformed))).collect::<Map<_, _>>(),
    )
}

fn list(dice: &mut Dice, depth: usize, malformed: usize) -> Value {
    let count = dice.roll(3) + usize::from(malformed == 0 || dice.roll(4) > 0);
    (0..count).map(|_| schema(dice, depth, malformed)).collect()
}

fn names(dice: &mut Dice) -> Value {
    let count = dice.roll(3);
    let mut names: Vec<&str> = (0..count).map(|_| dice.pick(&NAMES)).collect();
    names.sort_unstable();
    names.dedup();
    json!(names)
}

/// One in `malformed` keywords has an invalid value (0: none).
fn schema(dice: &mut Dice, depth: usize, malformed: usize) -> Value {
    if depth == 0 || dice.roll(12) == 0 {
        return match dice.roll(5) {
            0 => json!(true),
            1 => json!({}),
            2 => json!({"$ref": dice.pick(&REFERENCES)}),
            3 if malformed > 0 && dice.roll(malformed) == 0 => value(dice),
            _ => json!({"type": dice.pick(&TYPES)}),
        };
    }
    let mut object = Map::new();
    for _ in 0..=dice.roll(4) {
        let below = depth - 1;
        let (keyword, value) = match dice.roll(32) {
            0..=3 => ("type", json!(dice.pick(&TYPES))),
            4 => ("type", json!([dice.pick(&TYPES[..3]), dice.pick(&TYPES[3..])])),
            5..=8 => ("properties", table(dice, below, malformed)),
            9 => ("required", names(dice)),
            10 => ("items", schema(dice, below, malformed)),
            11 => ("items", list(dice, below, malformed)),
            12 => ("prefixItems", list(dice, below, malformed)),
            13 => ("additionalProperties", schema(dice, below, malformed)),
            14..=15 => ("anyOf", list(dice, below, malformed)),
            16 => ("oneOf", list(dice, below, malformed)),
            17 => ("allOf", list(dice, below, malformed)),
            18 => ("not", schema(dice, below, malformed)),
            19 => ("enum", (0..=dice.roll(3)).map(|_| self::value(dice)).collect()),
            20 => ("const", self::value(dice)),
            21..=22 => ("$ref", json!(dice.pick(&REFERENCES))),
            23 => ("description", json!(dice.pick(&NAMES))),
            24 => ("default", self::value(dice)),
            25 => ("minimum", json!(dice.roll(3))),
            26 => ("minLength", json!(dice.roll(3))),
            27 => ("nullable", json!(dice.roll(2) == 0)),
            28 => ("patternProperties", table(dice, below, malformed)),
            29 => ("if", schema(dice, below, malformed)),
            30 => ("then", schema(dice, below, malformed)),
            _ => ("$anchor", json!("here")),
        };
        let value = if malformed > 0 && dice.roll(malformed) == 0 { self::value(dice) } else { value };
        object.insert(keyword.into(), value);
    }
    Value::Object(object)
}

fn document(dice: &mut Dice, malformed: usize) -> Value {
    let mut root = match dice.roll(3) {
        0 => schema(dice, 4, malformed),
        _ => {
            json!({"type": "object", "properties": {"a": schema(dice, 3, malformed), "v": schema(dice, 3, malformed)}})
        }
    };
    if let Some(object) = root.as_object_mut() {
        if dice.roll(2) == 0 {
            object.insert("$defs".into(), json!({"a": schema(dice, 2, malformed), "b": schema(dice, 2, malformed), "a/b": schema(dice, 1, malformed), "{id}": schema(dice, 1, malformed)}));
        }
        if dice.roll(6) == 0 {
            object.insert("definitions".into(), json!({"b": schema(dice, 2, malformed)}));
        }
        if dice.roll(8) == 0 {
            object.insert("$schema".into(), json!("http://json-schema.org/draft-07/schema#"));
        }
    }
    root
}

fn run(seed: u64, count: usize, malformed: usize) {
    let mut dice = Dice(seed);
    let (mut outcomes, mut faults) = (BTreeMap::<String, usize>::new(), Vec::new());
    let wishes = [
        SanitizeOptions::new(Dialect::MOONSHOT),
        SanitizeOptions::new(Dialect::MOONSHOT).refs(toolwire::options::Refs::Keep),
        SanitizeOptions::new(Dialect::MOONSHOT)
            .untyped(toolwire::options::Untyped::String)
            .hints(toolwire::options::Hints::Drop),
        SanitizeOptions::new(Dialect::MOONSHOT).untyped(toolwire::options::Untyped::Keep).max_nodes(500),
        SanitizeOptions::new(Dialect::MOONSHOT).max_bytes(300),
    ];
    for round in 0..count {
        let (schema, options) = (document(&mut dice, malformed), &wishes[round % wishes.len()]);
        let name = format!("round {round}");
        let mut own = Vec::new();
        let outcome = match panic::catch_unwind(panic::AssertUnwindSafe(|| {
            sanitize_and_check(&name, &schema, options, &mut own)
        })) {
            Err(_) => {
                own.push(format!("{name}: a panic\n  in  {schema}"));
                "panic".into()
            }
            Ok(Ok(result)) => effect(&result).to_string(),
            Ok(Err(error)) => {
                // The schema accepts no object, the input is not a schema, or the size limit is too small.
                let has_reason = matches!(error.code(), Code::NotRepresentable | Code::InvalidSchema)
                    || (error.code() == Code::LimitExceeded && options.max_bytes != Limit::Default);
                if !has_reason || error.message().contains(REFUSED) {
                    own.push(format!("{name}: {error}\n  in  {schema}"));
                }
                format!("error {}", error.code().as_str())
            }
        };
        faults.extend(own);
        *outcomes.entry(outcome).or_default() += 1;
    }
    print_uncaptured(&format!("{count} random schemas: {outcomes:?}"));
    faults.sort_by_key(String::len);
    assert_no_faults(&faults);
}

#[test]
fn well_formed_random_schemas_keep_the_promises() {
    run(0x9e37_79b9_7f4a_7c15, 6_000, 0);
}

#[test]
fn malformed_random_schemas_keep_the_promises() {
    run(0x2545_f491_4f6c_dd1d, 6_000, 8);
}
