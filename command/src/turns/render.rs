//! The turns for people, as a list of differences, and for machines.

use toolwire::{
    internal::Choices,
    json::{self, Node, Object, Text},
    options::{Format, Native},
};

use super::{gist, Turn, Turns};
use crate::{
    document::{header, record},
    error::CommandError,
    terminal::{counted, cut, grouped, shown, Terminal},
};

/// Wide enough for a sentence, where no terminal says otherwise.
const COLUMNS: usize = 100;
/// A turn of more messages shows these, and how many there are: nobody reads on.
const MESSAGES: usize = 12;
/// The room for who speaks.
const WHO: usize = 9;

impl Turns {
    /// One turn after the other: what came and went, what is said since, and where a prompt cache ends.
    pub(super) fn text(&self, terminal: &Terminal) -> String {
        let paint = terminal.out;
        let (format, target) = (word::<Format>(self.options.format), word::<Format>(self.target()));
        let native = word::<Native>(Some(self.options.native));
        let becomes = if format == target { String::new() } else { format!(" as {target}") };
        let native = if native == "none" { String::new() } else { format!(", native {native}") };
        let turns = counted(self.turns.len(), "turn");
        let mut out = format!("{}: {turns}, {format}{becomes}{native}\n", shown(&self.input.source));
        let columns = terminal.width.unwrap_or(COLUMNS);
        for (at, turn) in self.turns.iter().enumerate() {
            let tools = counted(turn.tools.len(), "tool");
            let new = match at {
                0 => String::new(),
                _ => format!(", {} of them new", grouped(turn.growth.new_bytes)),
            };
            let size = format!("{tools}, {}{new}", counted(turn.growth.bytes, "byte"));
            out.push_str(&format!("\n{} {}\n", paint.bold(&format!("turn {}:", at + 1)), paint.dim(&size)));
            for name in &turn.went {
                out.push_str(&format!("  {}\n", paint.bad(&format!("- {}", shown(name)))));
            }
            for name in &turn.came {
                let place = if turn.is_listed(name) { "" } else { " (in the history)" };
                out.push_str(&format!("  {}{place}\n", paint.good(&format!("+ {}", shown(name)))));
            }
            turn.said(columns, &mut out);
            if let Some(pointer) = &turn.growth.parts_at {
                let line = format!("~ the prefix ends at {}", shown(pointer));
                out.push_str(&format!("  {}\n", paint.doubtful(&line)));
            }
            for warning in &turn.warnings {
                let name = warning.name.as_ref().map(|name| format!(" `{}`", shown(name))).unwrap_or_default();
                out.push_str(&format!("  {}{name}\n", paint.doubtful(&format!("! {}", warning.code))));
            }
            if turn.is_unreachable {
                let line = "! tools are hidden, and nothing tells the model of them";
                out.push_str(&format!("  {}\n", paint.bad(line)));
            }
        }
        out
    }

    /// The same as data.
    pub(super) fn document(&self) -> Result<Node<'_>, CommandError> {
        let mut members = header("defer --turns", &self.input.source);
        members.extend([
            (Text::new("format"), Node::string(word::<Format>(self.options.format))),
            (Text::new("target"), Node::string(word::<Format>(self.target()))),
            (Text::new("native"), Node::string(word::<Native>(Some(self.options.native)))),
        ]);
        let turns = self.turns.iter().map(|turn| turn.document(self.history.key()));
        let turns = turns.collect::<Result<Vec<_>, toolwire::Error>>();
        let turns = turns.map_err(|error| CommandError::from_core(&error, ""))?;
        members.push((Text::new("turns"), Node::array(turns)));
        Ok(Node::object(members.into_iter().collect::<Object<'_>>()))
    }
}

impl Turn {
    fn is_listed(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.is_listed && tool.name == name)
    }

    /// The messages that are new, a line each.
    fn said(&self, columns: usize, out: &mut String) {
        for text in self.messages.iter().take(MESSAGES) {
            let Ok(message) = json::read(text) else { continue };
            let (who, pieces) = (gist::who(&message), gist::pieces(&message));
            // As one line, however it was broken.
            let words = pieces.join("; ").split_whitespace().collect::<Vec<_>>().join(" ");
            let line = format!("    {:WHO$}  {}", shown(&who), shown(&words));
            out.push_str(cut(line.trim_end(), columns).as_ref());
            out.push('\n');
        }
        let rest = self.messages.len().saturating_sub(MESSAGES);
        if rest > 0 {
            out.push_str(&format!("    … and {}\n", counted(rest, "more message")));
        }
    }

    fn document(&self, history: Option<&str>) -> Result<Node<'_>, toolwire::Error> {
        let names = |names: &[String]| Node::array(names.iter().map(|name| Node::string(name.clone())).collect());
        let place = |is_listed: bool| Node::string(if is_listed { "tools" } else { "history" });
        let tool =
            |tool: &super::Seen| record([("name", Node::string(tool.name.clone())), ("in", place(tool.is_listed))]);
        let last = history.zip(self.end.checked_sub(1)).map(|(key, last)| Node::string(format!("/{key}/{last}")));
        let parts_at = self.growth.parts_at.clone();
        let messages = self.messages.iter().map(|text| json::read(text)).collect::<Result<Vec<_>, _>>()?;
        Ok(record([
            ("upTo", last.unwrap_or_default()),
            ("tools", Node::array(self.tools.iter().map(tool).collect())),
            ("came", names(&self.came)),
            ("went", names(&self.went)),
            ("prefixEndsAt", parts_at.map(Node::string).unwrap_or_default()),
            ("bytes", Node::count(self.growth.bytes as u64)),
            ("newBytes", Node::count(self.growth.new_bytes as u64)),
            ("firstMessage", Node::count(self.growth.first_message as u64)),
            ("messages", Node::array(messages)),
            ("report", json::read(&self.report)?),
        ]))
    }
}

/// The word of an option.
fn word<T: Choices + PartialEq>(value: Option<T>) -> &'static str {
    T::CHOICES.iter().find(|(_, choice)| Some(*choice) == value).map_or("", |(word, _)| *word)
}
