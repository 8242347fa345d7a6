//! Rules of an API about a request as a whole: the choice of tools, and members that an API refuses regardless of the
//! tools.

use alloc::{format, string::String, vec::Vec};

use crate::{
    collections::Set,
    dialect::{
        backends::RequestFacts,
        requests::{Refusal, RequestFact, Thinks, CUSTOM_TOOLS, EMPTIED_LIST, EMPTY_NAMESPACE, NAMESPACES},
    },
    error::{Code, Error},
    json::{
        lazy::{may_hold, view},
        Flags, Node,
    },
    options::Api,
    report::Reason,
    request::{carriers, tool::has_type},
    wire::calls::{CallForm, CallKind},
    wire::responses::namespaces,
    wire::{
        self,
        choice::{Choice, CHOICE, PARALLEL_CALLS},
        tool_list::members_beside_tools,
    },
};

/// A change of a request outside its tools.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestChange {
    /// JSON Pointer into the input.
    pub pointer: String,
    /// Rule of the [`RequestFact`] behind the change.
    pub rule: &'static str,
    /// Human-readable: how the request was changed. Contains no values of the request.
    pub message: String,
    /// The fact behind the change.
    pub reason: Reason,
}

impl RequestChange {
    pub(crate) fn new(pointer: impl Into<String>, fact: &RequestFact, message: impl Into<String>) -> Self {
        let reason = Reason::fact(fact.statement, fact.confidence, fact.source);
        RequestChange { pointer: pointer.into(), rule: fact.rule(), message: message.into(), reason }
    }
}

/// A choice of tools that the API refuses in this request, and the choice that is sent instead.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChoiceChange {
    /// The original choice, as JSON.
    pub found: String,
    /// The choice that is sent, as JSON; `null` if no choice is sent.
    pub sent: String,
    /// Reason for the change: the API's answer, with its source.
    pub because: &'static str,
}

/// Reports the tools of the list and of namespaces, and the tools that the history adds.
pub(crate) fn report_custom_tools(request: &Node<'_>, api: Api) -> Result<Vec<RequestChange>, Error> {
    let mut changes = Vec::new();
    let mut report = |tool: &Node<'_>, pointer: String| {
        if has_type(tool, "custom") {
            let message = "declared the `custom` tool as a function with `input`; `restore` reverts it";
            changes.push(RequestChange::new(pointer, &CUSTOM_TOOLS, message));
        }
    };
    each_entry(request, api, |_, pointer, tool| {
        let members = tool.array_at("tools").filter(|_| has_type(tool, "namespace"));
        for (inner, member) in members.unwrap_or_default().iter().enumerate() {
            report(member, format!("{pointer}/tools/{inner}"));
        }
        report(tool, pointer);
    })?;
    Ok(changes)
}

/// Calls `visit` with the index in the list of the request, the pointer and the entry. Also visits the lists in the
/// history.
fn each_entry<'a>(
    request: &Node<'a>,
    api: Api,
    mut visit: impl FnMut(Option<usize>, String, &Node<'a>),
) -> Result<(), Error> {
    if let Some(tools) = request.get("tools") {
        for (at, tool) in view(tools)?.as_array().unwrap_or_default().iter().enumerate() {
            visit(Some(at), format!("/tools/{at}"), tool);
        }
    }
    if !wire::of(api).tools().has_namespaces() {
        return Ok(());
    }
    carriers::each_at(request, api, None, |location, tools| {
        for (at, tool) in tools.iter().enumerate() {
            visit(None, location.pointer(api, at), tool);
        }
    })
}

#[derive(Clone, Default)]
pub(crate) struct Namespaces(Vec<Namespace>);

#[derive(Clone)]
pub(crate) struct Namespace {
    /// The index in the list of the request; `None` if the history adds the namespace.
    pub(crate) index: Option<usize>,
    pub(crate) name: String,
    pointer: String,
    /// `None` if the namespace has no description; true if its tools' descriptions receive its description.
    description: Option<bool>,
    has_tools: bool,
}

