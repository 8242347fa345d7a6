//! `toolwire dialects`: lists the dialects, or shows the facts about one.

use toolwire::{dialects, internal::describe, Dialect};

use super::{
    arguments::DialectsArguments,
    error::CommandError,
    table::{ColumnKind, Table},
    task::{Output, Task},
    terminal::{grouped, Terminal},
};

const CONFIDENCE: &str =
    "Confidence: A documentation, a validator, source code or two live reports; B one live report; C inferred.";

pub(crate) struct Dialects {
    pub(crate) arguments: DialectsArguments,
}

impl Task for Dialects {
    fn finish(self: Box<Self>, terminal: &Terminal) -> Result<Output, CommandError> {
        let shown = dialects().iter().find(|dialect| Some(dialect.name) == self.arguments.dialect.as_deref());
        Ok(match (shown, self.arguments.machine.json) {
            (Some(dialect), true) => Output::json(&describe::dialect(dialect)),
            (None, true) => Output::json(&describe::dialects(dialects())),
            (Some(dialect), false) => Output::new(facts(dialect, terminal)),
            (None, false) => Output::new(list(terminal)),
        })
    }
}

fn list(terminal: &Terminal) -> String {
    let headings = ["dialect", "API or client", "last checked"].map(|name| (ColumnKind::Words, terminal.out.dim(name)));
    let mut table = Table::new(headings.into());
    for Dialect { name, surface, as_of, .. } in dialects() {
        table.row([name, surface, as_of].map(|cell| cell.to_string()).into());
    }
    let mut out = String::new();
    table.write(terminal.width, &mut out);
    out
}

fn facts(dialect: &Dialect, terminal: &Terminal) -> String {
    let paint = terminal.out;
    let Dialect { name, surface, documentation, as_of, revision, options, encodes, limits, .. } = dialect;
    let listed = |words: &[&str]| if words.is_empty() { "none".to_string() } else { words.join(", ") };
    let limits: Vec<String> = limits
        .iter()
        .map(|(name, limit)| format!("{name} {}", grouped(usize::try_from(*limit).unwrap_or(usize::MAX))))
        .collect();
    let limits: Vec<&str> = limits.iter().map(String::as_str).collect();
    let mut table =
        Table::new(Vec::from([(ColumnKind::Words, paint.bold(name)), (ColumnKind::Words, (*surface).into())]));
    for (label, text) in [
        ("documentation", (*documentation).to_string()),
        ("last checked", format!("{as_of}, revision {revision}")),
        ("options", listed(options)),
        ("encodings", listed(encodes)),
        ("limits", listed(&limits)),
    ] {
        table.row([paint.dim(label), text].into());
    }
    let mut out = String::new();
    table.write(terminal.width, &mut out);
    out.push('\n');
    let headings =
        ["fact", "confidence", "source", "rules", "severity"].map(|name| (ColumnKind::Words, paint.dim(name)));
    let mut table = Table::new(headings.into());
    for fact in dialect.facts {
        table.row(
            [
                fact.statement.to_string(),
                fact.confidence.to_string(),
                fact.source.to_string(),
                fact.rules.iter().map(|rule| rule.id()).collect::<Vec<_>>().join(", "),
                fact.severity.as_str().to_string(),
            ]
            .into(),
        );
    }
    table.write(terminal.width, &mut out);
    out.push_str(&format!("\n{}\n", paint.dim(CONFIDENCE)));
    out
}
