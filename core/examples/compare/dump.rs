//! `dump`: runs every function on every input in every dialect, and prints the results in canonical form.

use std::{
    collections::BTreeMap,
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::Value;
use toolwire::{
    dialects,
    internal::{
        bindings::{call_text, Function, Naming},
        json::{self, Node},
    },
};

use crate::{
    row::{Answer, Row},
    source::{self, Input, Kind},
    variants,
};

/// The options of the command.
#[derive(Default)]
pub(crate) struct Request {
    files: Vec<String>,
    dialects: Vec<String>,
    functions: Vec<String>,
    wrapped: bool,
    variants: bool,
    /// Number of option sets for each request; 0 for all.
    some: usize,
    brief: bool,
}

impl Request {
    pub(crate) fn read(arguments: &[String]) -> Result<Self, String> {
        let mut request = Request::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value =
                || arguments.next().cloned().ok_or_else(|| format!("expected a value after `{argument}`, found none"));
            match argument.as_str() {
                "--dialect" => request.dialects.push(value()?),
                "--wrapped" => request.wrapped = true,
                "--variants" => request.variants = true,
                "--some" => {
                    let count = value()?;
                    request.some = count.parse().map_err(|_| format!("expected a number, found `{count}`"))?;
                }
                "--brief" => request.brief = true,
                "--function" => request.functions.push(value()?),
                file => request.files.push(file.to_string()),
            }
        }
        if request.files.is_empty() {
            return Err(String::from("expected files to dump, found none"));
        }
        Ok(request)
    }

    fn asks_for(&self, function: Function, dialect: &str) -> bool {
        let named = |names: &[String], name: &str| names.is_empty() || names.iter().any(|known| known == name);
        named(&self.functions, function.name()) && named(&self.dialects, dialect)
    }
}

/// Returns the functions for a kind of input; the flag is true if the function has a dialect.
fn functions(kind: Kind) -> &'static [(Function, bool)] {
    match kind {
        Kind::Schema => &[(Function::Sanitize, true), (Function::Check, true), (Function::NormalizeEnvelope, false)],
        Kind::Tools => &[(Function::SanitizeTools, true)],
        Kind::Request => &[(Function::AdaptRequest, true), (Function::ApplyDeferredLoading, false)],
    }
}

#[derive(Default)]
struct Total {
    calls: usize,
    changed: usize,
    errors: usize,
    changes: usize,
    time: Duration,
}

pub(crate) fn run(request: &Request, out: &mut impl Write) -> Result<(), String> {
    if request.variants {
        return run_variants(request, out);
    }
    let mut totals: BTreeMap<(&'static str, &'static str), Total> = BTreeMap::new();
    let names: Vec<&'static str> = dialects().iter().map(|dialect| dialect.name).collect();
    for file in &request.files {
        for input in source::read(Path::new(file))? {
            let wrapped = source::wrapped(&input).filter(|_| request.wrapped);
            for input in [Some(input), wrapped].into_iter().flatten() {
                line(out, &Row::Input { id: input.id.clone(), text: input.text.clone() })?;
                for (function, has_dialect) in functions(input.kind) {
                    let names: &[&'static str] = if *has_dialect { &names } else { &[""] };
                    for dialect in names.iter().filter(|dialect| request.asks_for(*function, dialect)) {
                        let total = totals.entry((function.name(), dialect)).or_default();
                        line(
                            out,
                            &Row::Answer(answer(*function, (dialect, &dialect_options(dialect)), &input, total)),
                        )?;
                    }
                }
            }
        }
    }
    for ((function, dialect), total) in totals {
        let milliseconds = (total.time.as_secs_f64() * 1e6).round() / 1e3;
        let Total { calls, changed, errors, changes, .. } = total;
        line(
            out,
            &Row::Total {
                total: function.into(),
                dialect: dialect.into(),
                calls,
                changed,
                errors,
                changes,
                milliseconds,
            },
        )?;
    }
    Ok(())
}

/// Runs every request with sets of options.
fn run_variants(request: &Request, out: &mut impl Write) -> Result<(), String> {
    let variants = variants::all();
    let mut at = 0;
    for file in &request.files {
        for input in source::read(Path::new(file))?.into_iter().filter(|input| input.kind == Kind::Request) {
            line(out, &Row::Input { id: input.id.clone(), text: input.text.clone() })?;
            let count = if request.some == 0 { variants.len() } else { request.some };
            for (function, options) in variants.iter().cycle().skip(at % variants.len()).take(count) {
                let name = options.to_string();
                if request.asks_for(*function, &name) {
                    let options = Node::from_value(options).map_err(|error| error.to_string())?;
                    let mut answer = answer(*function, (&name, &options), &input, &mut Total::default());
                    if request.brief {
                        answer.shorten();
                    }
                    line(out, &Row::Answer(answer))?;
                }
            }
            // This step is coprime to the number of option sets, so that each request is tested with different
            // combinations.
            at += if request.some == 0 { 0 } else { count + 1 };
        }
    }
    Ok(())
}

fn line(out: &mut impl Write, row: &Row) -> Result<(), String> {
    let text = serde_json::to_string(row).map_err(|error| error.to_string())?;
    writeln!(out, "{text}").map_err(|error| format!("cannot write: {error}"))
}

/// Returns options with only a dialect.
fn dialect_options(dialect: &'static str) -> Node<'static> {
    match dialect {
        "" => json::read("{}").unwrap_or_default(),
        dialect => Node::object([("dialect".into(), Node::string(dialect))].into_iter().collect()),
    }
}

fn answer(function: Function, (dialect, options): (&str, &Node<'_>), input: &Input, total: &mut Total) -> Answer {
    let mut answer = Answer {
        input: input.id.clone(),
        function: function.name().into(),
        dialect: dialect.into(),
        ..Answer::default()
    };
    let with_report = function.result_name().is_some();
    let start = Instant::now();
    let result = call_text(function, &[&input.text], options, Naming::Camel, with_report);
    total.time += start.elapsed();
    total.calls += 1;
    match result {
        Ok(result) => {
            answer.output = (result.text != input.text).then(|| result.text.into_owned());
            answer.report = result.report.map(|report| json::write(&report)).map_or(Value::Null, |text| value(&text));
            total.changed += usize::from(answer.output.is_some());
            total.changes += answer.report.get("changes").and_then(Value::as_array).map_or(0, Vec::len);
        }
        Err(error) => {
            answer.error = Some([error.code().as_str().into(), error.pointer().into(), error.message().into()]);
            total.errors += 1;
        }
    }
    answer
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.into()))
}
