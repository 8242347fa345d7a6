//! Transcripts of the programs (tests/proxy, tests/listen, tests/relay): how a test reads, plays and compares them.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{fs, path::PathBuf};

use serde_json::{json, Value};

fn read(folder: &str, name: &str) -> Value {
    let path = path(folder).join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn path(folder: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests").join(folder)
}

fn files(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(path(folder)).expect("a folder of transcripts");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".json") && name != "count.json").collect();
    names.sort();
    names
}

pub(crate) fn text(body: &Value) -> String {
    body.as_str().map_or_else(|| body.to_string(), String::from)
}

/// Converts an effect to its form in transcripts: an array of its kind and its nonempty texts. A text is shown as JSON
/// if nothing of its spelling is lost.
pub(crate) fn shown([kind, about, text]: [String; 3]) -> Value {
    let same = |value: &Value, text: &str| serde_json::to_string(value).is_ok_and(|written| written == text);
    let value = |text: String| {
        let read = serde_json::from_str(&text).ok().filter(|value| same(value, &text));
        read.unwrap_or(Value::String(text))
    };
    let words = [about, text].into_iter().filter(|word| !word.is_empty()).map(value);
    Value::Array([json!(kind)].into_iter().chain(words).collect())
}

/// Plays every transcript in a folder. `begin` returns the state of the program for a case, and `step` takes one step
/// and returns the effects.
///
/// `TOOLWIRE_BLESS=1` writes the effects into the transcripts; review the diff before you commit it.
pub(crate) fn play<S>(folder: &str, begin: impl Fn(&Value) -> S, step: impl Fn(&mut S, &Value) -> Vec<Value>) {
    let (mut count, blesses) = (0, std::env::var_os("TOOLWIRE_BLESS").is_some());
    for name in files(folder) {
        let mut cases = read(folder, &name);
        for case in cases.as_array_mut().expect("a list of cases") {
            count += 1;
            let title = case["name"].to_string();
            let mut state = begin(case);
            for (at, played) in case["steps"].as_array_mut().expect("steps").iter_mut().enumerate() {
                let found = Value::Array(step(&mut state, played));
                if blesses {
                    played["effects"] = found;
                } else {
                    assert_eq!(found.to_string(), played["effects"].to_string(), "{name}: {title}, step {at}");
                }
            }
        }
        if blesses {
            fs::write(path(folder).join(&name), lines(&cases)).expect("a writable file");
        }
    }
    assert_eq!(Some(count), read(folder, "count.json")["cases"].as_u64(), "tests/{folder}/count.json");
}

fn lines(cases: &Value) -> String {
    let one = |case: &Value| {
        let steps: Vec<String> =
            case["steps"].as_array().expect("steps").iter().map(|step| format!("      {step}")).collect();
        let mut members: Vec<String> = Vec::new();
        for (key, value) in case.as_object().expect("a case") {
            if key != "steps" {
                members.push(format!("    {}: {value}", json!(key)));
            }
        }
        members.push(format!("    \"steps\": [\n{}\n    ]", steps.join(",\n")));
        format!("  {{\n{}\n  }}", members.join(",\n"))
    };
    let cases: Vec<String> = cases.as_array().expect("cases").iter().map(one).collect();
    format!("[\n{}\n]\n", cases.join(",\n"))
}

/// Pseudorandom number generator with the same sequence in every run.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % end
    }
}
