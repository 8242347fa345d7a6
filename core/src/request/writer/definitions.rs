//! Converts a tool definition to another format, and decides where the definition of each tool is written, depending on
//! the constructs of the target.
//!
//! Each tool is defined once per request.

use alloc::{format, string::String, vec::Vec};

use crate::{
    collections::{Map, Set},
    envelope,
    error::Error,
    json::{Data, Node, Object, Text},
    options::{Api, CustomTools, Native, Removals},
    report::Recorder,
    request::{
        conversation::{Call, Content, Conversation, EventKind, Part},
        report::{Warnings, LOST},
        tool::{self, has_type, type_of, Kind},
        tools::{Source, Tool, ToolState},
    },
    wire::{
        self,
        prompt::whole,
        translation::{Form, Strict, Translation},
    },
};

struct Definition<'a> {
    name: Node<'a>,
    description: Option<Node<'a>>,
    schema: Node<'a>,
    strict: bool,
    /// Set for OpenAI's `custom` tools, whose input is free-form text. The inner value is the format of the text, if
    /// the tool has one.
    freeform: Option<Option<Node<'a>>>,
}

/// Converts a definition. Returns `None` and adds a warning if the tool is hosted or has no name.
pub(crate) fn write_definition<'a>(
    tool: Node<'a>,
    (source, target): (Api, Api),
    custom: CustomTools,
    warnings: &mut Warnings,
) -> Result<Option<Node<'a>>, Error> {
    if tool::kind(&tool) == Kind::ClientSearch {
        return Ok(None);
    }
    let (Some(from), Some(into)) = (wire::of(source).translation(), wire::of(target).translation()) else {
        return Ok(None);
    };
    let Some(mut definition) = read_definition(tool, from, warnings) else { return Ok(None) };
    let keeps_custom = custom == CustomTools::Keep && into.has_custom;
    if let Some(format) = definition.freeform.take_if(|_| !keeps_custom) {
        convert_to_function(&mut definition, format)?;
    }
    Ok(Some(write_shape(definition, into)))
}

fn read_definition<'a>(tool: Node<'a>, from: &Translation, warnings: &mut Warnings) -> Option<Definition<'a>> {
    let kind = type_of(&tool);
    let is_of_type = |types: &[&str]| kind.is_none_or(|kind| types.iter().any(|known| kind.is(*known)));
    let inner = [tool::INNER_FUNCTION, "custom"].into_iter().find(|key| tool.get(key).is_some());
    let (is_function, inner) = match from.form {
        Form::Plain => (is_of_type(&["custom"]), None),
        Form::Typed => (is_of_type(&["function", "custom"]), None),
        Form::Wrapped => (inner.is_some(), inner),
    };
    if !is_function || tool::name(&tool).is_none() {
        warnings.warn_named(LOST, display_name(&tool));
        return None;
    }
    let is_custom = from.form != Form::Plain && has_type(&tool, "custom");
    let Data::Object(object) = tool.into_data() else { return None };
    let mut definition = Definition {
        name: Node::default(),
        description: None,
        schema: Node::default(),
        strict: false,
        freeform: is_custom.then_some(None),
    };
    for member in object.into_members() {
        let is_inner = inner.is_some_and(|inner| member.key.is(inner));
        if !is_inner {
            read_member(&mut definition, (None, member.key), member.value, from, warnings);
            continue;
        }
        if let Data::Object(object) = member.value.into_data() {
            for member in object.into_members() {
                read_member(&mut definition, (inner, member.key), member.value, from, warnings);
            }
        }
    }
    envelope::normalize(&mut definition.schema, &mut Recorder::off());
    if definition.schema.get("$schema").is_some() {
        definition.schema.remove("$schema");
    }
    Some(definition)
}

/// Reads one member of a definition, and reports a member that is not translated. `holder` is the member of the entry
/// that contains `key`, if the definition is nested.
fn read_member<'a>(
    definition: &mut Definition<'a>,
    (holder, key): (Option<&str>, Text<'a>),
    value: Node<'a>,
    from: &Translation,
    warnings: &mut Warnings,
) {
    if key.is("name") {
        definition.name = value;
    } else if key.is("description") {
        definition.description = Some(value).filter(|text| text.as_text().is_some());
    } else if key.is(from.schema) {
        definition.schema = value;
    } else if key.is("strict") && from.strict != Strict::Unknown {
        definition.strict = value.as_bool() == Some(true);
    } else if key.is("format") && definition.freeform.is_some() {
        definition.freeform = Some(Some(responses_grammar(value)));
    } else if !key.is("type") && !key.is(tool::DEFERRAL_FLAG) && !key.is(tool::SHORT_DESCRIPTION) {
        warnings.warn_lost_in(holder, &key.display(), &value);
    }
}

