//! Renders the matrix: human-readable tables, and a JSON document.

use std::collections::BTreeMap;

use toolwire::internal::json::{Node, Object, Text};

use super::{Column, Matrix, Named, Template, Verdict};
use crate::{
    document::{header, located, record},
    outcome::Outcome,
    table::{ColumnKind, Table, NONE},
    terminal::{counted, cut, grouped, shown, Paint},
};

/// Outcomes with their own column. Unchanged tools and tools that were changed without loss share a column.
const COLUMNS: [(&str, &[Outcome]); 8] = [
    ("lossless", &[Outcome::Unchanged, Outcome::Lossless]),
    ("encoded", &[Outcome::Encoded]),
    ("closed", &[Outcome::Closed]),
    ("not strict", &[Outcome::NotStrict]),
    ("lost", &[Outcome::Lost]),
    ("wider", &[Outcome::Wider]),
    ("narrower", &[Outcome::Narrower]),
    ("refused", &[Outcome::Refused]),
];
/// Name of a column, and its predicate for accepted tools that the API reinterprets or partly ignores.
type Taken = (&'static str, fn(&Verdict) -> bool);
const TAKEN: [Taken; 2] = [
    ("reinterpreted", |verdict| verdict.accepted && verdict.reinterpreted),
    ("ignored", |verdict| verdict.accepted && verdict.ignored),
];
const CLIENTS: &str = "MCP clients, which receive the tools before any API";
/// Maximum length of a tool's name in the table.
const NAME: usize = 64;
/// Maximum number of names in a row; the others are counted.
const RULES: usize = 4;
const TOOLS: usize = 3;
const TEMPLATES: usize = 5;

struct Row {
    outcome: Outcome,
    tools: Vec<String>,
    rules: String,
    dialects: String,
}

impl Column {
    fn count(&self, outcomes: &[Outcome]) -> usize {
        self.verdicts.iter().filter(|verdict| outcomes.contains(&verdict.outcome)).count()
    }

    fn count_tools(&self, test: fn(&Verdict) -> bool) -> usize {
        self.verdicts.iter().filter(|verdict| test(verdict)).count()
    }

    fn accepted(&self) -> usize {
        self.count_tools(|verdict| verdict.accepted)
    }
}

impl Matrix {
    pub(crate) fn table(&self, width: Option<usize>, paint: Paint) -> String {
        let count = self.tools.len();
        let title = format!(
            "{}: {} in {}\n\n",
            shown(&self.input.source),
            counted(count, self.noun),
            counted(self.columns.len(), "dialect")
        );
        let mut out = paint.bold(title.trim_end());
        out.push_str("\n\n");
        let (apis, clients) = self.groups();
        if !apis.is_empty() {
            dialects(&apis, count, width, paint, &mut out);
        }
        if !clients.is_empty() {
            let above = if apis.is_empty() { "" } else { "\n" };
            out.push_str(&format!("{above}{}\n\n", paint.bold(CLIENTS)));
            dialects(&clients, count, width, paint, &mut out);
        }
        self.losses(width, paint, &mut out);
        self.summary(count, paint, &mut out);
        out
    }

    fn groups(&self) -> (Vec<&Column>, Vec<&Column>) {
        self.columns.iter().partition(|column| !column.dialect.is_mcp_client())
    }

    /// Writes the losses, the worst first. Tools with equal losses in equal dialects share a row. With `--all`, each
    /// tool and outcome has its own row, even without a loss.
    fn losses(&self, width: Option<usize>, paint: Paint, out: &mut String) {
        let rows: Vec<Row> = if self.arguments.all {
            self.rows(Outcome::Unchanged)
        } else {
            let mut groups: Vec<Row> = Vec::new();
            let mut known = BTreeMap::<(Outcome, String, String), usize>::new();
            for row in self.rows(Outcome::Closed) {
                let at = *known
                    .entry((row.outcome, row.rules.clone(), row.dialects.clone()))
                    .or_insert_with(|| groups.len());
                match groups.get_mut(at) {
                    Some(group) => group.tools.extend(row.tools),
                    None => groups.push(row),
                }
            }
            groups.sort_by_key(|group| std::cmp::Reverse(group.outcome));
            groups
        };
        if rows.is_empty() {
            return;
        }
        let headings = ["outcome", self.noun, "rules", "dialects"];
        let mut table = Table::new(headings.into_iter().map(|name| (ColumnKind::Words, paint.dim(name))).collect());
        for Row { outcome, tools, rules, dialects } in rows {
            let shade = match outcome {
                Outcome::Refused => paint.bad(outcome.as_str()),
                Outcome::NotStrict | Outcome::Lost | Outcome::Wider | Outcome::Narrower => {
                    paint.doubtful(outcome.as_str())
                }
                _ => outcome.as_str().to_string(),
            };
            table.row(Vec::from([shade, join_some(&tools, TOOLS), rules, dialects]));
        }
        out.push('\n');
        table.write(width, out);
    }

    fn rows(&self, from: Outcome) -> Vec<Row> {
        let mut rows = Vec::new();
        for (at, tool) in self.tools.iter().enumerate() {
            let name = cut(&shown(&self.name(tool)), NAME).into_owned();
            for outcome in Outcome::ALL.into_iter().rev().filter(|outcome| *outcome >= from) {
                let with = |column: &&Column| column.verdicts.get(at).is_some_and(|verdict| verdict.outcome == outcome);
                let columns: Vec<&Column> = self.columns.iter().filter(with).collect();
                if columns.is_empty() {
                    continue;
                }
                let dialects = if columns.len() == self.columns.len() && columns.len() > 1 {
                    "all".to_string()
                } else {
                    columns.iter().map(|column| column.dialect.name).collect::<Vec<_>>().join(", ")
                };
                let rules = rules(columns.iter().filter_map(|column| column.verdicts.get(at)), outcome);
                rows.push(Row { outcome, tools: Vec::from([name.clone()]), rules, dialects });
            }
        }
        rows
    }

    fn summary(&self, count: usize, paint: Paint, out: &mut String) {
        let (apis, clients) = self.groups();
        // If no API was evaluated, the summary is about the clients.
        let (apis, clients) = if apis.is_empty() { (clients, apis) } else { (apis, clients) };
        let all = apis.len();
        let in_all = |group: &[&Column], test: fn(&Verdict) -> bool| {
            group.iter().filter(|column| column.verdicts.iter().all(test)).count()
        };
        let having = |test: fn(&Verdict) -> bool| in_all(&apis, test);
        let accepted = having(|verdict| verdict.accepted);
        let exact = having(|verdict| verdict.accepted && !verdict.reinterpreted);
        let written = having(|verdict| verdict.outcome < Outcome::Refused);
        let kept = having(|verdict| verdict.outcome < Outcome::Closed);
        out.push('\n');
        if count == 0 {
            out.push_str(&format!("No {}s.\n", self.noun));
            return;
        }
        let them =
            if count == 1 { format!("the {} is", self.noun) } else { format!("all {} are", counted(count, self.noun)) };
        let shade = |part: usize, text: String| if part == all { paint.good(&text) } else { text };
        let whole = match exact < accepted {
            true => format!(", and by {exact} without reinterpretation"),
            false => String::new(),
        };
        let dialects = counted(all, "dialect");
        out.push_str(&shade(accepted, format!("As is: {them} accepted by {accepted} of {dialects}{whole}.")));
        out.push('\n');
        out.push_str(&shade(
            written,
            format!("Rewritten: {them} accepted by {written} of {dialects}, and by {kept} without loss."),
        ));
        out.push('\n');
        if !clients.is_empty() {
            let through = in_all(&clients, |verdict| verdict.accepted);
            let text = format!("As is: {them} accepted by {through} of {}.", counted(clients.len(), "MCP client"));
            out.push_str(&if through == clients.len() { paint.good(&text) } else { paint.doubtful(&text) });
            out.push('\n');
        }
        for column in &self.columns {
            let lost = column.count_tools(|verdict| verdict.ignored || verdict.reinterpreted);
            if column.dialect.hides() && lost > 0 {
                let name = column.dialect.name;
                let tools = counted(lost, self.noun);
                out.push_str(&format!(
                    "`{name}` omits parts of {tools}: without rewriting, the model never sees them.\n"
                ));
            }
        }
        for column in self.columns.iter().filter(|column| !column.templates.is_empty()) {
            let template_text = |template: &Template| {
                let left = if template.left > 0 {
                    format!(" ({} even after rewriting)", template.left)
                } else {
                    String::new()
                };
                format!("`{}` {}{left}", template.file, template.refused)
            };
            let list: Vec<String> = column.templates.iter().map(template_text).collect();
            out.push_str(&format!(
                "Chat templates of `{}` that refuse {}s which the server accepts: {}. `sanitize --template NAME` \
                 rewrites for one of them.\n",
                column.dialect.name,
                self.noun,
                join_some(&list, TEMPLATES)
            ));
        }
        if kept < all {
            let tool = if self.noun == "tool" { "--tool NAME " } else { "" };
            let lines = format!(
                "`toolwire explain {tool}--dialect DIALECT` shows what is lost, and why.\n\
                 `toolwire matrix --help` explains the columns and outcomes."
            );
            out.push_str(&lines.lines().map(|line| paint.dim(line) + "\n").collect::<String>());
        }
    }

    fn name(&self, tool: &Named) -> String {
        match &tool.name {
            Some(name) => name.clone(),
            None => match self.pointers.of(&tool.pointer) {
                (Some(line), _) => format!("line {line}"),
                (None, pointer) if pointer.is_empty() => format!("(the {})", self.noun),
                (None, pointer) => pointer,
            },
        }
    }

    pub(crate) fn document(&self) -> Node<'static> {
        let mut members = header("matrix", &self.input.source);
        let dialects = self.columns.iter().map(|column| {
            let outcomes = Outcome::ALL
                .into_iter()
                .map(|outcome| (Text::new(outcome.as_str()), Node::count(column.count(&[outcome]) as u64)));
            let mut about = record([
                ("name", Node::string(column.dialect.name)),
                ("kind", Node::string(if column.dialect.is_mcp_client() { "mcp-client" } else { "api" })),
                ("accepted", Node::count(column.accepted() as u64)),
                ("reinterpreted", Node::count(column.count_tools(|verdict| verdict.reinterpreted) as u64)),
                ("ignored", Node::count(column.count_tools(|verdict| verdict.ignored) as u64)),
                ("outcomes", Node::object(Object::from_iter(outcomes))),
            ]);
            if !column.templates.is_empty() {
                let template_node = |template: &Template| {
                    record([
                        ("name", Node::string(template.file)),
                        ("refused", Node::count(template.refused as u64)),
                        ("left", Node::count(template.left as u64)),
                    ])
                };
                about.set("templates", Node::array(column.templates.iter().map(template_node).collect()));
            }
            about
        });
        let dialects = Node::array(dialects.collect());
        let tools = Node::array(self.tools.iter().enumerate().map(|(at, tool)| self.tool_document(at, tool)).collect());
        members.extend([
            (Text::new("count"), Node::count(self.tools.len() as u64)),
            (Text::new("failOn"), Node::string(self.arguments.fail_on.clone())),
            (Text::new("failed"), Node::bool(self.fails())),
            (Text::new("dialects"), dialects),
            (Text::new("tools"), tools),
        ]);
        Node::object(Object::from_iter(members))
    }

    fn tool_document(&self, at: usize, tool: &Named) -> Node<'static> {
        let verdicts = self.columns.iter().filter_map(|column| {
            let verdict = column.verdicts.get(at)?;
            let losses = verdict.losses.iter().map(|loss| {
                let mut members = Vec::from([
                    (Text::new("outcome"), Node::string(loss.outcome.as_str())),
                    (Text::new("rule"), Node::string(loss.rule)),
                ]);
                members.extend(located(&self.pointers, &loss.pointer));
                members.push((Text::new("message"), Node::string(loss.message.clone())));
                Node::object(Object::from_iter(members))
            });
            let reasons = verdict.reasons.iter().map(|reason| {
                let mut members = Vec::from([
                    (Text::new("severity"), Node::string(reason.severity.as_str())),
                    (Text::new("rule"), Node::string(reason.rule)),
                ]);
                members.extend(located(&self.pointers, &reason.pointer));
                members.push((Text::new("message"), Node::string(reason.message.clone())));
                Node::object(Object::from_iter(members))
            });
            Some(record([
                ("dialect", Node::string(column.dialect.name)),
                ("accepted", Node::bool(verdict.accepted)),
                ("reinterpreted", Node::bool(verdict.reinterpreted)),
                ("ignored", Node::bool(verdict.ignored)),
                ("reasons", Node::array(reasons.collect())),
                ("outcome", Node::string(verdict.outcome.as_str())),
                ("losses", Node::array(losses.collect())),
            ]))
        });
        let mut members = Vec::from([(Text::new("name"), tool.name.clone().map_or_else(Node::default, Node::string))]);
        members.extend(located(&self.pointers, &tool.pointer));
        members.push((Text::new("dialects"), Node::array(verdicts.collect())));
        Node::object(Object::from_iter(members))
    }
}

