//! Reads and cleans one entry of a tool list. The request formats differ mainly in the location of the definition: the
//! entry itself (Anthropic, Responses), or its member `function` or `custom` (Chat Completions, older Anthropic
//! clients).

use alloc::{string::String, vec::Vec};

use crate::{
    json::{self, Data, Node, Text},
    options::DeferredOptions,
    wire::tool_list::{DEFERRAL, HOLDERS},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A tool, if the entry has a name; otherwise an entry that is passed through.
    Tool,
    /// A tool search that the provider's servers run.
    HostedSearch,
    /// A tool search that the caller runs (`execution: "client"`).
    ClientSearch,
    /// A toolset of an MCP server, whose schemas are not in the request.
    Toolset,
}

pub(crate) const INNER_FUNCTION: &str = "function";
const INNER: [&str; 3] = HOLDERS;
pub(crate) const DEFERRAL_FLAG: &str = DEFERRAL;
pub(crate) const CACHE: &str = "cache_control";
/// Member of a deferred function of Gemini Interactions: the description that the model sees until the function is
/// loaded.
pub(crate) const SHORT_DESCRIPTION: &str = "short_description";

pub(crate) fn type_of<'n, 'a>(node: &'n Node<'a>) -> Option<&'n Text<'a>> {
    node.get("type")?.as_text()
}

pub(crate) fn has_type(node: &Node<'_>, name: &str) -> bool {
    type_of(node).is_some_and(|text| text.is(name))
}

pub(crate) fn starts_with(text: &Text<'_>, prefix: &str) -> bool {
    match text.as_plain() {
        Some(plain) => plain.starts_with(prefix),
        None => prefix.chars().map(u32::from).eq(text.code_points().take(prefix.len())),
    }
}

pub(crate) fn is_cache_point(entry: &Node<'_>) -> bool {
    entry.get("cachePoint").is_some()
}

pub(crate) fn kind(tool: &Node<'_>) -> Kind {
    let Some(name) = type_of(tool) else { return Kind::Tool };
    if starts_with(name, "tool_search_tool_") {
        Kind::HostedSearch
    } else if name.is("tool_search") {
        match tool.get("execution") {
            Some(execution) if execution.is_text("client") => Kind::ClientSearch,
            _ => Kind::HostedSearch,
        }
    } else if name.is("mcp_toolset") || name.is("mcp") || name.is("mcp_server") {
        Kind::Toolset
    } else {
        Kind::Tool
    }
}

fn part<'n, 'a>(tool: &'n Node<'a>, key: &str) -> Option<&'n Node<'a>> {
    tool.get(key).or_else(|| INNER.iter().find_map(|inner| tool.get(inner)?.get(key)))
}

pub(crate) fn name<'n, 'a>(tool: &'n Node<'a>) -> Option<&'n Text<'a>> {
    part(tool, "name").and_then(Node::as_text).filter(|name| !name.is_empty())
}

const CUSTOM: &str = "custom";

pub(crate) fn is_custom(tool: &Node<'_>) -> bool {
    has_type(tool, CUSTOM)
}

pub(crate) fn path_of_custom_name(tool: &Node<'_>) -> &'static [&'static str] {
    if tool.get("name").is_some() {
        &["name"]
    } else {
        &[CUSTOM, "name"]
    }
}

pub(crate) fn rename_custom<'a>(tool: &mut Node<'a>, name: Text<'a>) {
    if tool.get("name").is_some() {
        tool.set("name", Node::string(name));
    } else {
        tool.visit(CUSTOM, |definition| definition.set("name", Node::string(name)));
    }
}