impl Namespaces {
    pub(crate) fn of(request: &Node<'_>, api: Api) -> Result<Self, Error> {
        let mut namespaces = Vec::new();
        each_entry(request, api, |index, pointer, tool| {
            // A namespace without a list stays in the request, because it is treated as a tool that the API runs.
            let Some(tools) = tool.array_at("tools").filter(|_| has_type(tool, "namespace")) else { return };
            namespaces.push(Namespace {
                index,
                name: tool.text_at("name").map(|name| name.display().into_owned()).unwrap_or_default(),
                pointer,
                description: namespaces::description_of(tool).map(|text| namespaces::may_describe(text, tools.len())),
                has_tools: !tools.is_empty(),
            });
        })?;
        Ok(Namespaces(namespaces))
    }

    pub(crate) fn indices(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().filter_map(|namespace| namespace.index)
    }

    /// Reports the namespaces that the rewritten request no longer has, except those that are put back.
    pub(crate) fn report(
        self,
        request: &Node<'_>,
        api: Api,
        is_put_back: impl Fn(&Namespace) -> bool,
    ) -> Result<Vec<RequestChange>, Error> {
        if self.0.is_empty() {
            return Ok(Vec::new());
        }
        let remaining = Namespaces::of(request, api)?.0;
        let [has_listed, has_added] =
            [true, false].map(|is_listed| remaining.iter().any(|namespace| namespace.index.is_some() == is_listed));
        let change = |Namespace { pointer, description, has_tools, .. }: Namespace| {
            let (fact, message) = match (has_tools, description) {
                (false, _) => (&EMPTY_NAMESPACE, "removed a namespace without tools"),
                (true, None) => (&NAMESPACES, "moved the tools of the namespace to the list of tools"),
                (true, Some(true)) => (
                    &NAMESPACES,
                    "moved the tools of the namespace to the list of tools, and prepended its description to theirs",
                ),
                (true, Some(false)) => (
                    &NAMESPACES,
                    "moved the tools of the namespace to the list of tools, without its description, which is too long",
                ),
            };
            RequestChange::new(pointer, fact, message)
        };
        let is_gone = |namespace: &Namespace| match namespace.index {
            Some(_) => !has_listed,
            None => !has_added,
        };
        Ok(self.0.into_iter().filter(|namespace| is_gone(namespace) && !is_put_back(namespace)).map(change).collect())
    }
}

pub(crate) fn namespaced_calls(request: &Node<'_>, api: Api) -> Result<Vec<usize>, Error> {
    let mut indices = Vec::new();
    if !wire::of(api).tools().has_namespaces() {
        return Ok(indices);
    }
    for (at, item) in request.items_at(wire::of(api).history()).iter().enumerate() {
        if may_hold(item, Flags::DEFERRAL) {
            let item = view(item)?;
            let is_call = CallForm::find(&item).is_some_and(|form| form.is_item && form.kind != CallKind::Search);
            indices.extend((is_call && item.get("namespace").is_some_and(is_set)).then_some(at));
        }
    }
    Ok(indices)
}

/// Reports the calls that lost their namespace. `before` contains the indices of the calls that had a namespace. If
/// messages were added or removed, the report points to the whole history.
pub(crate) fn report_flattened_calls(
    request: &Node<'_>,
    api: Api,
    before: &[usize],
    is_aligned: bool,
) -> Result<Vec<RequestChange>, Error> {
    let after: Set<usize> = namespaced_calls(request, api)?.into_iter().collect();
    let change = |pointer: String| {
        RequestChange::new(pointer, &NAMESPACES, "gave a call the flat name of its tool, without the namespace")
    };
    if !is_aligned {
        return Ok((after.len() < before.len()).then(|| change("/input".into())).into_iter().collect());
    }
    Ok(before.iter().filter(|at| !after.contains(*at)).map(|at| change(format!("/input/{at}/namespace"))).collect())
}

/// Members of a request that the API accepts only with tools. They are recorded before rewriting, which may remove some
/// of the members.
#[derive(Default)]
pub(crate) struct OriginalMembers {
    keys: Vec<&'static str>,
    /// The choice, as JSON.
    choice: Option<String>,
}