/// Moves the members of a grammar in Chat Completions to its format, where OpenAI Responses has them.
///
/// Source: OpenAI's API reference, `CustomToolChatCompletions` and `CustomGrammarFormatParam` (read 2026-11).
fn responses_grammar(mut format: Node<'_>) -> Node<'_> {
    let grammar = format.as_object_mut().filter(|format| format.object_at("grammar").is_some());
    if let Some(Data::Object(grammar)) = grammar.and_then(|format| format.remove("grammar")).map(Node::into_data) {
        if let Some(format) = format.as_object_mut() {
            grammar.into_members().into_iter().for_each(|member| format.set(member.key, member.value));
        }
    }
    format
}

fn chat_grammar(format: Node<'_>) -> Node<'_> {
    let kind = format.get("type").cloned();
    let members = match format.into_data() {
        Data::Object(members) => members,
        other => return Node::new(other),
    };
    let grammar = members.into_members().into_iter().filter(|member| !member.key.is("type"));
    let grammar: Object<'_> = grammar.map(|member| (member.key, member.value)).collect();
    let mut nested = Node::record([("type", kind.unwrap_or_default())]);
    if !grammar.is_empty() {
        nested.set("grammar", Node::object(grammar));
    }
    nested
}

fn display_name(tool: &Node<'_>) -> String {
    tool::name(tool).or_else(|| type_of(tool)).map_or_else(|| "tools".into(), |name| name.display().into_owned())
}

/// Converts a `custom` tool to a function. Its text becomes the argument `input`, and the description states the format
/// of the text.
fn convert_to_function<'a>(definition: &mut Definition<'a>, format: Option<Node<'a>>) -> Result<(), Error> {
    let input = Node::record([("type", Node::literal("string"))]);
    definition.schema = Node::record([
        ("type", Node::literal("object")),
        ("properties", Node::record([("input", input)])),
        ("required", Node::array(alloc::vec![Node::literal("input")])),
    ]);
    let text = |key| format.as_ref().and_then(|format| format.get(key)).and_then(Node::as_text);
    let Some(grammar) = text("definition") else { return Ok(()) };
    let grammar = whole(grammar, "/tools")?;
    let syntax = text("syntax").map(|syntax| format!("{} ", syntax.display())).unwrap_or_default();
    let mut description = match definition.description.as_ref().and_then(Node::as_text) {
        Some(text) => format!("{}\n\n", whole(text, "/tools")?),
        None => String::new(),
    };
    description.push_str(&format!("Input format: a text of this {syntax}grammar:\n{grammar}"));
    definition.description = Some(Node::string(description));
    Ok(())
}

fn write_shape<'a>(definition: Definition<'a>, into: &Translation) -> Node<'a> {
    let Definition { name, description, schema, strict, freeform } = definition;
    let kind = if freeform.is_some() { "custom" } else { "function" };
    let is_wrapped = into.form == Form::Wrapped;
    let mut function = match into.form {
        Form::Typed => Node::record([("type", Node::literal(kind)), ("name", name)]),
        Form::Plain | Form::Wrapped => Node::record([("name", name)]),
    };
    let mut set = |key: &'static str, value: Option<Node<'a>>| {
        if let (Some(object), Some(value)) = (function.as_object_mut(), value) {
            object.set(key, value);
        }
    };
    set("description", description);
    if let Some(format) = freeform {
        set("format", format.map(|format| if is_wrapped { chat_grammar(format) } else { format }));
    } else {
        set(into.schema, Some(schema));
        if into.strict == Strict::Always || into.strict == Strict::IfTrue && strict {
            set("strict", Some(Node::bool(strict)));
        }
    }
    match is_wrapped {
        true => Node::record([("type", Node::literal(kind)), (kind, function)]),
        false => function,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefinitionLocation {
    /// In the request's list.
    Top,
    /// In the request's list, with `defer_loading`.
    Deferred,
    /// In the event that adds it.
    Event,
    /// Not in the request, because the tool is hidden or removed.
    Nowhere,
}

pub(crate) struct DefinitionLocations<'a> {
    locations: Map<Text<'a>, DefinitionLocation>,
    /// Tools whose definition an event has already added.
    declared: Set<Text<'a>>,
}

