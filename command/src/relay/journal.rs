//! The latest requests and their changes, for the page `/toolwire/last`, the log and the report. The journal contains
//! names, pointers and rules, but no argument values and no text of messages.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt::Write as _,
    sync::Arc,
};

use toolwire::{
    internal::{
        self,
        json::{self, Node},
    },
    reports::{AdaptReport, RepairedCall},
    Error,
};

use crate::{document::record, markup::escaped, terminal::cut};

/// Number of requests that the page shows.
const MAX_REQUESTS: usize = 50;
/// Maximum number of changes that are kept for a request.
const MAX_CHANGES: usize = 200;
/// Maximum length of a name, in characters.
const MAX_NAME: usize = 120;
/// Maximum number of remembered log lines. Each line is logged once.
const MAX_LINES: usize = 10_000;

#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    /// Time of the request, in the host's format.
    pub(super) time: String,
    pub(super) method: String,
    /// Path without the query, which may contain an API key.
    pub(super) path: String,
    pub(super) upstream: String,
    pub(super) model: String,
    pub(super) dialect: String,
    pub(super) status: Option<u16>,
    pub(super) error: Option<String>,
    pub(super) notes: Vec<Note>,
    /// Number of notes that are not in `notes`.
    pub(super) more: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    /// `tool`, `left out`, `request`, `format`, `choice`, `repaired`, `invalid`.
    pub(super) kind: &'static str,
    /// Empty if the change does not concern a tool.
    pub(super) tool: String,
    pub(super) rule: String,
    pub(super) pointer: String,
}

impl Entry {
    pub(super) fn new(time: &str, method: &str, path: &str) -> Entry {
        let short = |text: &str| cut(text, MAX_NAME).into_owned();
        Entry { time: short(time), method: short(method), path: short(path), ..Entry::default() }
    }

    pub(super) fn record_failure(&mut self, message: &str) {
        self.error = Some(cut(message, 2 * MAX_NAME).into_owned());
    }

    pub(super) fn record_refusal(&mut self, error: &Error) {
        self.record_failure(&format!("{}: {}", error.code().as_str(), error.message()));
    }

    /// Records a reply that was passed on unread because of its type.
    pub(super) fn record_unread_reply(&mut self, kind: &str) {
        self.record("unread reply", "", kind, "");
    }

    fn record(&mut self, kind: &'static str, tool: &str, rule: &str, pointer: &str) {
        if self.notes.len() >= MAX_CHANGES {
            self.more += 1;
            return;
        }
        let short = |text: &str| cut(text, MAX_NAME).into_owned();
        self.notes.push(Note { kind, tool: short(tool), rule: short(rule), pointer: short(pointer) });
    }

    pub(super) fn record_changes(&mut self, report: &AdaptReport) {
        self.dialect = report.dialect.to_string();
        for tool in &report.quarantined {
            self.record("left out", internal::label(tool), tool.rule, &tool.pointer);
        }
        for about in report.changes.iter() {
            self.record("tool", &about.tool, about.change.rule.id(), &about.change.pointer);
        }
        for change in &report.request_changes {
            self.record("request", "", change.rule, &change.pointer);
        }
        for about in &report.format_changes {
            self.record("format", "", about.change.rule.id(), &about.change.pointer);
        }
        if report.choice.is_some() {
            self.record("choice", "", "tool-choice", "/tool_choice");
        }
    }

    pub(super) fn record_repairs(&mut self, calls: &[RepairedCall]) {
        for call in calls {
            for repair in &call.repairs {
                self.record("repaired", &call.name, repair.rule.as_str(), &repair.pointer);
            }
            for left in &call.left {
                self.record("invalid", &call.name, left.keyword, &left.pointer);
            }
        }
    }

    pub(super) fn report_line(&self) -> String {
        let text = |text: &'_ str| Node::string(text.to_string());
        let note = |note: &Note| {
            record([
                ("kind", text(note.kind)),
                ("tool", text(&note.tool)),
                ("rule", text(&note.rule)),
                ("pointer", text(&note.pointer)),
            ])
        };
        let line = record([
            ("time", text(&self.time)),
            ("method", text(&self.method)),
            ("path", text(&self.path)),
            ("upstream", text(&self.upstream)),
            ("model", text(&self.model)),
            ("dialect", text(&self.dialect)),
            ("status", self.status.map_or_else(Node::default, |status| Node::count(status.into()))),
            ("error", self.error.as_deref().map_or_else(Node::default, text)),
            ("changes", Node::array(self.notes.iter().map(note).collect())),
            ("more", Node::count(self.more as u64)),
        ]);
        json::write(&line)
    }
}

#[derive(Debug, Default)]
pub(super) struct Journal {
    last: VecDeque<Arc<Entry>>,
    /// Hashes of the lines that were logged.
    written: BTreeSet<u64>,
}

