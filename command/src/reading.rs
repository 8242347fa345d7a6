//! Describes an input for a host that shows it: its kind, and its tools or schemas with their locations. If the
//! commands refuse the input, the description contains the reason.

use toolwire::{
    internal::{
        self,
        json::{Node, Object, Text},
        Choices,
    },
    options::ToolFormat,
};

use super::{
    document::{located, record},
    error::CommandError,
    input::{self, Input, Named, Subject},
    position::{value_at, InputPointers},
    servers,
};

/// Returns `{ kind, alone, pointer, entries }`, or `{ error }` with `{ line, pointer, code, message }`.
pub(crate) fn reading(text: &str) -> Node<'static> {
    read(text).unwrap_or_else(|error| refusal(&error))
}

pub(crate) fn refusal(error: &CommandError) -> Node<'static> {
    let error = record([
        ("line", error.line.map_or_else(Node::default, |line| Node::count(line as u64))),
        ("pointer", Node::string(error.pointer.clone())),
        ("code", error.code.map_or_else(Node::default, |code| Node::string(code.as_str()))),
        ("message", Node::string(error.message.clone())),
    ]);
    record([("error", error)])
}

fn read(text: &str) -> Result<Node<'static>, CommandError> {
    if let Some((pointer, _)) = servers::list_of(text) {
        return Err(CommandError::new(pointer, servers::DECLARED));
    }
    let input = Input::read(text)?;
    let kind = match &input.subject {
        Subject::Tools(_) => "tools",
        Subject::Schemas(_) => "schemas",
        Subject::Request(_) => "request",
    };
    let Input { subject, pointers } = input.without_request();
    if let Subject::Tools(list) = &subject {
        input::require_schema_keys(list, &pointers)?;
    }
    let entries = subject.entries().map_err(|error| pointers.locate(&error))?;
    let pointer = match &pointers {
        InputPointers::Below(above) | InputPointers::Alone(above) => Node::string(above.clone()),
        InputPointers::Lines(_) => Node::default(),
    };
    Ok(record([
        ("kind", Node::string(kind)),
        ("alone", Node::bool(matches!(pointers, InputPointers::Alone(_)))),
        ("pointer", pointer),
        ("entries", Node::array(entries.iter().map(|entry| described(entry, &subject, &pointers)).collect())),
    ]))
}

/// Returns `{ name, line, pointer, format, schema }`. `schema` is the pointer from the entry to its schema, or null if
/// the entry has none. `line` is missing in an input without lines.
fn described(entry: &Named, subject: &Subject<'_>, pointers: &InputPointers) -> Node<'static> {
    let (format, schema) = match subject {
        Subject::Schemas(_) => (None, Some(String::new())),
        Subject::Tools(list) | Subject::Request(list) => match place_of_schema(list, &entry.pointer) {
            Some((format, schema)) => (format, Some(schema)),
            None => (None, None),
        },
    };
    let word = |format| ToolFormat::CHOICES.iter().find(|(_, known)| *known == format).map(|(word, _)| *word);
    let mut members = Vec::from([(Text::new("name"), entry.name.clone().map_or_else(Node::default, Node::string))]);
    members.extend(located(pointers, &entry.pointer));
    members.extend([
        (Text::new("format"), format.and_then(word).map_or_else(Node::default, Node::string)),
        (Text::new("schema"), schema.map_or_else(Node::default, Node::string)),
    ]);
    Node::object(Object::from_iter(members))
}

fn place_of_schema(list: &Node<'_>, pointer: &str) -> Option<(Option<ToolFormat>, String)> {
    internal::place_of_schema(value_at(list, pointer)?)
}