fn dialects(group: &[&Column], count: usize, width: Option<usize>, paint: Paint, out: &mut String) {
    // Columns without an occurrence are omitted, to keep the table narrow.
    let used = |outcomes: &[Outcome]| group.iter().any(|column| column.count(outcomes) > 0);
    let columns: Vec<_> =
        COLUMNS.into_iter().filter(|(name, outcomes)| *name == "lossless" || used(outcomes)).collect();
    let taken: Vec<Taken> =
        TAKEN.into_iter().filter(|(_, test)| group.iter().any(|column| column.count_tools(*test) > 0)).collect();
    let numbers = ["accepted"]
        .into_iter()
        .chain(taken.iter().map(|(name, _)| *name))
        .chain(columns.iter().map(|(name, _)| *name));
    let headings = [(ColumnKind::Words, paint.dim("dialect"))]
        .into_iter()
        .chain(numbers.map(|name| (ColumnKind::Numbers, paint.dim(name))));
    let mut table = Table::new(headings.collect());
    for column in group {
        let accepted = column.accepted();
        let mut cells = Vec::from([
            column.dialect.name.to_string(),
            number(accepted, if accepted == count { Shade::Good } else { Shade::Plain }, paint),
        ]);
        cells.extend(taken.iter().map(|(_, test)| number(column.count_tools(*test), Shade::Doubtful, paint)));
        for (name, outcomes) in &columns {
            let found = column.count(outcomes);
            let shade = match *name {
                "lossless" if found == count => Shade::Good,
                "lossless" | "encoded" | "closed" => Shade::Plain,
                "refused" => Shade::Bad,
                _ => Shade::Doubtful,
            };
            cells.push(number(found, shade, paint));
        }
        table.row(cells);
    }
    table.write(width, out);
}

enum Shade {
    Plain,
    Good,
    Doubtful,
    Bad,
}

fn number(count: usize, shade: Shade, paint: Paint) -> String {
    let text = grouped(count);
    match shade {
        _ if count == 0 => paint.dim(NONE),
        Shade::Plain => text,
        Shade::Good => paint.good(&text),
        Shade::Doubtful => paint.doubtful(&text),
        Shade::Bad => paint.bad(&text),
    }
}

fn rules<'v>(verdicts: impl Iterator<Item = &'v Verdict>, outcome: Outcome) -> String {
    let mut found: Vec<&str> = Vec::new();
    for loss in verdicts.flat_map(|verdict| &verdict.losses).filter(|loss| loss.outcome == outcome) {
        if !found.contains(&loss.rule) {
            found.push(loss.rule);
        }
    }
    join_some(&found, RULES)
}

fn join_some<T: AsRef<str>>(words: &[T], limit: usize) -> String {
    let mut text = words.iter().take(limit).map(AsRef::as_ref).collect::<Vec<&str>>().join(", ");
    if words.len() > limit {
        text.push_str(&format!(" and {} more", grouped(words.len() - limit)));
    }
    text
}
