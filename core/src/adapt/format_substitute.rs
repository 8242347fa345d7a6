//! Replaces response formats that are not sent as response formats. The schema becomes the parameters of a function
//! that the model is forced to call, or is written into the instructions.

use alloc::{
    borrow::ToOwned as _,
    format,
    string::{String, ToString as _},
    sync::Arc,
};

use super::{
    context::RequestContext,
    report::AdaptReport,
    substitute::{Kind, Limit, Stop, Substitute, NEXT_IS_PROMPT},
};
use crate::{
    check::findings::FindingLimit,
    collections::Set,
    dialect::{
        backends::RequestFacts,
        formats::{steps_of, Forces, FormatLocation, FormatSteps},
        requests::{FormatRule, Refusal, RequestFact},
        rule::Location,
        Dialect,
    },
    effect::{Accepts, Guidance},
    error::{Code, Error},
    json::{self, lazy, Data, Flags, Node, Text},
    options::{Allow, Api, DeferredOptions, Formats, Native, ToolFormat},
    reply::answer::text::Answer,
    report::{Change, Reason, Severity},
    request::{
        self, carriers, flat_list,
        formats::{put_json_mode, remove_json_mode, take_format, TranslatedFormat},
        report::Warnings,
        tool::{self, is_cache_point, starts_with, type_of},
        tool_format::{self, Edits, Entry},
    },
    rules::Rule,
    sanitize::{declares_object, decode::Plan},
    tools::{
        formats::{self, FormatChange},
        sanitize_list::ToolChange,
        servers::Servers,
        target::change_outside_arguments,
    },
    wire::{
        self,
        choice::{Calling, Choice, ToolRef, CHOICE, PARALLEL_CALLS},
        prompt::insert_before_input,
        tool_list::HOLDERS,
        units, GROUPS,
    },
};

/// Name of the function whose arguments are the answer.
const ANSWER: &str = "give_answer";
const DESCRIPTION: &str = "Call this function to give the final answer: its arguments are the answer.";

/// Replaces the response format of a request with a function or with instructions, as the options request. Returns
/// `None` if the format is kept, or if the request has no format.
///
/// # Errors
/// `not-representable` for a format that this form cannot send, and for several formats.
pub(super) fn substitute(request: &mut Node<'_>, context: &RequestContext<'_, '_>) -> Result<Option<Substitute>, Stop> {
    let step = context.formats;
    let locations = request::formats::pointers(request, context.api)?;
    let (pointer, location) = match locations.as_slice() {
        [] => return Ok(None),
        [format] if format.1.item.is_none() => format,
        [.., (pointer, _)] => {
            let message = "expected one response format in the request itself, found several or one in the history";
            return Err(Stop::Format(Error::new(Code::NotRepresentable, pointer.as_str(), message)));
        }
    };
    let from = format!("{pointer}/{}", location.schema);
    let steps = steps_of(context.dialect);
    let member = Some(location.schema).filter(|_| location.path.is_empty());
    let language = if location.carrier == Some(ToolFormat::Gemini) { GEMINI_SCHEMA } else { "JSON Schema" };
    if step == Formats::Tool && steps.forces == Forces::Nothing {
        let message =
            format!("expected an API that can force a call, found one that cannot ({}){NEXT_IS_PROMPT}", steps.source);
        return Err(Stop::Format(Error::new(Code::NotRepresentable, from, message)));
    }
    if request::formats::is_bare_text(request, context.api)? {
        let message = "expected a JSON response format, found an enumeration as plain text, which only the \
            API's own format can return";
        return Err(Stop::Format(Error::new(Code::NotRepresentable, from, message)));
    }
    if let Some(fact) = prefill_refused(request, context)? {
        let message = format!("expected a request without a prefilled answer, found one: {}", fact.statement);
        return Err(Stop::Format(Error::new(Code::NotRepresentable, from, message)));
    }
    let word = steps.required.filter(|_| location.kind == Some("json_object"));
    let mut lost = Warnings::default();
    let Some(response_format) = take_format(request, context.api, &mut lost)? else { return Ok(None) };
    if !lost.is_empty() {
        let message = "expected one response format, found additional ones, which would be lost";
        return Err(Stop::Format(Error::new(Code::NotRepresentable, from, message)));
    }
    let kind = match step {
        Formats::Tool => put_tool(request, response_format, (location, word), &from, context, steps)?,
        _ => put_prompt(request, response_format, (member, language), &from, context, steps)?,
    };
    Ok(Some(Substitute { from, kind }))
}

