//! Purpose of each pass: without it, the output of some fixture is refused, no longer idempotent, or different.
//!
//! The table is written to `docs/pipeline.md`; `TOOLWIRE_BLESS=1` updates it.
#![allow(clippy::panic, clippy::indexing_slicing, reason = "a test stops where it cannot go on")]

extern crate std;

use alloc::{
    format,
    rc::Rc,
    string::{String, ToString},
    vec::Vec,
};
use std::{env, fs, path::Path};

use serde_json::Value;

use super::{passes::PASSES, sanitize};
use crate::{
    check::{self, findings::FindingLimit},
    dialect::{self, Method},
    error::Error,
    json,
    naming::Naming,
    options::SanitizeOptions,
    report::{Change, Recorder},
    sanitize::pass::{
        off::{with_reruns, without},
        Pass, Run, Wakes,
    },
};

struct Case {
    name: String,
    options: SanitizeOptions,
    input: String,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/sanitize");
    let mut files: Vec<_> = [folder.join("rules"), folder]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let list: Vec<Value> =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for case in list {
            let (Some(input), Some(options)) = (case.get("input"), case.get("options")) else { continue };
            let read = json::read(&options.to_string()).map(|options| SanitizeOptions::read(&options, Naming::Camel));
            let Ok(Ok(options)) = read else { continue };
            let name = case["name"].as_str().unwrap_or_default().to_string();
            cases.push(Case { name, options, input: input.to_string() });
        }
    }
    // The table shows the smallest case.
    cases.sort_by_key(|case| (case.input.len(), case.name.clone()));
    cases
}

/// The public function would turn findings of `check` into an error.
fn passed(schema: &str, options: &SanitizeOptions) -> Result<Option<(String, Vec<Change>)>, Error> {
    let mut node = json::read(schema)?;
    let dialect = dialect::of(options)?;
    let Method::Rules(grammar) = dialect.method else { return Ok(None) };
    let budget = Rc::new(options.budget(&node));
    let mut recorder = Recorder::on();
    sanitize(&mut node, (dialect, grammar), options, &|_| false, (None, None), &mut recorder, &budget)?;
    Ok(Some((json::write(&node), recorder.finish())))
}

fn fault(output: &str, options: &SanitizeOptions) -> Option<String> {
    let node = json::read(output).unwrap_or_else(|error| panic!("{output}: {error}"));
    let violations =
        check::check(&node, options, FindingLimit::LISTED).unwrap_or_else(|error| panic!("{output}: {error}"));
    violations.first().map(|violation| format!("accepted: `check` finds `{}`", violation.constraint))
}

type Whole = (Case, String, Vec<Change>);

/// If several promises break, returns the worst: a refused output first, then an output that is not idempotent.
fn broken(pass: &Pass, cases: &[Whole]) -> Option<(String, String)> {
    let mut later_faults: [Option<(String, String)>; 3] = [None, None, None];
    for (case, whole, report) in cases {
        let (output, changes) = match without(pass.name, || passed(&case.input, &case.options)) {
            Err(error) => return Some((format!("total: the error `{}`", error.code().as_str()), case.name.clone())),
            Ok(Some(output)) => output,
            Ok(None) => continue,
        };
        if output == *whole && changes == *report {
            continue;
        }
        if let Some(fault) = fault(&output, &case.options) {
            return Some((fault, case.name.clone()));
        }
        let again = without(pass.name, || passed(&output, &case.options));
        let (index, promise) = match again {
            Ok(Some((again, _))) if again == output && output == *whole => (2, "honest: the report differs"),
            Ok(Some((again, _))) if again == output => (1, "faithful: the output differs"),
            _ => (0, "idempotent: a second call changes the output"),
        };
        if later_faults[index].is_none() {
            later_faults[index] = Some((promise.to_string(), case.name.clone()));
        }
    }
    later_faults.into_iter().flatten().next()
}