impl OriginalMembers {
    pub(crate) fn of(request: &Node<'_>, api: Api) -> Result<Self, Error> {
        let is_given = |key: &&str| request.get(*key).is_some_and(is_set);
        let keys = members_beside_tools().into_iter().filter(is_given).collect();
        Ok(OriginalMembers { keys, choice: choice_of(request, api)?.map(|(written, _)| written) })
    }
}

fn is_set(member: &Node<'_>) -> bool {
    !member.is_null()
}

/// Weakens or removes a choice that the API refuses in this request, and reports members that were removed with an
/// emptied list.
///
/// # Errors
/// `invalid-request` for a choice that forces a call in a request without tools.
pub(crate) fn fix_choice(
    request: &mut Node<'_>,
    api: Api,
    (facts, model): (&RequestFacts, &str),
    original: OriginalMembers,
    is_emptied: bool,
) -> Result<(Option<ChoiceChange>, Vec<RequestChange>), Error> {
    let without = rule_without_tools(request, api, facts)?;
    let original_choice = choice_of(request, api)?;
    if let Some(rule) = &without {
        if let Some((_, Some(choice))) = &original_choice {
            if choice.is_demand() {
                let message = format!("expected tools that the choice can force, found none; {}", rule.fact.source);
                return Err(Error::new(Code::InvalidRequest, wire::of(api).choice().pointer(), message));
            }
        }
        for key in rule.broken_by(request, original_choice.as_ref()) {
            request.remove(key);
        }
    }
    if let Some(fact) = without.map(|rule| rule.fact).or(is_emptied.then_some(&EMPTIED_LIST)) {
        let removed = || original.keys.iter().filter(|key| request.get(**key).is_none());
        let mut changes: Vec<RequestChange> =
            removed().map(|key| RequestChange::new(format!("/{key}"), fact, format!("removed `{key}`"))).collect();
        // Gemini Interactions has the choice in its settings, which are kept.
        let is_setting = wire::of(api).choice().is_setting() && original.choice.is_some() && original_choice.is_none();
        if is_setting {
            changes.push(RequestChange::new(wire::of(api).choice().pointer(), fact, "removed `tool_choice`"));
        }
        let choice = original.choice.as_ref().filter(|_| is_setting || removed().any(|key| *key == CHOICE));
        let choice = choice.map(|original_choice| ChoiceChange {
            found: original_choice.clone(),
            sent: "null".into(),
            because: fact.source,
        });
        return Ok((choice, changes));
    }
    let unchanged = (None, Vec::new());
    let Some((original_choice, choice)) = original_choice else { return Ok(unchanged) };
    let Some((fact, accepts_required)) = while_thinking(request, facts, model)? else { return Ok(unchanged) };
    if !is_refused(choice.as_ref(), accepts_required) {
        return Ok(unchanged);
    }
    if accepts_required {
        wire::of(api).choice().replace(request, &Choice::Required)?;
    } else {
        wire::of(api).choice().weaken(request)?;
    }
    let sent = choice_of(request, api)?.map(|(written, _)| written).unwrap_or_default();
    let pointer = wire::of(api).choice().pointer();
    let name = pointer.rsplit('/').next().unwrap_or_default();
    let change = RequestChange::new(pointer, fact, format!("weakened `{name}`"));
    Ok((Some(ChoiceChange { found: original_choice, sent, because: fact.source }), Vec::from([change])))
}

/// Returns true if a model that is thinking refuses a choice.
fn is_refused(choice: Option<&Choice<'_>>, accepts_required: bool) -> bool {
    match choice {
        Some(Choice::Tool(_)) => true,
        Some(Choice::Required | Choice::Allowed { required: true, .. }) => !accepts_required,
        _ => false,
    }
}

/// Returns the fact that the choice of a request violates, and the pointer to the choice, if [`fix_choice`] would
/// change or refuse it.
pub(crate) fn broken_by_choice(
    request: &Node<'_>,
    api: Api,
    (facts, model): (&RequestFacts, &str),
) -> Result<Option<(&'static str, &'static RequestFact)>, Error> {
    let choice_with_text = choice_of(request, api)?;
    if let Some(rule) = rule_without_tools(request, api, facts)? {
        let pointer = match rule.broken_by(request, choice_with_text.as_ref()).first() {
            Some(&CHOICE) => wire::of(api).choice().pointer(),
            Some(_) => "/parallel_tool_calls",
            None => return Ok(None),
        };
        return Ok(Some((pointer, rule.fact)));
    }
    let Some((_, choice)) = choice_with_text else { return Ok(None) };
    let thinks = while_thinking(request, facts, model)?;
    let broken = thinks.filter(|(_, accepts_required)| is_refused(choice.as_ref(), *accepts_required));
    Ok(broken.map(|(fact, _)| (wire::of(api).choice().pointer(), fact)))
}