impl<'a> DefinitionLocations<'a> {
    /// Plans the location of each tool's definition. If `keeps_list` is true, deferred tools of the list stay in the
    /// list, as in a request that the backend accepts unchanged.
    pub(crate) fn plan(
        conversation: &Conversation<'a>,
        (native, removals, loads_used_tools): (Native, Removals, bool),
        keeps_list: bool,
        warnings: &mut Warnings,
    ) -> Self {
        // A tool that is added with its definition is defined in that event, unless a search result also contains it.
        let added: Set<&Text<'a>> = conversation
            .events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::Add(additions) | EventKind::Define(additions) => {
                    Some(additions.iter().map(|addition| &addition.name))
                }
                _ => None,
            })
            .flatten()
            .collect();
        let found_tools: Set<&Text<'a>> = conversation
            .events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::Result(outcome) => Some((outcome.found_tools.as_ref()?, &outcome.removed_tools)),
                _ => None,
            })
            .flat_map(|(found_tools, gone)| found_tools.iter().filter(|name| !gone.contains(*name)))
            .collect();
        // In Gemini Interactions, only the results of searches define tools. Source: google-genai 3.6.1,
        // `toolsearchresultstep` and tests/interactions/test_tool_search.py (read 2026-11-26).
        let (added, found_tools) = match native {
            Native::Interactions => (Set::new(), tools_found_first(conversation)),
            _ => (added, found_tools),
        };
        let searches = conversation.tools.has_hosted_search();
        // In Gemini Interactions, only searches add tools.
        let is_found = |tool: &Tool<'_>, name: &Text<'a>| found_tools.contains(name) || searches && tool.listed;
        let pinned = loaded_before_additions(conversation, loads_used_tools);
        let mut locations = Map::new();
        for tool in conversation.tools.iter() {
            let Some(name) = &tool.name else { continue };
            // A loaded tool that no event adds can only be in the list.
            let is_added_by_event = !pinned.contains(name)
                && (added.contains(name) || found_tools.contains(name) || conversation.referenced_tools.contains(name));
            let lists_deferred = searches || keeps_list && matches!(tool.source, Source::Listed(_));
            let has_removals = matches!(native, Native::Changes | Native::Inline);
            let is_gone = tool.is_removed && removals == Removals::Withdraw && !has_removals;
            let location = match native {
                _ if tool.loaded && !is_gone && (tool.is_wanted || tool.deferred && !is_added_by_event) => {
                    DefinitionLocation::Top
                }
                Native::References | Native::Changes | Native::Inline => {
                    let is_inline = native == Native::Inline && added.contains(name) && !found_tools.contains(name);
                    location_with_references(tool, native, lists_deferred, is_inline)
                }
                Native::Interactions if tool.loaded && !is_gone && !is_found(tool, name) => DefinitionLocation::Top,
                _ => location_with_definitions_in_events(tool, native, removals, lists_deferred),
            };
            // In Gemini Interactions, only tools that a search finds are added. All other tools must be in the list.
            let joins_list = native == Native::Interactions && tool.deferred && !tool.is_wanted;
            let is_new = joins_list || tool.redefined && native != Native::Inline && tool.is_available();
            if is_new && location == DefinitionLocation::Top {
                warnings.warn_named("prefix-changed", name.display());
            }
            // A tool that is removed, or was removed and added again, changes the list of earlier requests.
            let has_moved =
                tool.is_removed && location == DefinitionLocation::Nowhere && (tool.loaded || !tool.deferred)
                    || tool.was_removed_while_available
                        && (removals == Removals::Withdraw || native == Native::References)
                        && !has_removals;
            if has_moved {
                warnings.warn_named("prefix-changed", name.display());
            }
            locations.insert(name.clone(), location);
        }
        DefinitionLocations { locations, declared: Set::new() }
    }

    pub(crate) fn of(&self, name: &Text<'a>) -> DefinitionLocation {
        self.locations.get(name).copied().unwrap_or(DefinitionLocation::Nowhere)
    }

    pub(crate) fn keep_only(&mut self, only: &Set<Text<'a>>) {
        let gone: Vec<Text<'a>> = self.locations.keys().filter(|name| !only.contains(*name)).cloned().collect();
        self.locations.extend(gone.into_iter().map(|name| (name, DefinitionLocation::Nowhere)));
    }

    pub(crate) fn contains(&self, name: &Text<'a>) -> bool {
        self.locations.contains_key(name)
    }

    /// Declares tools. Returns only the names that no earlier event has declared.
    pub(crate) fn declare(&mut self, names: &[Text<'a>]) -> Vec<Text<'a>> {
        let is_added_by_event = |name: &Text<'a>| {
            matches!(self.locations.get(name), Some(DefinitionLocation::Event | DefinitionLocation::Deferred))
        };
        let mut out: Vec<Text<'a>> = Vec::new();
        for name in names.iter().filter(|name| is_added_by_event(name)) {
            if self.declared.insert(name.clone()) {
                out.push(name.clone());
            }
        }
        out
    }

    pub(crate) fn is_declared(&self, name: &Text<'a>) -> bool {
        self.declared.contains(name)
    }
}