impl Journal {
    pub(super) fn add(&mut self, entry: Entry) {
        if self.last.len() >= MAX_REQUESTS {
            self.last.pop_back();
        }
        self.last.push_front(Arc::new(entry));
    }

    /// The latest request is first.
    pub(super) fn entries(&self) -> Vec<Arc<Entry>> {
        self.last.iter().cloned().collect()
    }

    /// Returns true if the line was not logged before. At [`MAX_LINES`], forgets all lines.
    pub(super) fn record_if_new(&mut self, line: &str) -> bool {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        if self.written.len() >= MAX_LINES {
            self.written.clear();
        }
        self.written.insert(hasher.finish())
    }
}

/// Returns one log line for each change, so that the caller can drop lines that were logged before. An agent sends the
/// same tools with every request.
pub(super) fn log_lines(report: &AdaptReport) -> Vec<String> {
    let mut lines = Vec::new();
    for about in report.changes.iter() {
        let change = &about.change;
        let (message, rule, at) = (&change.message, change.rule, &change.pointer);
        lines.push(format!("{}: {message} ({rule}) at {at} for {}", about.tool, about.dialect));
    }
    let request = report
        .request_changes
        .iter()
        .map(|change| format!("the request: {} ({}) at {}", change.message, change.rule, change.pointer));
    lines.extend(request);
    lines
}

pub(super) fn html_page(entries: &[Arc<Entry>]) -> String {
    let mut rows = String::new();
    for entry in entries {
        let status = entry.status.map_or_else(|| "—".to_string(), |status| status.to_string());
        let what = [&entry.upstream, &entry.model, &entry.dialect];
        let what: Vec<String> = what.iter().filter(|text| !text.is_empty()).map(|text| escaped(text)).collect();
        let _ = write!(
            rows,
            "<article><h2><span>{}</span> {} {} <b>{status}</b></h2><p>{}</p>{}",
            escaped(&entry.time),
            escaped(&entry.method),
            escaped(&entry.path),
            what.join(" · "),
            changes(entry)
        );
        rows.push_str("</article>\n");
    }
    if rows.is_empty() {
        rows.push_str("<p>No request has been changed yet.</p>");
    }
    format!("{HEAD}{rows}</body></html>\n")
}

fn changes(entry: &Entry) -> String {
    if let Some(error) = &entry.error {
        return format!("<p class=error>{}</p>", escaped(error));
    }
    let mut groups: BTreeMap<(&str, &str, &str), Vec<&str>> = BTreeMap::new();
    for note in &entry.notes {
        groups.entry((note.kind, &note.tool, &note.rule)).or_default().push(&note.pointer);
    }
    if groups.is_empty() {
        return "<p>nothing was changed</p>".into();
    }
    let mut out = String::from("<table><tr><th>what<th>tool<th>rule<th>where</tr>");
    for ((kind, tool, rule), places) in groups {
        let first = places.first().copied().unwrap_or_default();
        let more = if places.len() > 1 { format!(" and {} more", places.len() - 1) } else { String::new() };
        let _ = write!(
            out,
            "<tr><td>{kind}<td>{}<td>{}<td><code>{}</code>{more}</tr>",
            escaped(tool),
            escaped(rule),
            escaped(first)
        );
    }
    out.push_str("</table>");
    if entry.more > 0 {
        let _ = write!(out, "<p>and {} more changes</p>", entry.more);
    }
    out
}

const HEAD: &str = "<!doctype html><html lang=en><head><meta charset=utf-8><title>toolwire relay</title>\
<meta name=viewport content=\"width=device-width\"><style>body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;\
margin:2rem auto;padding:0 1rem;color:#222;background:#fff}h2{font-size:1rem;margin:1.5rem 0 0}h2 span{color:#777;\
font-weight:400}p{margin:.2rem 0;color:#555}table{border-collapse:collapse;margin:.4rem 0}td,th{text-align:left;\
padding:.1rem 1rem .1rem 0;vertical-align:top}.error{color:#a00}@media(prefers-color-scheme:dark){body{color:#ddd;\
background:#161616}p{color:#aaa}}</style></head><body><h1>toolwire relay: the last requests</h1>\
<p>Names, places and rules. Values of arguments and texts are not kept.</p>\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped() {
        let mut entry = Entry { path: "/v1/<script>".into(), model: "\"&'".into(), ..Entry::default() };
        entry.record("tool", "<img src=x>", "rule", "/a");
        entry.record("tool", "<img src=x>", "rule", "/b");
        let mut journal = Journal::default();
        journal.add(entry);
        let page = html_page(&journal.entries());
        assert!(!page.contains("<script>") && !page.contains("<img"), "{page}");
        assert!(page.contains("&lt;img src=x&gt;<td>rule<td><code>/a</code> and 1 more"), "{page}");
    }

    #[test]
    fn repeated_lines_are_not_new() {
        let mut journal = Journal::default();
        assert!(journal.record_if_new("a") && !journal.record_if_new("a") && journal.record_if_new("b"));
    }
}