pub(crate) fn client_search_name(list: &[Node<'_>]) -> Option<String> {
    let search = list.iter().find(|entry| kind(entry) == Kind::ClientSearch)?;
    name(search).map(|name| name.display().into_owned())
}

pub(crate) fn description<'n, 'a>(tool: &'n Node<'a>) -> Option<&'n Text<'a>> {
    part(tool, "description").and_then(Node::as_text).filter(|text| !text.is_empty())
}

pub(crate) fn schema<'n, 'a>(tool: &'n Node<'a>) -> Option<&'n Node<'a>> {
    let schema = ["input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema"];
    let schema = schema.iter().find_map(|key| part(tool, key).filter(|schema| !schema.is_null()));
    // Bedrock Converse.
    schema.or_else(|| part(tool, "inputSchema")?.get("json")).filter(|schema| !schema.is_null())
}

/// Returns two values: true if the tool is deferred, and true if a `defer_loading` is neither boolean nor null.
pub(crate) fn deferral(tool: &Node<'_>) -> (bool, bool) {
    let flags =
        core::iter::once(tool.get(DEFERRAL_FLAG)).chain(INNER.iter().map(|inner| tool.get(inner)?.get(DEFERRAL_FLAG)));
    flags.flatten().fold((false, false), |(deferred, odd), flag| match flag.data() {
        Data::Bool(value) => (deferred || *value, odd),
        Data::Null => (deferred, odd),
        _ => (deferred, true),
    })
}

/// Returns true for the entry that Claude Code sends to keep its deferred loading active. It is not a tool, and the
/// model must never call it.
/// Source: anthropics/claude-code, recorded requests, 2026-11.
pub(crate) fn is_placeholder(tool: &Node<'_>) -> bool {
    name(tool).is_some_and(|name| name.is("DeferredToolPlaceholder")) && deferral(tool).0
}

/// Returns true if two entries are equal except for their flags. Takes time proportional to the smaller entry.
pub(crate) fn is_same(left: &Node<'_>, right: &Node<'_>) -> bool {
    is_alike(left, right, true)
}

fn is_alike(left: &Node<'_>, right: &Node<'_>, is_entry: bool) -> bool {
    let (Some(left), Some(right)) = (left.as_object(), right.as_object()) else { return json::same(left, right) };
    let is_flag = |key: &Text<'_>| key.is(DEFERRAL_FLAG) || key.is(CACHE);
    let flags = 2;
    if left.len().abs_diff(right.len()) > flags {
        return false;
    }
    let index = right.index();
    let mut compared = 0;
    let alike = left.iter().filter(|member| !is_flag(&member.key)).all(|member| {
        compared += 1;
        let twin = index.get(&member.key).and_then(|place| right.iter().nth(*place));
        twin.is_some_and(|twin| match is_entry && INNER.iter().any(|inner| member.key.is(inner)) {
            true => is_alike(&member.value, &twin.value, false),
            false => json::same(&member.value, &twin.value),
        })
    });
    alike && compared == right.iter().filter(|member| !is_flag(&member.key)).count()
}

pub(crate) fn is_clean(tool: &Node<'_>, was_deferred: bool) -> bool {
    let flagged = |node: &Node<'_>| {
        node.as_object().is_some_and(|object| object.has(DEFERRAL_FLAG) || was_deferred && object.has(CACHE))
    };
    !flagged(tool)
        && !INNER.iter().any(|inner| tool.get(inner).is_some_and(flagged))
        && (kind(tool) != Kind::Toolset || !toolset_flags(tool).0)
}

/// Removes the flags. Also removes the cache breakpoint of a deferred tool: the API refuses it, and a breakpoint that
/// depends on the loaded tools would shift other breakpoints.
pub(crate) fn clean(tool: &mut Node<'_>, was_deferred: bool) {
    if is_clean(tool, was_deferred) {
        return;
    }
    if kind(tool) == Kind::Toolset {
        clean_toolset(tool);
    }
    let strip = |node: &mut Node<'_>| {
        for key in [DEFERRAL_FLAG, CACHE] {
            if (key == DEFERRAL_FLAG || was_deferred) && node.get(key).is_some() {
                node.remove(key);
            }
        }
    };
    strip(tool);
    for inner in INNER {
        let emptied = tool.visit(inner, |node| {
            let full = node.as_object().is_some_and(|object| !object.is_empty());
            strip(node);
            full && is_empty(node)
        });
        if emptied == Some(true) {
            tool.remove(inner);
        }
    }
}

