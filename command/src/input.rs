//! Recognizes the input by its content, not by its file name, and picks the tool or schema that a command works on.
//! Refuses inputs that only look like tools, because a verdict on them would be meaningless.

use toolwire::{
    internal::{
        self,
        json::{self, Data, Node, Object},
    },
    Error,
};

use super::{
    error::CommandError,
    position::InputPointers,
    terminal::{counted, cut, shown},
};

/// Maximum number of tools or schemas in an input, because each may cause kilobytes of findings.
const MAX_TOOLS: usize = 10_000;

pub(crate) struct Input<'a> {
    pub(crate) subject: Subject<'a>,
    pub(crate) pointers: InputPointers,
}

pub(crate) enum Subject<'a> {
    Tools(Node<'a>),
    /// Separate schemas.
    Schemas(Vec<Node<'a>>),
    /// Body of a request with a tool list or a conversation.
    Request(Node<'a>),
}

/// A tool or a schema in a list.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// Name of the tool; `None` if it has no name, or if the entry is a schema.
    pub(crate) name: Option<String>,
    /// JSON Pointer into the list.
    pub(crate) pointer: String,
    /// Server of the tool, if the list has several servers.
    pub(crate) server: Option<String>,
}

/// The member of Bedrock's requests that contains the list.
const TOOL_CONFIG: &str = "toolConfig";
const TOOLS: &str = "tools";
const DECLARATIONS: [&str; 2] = ["functionDeclarations", "function_declarations"];
/// Members that distinguish a request from an object with a tool list.
const CONVERSATIONS: [&str; 3] = ["messages", "input", "contents"];
/// Keywords that distinguish a schema from a tool and from other objects.
const KEYWORDS: [&str; 20] = [
    "$schema",
    "$ref",
    "$defs",
    "definitions",
    "properties",
    "patternProperties",
    "additionalProperties",
    "required",
    "items",
    "prefixItems",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "enum",
    "const",
    "format",
    "pattern",
    "$id",
];
const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];
const EXPECTED: &str =
    "expected a JSON Schema, a tool, a list of either, an answer to MCP's `tools/list` or a request \
     with tools, or a schema or tool per line";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tool,
    Schema,
    Neither,
}

impl<'a> Input<'a> {
    pub(crate) fn read(text: &'a str) -> Result<Input<'a>, CommandError> {
        if text.trim().is_empty() {
            return Err(CommandError::new("", format!("{EXPECTED}, found nothing")));
        }
        match json::read(text) {
            Ok(node) => Input::whole(node, ""),
            Err(error) => match lines(text) {
                Some(lines) => Input::lines(lines),
                None => Err(CommandError::from_core(&error, "")),
            },
        }
    }

    pub(crate) fn without_request(self) -> Input<'a> {
        match (self.subject, self.pointers) {
            (Subject::Request(mut node), InputPointers::Below(above)) => {
                let tools = node.visit(TOOLS, std::mem::take).filter(|tools| is_list(Some(tools)));
                let tools = tools.unwrap_or_else(|| Node::array(Vec::new()));
                Input { subject: Subject::Tools(tools), pointers: InputPointers::Below(above + "/tools") }
            }
            (subject, pointers) => Input { subject, pointers },
        }
    }

