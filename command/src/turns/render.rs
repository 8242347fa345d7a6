//! Renders the turns: a human-readable list of differences, and a JSON document.

use toolwire::{
    internal::{
        json::{self, Node, Object, Text},
        Choices,
    },
    options::{Api, Native},
};

use super::{messages, prompt::Growth, CallableTool, ShownMessage, Turn, Turns, MESSAGES};
use crate::{
    document::{header, record},
    terminal::{counted, cut, grouped, shown, Terminal},
};

/// Width of the author column.
const WHO: usize = 9;

impl Turns {
    pub(super) fn text(&self, terminal: &Terminal) -> String {
        let paint = terminal.out;
        let (format, target) = (word::<Api>(self.options.format), word::<Api>(self.target()));
        let native = word::<Native>(Some(self.options.native));
        let becomes = if format == target { String::new() } else { format!(" as {target}") };
        let native = if native == "none" { String::new() } else { format!(", native {native}") };
        let turns = counted(self.turns.len(), "turn");
        let mut out = format!("{}: {turns}, {format}{becomes}{native}\n", shown(&self.input.source));
        for (at, turn) in self.turns.iter().enumerate() {
            let tools = counted(turn.tools, "tool");
            let new = match at {
                0 => String::new(),
                _ => format!(", {} of them new", grouped(turn.growth.new_bytes)),
            };
            let size = format!("{tools}, {}{new}", counted(turn.growth.bytes, "byte"));
            out.push_str(&format!("\n{} {}\n", paint.bold(&format!("turn {}:", at + 1)), paint.dim(&size)));
            for tool in &turn.went {
                out.push_str(&format!("  {}\n", paint.bad(&format!("- {}", shown(&tool.name)))));
            }
            for tool in &turn.came {
                let location = if tool.is_listed { "" } else { " (in the history)" };
                out.push_str(&format!("  {}{location}\n", paint.good(&format!("+ {}", shown(&tool.name)))));
            }
            turn.render_messages(terminal, &mut out);
            if let Some(line) = turn.growth.prefix_line() {
                out.push_str(&format!("  {}\n", paint.doubtful(&line)));
            }
            for warning in &turn.warnings {
                let name = warning.name.as_ref().map(|name| format!(" `{}`", shown(name))).unwrap_or_default();
                let location = warning.pointer.as_ref().map(|pointer| format!(" at `{}`", shown(pointer)));
                let location = location.unwrap_or_default();
                out.push_str(&format!("  {}{name}{location}\n", paint.doubtful(&format!("! {}", warning.code))));
            }
            if turn.is_unreachable {
                let line = "! tools are hidden, and the model is not told about them";
                out.push_str(&format!("  {}\n", paint.bad(line)));
            }
        }
        out
    }

    pub(super) fn document(&self) -> String {
        let mut members = header("defer --turns", &self.input.source);
        members.extend([
            (Text::new("format"), Node::string(word::<Api>(self.options.format))),
            (Text::new("target"), Node::string(word::<Api>(self.target()))),
            (Text::new("native"), Node::string(word::<Native>(Some(self.options.native)))),
        ]);
        let mut out = json::write(&Node::object(members.into_iter().collect::<Object<'_>>()));
        out.pop();
        out.push_str(",\"turns\":[");
        for (at, turn) in self.documents.iter().enumerate() {
            out.push_str(if at == 0 { "" } else { "," });
            out.push_str(turn);
        }
        out.push_str("]}");
        out
    }
}

impl Turn {
    fn render_messages(&self, terminal: &Terminal, out: &mut String) {
        for ShownMessage { who, words, is_changed } in &self.shown {
            let mark = if *is_changed { '~' } else { ' ' };
            let line = format!("  {mark} {:WHO$}  {}", shown(who), shown(words));
            // Lines are truncated only on a terminal.
            out.push_str(&cut(line.trim_end(), terminal.width.unwrap_or(usize::MAX)));
            out.push('\n');
        }
        let rest = self.growth.new_messages.fresh.len().saturating_sub(MESSAGES);
        if rest > 0 {
            out.push_str(&format!("    … and {}\n", counted(rest, "more message")));
        }
    }

    /// `last` is the key of the client's history, and the index of its last item.
    pub(super) fn document<'a>(
        &self,
        last: Option<(&str, usize)>,
        tools: &[CallableTool],
        messages: &[&Node<'a>],
        report: Node<'a>,
    ) -> Node<'a> {
        let names =
            |tools: &[CallableTool]| Node::array(tools.iter().map(|tool| Node::string(tool.name.clone())).collect());
        let location = |is_listed: bool| Node::string(if is_listed { "tools" } else { "history" });
        let tool =
            |tool: &CallableTool| record([("name", Node::string(tool.name.clone())), ("in", location(tool.is_listed))]);
        let growth = &self.growth;
        record([
            ("upTo", last.map(|(key, last)| Node::string(format!("/{key}/{last}"))).unwrap_or_default()),
            ("tools", Node::array(tools.iter().map(tool).collect())),
            ("came", names(&self.came)),
            ("went", names(&self.went)),
            ("prefixEndsAt", growth.parts_at.clone().map(Node::string).unwrap_or_default()),
            ("bytes", Node::count(growth.bytes as u64)),
            ("newBytes", Node::count(growth.new_bytes as u64)),
            ("firstMessage", Node::count(growth.first_message as u64)),
            ("messages", Node::array(messages.iter().map(|message| (*message).clone()).collect())),
            ("report", report),
        ])
    }

    pub(super) fn stored_bytes(&self) -> usize {
        let names = self.came.iter().chain(&self.went).map(|tool| tool.name.len() + size_of::<CallableTool>());
        let messages =
            self.shown.iter().map(|message| message.who.len() + message.words.len() + size_of::<ShownMessage>());
        // Only the displayed messages are stored with their text; every new or changed message has an entry in `fresh`.
        names.chain(messages).sum::<usize>() + size_of_val(self.growth.new_messages.fresh.as_slice())
    }
}

impl ShownMessage {
    pub(super) fn of(message: &Node<'_>, is_changed: bool) -> ShownMessage {
        // On one line, without the original line breaks.
        let words = messages::pieces(message).join("; ").split_whitespace().collect::<Vec<_>>().join(" ");
        ShownMessage { who: messages::author(message), words, is_changed }
    }
}

impl Growth {
    /// The line has the end of the common prefix, and the numbers of earlier messages that changed or are gone.
    fn prefix_line(&self) -> Option<String> {
        let pointer = self.parts_at.as_ref()?;
        let changed = match self.new_messages.changed() {
            0 => None,
            count => Some(format!("{} changed", counted(count, "earlier message"))),
        };
        let gone = match self.new_messages.gone {
            0 => None,
            count => Some(format!("{} gone", counted(count, "earlier message"))),
        };
        let both: Vec<String> = changed.into_iter().chain(gone).collect();
        let what = if both.is_empty() { String::new() } else { format!(" ({})", both.join(", ")) };
        Some(format!("~ the prefix ends at {}{what}", shown(pointer)))
    }
}

fn word<T: Choices + PartialEq>(value: Option<T>) -> &'static str {
    T::CHOICES.iter().find(|(_, choice)| Some(*choice) == value).map_or("", |(word, _)| *word)
}
