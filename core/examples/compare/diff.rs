//! `diff`: groups the differences between two dumps, largest group first, with the smallest input of each group.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{BufRead, BufReader, Write},
};

use serde_json::Value;

use crate::row::{Answer, Row};

/// The options of the command.
pub(crate) struct Request {
    before: String,
    after: String,
    messages: bool,
    by_rule: bool,
    limit: usize,
}

impl Request {
    pub(crate) fn read(arguments: &[String]) -> Result<Self, String> {
        let (mut files, mut messages, mut by_rule, mut limit) = (Vec::new(), false, false, 40);
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--messages" => messages = true,
                "--by-rule" => by_rule = true,
                "--most" => {
                    let count = arguments.next().and_then(|count| count.parse().ok());
                    limit = count.ok_or_else(|| String::from("expected a number after `--most`"))?;
                }
                file => files.push(file.to_string()),
            }
        }
        match <[String; 2]>::try_from(files) {
            Ok([before, after]) => Ok(Request { before, after, messages, by_rule, limit }),
            Err(files) => Err(format!("expected two dumps, found {}", files.len())),
        }
    }
}

type Key = (String, String, String);

/// Numbers of calls, changed answers, errors and changes, and milliseconds.
type Total = (usize, usize, usize, usize, f64);

struct Dump {
    answers: BTreeMap<Key, Answer>,
    inputs: BTreeMap<String, String>,
    totals: BTreeMap<(String, String), Total>,
}

fn load(path: &str) -> Result<Dump, String> {
    let file = File::open(path).map_err(|error| format!("expected a dump at `{path}`: {error}"))?;
    let mut dump = Dump { answers: BTreeMap::new(), inputs: BTreeMap::new(), totals: BTreeMap::new() };
    for (number, line) in BufReader::new(file).lines().enumerate() {
        let line = line.map_err(|error| format!("{path}: {error}"))?;
        match serde_json::from_str::<Row>(&line).map_err(|error| format!("{path}, line {}: {error}", number + 1))? {
            Row::Input { id, text } => {
                dump.inputs.insert(id, text);
            }
            Row::Answer(answer) => {
                dump.answers.insert((answer.input.clone(), answer.function.clone(), answer.dialect.clone()), answer);
            }
            Row::Total { total, dialect, calls, changed, errors, changes, milliseconds } => {
                dump.totals.insert((total, dialect), (calls, changed, errors, changes, milliseconds));
            }
        }
    }
    Ok(dump)
}

#[derive(Default)]
struct Group {
    count: usize,
    /// The shortest input, with the answers before and after.
    smallest: Option<(usize, Answer, Answer)>,
}

/// Returns true if there is no difference.
pub(crate) fn run(request: &Request, out: &mut impl Write) -> Result<bool, String> {
    let (before, after) = (load(&request.before)?, load(&request.after)?);
    let mut groups: BTreeMap<(String, String, String), Group> = BTreeMap::new();
    let (mut compared, mut missing) = (0, 0);
    for (key, before_answer) in &before.answers {
        let Some(after_answer) = after.answers.get(key) else {
            missing += 1;
            continue;
        };
        compared += 1;
        let Some((kind, detail)) = difference(before_answer, after_answer, request.messages) else { continue };
        let dialect = if request.by_rule { String::from("*") } else { before_answer.dialect.clone() };
        let group =
            groups.entry((format!("{} {dialect}", before_answer.function), kind.to_string(), detail)).or_default();
        group.count += 1;
        let length = before.inputs.get(&before_answer.input).map_or(0, String::len);
        if group.smallest.as_ref().is_none_or(|(known, _, _)| length < *known) {
            group.smallest = Some((length, before_answer.clone(), after_answer.clone()));
        }
    }
    let new = after.answers.keys().filter(|key| !before.answers.contains_key(*key)).count();
    let mut text = totals(&before, &after);
    text += &format!("\n{compared} answers compared, {missing} only before, {new} only after\n");
    let differing: usize = groups.values().map(|group| group.count).sum();
    text += &format!("{differing} differ, in {} groups\n", groups.len());
    let mut ordered: Vec<_> = groups.into_iter().collect();
    ordered.sort_by_key(|(_, group)| core::cmp::Reverse(group.count));
    for ((place, kind, detail), group) in ordered.iter().take(request.limit) {
        text += &format!("\n{} × {place}: {kind}{}{detail}\n", group.count, if detail.is_empty() { "" } else { ": " });
        if let Some((_, before_answer, after_answer)) = &group.smallest {
            text += &format!("  {} {}\n", before_answer.input, before_answer.dialect);
            text +=
                &format!("  in      {}\n", shown(before.inputs.get(&before_answer.input).map_or("", String::as_str)));
            text += &format!("  before  {}\n  after   {}\n", describe(before_answer), describe(after_answer));
            for (sign, change) in changes_that_differ(before_answer, after_answer, request.messages) {
                text += &format!("    {sign} {change}\n");
            }
        }
    }
    if ordered.len() > request.limit {
        text += &format!("\n{} more groups (--most)\n", ordered.len() - request.limit);
    }
    out.write_all(text.as_bytes()).map_err(|error| format!("cannot write: {error}"))?;
    Ok(differing == 0)
}

