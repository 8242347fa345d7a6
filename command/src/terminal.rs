//! What is known of where the command runs and its output goes, and what follows: width, colour, whether progress is
//! shown.
//!
//! Only the host can look at a terminal; it describes what it saw as JSON. What the environment's variables mean is
//! decided here, so that it means the same in every host.

use toolwire::json::Node;

use anstyle::{AnsiColor, Style};
use std::borrow::Cow;

/// A terminal whose width nobody knows.
const COLUMNS: usize = 80;
/// Narrower than this, and a table is a column of letters.
const FEWEST: usize = 24;

/// What the host saw.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terminal {
    /// Standard input is a terminal: nothing will come from there unless somebody types it.
    pub(crate) typed: bool,
    /// The width of the terminal on standard output; `None` if that is none, and lines are as long as they are.
    pub(crate) width: Option<usize>,
    /// Progress is shown.
    pub(crate) progress: bool,
    /// The day, as `2026-11-23`.
    pub(crate) date: Option<String>,
    /// The folder that the command is run in, as an absolute path.
    pub(crate) folder: Option<String>,
    /// The words with which a client starts this program.
    pub(crate) program: Vec<String>,
    pub(crate) out: Paint,
    pub(crate) err: Paint,
}

impl Terminal {
    /// Reads `{ stdin, stdout, stderr, columns, date, environment, folder, program }`: three booleans that say what is
    /// a terminal, a number, the day, the variables `NO_COLOR`, `FORCE_COLOR` and `TERM` as they are set, where the
    /// command is run, and the words that start it.
    pub(crate) fn read(facts: &Node<'_>) -> Terminal {
        let is = |name: &str| facts.get(name).and_then(Node::as_bool) == Some(true);
        let variable = |name: &str| {
            let value = facts.get("environment")?.get(name)?.as_text()?.display().into_owned();
            Some(value).filter(|value| !value.is_empty())
        };
        let columns = facts.get("columns").and_then(Node::as_u64).and_then(|columns| usize::try_from(columns).ok());
        let columns = columns.filter(|columns| *columns > 0).unwrap_or(COLUMNS).max(FEWEST);
        let dumb = variable("TERM").as_deref() == Some("dumb");
        let paint = |terminal: bool| {
            Paint(match (variable("NO_COLOR"), variable("FORCE_COLOR").as_deref()) {
                (Some(_), _) | (None, Some("0" | "false")) => false,
                (None, Some(_)) => true,
                (None, None) => terminal && !dumb,
            })
        };
        Terminal {
            typed: is("stdin"),
            width: is("stdout").then_some(columns),
            progress: is("stderr") && !dumb,
            date: facts.get("date").and_then(Node::as_text).map(|date| date.display().into_owned()),
            folder: facts.get("folder").and_then(Node::as_text).map(|folder| folder.display().into_owned()),
            program: words(facts.get("program")),
            out: paint(is("stdout")),
            err: paint(is("stderr")),
        }
    }
}

/// How a client starts this program where the host does not say it.
const PROGRAM: [&str; 3] = ["npx", "-y", "toolwire"];

fn words(list: Option<&Node<'_>>) -> Vec<String> {
    match list.and_then(Node::as_array) {
        None | Some([]) => PROGRAM.map(String::from).into(),
        Some(list) => list.iter().filter_map(Node::as_text).map(|word| word.display().into_owned()).collect(),
    }
}

/// Colours, or none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Paint(bool);

impl Paint {
    fn with(self, style: Style, text: &str) -> String {
        if self.0 {
            format!("{}{text}{}", style.render(), style.render_reset())
        } else {
            text.to_string()
        }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.with(AnsiColor::Green.on_default(), text)
    }