/// Name of the schema language of `responseSchema`, in which types may be in upper case.
const GEMINI_SCHEMA: &str = "schema in the form of Gemini's API";

/// Rule of the facts about forced calls while the model is thinking.
const WHILE_THINKING: &str = "choice-while-thinking";

const NEXT_IS_TOOL: &str =
    "; with `formats: \"tool\"`, the schema is sent as a function that the model is forced to call";

/// Adds advice about the next form to the error of a format that the API cannot accept as a response format.
pub(super) fn advise_next_form(error: Error, dialect: &Dialect) -> Error {
    if error.code() != Code::NotRepresentable {
        return error;
    }
    let next = match steps_of(dialect).forces {
        Forces::Nothing => NEXT_IS_PROMPT,
        _ => NEXT_IS_TOOL,
    };
    Error::new(error.code(), error.pointer(), error.message().to_owned() + next)
}

fn put_tool(
    request: &mut Node<'_>,
    response_format: TranslatedFormat<'_>,
    (location, word): (&FormatLocation, Option<&'static str>),
    from: &str,
    context: &RequestContext<'_, '_>,
    steps: &FormatSteps,
) -> Result<Kind, Stop> {
    let RequestContext { api, target, dialect, options, .. } = *context;
    let refused = |found: &str| {
        let message = format!("expected a request in which the API can force a call to one function, found {found}");
        Stop::Format(Error::new(Code::NotRepresentable, from, message + NEXT_IS_PROMPT))
    };
    // JSON mode would also constrain the text next to the call.
    remove_json_mode(request, api)?;
    let mut others = OtherTools::of(request, (api, target), dialect, context.deferred.as_deref())?;
    let servers = context.servers.iter().flat_map(Servers::owners);
    others.names.extend(servers.map(|(_, owner)| owner.name.display().into_owned()));
    let choice = wire::of(api).choice();
    let calling = choice.call_requirement(request)?;
    match calling {
        Calling::Required if others.is_demand_for_client(choice.chosen(request)?.as_ref()) => {
            return Ok(Kind::NoAnswer);
        }
        // The model may call a tool that the API runs, and then give its answer in prose.
        Calling::Required => return Err(refused("a choice that a tool run by the API can satisfy")),
        Calling::Optional if others.has_hosted => return Err(refused("tools that the API runs")),
        Calling::Forbidden if others.is_any && steps.forces != Forces::Named => {
            return Err(refused("a choice that forbids calls to the request's tools"));
        }
        _ => {}
    }
    if formats::begins_answer(request, api)? {
        return Err(refused("a prefilled answer"));
    }
    let is_free = |name: &String| !others.names.contains(name);
    let numbered = || (2_u32..).map(|number| format!("{ANSWER}_{number}")).find(|name| is_free(name));
    let name = Some(String::from(ANSWER)).filter(is_free).or_else(numbered).unwrap_or_default();
    let mut description = String::from(DESCRIPTION);
    // Many clients name every format `response`.
    if let Some(name) = response_format.name.as_ref().and_then(Text::value).filter(|name| name != "response") {
        description += &format!(" The answer is called `{name}`.");
    }
    if let Some(format_description) = response_format.description.as_ref().and_then(Text::value) {
        description += &format!(" {format_description}");
    }
    let mut schema = response_format.schema.detached();
    // References resolve by the numbers of the values.
    schema.number_in_order();
    let mut entry = Node::record([
        ("name", Node::string(name.clone())),
        ("description", Node::string(description)),
        ("inputSchema", schema),
    ]);
    // The rules for the schema depend on its member, so the function keeps the member of the format if the API has it.
    let home = dialect.tools.format;
    let is_of_api = |carrier: &ToolFormat| *carrier == home || dialect.tools.dialect_in(*carrier).is_some();
    let format = location.carrier.filter(is_of_api).unwrap_or_else(|| tool_format::sent_to(api, home));
    // The function needs the flag `strict` only if the dialect of each tool depends on the tool's flag.
    let strict =
        (response_format.strict.unwrap_or(location.is_enforced) && options.tools.by_flag.is_some()).then_some(true);
    if let Entry::Tool(shape) = tool_format::recognize(&entry) {
        shape.convert_entry(
            &mut entry,
            format,
            None,
            Edits { name: None, description: None, strict, removes_schema: false },
        );
    }
    let path = tool_format::pointer(&tool_format::shape_in(format, false).pointer_to_schema());
    let at = wire::of(api).tools().push(request, entry)? + &path;
    let is_only = !others.is_any || calling == Calling::Forbidden;
    choice.force(request, Text::new(name.clone()), is_only && steps.forces == Forces::Named)?;
    if let Some(word) = word.filter(|_| choice.is_word()) {
        request.set(CHOICE, Node::literal(word));
    }
    let was_in_parts = choice.ask_for_whole_arguments(request)?;
    let mut limit = None;
    if is_only && can_limit_calls(steps, &context.facts, (api, &context.model)) {
        let was_given = request.get(PARALLEL_CALLS).is_some();
        limit = choice.forbid_more_calls(request)?.map(|at| Limit { at, was_given });
    }
    for fact in context.facts.iter() {
        if formats::broken_combination(request, api, fact, &context.model)?.is_some() {
            return Err(refused(&format!("one that breaks a rule: {}", fact.statement)));
        }
    }
    Ok(Kind::Tool { name, at, is_only, has_others: others.is_any, was_in_parts, limit })
}

/// Returns true if a request can limit the API to one call.
fn can_limit_calls(steps: &FormatSteps, facts: &RequestFacts, (api, model): (Api, &str)) -> bool {
    let is_refused = facts.iter().any(|fact| match fact.refuses {
        Refusal::Rule(rule) => rule.at == Location::Request(&[PARALLEL_CALLS]) && rule.concerns(api, model),
        _ => false,
    });
    steps.limits_calls && !is_refused
}

fn put_prompt(
    request: &mut Node<'_>,
    response_format: TranslatedFormat<'_>,
    (member, language): (Option<&str>, &str),
    from: &str,
    context: &RequestContext<'_, '_>,
    steps: &FormatSteps,
) -> Result<Kind, Stop> {
    let RequestContext { api, target, options, .. } = *context;
    remove_json_mode(request, api)?;
    let mut mode = steps.json_mode(target, member.filter(|_| api == target));
    if mode.is_some() && !accepts_json_mode(request, &context.facts, &context.model)? {
        mode = None;
    }
    let is_wrapped = mode.is_some_and(|mode| mode.wants_object) && !declares_object(&response_format.schema);
    let wrapper = is_wrapped.then(|| options.tools.sanitize.wrapper.clone());
    let mut text = String::from(match is_wrapped {
        true => "Answer with one JSON object, and nothing before or after it: no Markdown. ",
        false => "Answer with one JSON value, and nothing before or after it: no Markdown. ",
    });
    match &wrapper {
        Some(name) => text += &format!("It has one member, `{name}`, which must be valid against this {language}"),
        None => text += &format!("It must be valid against this {language}"),
    }
    if let Some(name) = response_format.name.as_ref().and_then(Text::value).filter(|name| name != "response") {
        text += &format!(" of `{name}`");
    }
    if let Some(description) = response_format.description.as_ref().and_then(Text::value) {
        text += &format!(" ({description})");
    }
    text += ":\n";
    text += &json::write_plain(&response_format.schema);
    // If the API continues a stored conversation, instructions in the input would accumulate, because the API stores
    // the input of every turn. It does not store the member `instructions`.
    let wire = wire::of(target);
    let has_stored_turns = wire.wants_json_word() && wire.is_continued(request);
    if has_stored_turns && !formats::input_mentions_json(request, api)? {
        mode = None;
    }
    let is_input = wire.wants_json_word() && mode.is_some() && !has_stored_turns;
    let is_refused_for_cache = |fact: &&RequestFact| match fact.refuses {
        Refusal::BesideCache { api, cache, .. } => api == target && formats::has_any_member(request, cache),
        _ => false,
    };
    if let Some(fact) = context.facts.iter().find(is_refused_for_cache) {
        let message =
            format!("expected a request that accepts instructions, found one that does not: {}", fact.statement);
        return Err(Stop::Format(Error::new(Code::NotRepresentable, from, message)));
    }
    Ok(Kind::Prompt { text, mode, wrapper, schema: response_format.schema.detached(), is_input })
}

/// Returns the fact that the model refuses prefilled answers, if it exists and the request has such an answer.
fn prefill_refused(
    request: &Node<'_>,
    context: &RequestContext<'_, '_>,
) -> Result<Option<&'static RequestFact>, Error> {
    let refuses_prefill =
        |fact: &&RequestFact| matches!(fact.refuses, Refusal::Prefill(models) if models.include(&context.model));
    match context.facts.iter().find(refuses_prefill) {
        Some(fact) if formats::begins_answer(request, context.api)? => Ok(Some(fact)),
        _ => Ok(None),
    }
}