/// Returns the choice of a request, as JSON and parsed, if it has one.
pub(crate) fn choice_of<'a>(request: &Node<'a>, api: Api) -> Result<Option<(String, Option<Choice<'a>>)>, Error> {
    wire::of(api).choice().of(request)
}

struct WithoutTools {
    fact: &'static RequestFact,
    accepts_none: bool,
    is_of_parallel_calls: bool,
    accepts_auto: bool,
}

impl WithoutTools {
    fn broken_by(&self, request: &Node<'_>, choice: Option<&(String, Option<Choice<'_>>)>) -> &'static [&'static str] {
        match choice {
            Some((_, Some(Choice::None))) if self.accepts_none => &[],
            Some((_, Some(Choice::Auto))) | None if self.accepts_auto => &[],
            Some(_) => &[CHOICE, PARALLEL_CALLS],
            None if self.is_of_parallel_calls && request.get(PARALLEL_CALLS).is_some_and(is_set) => &[PARALLEL_CALLS],
            None => &[],
        }
    }
}

/// Returns the API's rule about choices without tools; `None` if there is no such rule, or if the request has tools.
fn rule_without_tools(request: &Node<'_>, api: Api, facts: &RequestFacts) -> Result<Option<WithoutTools>, Error> {
    let rule = facts.iter().find_map(|fact| match fact.refuses {
        Refusal::ChoiceWithoutTools { accepts_none, is_of_parallel_calls, accepts_auto } => {
            Some(WithoutTools { fact, accepts_none, is_of_parallel_calls, accepts_auto: accepts_auto.contains(&api) })
        }
        _ => None,
    });
    let Some(rule) = rule else { return Ok(None) };
    if let Some(tools) = request.get("tools") {
        let tools = view(tools)?;
        if tools.as_array().map_or(!tools.is_null(), |list| !list.is_empty()) {
            return Ok(None);
        }
    }
    // Stored prompts of Responses may contain tools, and so may items of the history.
    let has_prompt = request.get("prompt").is_some_and(is_set);
    Ok((!has_prompt && !carriers::any(request, api)?).then_some(rule))
}

/// Returns the fact about choices while the model is thinking, if the model is thinking. The flag is true if the API
/// accepts `required`.
fn while_thinking(
    request: &Node<'_>,
    facts: &RequestFacts,
    model: &str,
) -> Result<Option<(&'static RequestFact, bool)>, Error> {
    let rule = facts.iter().find_map(|fact| match fact.refuses {
        Refusal::ChoiceWhileThinking { models, thinks, required } if models.include(model) => {
            Some((fact, thinks, required))
        }
        _ => None,
    });
    let Some((fact, thinks, required)) = rule else { return Ok(None) };
    // In Bedrock Converse, members for a specific model are in `additionalModelRequestFields`.
    let fields = request.get("additionalModelRequestFields").map(view).transpose()?;
    let member = |key: &str| request.get(key).or_else(|| fields.as_deref()?.get(key)).map(view).transpose();
    let thinking = member("thinking")?;
    let kind = thinking.as_deref().and_then(|thinking| thinking.get("type"));
    let is_type = |name: &str| kind.is_some_and(|kind| kind.is_text(name));
    let enabled = member("enable_thinking")?;
    let is_enabled = enabled.is_some_and(|enabled| enabled.as_bool() == Some(true));
    let does_think = match thinks {
        Thinks::Always => true,
        Thinks::ByDefault => !is_type("disabled"),
        Thinks::IfAsked => is_type("enabled") || is_type("adaptive"),
        Thinks::IfExtended => is_type("enabled"),
        Thinks::IfEnabled => is_enabled,
    };
    Ok(does_think.then_some((fact, required)))
}
