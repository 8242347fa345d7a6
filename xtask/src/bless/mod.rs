//! Writes the results of `sanitize` into fixtures, to be reviewed in the diff:
//! `cargo xtask bless tests/fixtures/sanitize/rules/add-items.json …`
//!
//! Rewrites `expected` and `changes` (or `error`) of each case in the files. The reviewer must decide whether they are
//! right: an unreviewed case proves nothing. [`reasons`] rewrites less.

mod reasons;
mod spans;

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use toolwire::{
    internal::{
        bindings::{self, Naming},
        json::{self, Data, Node},
    },
    reports::Change,
    sanitize, SanitizeOptions,
};

/// The order of the members of a case.
const ORDER: [&str; 12] = [
    "name",
    "why",
    "source",
    "options",
    "input",
    "inputText",
    "inputParts",
    "expected",
    "expectedText",
    "error",
    "changes",
    "lossless",
];

pub(crate) fn files(files: &[&str]) -> Result<(), Box<dyn Error>> {
    for file in files {
        if bless(file).map_err(|error| format!("{file}: {error}"))? {
            println!("{file}");
        }
    }
    Ok(())
}

/// Writes the reasons of changes: into the given files, or into all fixtures.
pub(crate) fn reasons(files: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut paths: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    if paths.is_empty() {
        add_files(&crate::root().join("tests/fixtures"), &mut paths)?;
    }
    for path in paths {
        let name = path.display();
        if reasons::file(&path).map_err(|error| format!("{name}: {error}"))? {
            println!("{name}");
        }
    }
    Ok(())
}

fn add_files(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            add_files(&path, paths)?;
        } else if path.extension().is_some_and(|end| end == "json") {
            paths.push(path);
        }
    }
    Ok(())
}

/// Returns true if the file changed.
fn bless(file: &str) -> Result<bool, Box<dyn Error>> {
    let old = fs::read_to_string(file)?;
    let read = json::read(&old)?;
    let cases = read.as_array().ok_or("expected a list of cases")?;
    let written = cases.iter().map(format_case).collect::<Result<Vec<String>, _>>()?;
    let new = format!("[\n{}\n]\n", written.join(",\n"));
    if new != old {
        fs::write(file, &new)?;
    }
    Ok(new != old)
}

fn format_case(case: &Node<'_>) -> Result<String, Box<dyn Error>> {
    let input = case.get("input").ok_or("expected an `input`: other cases are written by hand")?;
    let none = Node::empty_object();
    let options = bindings::options::<SanitizeOptions>(case.get("options").unwrap_or(&none), Naming::Camel)?;
    let text = json::write(input);
    let result = sanitize(&text, &options);
    let mut members = Vec::new();
    for name in ORDER {
        let value = match (name, &result) {
            ("expected", Ok(report)) => Some(format_value(&json::read(&report.schema)?)),
            ("changes", Ok(report)) => Some(format_changes(report.changes().unwrap_or_default())),
            ("error", Err(error)) => {
                Some(format!("{{\"code\": {}, \"pointer\": {}}}", quote(error.code().as_str()), quote(error.pointer())))
            }
            ("expected" | "changes" | "error", _) => None,
            _ => case.get(name).map(format_value),
        };
        members.extend(value.map(|value| format!("    \"{name}\": {value}")));
    }
    Ok(format!("  {{\n{}\n  }}", members.join(",\n")))
}

fn format_changes(changes: &[Change]) -> String {
    if changes.is_empty() {
        return "[]".to_owned();
    }
    let lines: Vec<String> = changes
        .iter()
        .map(|change| {
            let to = change.output_pointer.as_deref().map_or_else(|| "null".to_owned(), quote);
            let (from, rule) = (quote(&change.pointer), quote(change.rule.id()));
            let (accepts, guidance) = (change.accepts.as_str(), change.guidance.as_str());
            let encoded = if change.encoded { ", \"encoded\": true" } else { "" };
            let reason = quote(change.reason.statement());
            format!(
                "      {{\"pointer\": {from}, \"outputPointer\": {to}, \"rule\": {rule}, \"accepts\": \"{accepts}\", \
                    \"guidance\": \"{guidance}\"{encoded}, \"reason\": {reason}}}"
            )
        })
        .collect();
    format!("[\n{}\n    ]", lines.join(",\n"))
}

/// Formats a value on one line, with spaces after separators.
fn format_value(node: &Node<'_>) -> String {
    match node.data() {
        Data::Array(items) => format!("[{}]", items.iter().map(format_value).collect::<Vec<_>>().join(", ")),
        Data::Object(object) => {
            let members = object.iter().map(|member| {
                format!("{}: {}", json::write(&Node::string(member.key.clone())), format_value(&member.value))
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        _ => json::write(node),
    }
}

fn quote(text: &str) -> String {
    json::write(&Node::string(text.to_owned()))
}