/// Returns the tools that a search found before another event added them.
fn tools_found_first<'n, 'a>(conversation: &'n Conversation<'a>) -> Set<&'n Text<'a>> {
    let (mut found_tools, mut others) = (Set::new(), Set::new());
    for event in &conversation.events {
        match &event.kind {
            EventKind::Add(additions) | EventKind::Define(additions) => {
                others.extend(additions.iter().map(|addition| &addition.name));
            }
            EventKind::Result(outcome) => {
                let names = outcome.found_tools.iter().flatten().filter(|name| !outcome.removed_tools.contains(*name));
                match outcome.of_search {
                    Some(_) => found_tools.extend(names.filter(|name| !others.contains(*name))),
                    None => others.extend(names),
                }
            }
            _ => {}
        }
    }
    found_tools
}

/// Returns the tools that were loaded without a definition, for example by a call, before an event added them. These
/// tools remain in the list.
fn loaded_before_additions<'a>(conversation: &Conversation<'a>, loads_used_tools: bool) -> Set<Text<'a>> {
    let (mut added, mut pinned) = (conversation.referenced_tools.clone(), Set::new());
    for event in &conversation.events {
        let mut pin = |name: &Text<'a>| {
            if !added.contains(name) {
                pinned.insert(name.clone());
            }
        };
        match &event.kind {
            EventKind::Orphan(Content::Parts(parts)) => {
                let references = parts.iter().flat_map(|part| match part {
                    Part::Reference(reference) => core::slice::from_ref(reference),
                    Part::Search(search) => &search.references,
                    _ => &[],
                });
                references
                    .filter(|reference| reference.state == ToolState::Loaded)
                    .for_each(|loaded| pin(&loaded.name));
            }
            EventKind::Call(Call { name, .. }) | EventKind::Used(name) if loads_used_tools => pin(name),
            EventKind::Add(additions) | EventKind::Define(additions) => {
                added.extend(additions.iter().map(|addition| addition.name.clone()));
            }
            EventKind::Result(outcome) => added.extend(outcome.found_tools.iter().flatten().cloned()),
            _ => {}
        }
    }
    pinned
}

/// Returns the location of a definition for formats whose events contain definitions: Responses, Gemini Interactions
/// and Kimi. If `lists_deferred` is true, the list contains all its deferred tools.
fn location_with_definitions_in_events(
    tool: &Tool<'_>,
    native: Native,
    removals: Removals,
    lists_deferred: bool,
) -> DefinitionLocation {
    let is_gone = tool.is_removed && removals == Removals::Withdraw;
    if tool.listed && !tool.deferred {
        return if is_gone { DefinitionLocation::Nowhere } else { DefinitionLocation::Top };
    }
    // The API's own search covers only listed tools, and a tool stays in the list after the search finds it.
    if matches!(native, Native::ToolSearch | Native::Interactions) && lists_deferred && tool.listed && !is_gone {
        return DefinitionLocation::Deferred;
    }
    if is_gone || !tool.loaded {
        return DefinitionLocation::Nowhere;
    }
    // Names are unique, and an event cannot replace a definition.
    if tool.redefined {
        DefinitionLocation::Top
    } else {
        DefinitionLocation::Event
    }
}

/// Returns the location of a definition for Anthropic's format, whose events refer to definitions. If `lists_deferred`
/// is true, the list contains all its deferred tools.
fn location_with_references(
    tool: &Tool<'_>,
    native: Native,
    lists_deferred: bool,
    is_inline: bool,
) -> DefinitionLocation {
    let is_gone = tool.is_removed && native == Native::References;
    if is_gone {
        return DefinitionLocation::Nowhere;
    }
    if tool.listed && !tool.deferred {
        return DefinitionLocation::Top;
    }
    if tool.listed && (tool.loaded || lists_deferred) {
        return DefinitionLocation::Deferred;
    }
    match (tool.listed, is_inline) {
        (true, _) => DefinitionLocation::Nowhere,
        (false, true) => DefinitionLocation::Event,
        (false, false) if tool.loaded => DefinitionLocation::Deferred,
        (false, false) => DefinitionLocation::Nowhere,
    }
}
