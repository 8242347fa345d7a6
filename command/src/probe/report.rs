//! Renders the verdicts: a human-readable table, and a JSON document.

use toolwire::internal::json::{Node, Object};

use super::{
    search::{Refusal, Verdict},
    target::{refused_together, Tool},
    Probe,
};
use crate::{
    document::{header, located, record},
    error::{EXIT_FOUND, EXIT_SUCCESS},
    table::{ColumnKind, Table},
    task::Output,
    terminal::{counted, cut, shown, Paint, Terminal},
};

/// The API refuses a tool for which `check` finds nothing, or accepts one that `check` expects to be refused.
const REFUSES: &str = "api-refuses";
const ACCEPTS: &str = "api-accepts";
/// Maximum lengths of errors and names in the table.
const ERROR: usize = 400;
const NAME: usize = 64;

/// A tool, or all tools together.
struct Line<'p> {
    verdict: Option<&'p Verdict>,
    rules: &'p [&'static str],
}

impl Line<'_> {
    fn finding(&self) -> Option<&'static str> {
        match (self.verdict?, self.rules) {
            (Verdict::Refused(_), []) => Some(REFUSES),
            (Verdict::Accepted(_), [_, ..]) => Some(ACCEPTS),
            _ => None,
        }
    }

    fn api(&self) -> &'static str {
        match self.verdict {
            None => "unknown",
            Some(Verdict::Accepted(_)) => "accepted",
            Some(Verdict::Refused(_)) => "refused",
        }
    }

    fn table(&self) -> &'static str {
        if self.rules.is_empty() {
            "accepted"
        } else {
            "refused"
        }
    }

    fn refusal(&self) -> Option<&Refusal> {
        match self.verdict {
            Some(Verdict::Refused(refusal)) => Some(refusal),
            _ => None,
        }
    }

    fn members(&self) -> Node<'static> {
        let (status, error) = match (self.verdict, self.refusal()) {
            (Some(Verdict::Accepted(status)), _) => (Node::count((*status).into()), Node::default()),
            (_, Some(refusal)) => (Node::count(refusal.status.into()), Node::string(refusal.text.clone())),
            _ => (Node::default(), Node::default()),
        };
        record([
            ("api", Node::string(self.api().replace(' ', "-"))),
            ("toolwire", Node::string(self.table())),
            ("rules", Node::array(unique(self.rules).map(Node::string).collect())),
            ("status", status),
            ("error", error),
            ("finding", super::text_or_null(self.finding())),
        ])
    }
}

/// Removes repeated rules. Equal rules must be next to each other.
fn unique<'r>(rules: &'r [&'static str]) -> impl Iterator<Item = &'static str> + 'r {
    rules.iter().enumerate().filter(|(at, rule)| rules.get(at.wrapping_sub(1)) != Some(rule)).map(|(_, rule)| *rule)
}

