//! The tools in the form in which they are sent, with the violations that `check` reports.

use toolwire::{
    internal::{self, SentTool},
    json::{self, Node},
    reports::Severity,
    Dialect, Error, ToolsOptions,
};

use crate::{document::record, input::Subject};

/// A tool of the probe.
#[derive(Debug)]
pub(crate) struct Tool {
    /// `None` if the tool has no name.
    pub(crate) name: Option<String>,
    /// JSON Pointer into the list.
    pub(crate) pointer: String,
    pub(crate) strict: Option<bool>,
    /// The tool in the API's format, as JSON.
    pub(crate) text: String,
    /// Rules for which `check` expects a refusal.
    pub(crate) rules: Vec<&'static str>,
}

/// Converts the tools of an input to the API's format, without further changes. Schemas become tools without a name.
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

/// Returns the rules for which `check` expects a refusal of a list; a rule occurs once for each violation.
pub(crate) fn refused(list: &str, dialect: &'static Dialect) -> Vec<&'static str> {
    let found = json::read(list).and_then(|list| internal::check_tools(list, &[dialect])).unwrap_or_default();
    let mut rules: Vec<&'static str> =
        found.iter().filter(|one| one.severity == Severity::Refused).map(|one| one.constraint).collect();
    rules.sort_unstable();
    rules
}

/// Returns the tools as a JSON list.
pub(crate) fn list<'t>(tools: impl Iterator<Item = &'t Tool>) -> String {
    format!("[{}]", tools.map(|tool| tool.text.as_str()).collect::<Vec<_>>().join(","))
}

/// Returns the rules for which `check` expects a refusal of these tools together, but not of each alone.
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

/// Returns a list with one tool that every API accepts, which tests the rest of a request.
pub(crate) fn plain(dialect: &'static Dialect) -> String {
    const PLAIN: &str = r#"[{"name": "ping", "description": "Asks whether a host answers.", "inputSchema": {
        "type": "object",
        "properties": {"host": {"type": "string", "description": "Its name."}},
        "required": ["host"]
    }}]"#;
    let list = json::read(PLAIN).unwrap_or_default();
    let written = internal::sanitize_tools(list, &ToolsOptions::new(dialect.name), false);
    let mut tools = written.map(|(tools, _)| tools).unwrap_or_default();
    // Gemini's tools are in a group that the body already contains.
    if let Some(inner) =
        tools.as_array_mut().and_then(|list| list.first_mut()?.visit("functionDeclarations", std::mem::take))
    {
        tools = inner;
    }
    json::write(&tools)
}
