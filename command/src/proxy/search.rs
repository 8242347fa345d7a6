//! The two tools that a client receives instead of a long list: one finds tools, the other calls them.
//!
//! A search never changes the list itself: since 2026-07-28, MCP forbids a server to change its tools as a side effect
//! of other requests.

use std::collections::BTreeMap;

use toolwire::{
    internal::did_you_mean,
    json::{self, Node},
    Error, SearchOptions, ToolIndex,
};

use super::message::{failed_call, quoted, text_at, text_result};

const FIND: &str = "search_tools";
const CALL: &str = "call_tool";
/// Default number of results.
const FOUND: usize = 5;
/// Maximum number of results.
const MAX_RESULTS: u64 = 20;

/// The tools that a search can find.
#[derive(Debug)]
pub(super) struct ToolSearch {
    find: String,
    call: String,
    index: ToolIndex,
    /// Tool definitions by name, as JSON text.
    definitions: BTreeMap<String, String>,
}

impl ToolSearch {
    pub(super) fn new(tools: &Node<'_>) -> Result<ToolSearch, Error> {
        let index = ToolIndex::new(json::write(tools).as_str())?;
        let entries = tools.as_array().unwrap_or_default().iter();
        let definitions: BTreeMap<String, String> =
            entries.filter_map(|tool| Some((text_at(tool, &["name"])?, json::write(tool)))).collect();
        let free = |name: &str| {
            let names = std::iter::once(name.to_string()).chain((2..).map(|number| format!("{name}_{number}")));
            names.into_iter().find(|name| !definitions.contains_key(name)).unwrap_or_default()
        };
        Ok(ToolSearch { find: free(FIND), call: free(CALL), index, definitions })
    }

    /// Returns the list that the client receives, as JSON text.
    pub(super) fn tools(&self) -> String {
        let (count, find, call) = (self.definitions.len(), quoted(&self.find), quoted(&self.call));
        let finding = quoted(&format!(
            "Searches {count} tools by description and returns matching definitions. Call a result with `{}`.",
            self.call
        ));
        let calling = quoted(&format!(
            "Calls a tool that `{}` has returned. The arguments must match its inputSchema.",
            self.find
        ));
        format!(
            "[{{\"name\":{find},\"description\":{finding},\"inputSchema\":{{\"type\":\"object\",\"properties\":{{\
             \"query\":{{\"type\":\"string\",\"description\":\"What the tool should do, in a few words.\"}},\
             \"limit\":{{\"type\":\"integer\",\"description\":\"Maximum number of results (default {FOUND}, at most \
             {MAX_RESULTS}).\"}}}},\"required\":[\"query\"]}},\"annotations\":{{\"readOnlyHint\":true}}}},\
             {{\"name\":{call},\"description\":{calling},\"inputSchema\":{{\"type\":\"object\",\"properties\":{{\
             \"name\":{{\"type\":\"string\",\"description\":\"The name of the tool.\"}},\
             \"arguments\":{{\"type\":\"object\",\"description\":\"The arguments of the tool.\"}}}},\
             \"required\":[\"name\",\"arguments\"]}}}}]"
        )
    }

    pub(super) fn is_search(&self, name: &str) -> bool {
        name == self.find
    }

    pub(super) fn is_call(&self, name: &str) -> bool {
        name == self.call
    }

    /// Returns the result of a search, as JSON text.
    pub(super) fn answer(&self, arguments: Option<&str>) -> String {
        let arguments = json::read(arguments.unwrap_or("{}")).unwrap_or_default();
        let Some(query) = text_at(&arguments, &["query"]).filter(|query| !query.trim().is_empty()) else {
            return failed_call("expected `query`, a string that describes what the tool should do, found none");
        };
        let limit = arguments.u64_at("limit").unwrap_or(FOUND as u64).clamp(1, MAX_RESULTS);
        let options =
            SearchOptions::default().limit(usize::try_from(limit).unwrap_or(FOUND)).tool_search_name(&*self.find);
        let found = match self.index.search(&query, &options) {
            Ok(found) => found,
            Err(error) => return failed_call(error.message()),
        };
        let found: Vec<&str> = found.iter().filter_map(|name| self.definitions.get(name)).map(String::as_str).collect();
        if found.is_empty() {
            return text_result("No matching tools. Try other keywords.");
        }
        text_result(&format!("[{}]", found.join(",\n")))
    }

    /// Returns the tool and the arguments in a call to `call_tool`. Returns an error result for the model if the call
    /// is invalid.
    pub(super) fn called(&self, arguments: Option<&str>) -> Result<(String, String), String> {
        let arguments = json::read(arguments.unwrap_or("{}")).unwrap_or_default();
        let Some(name) = text_at(&arguments, &["name"]) else {
            return Err(failed_call("expected `name`, the name of a tool, found none"));
        };
        let inner = match arguments.get("arguments") {
            // Some models write the arguments as a string.
            Some(inner) => match inner.as_text() {
                Some(text) => text.display().into_owned(),
                None => json::write(inner),
            },
            None => "{}".to_string(),
        };
        Ok((name, inner))
    }

    /// Returns the result for a call to an unknown tool.
    pub(super) fn unknown(&self, name: &str) -> String {
        let hint = did_you_mean(name, self.definitions.keys());
        failed_call(&format!("expected the name of a tool that `{}` has returned, found `{name}`{hint}", self.find))
    }
}
