//! The choice of tools (`tool_choice` and its counterparts): the tools that the model may or must call.

mod edit;

use alloc::{string::String, vec::Vec};

use crate::{
    collections::Set,
    error::Error,
    json::{self, lazy::view, Node, Text},
    wire::{units::has_type, ALL},
};

pub(crate) use edit::{Decision, CHOICE, PARALLEL_CALLS};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice<'a> {
    /// `auto`: the model decides.
    Auto,
    /// `none`: the model must not call a tool.
    None,
    /// `required` or `any`: the model must call at least one tool.
    Required,
    /// The model must call this tool.
    Tool(ToolRef<'a>),
    /// The model may call only these tools. If `required` is true, it must call at least one.
    Allowed { required: bool, tools: Vec<ToolRef<'a>> },
}

impl Choice<'_> {
    pub(crate) const fn is_demand(&self) -> bool {
        matches!(self, Choice::Required | Choice::Tool(_) | Choice::Allowed { required: true, .. })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToolRef<'a> {
    /// A tool, in Responses possibly in a namespace.
    Tool { namespace: Option<Text<'a>>, name: Text<'a> },
    /// `{"type": "tool_search"}` of Responses, which has no name.
    Search,
    /// All tools of a namespace of Responses.
    Namespace(Text<'a>),
    /// A hosted tool, identified by its type: `{"type": "web_search"}`.
    Hosted(Text<'a>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calling {
    Optional,
    Required,
    Forbidden,
}

#[derive(Debug)]
pub(crate) struct ChoiceFormat {
    /// The locations that the API reads, in order of preference.
    pub(super) locations: &'static [Location],
    pub(super) spelling: Spelling,
    pub(super) parallel: Parallel,
    pub(super) without_tools: WithoutTools,
    /// True if a translated request with tools has a choice even if the choice is the default.
    pub(super) writes_default: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Location {
    pub(crate) outer: &'static str,
    /// Member of the outer member; `None` if the outer member is the choice.
    pub(crate) inner: Option<&'static str>,
    pub(crate) pointer: &'static str,
}

/// Returns the locations of all formats. Locations in the request itself precede nested locations.
pub(crate) fn locations() -> Vec<Location> {
    let all = || ALL.iter().flat_map(|wire| wire.choice.locations);
    let mut locations: Vec<Location> = Vec::new();
    for location in
        all().filter(|location| location.inner.is_none()).chain(all().filter(|location| location.inner.is_some()))
    {
        if !locations.iter().any(|known| known.pointer == location.pointer) {
            locations.push(*location);
        }
    }
    locations
}

#[derive(Debug)]
pub(super) enum Spelling {
    /// A word, or an object with a `type`.
    Words(Words),
    /// An object whose only member names the kind of the choice.
    Kinds,
    /// A mode, with the names of the allowed tools. A mode for required calls, with a single name, forces that tool.
    Mode(Mode),
}

#[derive(Debug)]
pub(super) struct Words {
    /// The word for a choice that requires a call.
    pub(super) demand: &'static str,
    /// True if a choice without tools is also an object.
    pub(super) is_object: bool,
    pub(super) forced: Forced,
    pub(super) allowed: Allowed,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Forced {
    /// `{"type": "tool", "name": …}`, for every kind of tool.
    Tool,
    /// `{"type": "function", "name": …}`, with the kind of the tool.
    Kind,
    /// `{"type": "function", "function": {"name": …}}`, with the kind of the tool.
    Nested,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Allowed {
    None,
    /// `{"type": "allowed_tools", "mode": …, "tools": […]}`
    Inline,
    /// `{"type": "allowed_tools", "allowed_tools": {"mode": …, "tools": […]}}`
    Nested,
}

#[derive(Debug)]
pub(super) struct Mode {
    /// Member that contains the mode and the names. A choice without names is then only a word. `None` if the mode and
    /// the names are members of the choice.
    pub(super) within: Option<&'static str>,
    /// Spellings of the member with the names, in the order of the locations whose spelling they match.
    pub(super) names: &'static [&'static str],
    pub(super) auto: &'static str,
    pub(super) any: &'static str,
    /// Members that ask for arguments in pieces.
    pub(super) pieces: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parallel {
    None,
    /// In the choice: `disable_parallel_tool_use`.
    InChoice,
    /// In the request: `parallel_tool_calls`.
    InRequest,
}

/// The choices that the API accepts in a request without tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WithoutTools {
    All,
    /// All except `auto`.
    NotAuto,
    None,
}

/// The root member with the choice that OpenAI's and Anthropic's formats share.
pub(super) const TOOL_CHOICE: Location = Location { outer: "tool_choice", inner: None, pointer: "/tool_choice" };
/// Members in which Chat Completions nests the name of a tool.
const INNER: [&str; 2] = ["function", "custom"];
const ALLOWED: &str = "allowed_tools";
/// The kinds of a choice that is an object with one member.
const KIND_AUTO: &str = "auto";
const KIND_ANY: &str = "any";
const KIND_TOOL: &str = "tool";
/// Converse does not have this kind, but some clients send it.
const KIND_NONE: &str = "none";

fn name_of<'a>(node: &Node<'a>) -> Option<Text<'a>> {
    node.text_at("name").cloned()
}

/// Reads a choice in the spelling of any API, because gateways mix the spellings. Returns `None` for unknown spellings.
fn read_words<'a>(choice: &Node<'a>) -> Option<Choice<'a>> {
    // Cohere uses upper-case words.
    let is_word = |name: &str| choice.as_text().is_some_and(|word| word.display().eq_ignore_ascii_case(name));
    let is = |name: &str| is_word(name) || has_type(choice, name);
    if is("auto") {
        return Some(Choice::Auto);
    }
    if is("any") || is("required") {
        return Some(Choice::Required);
    }
    if is("none") {
        return Some(Choice::None);
    }
    if has_type(choice, ALLOWED) {
        let inner = choice.get(ALLOWED).unwrap_or(choice);
        let listed = inner.items_at("tools");
        let required = inner.get("mode").is_some_and(|mode| mode.is_text("required"));
        return Some(Choice::Allowed { required, tools: listed.iter().filter_map(tool_ref).collect() });
    }
    tool_ref(choice).map(Choice::Tool)
}

fn tool_ref<'a>(entry: &Node<'a>) -> Option<ToolRef<'a>> {
    let tool = |namespace, name| ToolRef::Tool { namespace, name };
    if let Some(name) = INNER.iter().find_map(|inner| name_of(entry.get(inner)?)) {
        return Some(tool(None, name));
    }
    if has_type(entry, "tool_search") {
        return Some(ToolRef::Search);
    }
    if has_type(entry, "namespace") {
        return name_of(entry).map(ToolRef::Namespace);
    }
    let is_tool =
        entry.get("type").is_none() || ["tool", "function", "custom"].iter().any(|kind| has_type(entry, kind));
    if !is_tool {
        let kind = entry.text_at("type");
        // Choices that do not name a tool may also be objects: `{"type": "auto"}`.
        let is_plain = |kind: &&Text<'_>| ["auto", "any", "none", "required"].iter().any(|plain| kind.is(*plain));
        return kind.filter(|kind| !is_plain(kind)).cloned().map(ToolRef::Hosted);
    }
    let namespace = entry.text_at("namespace").cloned();
    name_of(entry).map(|name| tool(namespace, name))
}

