//! JSON documents of the command: the members of every document, and the indentation. Indenting works
//! on the text, so that the spelling of numbers and strings does not change.

use toolwire::internal::json::{Data, Member, Node, Object, Text};

use super::position::InputPointers;

type Members<'a> = Vec<(Text<'a>, Node<'a>)>;

pub(crate) fn record<'a, const N: usize>(members: [(&'static str, Node<'a>); N]) -> Node<'a> {
    Node::object(members.into_iter().map(|(name, value)| (Text::new(name), value)).collect())
}

pub(crate) fn header(command: &'static str, source: &str) -> Members<'static> {
    Vec::from([
        (Text::new("command"), Node::string(command)),
        (Text::new("version"), Node::string(env!("CARGO_PKG_VERSION"))),
        (Text::new("source"), Node::string(String::from(source))),
    ])
}

pub(crate) fn located(pointers: &InputPointers, pointer: &str) -> Members<'static> {
    let (line, pointer) = pointers.of(pointer);
    let line = line.map(|line| (Text::new("line"), Node::count(line as u64)));
    line.into_iter().chain([(Text::new("pointer"), Node::string(pointer))]).collect()
}

pub(crate) fn with_report<'a>(name: &'static str, result: Node<'a>, report: Node<'static>) -> Node<'a> {
    let mut members = Vec::from([Member { key: Text::new(name), value: result }]);
    if let Data::Object(object) = report.into_data() {
        members.extend(object.into_members());
    }
    Node::object(Object::from_members(members))
}

/// Maximum depth that is indented further, so that the indentation cannot outgrow the content.
const LEVELS: usize = 40;

/// Indents by two spaces for each level, regardless of the layout of the input. The text must be JSON.
pub(crate) fn indented(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let (mut in_string, mut escaped) = (false, false);
    let mut characters = text.chars().filter(Significant::default().test()).peekable();
    let broken = |out: &mut String, depth: usize| {
        out.push('\n');
        (0..depth.min(LEVELS)).for_each(|_| out.push_str("  "));
    };
    while let Some(character) = characters.next() {
        if in_string {
            out.push(character);
            in_string = escaped || character != '"';
            escaped = character == '\\' && !escaped;
            continue;
        }
        match character {
            '{' | '[' => {
                out.push(character);
                let closes = characters.next_if(|next| matches!(next, '}' | ']'));
                match closes {
                    Some(close) => out.push(close),
                    None => {
                        depth += 1;
                        broken(&mut out, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                broken(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(character);
                broken(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => {
                in_string = character == '"';
                out.push(character);
            }
        }
    }
    out
}

/// Distinguishes significant characters from whitespace in JSON text.
#[derive(Default)]
struct Significant {
    in_string: bool,
    escaped: bool,
}

impl Significant {
    fn test(mut self) -> impl FnMut(&char) -> bool {
        move |character| {
            if self.in_string {
                self.in_string = self.escaped || *character != '"';
                self.escaped = *character == '\\' && !self.escaped;
                return true;
            }
            self.in_string = *character == '"';
            !matches!(character, ' ' | '\t' | '\n' | '\r')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::indented;

    #[test]
    fn only_the_layout_changes() {
        assert_eq!(
            indented(" {\"a\" :[1.0, {} ,[ ]],\n\"b{\\\"\":\"x, y: [\\\\\"}"),
            "{\n  \"a\": [\n    1.0,\n    {},\n    []\n  ],\n  \"b{\\\"\": \"x, y: [\\\\\"\n}"
        );
    }
}
