//! The tools as they are sent, and what the table says of each alone and of them together.

use toolwire::{
    internal::{self, SentTool},
    json::{self, Node},
    reports::Severity,
    Dialect, Error, ToolsOptions,
};

use crate::{document::record, input::Subject};

/// A tool that is asked about.
#[derive(Debug)]
pub(crate) struct Tool {
    /// `None` if it has none.
    pub(crate) name: Option<String>,
    /// Where it stood in the list.
    pub(crate) pointer: String,
    pub(crate) strict: Option<bool>,
    /// As it is sent, as JSON.
    pub(crate) text: String,
    /// For which `check` says that it is refused.
    pub(crate) rules: Vec<&'static str>,
}

/// The tools of an input, in the API's shape and otherwise as they are. Schemas become the tools of nobody.
pub(crate) fn tools(subject: Subject<'_>, dialect: &'static Dialect) -> Result<Vec<Tool>, Error> {
    let list = match subject {
        Subject::Tools(list) | Subject::Request(list) => list,
        Subject::Schemas(schemas) => {
            let tool = |(at, schema): (usize, _)| {
                record([("name", Node::string(format!("schema_{}", at + 1))), ("inputSchema", schema)])
            };
            Node::array(schemas.into_iter().enumerate().map(tool).collect())
        }
    };
    let sent = internal::as_sent(list, dialect)?.into_iter();
    Ok(sent
        .map(|SentTool { pointer, name, strict, tool }| {
            let text = json::write(&tool);
            let rules = refused(&format!("[{text}]"), dialect);
            Tool { name, pointer, strict, text, rules }
        })
        .collect())
}

/// The rules for which `check` says that a list is refused, each as often as it says so.
pub(crate) fn refused(list: &str, dialect: &'static Dialect) -> Vec<&'static str> {
    let found = json::read(list).and_then(|list| internal::check_tools(list, &[dialect])).unwrap_or_default();
    let mut rules: Vec<&'static str> =
        found.iter().filter(|one| one.severity == Severity::Refused).map(|one| one.constraint).collect();
    rules.sort_unstable();
    rules
}

/// These tools as a list, as JSON.
pub(crate) fn list<'t>(tools: impl Iterator<Item = &'t Tool>) -> String {
    format!("[{}]", tools.map(|tool| tool.text.as_str()).collect::<Vec<_>>().join(","))
}

/// The rules for which `check` says that these tools are refused together, though each is fine alone.
pub(crate) fn refused_together(tools: &[&Tool], dialect: &'static Dialect) -> Vec<&'static str> {
    let mut together = refused(&list(tools.iter().copied()), dialect);
    for rule in tools.iter().flat_map(|tool| &tool.rules) {
        if let Some(at) = together.iter().position(|found| found == rule) {
            together.remove(at);
        }
    }
    together.dedup();
    together
}

/// A list with one tool that everybody takes: it says whether the rest of a request is fine.
pub(crate) fn plain(dialect: &'static Dialect) -> String {
    const PLAIN: &str = r#"[{"name": "ping", "description": "Asks whether a host answers.", "inputSchema": {
        "type": "object",
        "properties": {"host": {"type": "string", "description": "Its name."}},
        "required": ["host"]
    }}]"#;
    let list = json::read(PLAIN).unwrap_or_default();
    let written = internal::sanitize_tools(list, &ToolsOptions::new(dialect.name), false);
    let mut tools = written.map(|(tools, _)| tools).unwrap_or_default();
    // Gemini's are in a group, which the request has already.
    if let Some(inner) =
        tools.as_array_mut().and_then(|list| list.first_mut()?.visit("functionDeclarations", std::mem::take))
    {
        tools = inner;
    }
    json::write(&tools)
}