fn read_kinds<'a>(choice: &Node<'a>) -> Option<Choice<'a>> {
    let is_set = |kind: &str| choice.get(kind).is_some_and(|value| !value.is_null());
    if is_set(KIND_AUTO) {
        return Some(Choice::Auto);
    }
    if is_set(KIND_ANY) {
        return Some(Choice::Required);
    }
    if is_set(KIND_NONE) {
        return Some(Choice::None);
    }
    let name = choice.get(KIND_TOOL).and_then(name_of);
    name.map(|name| Choice::Tool(ToolRef::Tool { namespace: None, name }))
}

impl Mode {
    fn holder<'n, 'a>(&self, choice: &'n Node<'a>) -> Option<&'n Node<'a>> {
        match self.within {
            Some(within) => choice.get(within),
            None => Some(choice),
        }
    }

    fn is_mode(&self, choice: &Node<'_>, wanted: &str) -> bool {
        let mode = match self.holder(choice) {
            Some(holder) => holder.get("mode"),
            None => Some(choice),
        };
        let mode = mode.and_then(Node::as_text);
        mode.is_some_and(|mode| mode.display().eq_ignore_ascii_case(wanted))
    }

    fn read<'a>(&self, choice: &Node<'a>) -> Option<Choice<'a>> {
        let is = |name: &str| self.is_mode(choice, name);
        if is("none") {
            return Some(Choice::None);
        }
        let holder = self.holder(choice);
        let listed = holder.and_then(|holder| self.names.iter().find_map(|key| holder.get(*key)?.as_array()));
        let names = listed.unwrap_or_default().iter().filter_map(Node::as_text);
        let mut tools: Vec<ToolRef<'a>> =
            names.map(|name| ToolRef::Tool { namespace: None, name: name.clone() }).collect();
        let required = is("any");
        match (tools.len(), required) {
            (0, true) => Some(Choice::Required),
            // `validated` validates the arguments of calls but does not require a call.
            (0, false) => (is("auto") || is("validated")).then_some(Choice::Auto),
            (1, true) => tools.pop().map(Choice::Tool),
            _ => Some(Choice::Allowed { required, tools }),
        }
    }

    /// Returns the member with the names, in the spelling of the choice or of its location.
    fn names_in(&self, choice: &Node<'_>, location: &str) -> &'static str {
        let used = self.names.iter().find(|key| choice.get(**key).is_some());
        let alike = || self.names.iter().find(|key| key.contains('_') == location.contains('_'));
        used.or_else(alike).or_else(|| self.names.first()).copied().unwrap_or_default()
    }

    fn write<'a>(&self, mode: &'static str, names: Vec<Text<'a>>) -> Node<'a> {
        let names = Node::array(names.into_iter().map(Node::string).collect());
        let key = self.names.first().copied().unwrap_or_default();
        let choice = Node::record([("mode", Node::literal(mode)), (key, names)]);
        match self.within {
            Some(within) => Node::record([(within, choice)]),
            None => choice,
        }
    }
}

