//! The environment of the command: terminal width, colors, progress.
//!
//! Only the host can examine a terminal; it describes the facts as JSON. The meaning of environment variables is
//! decided here, so that it is the same for every host.

use toolwire::internal::json::Node;

use anstyle::{AnsiColor, Style};
use std::borrow::Cow;

/// Width of a terminal that does not report it.
const COLUMNS: usize = 80;
/// Minimum width. In a narrower terminal, a table would become a column of letters.
const MIN_COLUMNS: usize = 24;

#[derive(Clone, Debug, Default)]
pub(crate) struct Terminal {
    /// Standard input is a terminal, so the user would have to type the input.
    pub(crate) typed: bool,
    /// Width of the terminal on standard output. `None` if standard output is not a terminal, so lines are not limited.
    pub(crate) width: Option<usize>,
    pub(crate) progress: bool,
    /// Today's date, such as `2026-11-23`.
    pub(crate) date: Option<String>,
    /// Absolute path of the working directory.
    pub(crate) folder: Option<String>,
    /// Command line with which a client starts this program.
    pub(crate) program: Vec<String>,
    pub(crate) out: Paint,
    pub(crate) err: Paint,
}

impl Terminal {
    /// Reads the facts that [`Command::new`](crate::Command::new) describes.
    pub(crate) fn read(facts: &Node<'_>) -> Terminal {
        let is = |name: &str| facts.bool_at(name) == Some(true);
        let variable = |name: &str| {
            let value = facts.get("environment")?.get(name)?.as_text()?.display().into_owned();
            Some(value).filter(|value| !value.is_empty())
        };
        let columns = facts.u64_at("columns").and_then(|columns| usize::try_from(columns).ok());
        let columns = columns.filter(|columns| *columns > 0).unwrap_or(COLUMNS).max(MIN_COLUMNS);
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
            date: facts.text_at("date").map(|date| date.display().into_owned()),
            folder: facts.text_at("folder").map(|folder| folder.display().into_owned()),
            program: words(facts.get("program")),
            out: paint(is("stdout")),
            err: paint(is("stderr")),
        }
    }
}

/// Default of the command line that starts this program.
const PROGRAM: [&str; 3] = ["npx", "-y", "toolwire"];

fn words(list: Option<&Node<'_>>) -> Vec<String> {
    match list.and_then(Node::as_array) {
        None | Some([]) => PROGRAM.map(String::from).into(),
        Some(list) => list.iter().filter_map(Node::as_text).map(|word| word.display().into_owned()).collect(),
    }
}

/// Colors, if they are enabled.
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

/// Returns true for control characters, line breaks, and Unicode's *default ignorable* characters. These are direction
/// marks, zero-width characters, fillers, tags, variation selectors, and interlinear annotation marks. Exception:
/// U+FE0E and U+FE0F, which only choose between an emoji and a letter.
fn is_control_or_invisible(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0d}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Escapes characters that are invisible, or that move the cursor, or change colors or the writing direction. Servers
/// choose the names of their tools, and must not be able to send commands to a terminal.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    escaped(text, |character| match character {
        '\n' => Some("\\n"),
        '\t' => Some("\\t"),
        _ => None,
    })
}

/// Like [`shown`], but keeps line breaks, for JSON text or for several lines. JSON contains these characters only in
/// strings, in which the escapes have the same meaning.
pub(crate) fn shown_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |character| match character {
        '\n' => Some("\n"),
        '\t' => Some("\t"),
        _ => None,
    })
}

fn escaped(text: &str, otherwise: impl Fn(char) -> Option<&'static str>) -> Cow<'_, str> {
    if !text.contains(is_control_or_invisible) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match otherwise(character) {
            Some(instead) => out.push_str(instead),
            None if is_control_or_invisible(character) => {
                character.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")))
            }
            None => out.push(character),
        }
    }
    Cow::Owned(out)
}

/// Escapes text that a CI runner would execute as a command. GitHub executes lines that begin with `::`, after any
/// whitespace, and `##[` anywhere. Azure Pipelines and TeamCity execute `##vso[` and `##teamcity[`. The first character
/// is escaped, which in JSON does not change the meaning. If `commands` is true, lines that begin with `::` are
/// toolwire's own commands, and are kept.
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
            let name = behind.trim_start_matches(|character: char| character.is_ascii_alphabetic());
            out.push_str(before);
            // In `###[`, the command begins at the second `#`.
            let begins = name.starts_with('[') && !behind.starts_with('#');
            out.push_str(if begins { "\\u0023" } else { "#" });
            rest = rest.get(before.len() + 1..).unwrap_or_default();
        }
        out.push_str(rest);
    }
    Cow::Owned(out)
}

pub(crate) fn cut(text: &str, max_length: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max_length) {
        None => Cow::Borrowed(text),
        Some(_) => {
            let kept: String = text.chars().take(max_length.saturating_sub(1)).collect();
            Cow::Owned(kept + "…")
        }
    }
}

pub(crate) fn counted(count: usize, what: &str) -> String {
    let many = if count == 1 { "" } else { "s" };
    format!("{} {what}{many}", grouped(count))
}

pub(crate) fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
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
    fn commands_for_ci_runners_are_escaped() {
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