pub(super) fn render(probe: &Probe, terminal: &Terminal) -> Output {
    let lines: Vec<(&Tool, Line<'_>)> = probe
        .tools
        .iter()
        .zip(&probe.search.verdicts)
        .map(|(tool, verdict)| (tool, Line { verdict: verdict.as_ref(), rules: &tool.rules }))
        .collect();
    let rules = refused_together(&probe.accepted(), probe.dialect);
    let verdict = match &probe.search.together {
        Some(refusal) => Verdict::Refused(refusal.clone()),
        None => Verdict::Accepted(200),
    };
    // The last request, with all accepted tools, was sent only if the probe was completed.
    let together = Line { verdict: Some(&verdict).filter(|_| probe.ended.is_none()), rules: &rules };
    let is_refused = |line: &Line<'_>| line.refusal().is_some() || line.finding().is_some();
    let code = match &probe.ended {
        Some(error) => error.exit_code(),
        None if is_refused(&together) || lines.iter().any(|(_, line)| is_refused(line)) => EXIT_FOUND,
        None => EXIT_SUCCESS,
    };
    let mut output = if probe.arguments.machine.json {
        Output::json(&document(probe, &lines, &together))
    } else {
        Output::new(text(probe, &lines, &together, terminal))
    };
    if let Some(error) = &probe.ended {
        output.add_note(&error.render(&probe.source, terminal.err));
    }
    output.with_exit_code(code)
}

fn document(probe: &Probe, lines: &[(&Tool, Line<'_>)], together: &Line<'_>) -> Node<'static> {
    let tools = lines.iter().map(|(tool, line)| {
        let name = tool.name.clone().map_or_else(Node::default, Node::string);
        let head = record([("name", name)]);
        let mut members: Object<'static> = head.as_object().cloned().unwrap_or_default();
        located(&probe.pointers, &tool.pointer).into_iter().for_each(|(key, value)| members.set(key, value));
        for member in line.members().as_object().into_iter().flat_map(Object::iter) {
            members.set(member.key.clone(), member.value.clone());
        }
        Node::object(members)
    });
    let tools: Vec<Node<'static>> = tools.collect();
    let ended = probe.ended.as_ref().map_or_else(Node::default, |error| Node::string(error.message.clone()));
    let members = header("probe", &probe.source).into_iter().chain(
        [
            ("dialect", Node::string(probe.dialect.name)),
            ("host", Node::string(probe.target.host.clone())),
            ("model", Node::string(probe.arguments.model.clone())),
            ("requests", Node::count(probe.sent.into())),
            ("tools", Node::array(tools)),
            ("together", together.members()),
            ("ended", ended),
        ]
        .into_iter()
        .map(|(key, value)| (toolwire::internal::json::Text::new(key), value)),
    );
    Node::object(members.collect())
}

fn text(probe: &Probe, lines: &[(&Tool, Line<'_>)], together: &Line<'_>, terminal: &Terminal) -> String {
    let paint = terminal.out;
    let title = format!(
        "{}: {} for {}, sent to {} at {} in {}",
        shown(&probe.source),
        counted(lines.len(), probe.noun),
        probe.dialect.name,
        shown(&probe.arguments.model),
        shown(&probe.target.host),
        counted(probe.sent as usize, "request")
    );
    let mut out = paint.bold(&title) + "\n\n";
    let headings = [probe.noun, "API", "check", "differs"];
    let mut table = Table::new(headings.iter().map(|heading| (ColumnKind::Words, (*heading).to_string())).collect());
    let row = |name: String, line: &Line<'_>| {
        let rules: Vec<&str> = unique(line.rules).collect();
        let table =
            if rules.is_empty() { line.table().into() } else { format!("{}: {}", line.table(), rules.join(", ")) };
        let differs = line.finding().map(|finding| paint.doubtful(finding)).unwrap_or_default();
        Vec::from([name, colored(line, paint), table, differs])
    };
    for (tool, line) in lines {
        table.row(row(name_or_pointer(probe, tool), line));
    }
    if together.refusal().is_some() || together.finding().is_some() {
        table.row(row("all together".into(), together));
    }
    table.write(terminal.width, &mut out);
    let mut refusals = String::new();
    let named = lines.iter().map(|(tool, line)| (name_or_pointer(probe, tool), line));
    for (name, line) in named.chain([("all together".to_string(), together)]) {
        if let Some(Refusal { status, text }) = line.refusal() {
            refusals.push_str(&format!("{name}: {status}: {}\n", shown(&cut(text, ERROR))));
        }
    }
    if !refusals.is_empty() {
        out.push('\n');
        out.push_str(&refusals);
    }
    out.push('\n');
    let count = |api: &str| lines.iter().filter(|(_, line)| line.api() == api).count();
    let differ = lines.iter().map(|(_, line)| line).chain([together]).filter(|line| line.finding().is_some()).count();
    let unknown = match count("unknown") {
        0 => String::new(),
        unknown => format!(", {unknown} unknown"),
    };
    out.push_str(&format!("The API: {} accepted, {} refused{unknown}. ", count("accepted"), count("refused")));
    out.push_str(&match differ {
        0 => format!("`toolwire check -d {}` agrees.\n", probe.dialect.name),
        _ => format!(
            "`toolwire check -d {}` disagrees in {}: please report it with `--record`.\n",
            probe.dialect.name,
            counted(differ, "case")
        ),
    });
    out
}

fn colored(line: &Line<'_>, paint: Paint) -> String {
    match line.verdict {
        None => paint.dim(line.api()),
        Some(Verdict::Accepted(_)) => paint.good(line.api()),
        Some(Verdict::Refused(_)) => paint.bad(line.api()),
    }
}

fn name_or_pointer(probe: &Probe, tool: &Tool) -> String {
    match &tool.name {
        Some(name) => cut(&shown(name), NAME).into_owned(),
        None => probe.pointers.of(&tool.pointer).1,
    }
}
