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
    /// A tool, if the entry has a name. An entry without a name is sent unchanged.
    Tool,
    /// A tool search that the provider's servers run.
    HostedSearch,
    /// A tool search that the caller runs (`execution: "client"`).
    ClientSearch,
    /// A toolset of an MCP server, whose schemas are not in the request.
    Toolset,
}

pub(crate) const INNER_FUNCTION: &str = "function";
const HOLDER_MEMBERS: [&str; 3] = HOLDERS;
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

fn member_of_definition<'n, 'a>(tool: &'n Node<'a>, key: &str) -> Option<&'n Node<'a>> {
    tool.get(key).or_else(|| HOLDER_MEMBERS.iter().find_map(|inner| tool.get(inner)?.get(key)))
}

pub(crate) fn name<'n, 'a>(tool: &'n Node<'a>) -> Option<&'n Text<'a>> {
    member_of_definition(tool, "name").and_then(Node::as_text).filter(|name| !name.is_empty())
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
    member_of_definition(tool, "description").and_then(Node::as_text).filter(|text| !text.is_empty())
}

pub(crate) fn schema<'n, 'a>(tool: &'n Node<'a>) -> Option<&'n Node<'a>> {
    let schema = ["input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema"];
    let schema = schema.iter().find_map(|key| member_of_definition(tool, key).filter(|schema| !schema.is_null()));
    // Bedrock Converse.
    schema.or_else(|| member_of_definition(tool, "inputSchema")?.get("json")).filter(|schema| !schema.is_null())
}

/// Returns `(is_deferred, has_invalid_flag)`. A flag is invalid if it is neither boolean nor null.
pub(crate) fn deferral(tool: &Node<'_>) -> (bool, bool) {
    let flags = core::iter::once(tool.get(DEFERRAL_FLAG))
        .chain(HOLDER_MEMBERS.iter().map(|inner| tool.get(inner)?.get(DEFERRAL_FLAG)));
    flags.flatten().fold((false, false), |(is_deferred, has_invalid_flag), flag| match flag.data() {
        Data::Bool(value) => (is_deferred || *value, has_invalid_flag),
        Data::Null => (is_deferred, has_invalid_flag),
        _ => (is_deferred, true),
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
    let is_entry = true;
    are_equal_but_flags(left, right, is_entry)
}

fn are_equal_but_flags(left: &Node<'_>, right: &Node<'_>, is_entry: bool) -> bool {
    let (Some(left), Some(right)) = (left.as_object(), right.as_object()) else { return json::same(left, right) };
    let is_flag = |key: &Text<'_>| key.is(DEFERRAL_FLAG) || key.is(CACHE);
    let flag_count = 2;
    if left.len().abs_diff(right.len()) > flag_count {
        return false;
    }
    let index = right.index();
    let mut compared = 0;
    let alike = left.iter().filter(|member| !is_flag(&member.key)).all(|member| {
        compared += 1;
        let twin = index.get(&member.key).and_then(|position| right.iter().nth(*position));
        twin.is_some_and(|twin| match is_entry && HOLDER_MEMBERS.iter().any(|inner| member.key.is(inner)) {
            true => {
                let is_entry = false;
                are_equal_but_flags(&member.value, &twin.value, is_entry)
            }
            false => json::same(&member.value, &twin.value),
        })
    });
    alike && compared == right.iter().filter(|member| !is_flag(&member.key)).count()
}

pub(crate) fn is_clean(tool: &Node<'_>, was_deferred: bool) -> bool {
    let has_flag = |node: &Node<'_>| {
        node.as_object().is_some_and(|object| object.has(DEFERRAL_FLAG) || was_deferred && object.has(CACHE))
    };
    !has_flag(tool)
        && !HOLDER_MEMBERS.iter().any(|inner| tool.get(inner).is_some_and(has_flag))
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
    let remove_flags = |node: &mut Node<'_>| {
        for key in [DEFERRAL_FLAG, CACHE] {
            if (key == DEFERRAL_FLAG || was_deferred) && node.get(key).is_some() {
                node.remove(key);
            }
        }
    };
    remove_flags(tool);
    for inner in HOLDER_MEMBERS {
        let emptied = tool.visit(inner, |node| {
            let had_members = node.as_object().is_some_and(|object| !object.is_empty());
            remove_flags(node);
            had_members && is_empty(node)
        });
        if emptied == Some(true) {
            tool.remove(inner);
        }
    }
}

/// Returns `(has_flag, is_deferred)` for the flags `defer_loading` of a toolset.
pub(crate) fn toolset_flags(tool: &Node<'_>) -> (bool, bool) {
    let configs = tool.object_at("configs").into_iter().flatten().map(|member| &member.value);
    let flags = [Some(tool), tool.get("default_config")]
        .into_iter()
        .flatten()
        .chain(configs)
        .filter_map(|config| config.get(DEFERRAL_FLAG));
    flags.fold((false, false), |(_, is_deferred), flag| (true, is_deferred || flag.as_bool() == Some(true)))
}

fn clean_toolset(tool: &mut Node<'_>) {
    let remove_flags = |config: &mut Node<'_>| {
        let has_flag = config.get(DEFERRAL_FLAG).is_some();
        if has_flag {
            config.remove(DEFERRAL_FLAG);
        }
        has_flag && is_empty(config)
    };
    if tool.visit("default_config", remove_flags) == Some(true) {
        tool.remove("default_config");
    }
    let emptied = tool.visit("configs", |configs| {
        let mut emptied_indices = Vec::new();
        let mut at = 0;
        let _ = configs.visit_children(|_, config| {
            if remove_flags(config) {
                emptied_indices.push(at);
            }
            at += 1;
            Ok::<(), core::convert::Infallible>(())
        });
        if emptied_indices.is_empty() {
            return false;
        }
        if let Some(object) = configs.as_object_mut() {
            let (mut at, mut emptied_indices) = (0, emptied_indices.into_iter().peekable());
            object.retain(|_| {
                let is_emptied = emptied_indices.next_if_eq(&at).is_some();
                at += 1;
                !is_emptied
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

/// No word begins inside a run of capitals (`TOOLSearch`).
fn last_was_upper(word: &str) -> bool {
    word.chars().last().is_some_and(char::is_uppercase)
}

/// Returns the length of a tool in compact JSON, without its flags.
pub(crate) fn cost(tool: &Node<'_>) -> usize {
    let Some(object) = tool.as_object() else { return 0 };
    let members = object.iter().filter(|member| !member.key.is(DEFERRAL_FLAG) && !member.key.is(CACHE));
    let lengths = members.map(|member| {
        let is_holder = HOLDER_MEMBERS.iter().any(|inner| member.key.is(inner)) && member.value.as_object().is_some();
        let length = if is_holder { cost(&member.value) } else { json::compact_length(&member.value) };
        // Each member is followed by one character: a comma or the closing brace.
        2 + json::compact_text_length(&member.key) + length
    });
    (1 + lengths.sum::<usize>()).max(2)
}