#[test]
fn every_pass_keeps_a_promise_and_the_page_shows_it() {
    let cases: Vec<Whole> = cases()
        .into_iter()
        .filter_map(|case| {
            let (whole, report) = passed(&case.input, &case.options).ok()??;
            fault(&whole, &case.options).is_none().then_some((case, whole, report))
        })
        .collect();
    let mut page = String::from(HEAD);
    let mut idle = Vec::new();
    for pass in PASSES {
        let (promise, case) = broken(pass, &cases).unwrap_or_else(|| {
            idle.push(pass.name);
            Default::default()
        });
        let rules: Vec<String> = pass.rules.iter().map(|rule| format!("[`{0}`](rules.md#{0})", rule.id())).collect();
        let over = match pass.run {
            Run::Document(_) => "the document",
            Run::Enter(_) => "schemas, on the way down",
            Run::Leave(_) => "schemas, on the way up",
        };
        let again = match pass.wakes {
            Wakes::Never => "no",
            Wakes::If(content, _) => content,
            Wakes::Always => "yes",
        };
        let phase = format!("{:?}", pass.phase).to_lowercase();
        page.push_str(&format!(
            "| `{}` | {phase} | {over} | {} | {again} | {} | {promise} (`{case}`) |\n",
            pass.name,
            pass.why,
            rules.join(", ")
        ));
    }
    assert!(idle.is_empty(), "no fixture needs these passes: {idle:?}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pipeline.md");
    if env::var_os("TOOLWIRE_BLESS").is_some() {
        fs::write(&path, &page).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == page,
        "docs/pipeline.md is outdated; update it: TOOLWIRE_BLESS=1 cargo test -p toolwire --lib every_pass"
    );
}

fn in_rounds(case: &Case, again: bool) -> Option<(String, Vec<Change>)> {
    with_reruns(again, || passed(&case.input, &case.options)).ok().flatten()
}

#[test]
fn skipped_rounds_would_change_nothing() {
    // Each input is tried in every dialect, because few inputs need another round in their own dialect.
    let grammars = || dialect::DIALECTS.iter().filter(|dialect| matches!(dialect.method, Method::Rules(_)));
    let options = |dialect: &str, others: &str| {
        let options = format!("{{\"dialect\": \"{dialect}\"{others}}}");
        let read = json::read(&options).map(|options| SanitizeOptions::read(&options, Naming::Camel));
        read.expect("JSON").expect("options")
    };
    // Some options rewrite what other passes have added.
    let all = ["", ", \"untyped\": \"any\", \"hints\": \"drop\", \"refs\": \"inline\""];
    let in_dialects = |case: Case| {
        let Case { name, input, .. } = case;
        grammars().flat_map(move |dialect| all.map(|others| (dialect.name, others))).map(move |(dialect, others)| {
            Case {
                name: format!("{name} ({dialect}{others})"),
                options: options(dialect, others),
                input: input.clone(),
            }
        })
    };
    let cases: Vec<Case> = cases().into_iter().flat_map(in_dialects).collect();
    let needs_rounds = |case: &Case| in_rounds(case, true) != in_rounds(case, false);
    assert!(cases.iter().any(needs_rounds), "no case needs a second round, so this test proves nothing");
    let differs = |case: &&Case| passed(&case.input, &case.options).ok().flatten() != in_rounds(case, true);
    let differ: Vec<&str> = cases.iter().filter(differs).map(|case| case.name.as_str()).collect();
    assert!(differ.is_empty(), "skipped rounds would have changed {differ:?}");
}

const HEAD: &str =
    "<!-- Generated: `TOOLWIRE_BLESS=1 cargo test -p toolwire --lib every_pass`. Edit the table of passes, not this \
page. -->

# The pipeline

`sanitize` runs these passes, in this order, on a schema that the dialect does not accept unchanged. \
Consecutive passes over schemas share one walk.
All passes run again if one of them made a change that may require this pass or an earlier one to run again
(the column *again*), until they change nothing. If a dialect encodes, the plain schema is lowered at the end.

The last column says which promise breaks without the pass, and in which fixture (`tests/fixtures/sanitize`): a test \
removes each pass in turn.

| pass | phase | over | why it comes here | again | rules | without it |
|---|---|---|---|---|---|---|
";