impl Location {
    fn look<'a, R>(&self, request: &Node<'a>, look: impl FnOnce(&Node<'a>) -> R) -> Result<Option<R>, Error> {
        let outer = request.get(self.outer).map(view).transpose()?;
        let choice = match self.inner {
            Some(inner) => outer.as_deref().and_then(|outer| outer.get(inner)),
            None => outer.as_deref(),
        };
        Ok(choice.filter(|choice| !choice.is_null()).map(look))
    }
}

impl ChoiceFormat {
    pub(crate) fn pointer(&self) -> &'static str {
        self.locations.first().map(|location| location.pointer).unwrap_or_default()
    }

    pub(crate) fn is_setting(&self) -> bool {
        matches!(&self.spelling, Spelling::Mode(Mode { within: Some(_), .. }))
    }

    pub(crate) const fn without_tools(&self) -> WithoutTools {
        self.without_tools
    }

    pub(crate) const fn has_allowed(&self) -> bool {
        match &self.spelling {
            Spelling::Words(words) => !matches!(words.allowed, Allowed::None),
            Spelling::Kinds => false,
            Spelling::Mode(_) => true,
        }
    }

    pub(crate) fn read<'a>(&self, choice: &Node<'a>) -> Option<Choice<'a>> {
        match &self.spelling {
            Spelling::Words(_) => read_words(choice),
            Spelling::Kinds => read_kinds(choice),
            Spelling::Mode(mode) => mode.read(choice),
        }
    }

    /// Returns the choice as JSON text and parsed.
    pub(crate) fn of<'a>(&self, request: &Node<'a>) -> Result<Option<(String, Option<Choice<'a>>)>, Error> {
        for location in self.locations {
            let choice = location.look(request, |choice| (json::write(choice), self.read(choice)))?;
            if choice.is_some() {
                return Ok(choice);
            }
        }
        Ok(None)
    }

    pub(crate) fn chosen<'a>(&self, request: &Node<'a>) -> Result<Option<Choice<'a>>, Error> {
        for location in self.locations {
            if let Some(choice) = location.look(request, |choice| self.read(choice))? {
                return Ok(choice);
            }
        }
        Ok(None)
    }

    pub(crate) fn forced_name<'a>(&self, request: &Node<'a>) -> Result<Option<Text<'a>>, Error> {
        Ok(match self.chosen(request)? {
            Some(Choice::Tool(ToolRef::Tool { name, .. })) => Some(name),
            _ => None,
        })
    }

    pub(crate) fn is_list(&self, request: &Node<'_>) -> Result<bool, Error> {
        Ok(matches!(self.chosen(request)?, Some(Choice::Allowed { .. })))
    }

    pub(crate) fn pointer_in(&self, request: &Node<'_>) -> Result<Option<&'static str>, Error> {
        for location in self.locations {
            if location.look(request, |_| ())?.is_some() {
                return Ok(Some(location.pointer));
            }
        }
        Ok(None)
    }

    pub(crate) fn pointer_to_demand(&self, request: &Node<'_>) -> Result<Option<&'static str>, Error> {
        for location in self.locations {
            let is_demand = |choice: &Node<'_>| self.read(choice).is_some_and(|choice| choice.is_demand());
            if location.look(request, is_demand)? == Some(true) {
                return Ok(Some(location.pointer));
            }
        }
        Ok(None)
    }

    pub(crate) fn call_requirement(&self, request: &Node<'_>) -> Result<Calling, Error> {
        if self.pointer_to_demand(request)?.is_some() {
            return Ok(Calling::Required);
        }
        for location in self.locations {
            if location.look(request, |choice| self.read(choice) == Some(Choice::None))? == Some(true) {
                return Ok(Calling::Forbidden);
            }
        }
        Ok(Calling::Optional)
    }

    /// Writes a choice that names no tool.
    pub(crate) fn plain<'a>(&self, choice: &Choice<'_>) -> Node<'a> {
        match &self.spelling {
            Spelling::Words(words) => {
                let word = match choice {
                    Choice::None => "none",
                    choice if choice.is_demand() => words.demand,
                    _ => "auto",
                };
                match words.is_object {
                    true => Node::record([("type", Node::literal(word))]),
                    false => Node::literal(word),
                }
            }
            Spelling::Kinds => {
                Node::record([(if choice.is_demand() { KIND_ANY } else { KIND_AUTO }, Node::empty_object())])
            }
            Spelling::Mode(mode) => Node::literal(match choice {
                Choice::None => "none",
                choice if choice.is_demand() => mode.any,
                _ => mode.auto,
            }),
        }
    }

    pub(crate) fn forced<'a>(&self, name: Text<'a>, is_custom: bool) -> Node<'a> {
        match &self.spelling {
            Spelling::Words(words) => {
                let kind = if is_custom { "custom" } else { "function" };
                let (type_member, name_member) = (("type", Node::literal(kind)), ("name", Node::string(name)));
                match words.forced {
                    Forced::Tool => Node::record([("type", Node::literal("tool")), name_member]),
                    Forced::Kind => Node::record([type_member, name_member]),
                    Forced::Nested => Node::record([type_member, (kind, Node::record([name_member]))]),
                }
            }
            Spelling::Kinds => Node::record([(KIND_TOOL, Node::record([("name", Node::string(name))]))]),
            Spelling::Mode(mode) => mode.write(mode.any, Vec::from([name])),
        }
    }

    /// Writes a choice of allowed tools. If the format cannot list them, the choice names no tool.
    pub(crate) fn allowed<'a>(&self, required: bool, names: Vec<Text<'a>>, custom: &Set<Text<'a>>) -> Node<'a> {
        let plain = if required { Choice::Required } else { Choice::Auto };
        let words = match &self.spelling {
            Spelling::Mode(mode) => return mode.write(if required { mode.any } else { mode.auto }, names),
            Spelling::Kinds => return self.plain(&plain),
            Spelling::Words(words) => words,
        };
        let tools = names.into_iter().map(|name| {
            let is_custom = custom.contains(&name);
            self.forced(name, is_custom)
        });
        let (tools, mode) = (("tools", Node::array(tools.collect())), ("mode", self.plain(&plain)));
        let kind = ("type", Node::literal(ALLOWED));
        match words.allowed {
            Allowed::Nested => Node::record([kind, (ALLOWED, Node::record([mode, tools]))]),
            Allowed::Inline | Allowed::None => Node::record([kind, mode, tools]),
        }
    }
}
