//! `replies`: restores every reply and stream of the fixtures and of the exchanges, with and without faults in the
//! order of events, and prints the results.

use std::borrow::Cow;

use std::{fs, io::Write, path::Path};

use serde_json::{json, Value};
use toolwire::{
    internal::{
        bindings::{self, call, Function, Naming},
        json::{write, Node},
    },
    Error, Exchange, ExchangeOptions, Restore,
};

use crate::{as_stream, Numbers};

/// Number of streams of other cases that each set of restore data gets.
const OTHERS: usize = 12;

/// A list of events, and where it comes from.
struct Stream {
    id: String,
    events: Vec<Value>,
}

/// Prints a line for each variant of each stream: its id, and everything that comes out.
///
/// # Errors
/// A message if a file cannot be read or a line cannot be written.
pub(crate) fn run(tests: &str, out: &mut impl Write) -> Result<(), String> {
    let tests = Path::new(tests);
    let (mut restores, mut streams) = (Vec::new(), Vec::new());
    for function in [Function::AdaptRequest, Function::ApplyDeferredLoading, Function::SanitizeTools] {
        for case in cases(&tests.join("fixtures").join(function.name()))? {
            let Some(restore) = restore(function, &case) else { continue };
            let name = case["name"].as_str().unwrap_or_default();
            let mut of_case = Vec::new();
            for (at, reply) in list(&case["replies"]).iter().enumerate() {
                let id = format!("{name} reply {at}");
                line(out, &id, &whole(&restore, &reply["input"]))?;
                of_case.extend(as_stream::events(&reply["input"]).map(|events| Stream { id, events }));
            }
            let own = list(&case["streams"]).iter().enumerate();
            of_case.extend(
                own.map(|(at, one)| Stream { id: format!("{name} stream {at}"), events: list(&one["input"]).to_vec() }),
            );
            for stream in &of_case {
                for (variant, events) in variants(&stream.events) {
                    line(out, &format!("{} {variant}", stream.id), &restore_events(&restore, &events))?;
                }
            }
            if !of_case.is_empty() || list(&case["calls"]).len() > 2 {
                restores.push((name.to_owned(), restore));
            }
            streams.extend(of_case);
        }
    }
    let mut numbers = Numbers(22);
    for (name, restore) in &restores {
        for _ in 0..OTHERS {
            let Some(stream) = streams.get(numbers.below(streams.len())) else { continue };
            line(out, &format!("{name} given {}", stream.id), &restore_events(restore, &stream.events))?;
        }
    }
    exchanges(&cases(&tests.join("exchange"))?, &streams, out)
}

fn exchanges(cases: &[Value], streams: &[Stream], out: &mut impl Write) -> Result<(), String> {
    let mut numbers = Numbers(23);
    for case in cases {
        let name = case["name"].as_str().unwrap_or_default();
        let rounds: Vec<&Value> = list(&case["rounds"]).iter().map(|round| &round["events"]).collect();
        for (number, round) in list(&case["rounds"]).iter().enumerate() {
            let reply = &round["reply"];
            let events = if reply.is_object() { as_stream::events(reply) } else { None };
            let events = events.unwrap_or_else(|| list(&round["events"]).to_vec());
            for (variant, events) in variants(&events) {
                let mut rounds: Vec<Value> = rounds.iter().map(|round| (*round).clone()).collect();
                if let Some(round) = rounds.get_mut(number) {
                    *round = Value::Array(events);
                }
                line(out, &format!("{name} round {number} {variant}"), &play(case, &rounds))?;
            }
        }
        line(out, &format!("{name} whole"), &played_whole(case))?;
        for _ in 0..OTHERS {
            let Some(stream) = streams.get(numbers.below(streams.len())) else { continue };
            let rounds = [Value::Array(stream.events.clone())];
            line(out, &format!("{name} given {}", stream.id), &play(case, &rounds))?;
        }
    }
    Ok(())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn line(out: &mut impl Write, id: &str, result: &str) -> Result<(), String> {
    writeln!(out, "{}", json!([id, result])).map_err(|error| error.to_string())
}

/// Returns the cases of all files in a folder.
fn cases(folder: &Path) -> Result<Vec<Value>, String> {
    let expected = |error: std::io::Error| format!("expected a folder at `{}`: {error}", folder.display());
    let mut paths: Vec<_> = fs::read_dir(folder).map_err(expected)?.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "json"));
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
        let file: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        cases.extend_from_slice(list(&file));
    }
    Ok(cases)
}

fn restore(function: Function, case: &Value) -> Option<Restore> {
    let options = case.get("options").cloned().unwrap_or_else(|| json!({}));
    let input = Node::from_value(case.get("input")?).ok()?;
    let options = Node::from_value(&options).ok()?;
    let report = call(function, vec![input], &options, Naming::Camel, true).ok()?.report?;
    Restore::from_json(&write(report.get("restore")?)).ok()
}