/// Returns true if the API accepts JSON mode together with the tools of a request.
fn accepts_json_mode(request: &Node<'_>, facts: &RequestFacts, model: &str) -> Result<bool, Error> {
    for rule in facts.formats() {
        let is_broken = match rule {
            FormatRule::BesideTools { models, .. } => models.include(model) && formats::has_tools(request, true)?,
            FormatRule::BesideHosted { models, hosted } => {
                models.include(model) && formats::has_entry(request, hosted)?
            }
            _ => false,
        };
        if is_broken {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Substitute {
    /// Completes a rewritten request and its report.
    ///
    /// # Errors
    /// `not-representable` if the API refuses the choice that forces the call; `too-lossy`.
    pub(super) fn complete(self, request: &mut Node<'_>, context: &mut RequestContext<'_, '_>) -> Result<(), Stop> {
        let RequestContext { api, target, dialect, options, .. } = *context;
        let RequestContext { report, restore_map, model, facts, .. } = context;
        let Substitute { from, kind } = self;
        let steps = steps_of(dialect);
        let reason = |statement| Reason::fact(statement, steps.confidence, steps.source);
        let forces = reason(match steps.forces {
            Forces::Named => "the API can force a call to one function",
            Forces::Any | Forces::Nothing => "the API can require a call to some function",
        });
        let (rule, to, accepts, guidance, reason, message) = match kind {
            Kind::NoAnswer => {
                let message =
                    "omitted the response format: the model must call one of the client's tools and gives no answer";
                (Rule::FormatAsTool, None, Accepts::Same, Guidance::Lost, forces, message.to_string())
            }
            Kind::Tool { name, at, is_only, has_others, was_in_parts, limit } => {
                // If the choice does not name the function, it also allows the tools that the request forbids.
                let must_name = (is_only && has_others).then_some(name.as_str());
                if let Some(why) = choice_refused(request, must_name, (target, facts, model), report)? {
                    let message = format!(
                        "expected a request in which the API can force a call, found one in which it cannot: {why}"
                    );
                    let error = Error::new(Code::NotRepresentable, from, message + NEXT_IS_PROMPT);
                    return Err(Stop::Format(error));
                }
                report.choice = None;
                report.request_changes.retain(|change| change.rule != WHILE_THINKING);
                move_changes(report, &name, (&at, &from));
                let plan = restore_map.plan_of(&name);
                restore_map.set_answer(Some(Answer::of_tool(plan, name.clone(), is_only)));
                let forced = if is_only { "call it" } else { "call it or another tool" };
                let parts = if was_in_parts { "; the arguments are not streamed" } else { "" };
                let message = format!(
                    "sent the schema as the arguments of the function `{name}`: the model must {forced}{parts}"
                );
                if let Some(Limit { at, was_given }) = limit {
                    let pointer = if was_given { at.into() } else { from.clone() };
                    let places = (pointer, Some(at.into()).filter(|_| api == target));
                    let message = "limited the model to one call, which is the answer".into();
                    let change =
                        change_outside_arguments(Rule::FormatAsTool, places, Guidance::Same, forces.clone(), message);
                    report.format_changes.push(FormatChange { dialect: dialect.id(), change });
                }
                // Only a strict mode is known to enforce the schema of arguments.
                let sent = sent_function(request, target, &name)?;
                let is_strict = sent.as_ref().is_some_and(|sent| sent.is_strict);
                let at = sent.map_or(at, |sent| sent.schema);
                let accepts = if is_strict { Accepts::Same } else { Accepts::Wider };
                (Rule::FormatAsTool, Some(at).filter(|_| api == target), accepts, Guidance::Same, forces, message)
            }
            Kind::Prompt { text, mode, wrapper, schema, is_input } => {
                if let Some(mode) = mode {
                    put_json_mode(request, mode)?;
                }
                // The request already contains the instructions if the caller continues an already rewritten request.
                if !wire::of(target).has_in_prompt(request, &text)? {
                    let before = wire::of(target).count(request);
                    match is_input {
                        true => insert_before_input(request, text)?,
                        false => wire::of(target).append_to_prompt(request, text)?,
                    }
                    let added = wire::of(target).count(request).saturating_sub(before);
                    report.shift_output_messages(wire::of(target).history(), added);
                }
                restore_map
                    .set_answer(Some(Answer::instructed(wrapper.map(Plan::of_wrapper).unwrap_or_default(), &schema)));
                let message = match mode {
                    Some(_) => "sent the schema in the instructions, with JSON mode: nothing enforces it",
                    None => "sent the schema in the instructions: nothing enforces it",
                };
                let reason = reason(match mode {
                    Some(_) => "the API has JSON mode, which accepts no schema",
                    None => "the API has no JSON mode for this request",
                });
                (Rule::FormatInPrompt, None, Accepts::Wider, Guidance::Moved, reason, message.to_string())
            }
        };
        let change = change_outside_arguments(rule, (from.clone(), to), guidance, reason, message);
        let needed = Allow::needed_for(accepts, false);
        let allow = options.tools.sanitize.allow;
        if needed > allow {
            let (allowed, needed) = (allow.as_str(), needed.as_str());
            let message = format!(
                "expected changes within `allow: \"{allowed}\"`, found one that needs \"{needed}\": {}",
                change.message
            );
            return Err(Stop::Format(Error::new(Code::TooLossy, from, message)));
        }
        let change = FormatChange { dialect: dialect.id(), change: Change { accepts, ..change } };
        report.format_changes.insert(0, change);
        Ok(())
    }
}

/// Returns the reason why the API refuses the choice that forces the function; `None` if the API accepts the choice.
/// `must_name` is a function that the sent choice has to name.
fn choice_refused(
    request: &Node<'_>,
    must_name: Option<&str>,
    (api, facts, model): (Api, &RequestFacts, &str),
    report: &AdaptReport,
) -> Result<Option<String>, Error> {
    for fact in facts.iter() {
        let is_refused = match fact.refuses {
            Refusal::ChoiceByModel { models, .. } => models.include(model),
            Refusal::ModelWithoutTools { models, .. } => models.include(model),
            _ => false,
        };
        if is_refused {
            return Ok(Some(fact.statement.into()));
        }
    }
    let is_sent = match must_name {
        None => wire::of(api).choice().pointer_to_demand(request)?.is_some(),
        Some(name) => match wire::of(api).choice().chosen(request)? {
            Some(Choice::Tool(ToolRef::Tool { name: forced, .. })) => forced.is(name),
            _ => false,
        },
    };
    if is_sent {
        return Ok(None);
    }
    let weakened = report.request_changes.iter().find(|change| change.rule == WHILE_THINKING);
    Ok(Some(weakened.map_or("the choice is not sent", |change| change.reason.statement()).into()))
}

/// The function as it is sent.
struct SentFunction {
    /// JSON Pointer to its schema.
    schema: String,
    /// True if it has `strict: true`.
    is_strict: bool,
}

/// Finds the function in a rewritten request.
fn sent_function(request: &Node<'_>, api: Api, name: &str) -> Result<Option<SentFunction>, Error> {
    let list = wire::of(api).tools();
    let found = list.look(request, |tools| {
        let mut last = None;
        flat_list::each(tools, list.pointer(), &mut |entry, _, pointer| {
            let Entry::Tool(shape) = tool_format::recognize(entry) else { return };
            if request::tool::name(entry).is_some_and(|called| called.is(name)) {
                let schema = pointer() + &tool_format::pointer(&shape.pointer_to_schema());
                let is_strict = shape.strict(entry).and_then(Node::as_bool) == Some(true);
                last = Some(SentFunction { schema, is_strict });
            }
        });
        Ok(last)
    })?;
    Ok(found.flatten())
}

/// Moves the changes of the function to the changes of the format, with pointers into the format's schema.
fn move_changes(report: &mut AdaptReport, name: &str, (at, from): (&str, &str)) {
    let is_of_function = |change: &ToolChange| change.server.is_none() && change.tool == name;
    if !report.changes.iter().any(is_of_function) {
        return;
    }
    let changes = Arc::make_mut(&mut report.changes);
    for tool in changes.iter().filter(|change| is_of_function(change)) {
        let mut change = tool.change.clone();
        let inner = change.pointer.strip_prefix(at).unwrap_or_default();
        change.pointer = format!("{from}{inner}");
        report.format_changes.push(FormatChange { dialect: tool.dialect, change });
    }
    changes.retain(|change| !is_of_function(change));
}

/// Returns an error if the API is known to refuse the native format of a request.
///
/// # Errors
/// Same as [`formats::format_violations`].
pub(super) fn require_accepted_format(request: &mut Node<'_>, context: &RequestContext<'_, '_>) -> Result<(), Stop> {
    let api = (context.dialect, &context.facts, context.model.as_str());
    let naming = context.options.tools.sanitize.naming;
    let broken = formats::format_violations(request, context.target, api, (FindingLimit::LISTED, naming))?;
    // Updates in the history do not concern the format of the request itself.
    let is_of_request =
        |broken: &formats::FormatViolation| !matches!(broken.fact.refuses, Refusal::Format(FormatRule::Updates(_)));
    match broken.into_iter().find(|broken| broken.severity == Severity::Refused && is_of_request(broken)) {
        None => Ok(()),
        Some(broken) => Err(Stop::Format(Error::new(Code::NotRepresentable, broken.pointer, broken.message))),
    }
}

/// The tools in the list of a request, and those that its history adds, mentions or calls.
#[derive(Debug, Default)]
struct OtherTools {
    /// All names. The function that replaces the format must have another name.
    pub(super) names: Set<String>,
    /// True if the list or the history has a tool.
    pub(super) is_any: bool,
    /// True if the API runs one of the tools.
    has_hosted: bool,
    /// Names and types of the tools that the API runs. Gemini identifies such a tool only by a member.
    hosted: Set<String>,
}

/// Maximum depth at which names are searched in a list of tools.
const MAX_LEVELS: usize = 6;
/// Prefixes of the types of tools that an API defines and the client runs: types of Anthropic and OpenAI, and one of
/// Moonshot (the client answers `$web_search`).
const RUN_BY_CLIENT: [&str; 7] =
    ["bash_", "text_editor_", "computer", "memory_", "local_shell", "apply_patch", "builtin_function"];

impl OtherTools {
    /// Finds the tools of a request. A tool with a type that the API refuses is not sent, so it is not recorded as a
    /// tool that the API runs.
    ///
    /// # Errors
    /// `invalid-json` if a part of the request is text that cannot be read.
    pub(super) fn of(
        request: &mut Node<'_>,
        (api, target): (Api, Api),
        dialect: &Dialect,
        deferred: Option<&DeferredOptions>,
    ) -> Result<Self, Error> {
        let mut found = OtherTools::default();
        let is_emulated = deferred.is_some_and(|deferred| deferred.native == Native::None);
        let mut add = |list: &[Node<'_>]| {
            for entry in list.iter().filter(|entry| !is_cache_point(entry)) {
                found.is_any = true;
                names_in(entry, MAX_LEVELS, &mut found.names);
                let is_refused = type_of(entry).is_some_and(|kind| dialect.refuses_type(kind, target).is_some());
                if !is_refused && is_run_by_api(entry, is_emulated) {
                    let labels = [tool::name(entry), type_of(entry)].into_iter().flatten();
                    found.hosted.extend(labels.map(|word| word.display().into_owned()));
                    found.has_hosted = true;
                }
            }
        };
        wire::of(api).tools().look(request, |tools| {
            add(tools.as_array().unwrap_or_default());
            Ok(())
        })?;
        carriers::each(request, api, deferred, &mut add)?;
        // Anthropic runs the tools of these servers.
        let servers = request.get("mcp_servers").map(lazy::view).transpose()?;
        if servers.is_some_and(|servers| servers.as_array().is_some_and(|list| !list.is_empty())) {
            (found.is_any, found.has_hosted) = (true, true);
        }
        let hosted_names = carriers::names_of_hosted(request, api)?;
        found.names.extend(hosted_names.iter().map(|name| name.display().into_owned()));
        found.add_mentioned(request, api)?;
        Ok(found)
    }

    /// Adds the names of calls, results and references in the history.
    fn add_mentioned(&mut self, request: &mut Node<'_>, api: Api) -> Result<(), Error> {
        let names = &mut self.names;
        let visited = request.visit(wire::of(api).history(), |history| {
            if !matches!(history.data(), Data::Array(_)) {
                return Ok(());
            }
            history.visit_children(|_, message| {
                if !lazy::may_hold(message, Flags::NAMES_TOOLS) {
                    return Ok(());
                }
                lazy::edit(message, |message| {
                    units::visit(message, None, &mut |site| {
                        let name = site.node.text_at(site.name);
                        names.extend(name.map(|name| name.display().into_owned()));
                    });
                    Ok(())
                })
            })
        });
        visited.unwrap_or(Ok(()))
    }

    /// Returns true if a choice that requires a call can be satisfied only by calls for the client.
    fn is_demand_for_client(&self, choice: Option<&Choice<'_>>) -> bool {
        let is_of_client = |tool_ref: &ToolRef<'_>| match tool_ref {
            ToolRef::Tool { name, .. } => !self.hosted.contains(&*name.display()),
            ToolRef::Namespace(_) => !self.has_hosted,
            ToolRef::Search | ToolRef::Hosted(_) => false,
        };
        match choice {
            Some(Choice::Tool(tool_ref)) => is_of_client(tool_ref),
            Some(Choice::Allowed { tools, .. }) => tools.iter().all(is_of_client),
            _ => !self.has_hosted,
        }
    }
}

/// Returns true if the API runs a tool, so a call to it does not end the reply. `is_emulated` is true if the API's
/// own tool search is not sent.
fn is_run_by_api(entry: &Node<'_>, is_emulated: bool) -> bool {
    match tool::kind(entry) {
        tool::Kind::HostedSearch => return !is_emulated,
        tool::Kind::ClientSearch => return false,
        tool::Kind::Toolset => return true,
        tool::Kind::Tool => {}
    }
    if tool::has_type(entry, "namespace") {
        let members = entry.items_at("tools");
        return members.iter().any(|member| is_run_by_api(member, is_emulated));
    }
    if GROUPS.iter().any(|group| entry.get(*group).is_some()) {
        let members = entry.as_object().into_iter().flatten();
        return members
            .into_iter()
            .any(|member| !member.value.is_null() && GROUPS.iter().all(|group| !member.key.is(*group)));
    }
    let is_of_client =
        |kind: &Text<'_>| kind.is("custom") || RUN_BY_CLIENT.iter().any(|beginning| starts_with(kind, beginning));
    tool_format::recognize(entry) == Entry::Hosted && !type_of(entry).is_some_and(is_of_client)
}

/// Collects the names in a tool, a namespace or a server.
fn names_in(node: &Node<'_>, levels: usize, names: &mut Set<String>) {
    let Some(levels) = levels.checked_sub(1) else { return };
    names.extend(node.text_at("name").map(|name| name.display().into_owned()));
    for inner in node.as_array().unwrap_or_default() {
        names_in(inner, levels, names);
    }
    for key in HOLDERS.iter().chain(&["tools"]).chain(&GROUPS) {
        if let Some(inner) = node.get(*key) {
            names_in(inner, levels, names);
        }
    }
}
