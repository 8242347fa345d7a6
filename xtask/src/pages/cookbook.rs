//! The cookbook: errors of providers, their causes, and the calls that fix them. The cases are data; their results are
//! measured.

use std::{fmt::Write as _, fs, path::Path};

use serde_json::Value;
use toolwire::{
    adapt_request, apply_deferred_loading, check, check_request, check_tools, options::Formats, repair_arguments,
    sanitize, sanitize_tools, validate_arguments, AdaptOptions, DeferredOptions, RepairOptions, SanitizeOptions,
    ToolsOptions,
};

use super::markdown::{cell, code, fence, link_sources, GENERATED};
use crate::id;

/// Maximum length of a shown input or output, in characters.
const MAX_SHOWN: usize = 1000;

pub(crate) struct Entry {
    case: Value,
}

/// Returns a message for each entry whose error `check` does not find, or whose call does not fix it.
pub(crate) fn faults(entries: &[Entry]) -> Vec<String> {
    let mut faults = Vec::new();
    for entry in entries {
        let (rule, found) = (entry.text("rule"), entry.findings());
        if entry.text("call") != "applyDeferredLoading" && !found.iter().any(|known| known == rule) {
            faults.push(format!("{}: expected `{rule}` among the findings, found {found:?}", entry.heading()));
        }
        if !entry.is_fixed() {
            faults.push(format!("{}: the output is not accepted", entry.heading()));
        }
    }
    faults
}

impl Entry {
    pub(crate) fn all(root: &Path) -> Vec<Self> {
        let text = fs::read_to_string(root.join("tests/cookbook/errors.json")).unwrap_or_default();
        let cases: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
        cases.into_iter().map(|case| Self { case }).collect()
    }

    pub(crate) fn text(&self, member: &str) -> &str {
        self.case.get(member).and_then(Value::as_str).unwrap_or_default()
    }

    fn input(&self) -> &Value {
        self.case.get("input").unwrap_or(&Value::Null)
    }

    fn findings(&self) -> Vec<String> {
        self.refused(self.input())
    }