/// Returns each stream with one event dropped, repeated, moved, without its index, or last.
fn variants(events: &[Value]) -> Vec<(String, Vec<Value>)> {
    let mut variants = vec![(String::from("as it is"), events.to_vec())];
    for at in 0..events.len() {
        let mut add = |name: &str, edit: &dyn Fn(&mut Vec<Value>)| {
            let mut events = events.to_vec();
            edit(&mut events);
            variants.push((format!("{name} {at}"), events));
        };
        add("without", &|events| drop(events.remove(at)));
        add("twice", &|events| events.insert(at, events[at].clone()));
        add("until", &|events| events.truncate(at));
        if at > 0 {
            add("moved", &|events| events.swap(at - 1, at));
        }
        for key in ["index", "output_index", "item_id", "type", "contentBlockIndex", "id"] {
            let mut stripped = events[at].clone();
            if strip(&mut stripped, key) {
                add(&format!("without {key}"), &|events| events[at] = stripped.clone());
            }
        }
    }
    variants
}

/// Removes a member at every depth. Returns true if it was there.
fn strip(value: &mut Value, key: &str) -> bool {
    match value {
        Value::Object(object) => {
            let found = object.shift_remove(key).is_some();
            object.values_mut().fold(found, |found, value| strip(value, key) || found)
        }
        Value::Array(items) => items.iter_mut().filter_map(|value| strip(value, key).then_some(())).count() > 0,
        _ => false,
    }
}

fn whole(restore: &Restore, reply: &Value) -> String {
    match restore.reply(reply) {
        Ok(found) => format!("{} {:?} {:?}", found.reply, found.calls, found.answer_changes),
        Err(error) => error.to_string(),
    }
}

/// Returns an event with spaces that a parser drops, so that events that were written anew are visible.
fn add_spaces(event: &Value) -> String {
    serde_json::to_string_pretty(event).unwrap_or_default().replace('\n', " ")
}

/// Returns the text of a stream, with the lines of its types if it has any.
fn text_of(events: &[Value]) -> String {
    let named = |event: &Value| {
        let kind = event["type"].as_str().or_else(|| event["event_type"].as_str());
        kind.map(|kind| format!("event: {kind}\n")).unwrap_or_default()
    };
    events.iter().map(|event| format!("{}data: {}\n\n", named(event), add_spaces(event))).collect()
}

fn restore_events(restore: &Restore, events: &[Value]) -> String {
    let mut stream = restore.stream();
    let mut out = String::new();
    let mut add = |found: Result<String, Error>| out += &found.unwrap_or_else(|error| error.to_string());
    for event in events {
        add(stream.feed_text(&text_of(std::slice::from_ref(event))).map(Cow::into_owned));
    }
    add(stream.finish_text());
    format!("{out} {:?} {:?}", stream.take_repaired_calls(), stream.take_answer_changes())
}

fn open(case: &Value) -> Result<Option<Exchange>, Error> {
    let options = case.get("options").cloned().unwrap_or_else(|| json!({}));
    let options = bindings::options::<ExchangeOptions>(&Node::from_value(&options)?, Naming::Camel)?;
    let request = case["bare"].as_str().map_or_else(|| case["asked"].to_string(), Into::into);
    Exchange::open(case["url"].as_str().unwrap_or("http://localhost/v1/messages"), &request, &options)
}

/// Plays the rounds of an exchange as streams.
fn play(case: &Value, rounds: &[Value]) -> String {
    let mut exchange = match open(case) {
        Ok(Some(exchange)) => exchange,
        Ok(None) => return String::from("none"),
        Err(error) => return error.to_string(),
    };
    let mut out = String::new();
    for round in rounds {
        out += exchange.request();
        for event in list(round) {
            let text = text_of(std::slice::from_ref(event));
            out += &exchange.feed_text(&text).unwrap_or_else(|error| error.to_string().into());
        }
        out += &exchange.finish_text().unwrap_or_else(|error| error.to_string());
        if !exchange.asks_again() {
            break;
        }
        out += " again ";
    }
    format!("{out} {:?} {:?}", exchange.take_repaired_calls(), exchange.take_answer_changes())
}

/// Plays the rounds of an exchange as whole replies.
fn played_whole(case: &Value) -> String {
    let mut exchange = match open(case) {
        Ok(Some(exchange)) => exchange,
        Ok(None) => return String::from("none"),
        Err(error) => return error.to_string(),
    };
    let mut out = String::new();
    for round in list(&case["rounds"]).iter().filter(|round| round["reply"].is_object()) {
        out += exchange.request();
        match exchange.reply(&add_spaces(&round["reply"])) {
            Ok(Some(reply)) => return out + &reply,
            Ok(None) => out += " again ",
            Err(error) => return out + &error.to_string(),
        }
    }
    out
}