    /// Returns an error if the input cannot be checked: it has no tools or schemas, or a tool without a visible schema.
    /// An empty input must not pass as an input without findings.
    pub(crate) fn require_checkable(self) -> Result<Input<'a>, CommandError> {
        let input = self.without_request();
        if let Subject::Tools(list) = &input.subject {
            require_schema_keys(list, &input.pointers)?;
            let entries = input.subject.entries().map_err(|error| input.pointers.locate(&error))?;
            if entries.is_empty() {
                let above = input.pointers.of("").1;
                let found = match list.as_array() {
                    Some(entries) if !entries.is_empty() => "only tools that the API runs itself",
                    _ => "a list without tools",
                };
                return Err(CommandError::new(above, format!("expected at least one tool, found {found}")));
            }
        }
        let found = match &input.subject {
            Subject::Tools(list) => list.as_array().map_or(0, <[_]>::len),
            Subject::Schemas(schemas) => schemas.len(),
            Subject::Request(_) => 0,
        };
        if found > MAX_TOOLS {
            let above = input.pointers.of("").1;
            let message = format!("expected at most {MAX_TOOLS} tools or schemas, found {found}");
            return Err(CommandError::new(above, message));
        }
        Ok(input)
    }

    fn whole(mut node: Node<'a>, above: &str) -> Result<Input<'a>, CommandError> {
        let below = |more: &str| InputPointers::Below(format!("{above}{more}"));
        if let Some(items) = node.as_array() {
            let kinds: Vec<Kind> = items.iter().map(kind_of).collect();
            if let Some((at, message)) = odd_one(&kinds) {
                return Err(CommandError::new(format!("{above}/{at}"), message));
            }
            return Ok(Input { subject: list_subject(node, &kinds), pointers: below("") });
        }
        // The JSON-RPC response of an MCP server.
        if above.is_empty() && node.get("jsonrpc").is_some() {
            if let Some(error) = node.get("error") {
                let message = error.text_at("message").map(|message| format!(": {}", message.display()));
                let message = message.unwrap_or_default();
                return Err(CommandError::new(
                    "/error",
                    format!("expected an answer to `tools/list`, found the server's error{message}"),
                ));
            }
            if let Some(result) = node.visit("result", std::mem::take) {
                return Input::whole(result, "/result");
            }
        }
        if node.get(TOOL_CONFIG).is_some_and(|config| is_list(config.get(TOOLS))) {
            let tools = node.visit(TOOL_CONFIG, |config| config.visit(TOOLS, std::mem::take)).flatten();
            return Ok(Input {
                subject: Subject::Tools(tools.unwrap_or_default()),
                pointers: below("/toolConfig/tools"),
            });
        }
        if is_list(node.get(TOOLS)) {
            if CONVERSATIONS.iter().any(|key| node.get(key).is_some()) {
                return Ok(Input { subject: Subject::Request(node), pointers: below("") });
            }
            let tools = node.visit(TOOLS, std::mem::take).unwrap_or_default();
            return Ok(Input { subject: Subject::Tools(tools), pointers: below("/tools") });
        }
        if DECLARATIONS.iter().any(|key| is_list(node.get(key))) {
            return Ok(Input { subject: Subject::Tools(node), pointers: below("") });
        }
        let pointers = InputPointers::Alone(above.into());
        match kind_of(&node) {
            Kind::Tool if is_not_a_tool(&node) => Err(unknown_input(EXPECTED, above, &node)),
            Kind::Tool => Ok(Input { subject: Subject::Tools(Node::array(Vec::from([node]))), pointers }),
            Kind::Schema => Ok(Input { subject: Subject::Schemas(Vec::from([node])), pointers }),
            // A conversation that has no tools yet.
            Kind::Neither
                if node.get(TOOLS).is_none_or(Node::is_null)
                    && CONVERSATIONS.iter().any(|key| is_list(node.get(key))) =>
            {
                Ok(Input { subject: Subject::Request(node), pointers: below("") })
            }
            Kind::Neither => Err(unknown_input(EXPECTED, above, &node)),
        }
    }

    fn lines(lines: Vec<(usize, &'a str)>) -> Result<Input<'a>, CommandError> {
        let (mut entries, mut numbers) = (Vec::with_capacity(lines.len()), Vec::with_capacity(lines.len()));
        for (number, text) in lines {
            let entry = json::read(text).map_err(|error| {
                // The reader was given a single line, so its error names line 1.
                let message = error.message().replace("(line 1, ", &format!("(line {number}, "));
                CommandError::from_core(&Error::new(error.code(), error.pointer(), message), "").in_line(number)
            })?;
            entries.push(entry);
            numbers.push(number);
        }
        let kinds: Vec<Kind> = entries.iter().map(kind_of).collect();
        let neither = || {
            kinds.iter().position(|kind| *kind == Kind::Neither).map(|at| (at, format!("{EXPECTED}, found neither")))
        };
        if let Some((at, message)) = odd_one(&kinds).or_else(neither) {
            return Err(CommandError::new("", message).in_line(numbers.get(at).copied().unwrap_or_default()));
        }
        Ok(Input { subject: list_subject(Node::array(entries), &kinds), pointers: InputPointers::Lines(numbers) })
    }
}

impl Subject<'_> {
    /// Returns the entries in order, without tools that an API runs itself: no API has to accept these.
    pub(crate) fn entries(&self) -> Result<Vec<Named>, Error> {
        match self {
            Subject::Schemas(schemas) => {
                Ok((0..schemas.len()).map(|at| Named { name: None, pointer: format!("/{at}"), server: None }).collect())
            }
            Subject::Tools(list) | Subject::Request(list) => {
                let entries = internal::entries(list.clone())?;
                let named = |internal::ListEntry { pointer, name, server }| Named { name, pointer, server };
                Ok(entries.into_iter().map(named).collect())
            }
        }
    }

    pub(crate) fn noun(&self) -> &'static str {
        if let Subject::Schemas(_) = self {
            "schema"
        } else {
            "tool"
        }
    }
}