/// Returns a row per function and dialect whose counts changed, and the total time.
fn totals(before: &Dump, after: &Dump) -> String {
    let mut text =
        String::from("function dialect: calls, changed, errors, changes, milliseconds (before → after, ratio)\n");
    for (key, one) in &before.totals {
        let Some(two) = after.totals.get(key) else { continue };
        let pair = |one: usize, two: usize| if one == two { format!("{one}") } else { format!("{one} → {two}") };
        text += &format!(
            "  {:<20} {:<20} {}, {}, {}, {}, {:.1} → {:.1} ({:.2})\n",
            key.0,
            key.1,
            pair(one.0, two.0),
            pair(one.1, two.1),
            pair(one.2, two.2),
            pair(one.3, two.3),
            one.4,
            two.4,
            two.4 / one.4.max(f64::MIN_POSITIVE)
        );
    }
    text
}

/// Returns the kind of difference between two answers, and the rules that differ.
fn difference(one: &Answer, two: &Answer, messages: bool) -> Option<(&'static str, String)> {
    match (&one.error, &two.error) {
        (Some(before), Some(after)) => {
            let compared = if messages { 3 } else { 2 };
            if before.iter().take(compared).eq(after.iter().take(compared)) {
                return None;
            }
            Some(("another error", format!("{} → {}", before[0], after[0])))
        }
        (Some(error), None) => Some(("an answer instead of an error", error[0].clone())),
        (None, Some(error)) => Some(("an error instead of an answer", error[0].clone())),
        (None, None) => {
            let outputs_differ = one.output != two.output;
            let differing = changes_that_differ(one, two, messages);
            if !outputs_differ && differing.is_empty() {
                return None;
            }
            let rules: BTreeSet<String> =
                differing.iter().map(|(sign, change)| format!("{sign}{}", rule_of(change))).collect();
            let detail = rules.into_iter().collect::<Vec<_>>().join(" ");
            let (before, after) = (worst(&one.report), worst(&two.report));
            let loss = if before == after { String::new() } else { format!("[{before} → {after}] ") };
            Some((if outputs_differ { "output" } else { "report" }, format!("{loss}{detail}")))
        }
    }
}

/// Returns a change without its messages, unless messages are compared.
fn bare(change: &Value, messages: bool) -> String {
    let mut change = change.clone();
    if let Some(object) = change.as_object_mut().filter(|_| !messages) {
        object.remove("message");
        object.remove("because");
        object.remove("reason");
        object.remove("reason");
    }
    change.to_string()
}

fn rule_of(change: &str) -> String {
    let change: Value = serde_json::from_str(change).unwrap_or_default();
    let word = |name: &str| change.get(name).and_then(Value::as_str).unwrap_or_default().to_string();
    format!("{}({})", word("rule"), word("accepts"))
}

/// Returns every object with a rule in a report or in a list of violations, and the rest of the report as one more
/// item.
fn changes(answer: &Answer, messages: bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = answer.report.clone();
    if let Some(list) = rest.as_object_mut().and_then(|report| report.remove("changes")) {
        found.extend(list.as_array().into_iter().flatten().map(|change| bare(change, messages)));
    }
    if answer.function == "check" {
        let list: Value = answer.output.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        found.extend(list.as_array().into_iter().flatten().map(|change| bare(change, messages)));
    }
    if !rest.is_null() {
        found.push(rest.to_string());
    }
    found
}

fn changes_that_differ(one: &Answer, two: &Answer, messages: bool) -> Vec<(char, String)> {
    let (before, after) = (changes(one, messages), changes(two, messages));
    let mut counts: BTreeMap<&String, i64> = BTreeMap::new();
    before.iter().for_each(|change| *counts.entry(change).or_default() -= 1);
    after.iter().for_each(|change| *counts.entry(change).or_default() += 1);
    counts
        .into_iter()
        .filter(|(_, count)| *count != 0)
        .map(|(change, count)| (if count < 0 { '-' } else { '+' }, change.clone()))
        .collect()
}

/// Returns the worst effect on the accepted arguments.
fn worst(report: &Value) -> &'static str {
    const ORDER: [&str; 5] = ["same", "closed", "wider", "narrower", "mixed"];
    let found = report.get("changes").and_then(Value::as_array).into_iter().flatten();
    let place = |change: &Value| {
        ORDER.iter().position(|known| change.get("accepts").and_then(Value::as_str) == Some(known)).unwrap_or(0)
    };
    ORDER.get(found.map(place).max().unwrap_or(0)).copied().unwrap_or("same")
}

fn describe(answer: &Answer) -> String {
    match (&answer.error, &answer.output) {
        (Some([code, pointer, message]), _) => format!("{code} at `{pointer}`: {}", shown(message)),
        (None, Some(output)) => shown(output),
        (None, None) => String::from("unchanged"),
    }
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(1500) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_string(),
    }
}