    fn refused(&self, value: &Value) -> Vec<String> {
        let dialect = self.text("dialect");
        match self.text("call") {
            "sanitize" => check(value, &SanitizeOptions::new(id(dialect)))
                .map(|found| found.iter().map(|violation| violation.constraint.to_string()).collect())
                .unwrap_or_default(),
            "sanitizeTools" => check_tools(value, &[id(dialect)])
                .map(|found| found.iter().map(|violation| violation.constraint.to_string()).collect())
                .unwrap_or_default(),
            "adaptRequest" => check_request(value, id(dialect))
                .map(|found| found.iter().map(|violation| violation.constraint.to_string()).collect())
                .unwrap_or_default(),
            "repairArguments" => validate_arguments(value, self.schema())
                .map(|found| found.errors.iter().map(|error| error.keyword.to_owned()).collect())
                .unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    fn uses_ladder(&self) -> bool {
        self.text("formats") == "ladder"
    }

    fn schema(&self) -> &Value {
        self.case.get("schema").unwrap_or(&Value::Null)
    }

    fn fix(&self) -> Result<(Value, Vec<String>), toolwire::Error> {
        let dialect = self.text("dialect");
        match self.text("call") {
            "sanitize" => {
                let report = sanitize(self.input(), &SanitizeOptions::new(id(dialect)))?;
                let changes = report.changes()?.iter().map(describe).collect();
                Ok((report.schema, changes))
            }
            "sanitizeTools" => {
                let list = sanitize_tools(self.input(), &ToolsOptions::new(id(dialect)))?;
                let changes = list.changes()?.iter().map(|tool_change| describe(&tool_change.change)).collect();
                Ok((list.tools, changes))
            }
            "adaptRequest" => {
                let formats = if self.uses_ladder() { Formats::Ladder } else { Formats::Native };
                let adapted = adapt_request(self.input(), &AdaptOptions::new(id(dialect)).formats(formats))?;
                let report = adapted.report;
                let choice = report
                    .choice
                    .map(|choice| format!("the choice {} became {}", code(&choice.found), code(&choice.sent)));
                let choice = choice.into_iter();
                let request =
                    report.request_changes.iter().map(|change| format!("`{}`: {}", change.rule, change.message));
                let formats = report.format_changes.iter().map(|tool_change| describe(&tool_change.change));
                let tools = report.changes.iter().map(|tool_change| describe(&tool_change.change));
                Ok((adapted.request, choice.chain(request).chain(tools).chain(formats).collect()))
            }
            "repairArguments" => {
                let done = repair_arguments(self.input(), self.schema(), &RepairOptions::default())?;
                let describe = done.repairs.iter().map(|repair| {
                    let (rule, confidence) = (repair.rule.as_str(), repair.confidence.as_str());
                    format!("`{rule}` at `{}`: {} ({confidence})", repair.pointer, repair.message)
                });
                Ok((done.arguments, describe.collect()))
            }
            _ => {
                let outcome = apply_deferred_loading(self.input(), &DeferredOptions::default())?;
                let listed =
                    |what: &str, names: &[String]| (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")));
                let report = outcome.report()?.clone();
                let warnings = report.warnings.iter().map(|warning| format!("warning {}", code(warning.code)));
                Ok((
                    outcome.request,
                    [listed("hidden", &report.hidden), listed("loaded", &report.loaded)]
                        .into_iter()
                        .flatten()
                        .chain(warnings)
                        .collect(),
                ))
            }
        }
    }

    fn is_fixed(&self) -> bool {
        match self.fix() {
            Ok((output, _)) if self.text("call") == "applyDeferredLoading" => {
                let text = output.to_string();
                !text.contains("defer_loading") && !text.contains("tool_reference") && output != *self.input()
            }
            Ok((output, _)) => self.refused(&output).is_empty(),
            Err(_) => false,
        }
    }

    fn section(&self) -> String {
        let mut section = format!("\n## {}\n\n{}:\n\n", self.heading(), self.text("api"));
        section += &fence("text", self.text("error"));
        let seen = self.case.get("seen").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let seen: Vec<String> = seen.iter().filter_map(Value::as_str).map(link_sources).collect();
        let rule = self.text("rule");
        let is_call = self.text("call") == "repairArguments";
        let is_request = self.text("call") == "adaptRequest";
        let named = match rule {
            "" => String::new(),
            _ if is_request => format!(" The rule of `checkRequest` is `{rule}`."),
            _ if is_call => format!(" The keyword that `validateArguments` names is `{rule}`."),
            _ => format!(" The rule of `check` is `{rule}`."),
        };
        let _ = writeln!(section, "\n{}{named}", self.text("why"));
        if !seen.is_empty() {
            let _ = writeln!(section, "Seen: {}.", seen.join(", "));
        }
        section += "\n";
        section += &fence("ts", &self.in_typescript());
        section += &fence("python", &self.in_python());
        if is_call {
            let _ = writeln!(section, "\nWith the tool's own schema\n\n{}", fence("json", &self.schema().to_string()));
            section += "a call with the arguments\n";
        }
        let _ = writeln!(section, "\n{}", fence("json", &shorten(&self.input().to_string(), MAX_SHOWN)));
        match self.fix() {
            Ok((output, changes)) => {
                let _ = writeln!(section, "becomes\n\n{}", fence("json", &shorten(&output.to_string(), MAX_SHOWN)));
                for change in changes {
                    let _ = writeln!(section, "- {change}");
                }
            }
            Err(error) => {
                let _ = writeln!(section, "`{}`: {}", error.code().as_str(), error.message());
            }
        }
        section
    }

    pub(crate) fn heading(&self) -> String {
        self.text("title").to_owned()
    }

    /// Returns the beginning of the error, for the table of contents.
    fn beginning(&self) -> String {
        shorten(self.text("error"), 110)
    }

    fn in_typescript(&self) -> String {
        let dialect = self.text("dialect");
        match self.text("call") {
            "sanitize" => format!("const {{ schema: accepted }} = sanitize(schema, {{ dialect: '{dialect}' }});"),
            "sanitizeTools" => {
                format!("const {{ tools, restore }} = sanitizeTools(listed, {{ dialect: '{dialect}' }});")
            }
            "adaptRequest" => {
                let formats = if self.uses_ladder() { ", formats: 'ladder'" } else { "" };
                format!("const {{ request, restore }} = adaptRequest(body, {{ dialect: '{dialect}'{formats} }});")
            }
            "repairArguments" => "const repaired = repairArguments(call.arguments, tool.inputSchema);".to_owned(),
            _ => "const body = applyDeferredLoading(request);".to_owned(),
        }
    }

    fn in_python(&self) -> String {
        let dialect = self.text("dialect");
        match self.text("call") {
            "sanitize" => format!("accepted = toolwire.sanitize(schema, dialect=\"{dialect}\").schema"),
            "sanitizeTools" => format!("sanitized = toolwire.sanitize_tools(listed, dialect=\"{dialect}\")"),
            "adaptRequest" => {
                let formats = if self.uses_ladder() { ", formats=\"ladder\"" } else { "" };
                format!("adapted = toolwire.adapt_request(body, dialect=\"{dialect}\"{formats})")
            }
            "repairArguments" => "repaired = toolwire.repair_arguments(call.arguments, tool.inputSchema)".to_owned(),
            _ => "body = toolwire.apply_deferred_loading(request)".to_owned(),
        }
    }
}

fn describe(change: &toolwire::reports::Change) -> String {
    let encoded = if change.encoded { ", encoded" } else { "" };
    format!(
        "`{}`: {} (accepts {}{encoded}, guidance {})",
        change.rule,
        change.message,
        change.accepts.as_str(),
        change.guidance.as_str()
    )
}

fn shorten(text: &str, maximum: usize) -> String {
    let short: String = text.chars().take(maximum).collect();
    if short.len() < text.len() {
        format!("{}…", short.trim_end())
    } else {
        short
    }
}

pub(crate) fn page(entries: &[Entry]) -> String {
    let mut page = format!("{GENERATED}# Cookbook: an API or a client refuses my tool\n\n");
    page += "Find your problem, or the beginning of the error. Each entry is a test: `check` finds the problem in the input, and finds \
    none in the output. (For arguments, `validateArguments` does this.)\n";
    page += "If you do not know which entry applies, `checkTools(tools, { dialects })` checks a whole list, and \
    `adaptRequest` fixes a whole request, with `repair: true` also the calls in its reply.\n\n";
    page += "| problem | error |\n|---|---|\n";
    for entry in entries {
        let heading = entry.heading();
        let _ = writeln!(page, "| [{heading}](#{}) | {} |", anchor(&heading), cell(&code(&entry.beginning())));
    }
    for entry in entries {
        page += &entry.section();
    }
    page
}

/// The anchor that GitHub generates.
fn anchor(heading: &str) -> String {
    // The spaces next to double backticks are not part of the text.
    heading
        .replace("`` ", "")
        .replace(" ``", "")
        .to_lowercase()
        .chars()
        .filter_map(|char| match char {
            ' ' => Some('-'),
            char if char.is_alphanumeric() || matches!(char, '-' | '_') => Some(char),
            _ => None,
        })
        .collect()
}