fn is_list(node: Option<&Node<'_>>) -> bool {
    node.is_some_and(|node| node.as_array().is_some())
}

/// A list with anything other than schemas is a tool list. Broken tools are reported later, by the commands.
fn list_subject<'a>(list: Node<'a>, kinds: &[Kind]) -> Subject<'a> {
    if kinds.is_empty() || !kinds.iter().all(|kind| *kind == Kind::Schema) {
        return Subject::Tools(list);
    }
    match list.into_data() {
        Data::Array(items) => Subject::Schemas(items),
        data => Subject::Tools(Node::new(data)),
    }
}

fn odd_one(kinds: &[Kind]) -> Option<(usize, String)> {
    let first = |kind: Kind| kinds.iter().position(|found| *found == kind);
    let (tool, schema) = (first(Kind::Tool)?, first(Kind::Schema)?);
    let (at, expected, found) = if tool < schema { (schema, "tool", "schema") } else { (tool, "schema", "tool") };
    Some((at, format!("expected a {expected}like the ones before, found a {found}")))
}

fn kind_of(node: &Node<'_>) -> Kind {
    match node {
        _ if internal::is_tool(node) => Kind::Tool,
        _ if is_schema(node) => Kind::Schema,
        _ if internal::is_hosted(node) => Kind::Tool,
        _ => Kind::Neither,
    }
}

fn is_schema(node: &Node<'_>) -> bool {
    let Some(object) = node.as_object() else { return node.as_bool().is_some() };
    object.is_empty()
        || KEYWORDS.iter().any(|keyword| object.has(keyword))
        || object
            .get("type")
            .is_some_and(|kind| kind.as_array().is_some() || TYPES.iter().any(|known| kind.is_text(known)))
}

/// Splits JSON Lines into numbered lines. Returns `None` for a single line, and if the first line is not JSON.
fn lines(text: &str) -> Option<Vec<(usize, &str)>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(|(at, line)| (at + 1, line));
    let lines: Vec<(usize, &str)> = lines.collect();
    (lines.len() > 1 && lines.first().is_some_and(|(_, line)| json::read(line).is_ok())).then_some(lines)
}

/// Returns the entry that `--tool` names, or the only entry.
pub(crate) fn pick(
    subject: &Subject<'_>,
    entries: &[Named],
    tool: Option<&str>,
    command: &str,
) -> Result<Named, CommandError> {
    let is_about_schemas = matches!(subject, Subject::Schemas(_));
    let found = || counted(entries.len(), subject.noun());
    let message = match (tool, entries) {
        (Some(wanted), _) if is_about_schemas => {
            format!("expected no `--tool` because a schema has no name, found `{}`", shown(wanted))
        }
        (Some(wanted), _) => match entries.iter().find(|entry| entry.name.as_deref() == Some(wanted)) {
            Some(entry) => return Ok(entry.clone()),
            None => format!("expected `--tool` to be one of {}, found `{}`", quoted_names(entries), shown(wanted)),
        },
        (None, [only]) => return Ok(only.clone()),
        (None, _) if is_about_schemas => {
            format!("expected one schema, found {}: `{command}` accepts one at a time", found())
        }
        (None, _) => {
            format!("expected one tool, or `--tool` with the name of one, found {}: {}", found(), quoted_names(entries))
        }
    };
    Err(CommandError::new("", message))
}

fn quoted_names(entries: &[Named]) -> String {
    let names = entries.iter().filter_map(|entry| entry.name.as_deref());
    let names: Vec<String> = names.map(|name| format!("`{}`", shown(name))).collect();
    if names.is_empty() {
        return "no names".into();
    }
    cut(&names.join(", "), 1_000).into_owned()
}