/// Returns two values: true if a toolset has any flag `defer_loading`, and true if such a flag is true.
pub(crate) fn toolset_flags(tool: &Node<'_>) -> (bool, bool) {
    let configs = tool.object_at("configs").into_iter().flatten().map(|member| &member.value);
    let flags = [Some(tool), tool.get("default_config")]
        .into_iter()
        .flatten()
        .chain(configs)
        .filter_map(|config| config.get(DEFERRAL_FLAG));
    flags.fold((false, false), |(_, defers), flag| (true, defers || flag.as_bool() == Some(true)))
}

fn clean_toolset(tool: &mut Node<'_>) {
    let strip = |config: &mut Node<'_>| {
        let flagged = config.get(DEFERRAL_FLAG).is_some();
        if flagged {
            config.remove(DEFERRAL_FLAG);
        }
        flagged && is_empty(config)
    };
    if tool.visit("default_config", strip) == Some(true) {
        tool.remove("default_config");
    }
    let emptied = tool.visit("configs", |configs| {
        let mut gone = Vec::new();
        let mut at = 0;
        let _ = configs.visit_children(|_, config| {
            if strip(config) {
                gone.push(at);
            }
            at += 1;
            Ok::<(), core::convert::Infallible>(())
        });
        if gone.is_empty() {
            return false;
        }
        if let Some(object) = configs.as_object_mut() {
            let (mut at, mut gone) = (0, gone.into_iter().peekable());
            object.retain(|_| {
                let goes = gone.next_if_eq(&at).is_some();
                at += 1;
                !goes
            });
        }
        is_empty(configs)
    });
    if emptied == Some(true) {
        tool.remove("configs");
    }
}

fn is_empty(node: &Node<'_>) -> bool {
    node.as_object().is_some_and(crate::json::Object::is_empty)
}

pub(crate) fn searches(name: &Text<'_>, options: &DeferredOptions) -> bool {
    names_a_search(name) || options.search_tools.iter().any(|search| name.is(search.as_str()))
}

/// Returns true for typical names of searches: `ToolSearch`, `search_tools`, `mcp__x__find_tools`.
fn names_a_search(name: &Text<'_>) -> bool {
    const SEARCH: [&str; 5] = ["search", "find", "discover", "finder", "discovery"];
    const TOOLS: [&str; 2] = ["tool", "tools"];
    let words = words(&name.display());
    let pairs = words.iter().zip(words.iter().skip(1)).map(|(first, second)| (first.as_str(), second.as_str()));
    pairs.into_iter().any(|(first, second)| {
        SEARCH.contains(&first) && TOOLS.contains(&second) || TOOLS.contains(&first) && SEARCH.contains(&second)
    })
}

/// Splits into lower-case words: `mcp__x__FindTools` becomes `mcp`, `x`, `find`, `tools`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut inside = false;
    for letter in name.chars() {
        let starts = letter.is_uppercase() && !words.last().is_some_and(|word| last_was_upper(word));
        if !letter.is_alphanumeric() {
            inside = false;
            continue;
        }
        match words.last_mut() {
            Some(word) if inside && !starts => word.push(letter),
            _ => words.push(String::from(letter)),
        }
        inside = true;
    }
    words.iter_mut().for_each(|word| *word = word.to_lowercase());
    words
}

/// Returns true within a run of capitals, where no new word begins (`TOOLSearch`).
fn last_was_upper(word: &str) -> bool {
    word.chars().last().is_some_and(char::is_uppercase)
}

/// Returns the length of a tool in compact JSON, without its flags.
pub(crate) fn cost(tool: &Node<'_>) -> usize {
    let Some(object) = tool.as_object() else { return 0 };
    let members = object.iter().filter(|member| !member.key.is(DEFERRAL_FLAG) && !member.key.is(CACHE));
    let lengths = members.map(|member| {
        let wraps = INNER.iter().any(|inner| member.key.is(inner)) && member.value.as_object().is_some();
        let length = if wraps { cost(&member.value) } else { json::compact_length(&member.value) };
        // Each member is followed by one character: a comma or the closing brace.
        2 + json::compact_text_length(&member.key) + length
    });
    (1 + lengths.sum::<usize>()).max(2)
}