    pub(crate) fn doubtful(self, text: &str) -> String {
        self.with(AnsiColor::Yellow.on_default(), text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.with(AnsiColor::Red.on_default(), text)
    }
}

/// Does a character act on a terminal, or stand in a text without being seen? Controls, ends of lines, and what Unicode
/// calls *default ignorable*: marks of direction, zero-width characters, fillers, tags, selectors of variants, and the
/// marks of interlinear annotation. Exception: U+FE0E and U+FE0F, which only choose between an emoji and a letter.
fn acts(one: char) -> bool {
    one.is_control()
        || matches!(
            one,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0d}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Text from elsewhere as it can be shown: what would move the cursor, change colours or the direction of writing, or
/// would not be seen, shows as its escape. A server chooses its tools' names, and nothing of it is to reach a terminal
/// as a command.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    escaped(text, |one| match one {
        '\n' => Some("\\n"),
        '\t' => Some("\\t"),
        _ => None,
    })
}

/// The same for JSON text, or for lines: their ends stay. In JSON all these characters stand in strings, and the
/// escapes mean the same.
pub(crate) fn shown_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |one| match one {
        '\n' => Some("\n"),
        '\t' => Some("\t"),
        _ => None,
    })
}

fn escaped(text: &str, otherwise: impl Fn(char) -> Option<&'static str>) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for one in text.chars() {
        match otherwise(one) {
            Some(instead) => out.push_str(instead),
            None if acts(one) => {
                one.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")))
            }
            None => out.push(one),
        }
    }
    Cow::Owned(out)
}

/// Output without commands to a CI runner that it did not mean: GitHub takes a line that begins with `::`, after any
/// white space, for one, and `##[` anywhere; Azure Pipelines and TeamCity take `##vso[` and `##teamcity[`. Their first
/// character shows as its escape, which in JSON means the same. `commands`: lines that begin with `::` are ours.
/// <https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs>
pub(crate) fn without_commands(text: &str, commands: bool) -> Cow<'_, str> {
    if !text.contains("::") && !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for line in text.split_inclusive(['\n', '\r']) {
        let mut rest = line;
        if let Some(command) = line.trim_start().strip_prefix("::").filter(|_| !commands) {
            out.push_str(line.strip_suffix(command).and_then(|before| before.strip_suffix("::")).unwrap_or_default());
            out.push_str("\\u003a:");
            rest = command;
        }
        while let Some((before, behind)) = rest.split_once("##") {
            let name = behind.trim_start_matches(|one: char| one.is_ascii_alphabetic());
            out.push_str(before);
            // Of `###[` it is the last two.
            let begins = name.starts_with('[') && !behind.starts_with('#');
            out.push_str(if begins { "\\u0023" } else { "#" });
            rest = rest.get(before.len() + 1..).unwrap_or_default();
        }
        out.push_str(rest);
    }
    Cow::Owned(out)
}

/// A text in at most so many characters, its end left out if need be.
pub(crate) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some(_) => {
            let kept: String = text.chars().take(most.saturating_sub(1)).collect();
            Cow::Owned(kept + "…")
        }
    }
}

/// A number and what it counts: `1 tool`, `2 tools`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    let many = if count == 1 { "" } else { "s" };
    format!("{} {what}{many}", grouped(count))
}

/// A number with its thousands apart: `12,345`.
pub(crate) fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::without_commands;

    #[test]
    fn no_line_is_a_command() {
        for (text, expected) in [
            ("a::b\n", "a::b\n"),
            ("::add-mask::x\n::b", "\\u003a:add-mask::x\n\\u003a:b"),
            (" \u{3000}\t::x", " \u{3000}\t\\u003a:x"),
            ("a\r::x", "a\r\\u003a:x"),
            (":::x", "\\u003a::x"),
            ("## a [b]", "## a [b]"),
            ("a ##[add-mask]b ##[c]", "a \\u0023#[add-mask]b \\u0023#[c]"),
            ("####[x] #[y] ##", "##\\u0023#[x] #[y] ##"),
            ("##vso[task.setvariable]##teamcity[x]", "\\u0023#vso[task.setvariable]\\u0023#teamcity[x]"),
        ] {
            assert_eq!(without_commands(text, false), expected, "{text}");
        }
        assert_eq!(without_commands("::error::##[x]", true), "::error::\\u0023#[x]");
    }
}