/// Members of tools other than the name and the schema, in MCP and in APIs.
const MEMBERS: [&str; 21] = [
    "name",
    "title",
    "description",
    "annotations",
    "outputSchema",
    "icons",
    "_meta",
    "execution",
    "type",
    "function",
    "strict",
    "toolSpec",
    "response",
    "responseJsonSchema",
    "behavior",
    "cache_control",
    "defer_loading",
    "input_examples",
    "allowed_callers",
    "eager_input_streaming",
    "custom",
];
/// Keys of members that may contain the definition.
const DEFINITION_KEYS: [&str; 2] = ["function", "toolSpec"];
/// Key of the schema in MCP. [`OPENAI`] is the key in a `function`.
const MCP: &str = "inputSchema";
const OPENAI: &str = "parameters";
/// Maximum number of members that a message names.
const NAMED: usize = 6;

/// Returns true for an object with members that tools never have and without a schema, and for a tool that an API runs
/// itself.
fn is_not_a_tool(node: &Node<'_>) -> bool {
    let Some(object) = node.as_object() else { return true };
    let is_known = |name: &str| MEMBERS.contains(&name) || internal::schema_members().any(|member| member == name);
    if internal::is_hosted(node) {
        return true;
    }
    let has_schema = DEFINITION_KEYS.into_iter().chain(internal::schema_members()).any(|member| object.has(member));
    let is_misspelt = misspelt_member(object, MCP).is_some();
    !has_schema && !is_misspelt && object.iter().any(|member| !is_known(&member.key.display()))
}

fn unknown_input(expected: &str, above: &str, node: &Node<'_>) -> CommandError {
    let found = match node.as_object() {
        Some(object) if !object.is_empty() => {
            let names: Vec<String> = object
                .iter()
                .take(NAMED)
                .map(|member| format!("`{}`", cut(&shown(&member.key.display()), 40)))
                .collect();
            let more = if object.len() > NAMED { ", …" } else { "" };
            let what = if object.has("name") { "an object with a name, but no schema: " } else { "an object with " };
            format!("{what}{}{more}", names.join(", "))
        }
        _ => node.kind().to_string(),
    };
    CommandError::new(above, format!("{expected}, found {found}"))
}

/// Returns an error if a tool of a list has its schema under an unknown key.
pub(crate) fn require_schema_keys(list: &Node<'_>, pointers: &InputPointers) -> Result<(), CommandError> {
    let entries = list.as_array().unwrap_or_default();
    for (at, entry) in entries.iter().enumerate() {
        let holder =
            DEFINITION_KEYS.into_iter().find(|holder| entry.get(holder).is_some_and(|it| it.as_object().is_some()));
        let definition = holder.and_then(|holder| entry.get(holder)).unwrap_or(entry);
        let Some(object) = definition.as_object() else { continue };
        let otherwise = if holder == Some("function") { OPENAI } else { MCP };
        if let Some((found, meant)) = misspelt_member(object, otherwise) {
            let above = holder.map(|holder| format!("/{holder}")).unwrap_or_default();
            let (line, pointer) = pointers.of(&format!("/{at}{above}"));
            let error = CommandError::new(
                pointer,
                format!("expected the tool's schema in `{meant}`, found it in `{}`", shown(&found)),
            );
            return Err(match line {
                Some(line) => error.in_line(line),
                None => error,
            });
        }
    }
    Ok(())
}

/// Returns a member that is probably the schema, and its correct key; `otherwise` is the key if no known key is
/// similar. Returns `None` if the tool has a schema.
fn misspelt_member(object: &Object<'_>, otherwise: &'static str) -> Option<(String, &'static str)> {
    if internal::schema_members().any(|member| object.has(member)) || !object.has("name") {
        return None;
    }
    object.iter().filter(|member| member.value.as_object().is_some()).find_map(|member| {
        let name = member.key.display().into_owned();
        if MEMBERS.contains(&name.as_str()) {
            return None;
        }
        // Short words may be similar by chance.
        let tolerance = |letters| if letters > 6 { 2 } else { 0 };
        let meant = internal::nearest(&name, internal::schema_members(), tolerance);
        // A value that looks like a schema is probably the schema, whatever its key is.
        let meant = meant.or_else(|| is_like_a_schema(&member.value).then_some(otherwise))?;
        Some((name, meant))
    })
}

fn is_like_a_schema(node: &Node<'_>) -> bool {
    node.get("type").is_some_and(|kind| kind.is_text("object"))
        || node.get("properties").is_some_and(|properties| properties.as_object().is_some())
        || node.get("$schema").is_some()
}
