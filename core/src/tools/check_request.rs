//! `check_request`: reports what an API refuses about a request as a whole.

use alloc::{format, string::String, vec::Vec};

use super::{
    check_beside,
    check_formats::{self, has_tools, Broken},
    history_arguments, history_pairs,
    request::{history_length, recognize, rename_history},
    request_facts::{self, choice_of, Namespaces, RequestChange},
    request_members, result_names, server_mentions, servers,
};
use crate::{
    dialect::{
        self,
        requests::{Refusal, RequestFact, CUSTOM_TOOLS, HISTORY_ARGUMENTS, HISTORY_NAME, NAMESPACES, RESULT_NAME},
        Dialect,
    },
    error::Error,
    json::{lazy::view, Node, Text},
    names,
    options::{AdaptOptions, Api, CheckRequestOptions, Prefix, SanitizeOptions},
    report::Severity,
    request::{
        self, carriers,
        choice::{Choice, Mention},
        tool_format::{self, Entry},
    },
};

/// A violation of an API's rule about a request as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestViolation {
    /// Rule of the fact that the request violates.
    pub constraint: &'static str,
    /// The API's reaction to the request.
    pub severity: Severity,
    /// JSON Pointer into the request.
    pub pointer: String,
    /// For people: what was expected. Contains no values of the request.
    pub message: String,
    /// The fact that the request violates.
    pub fact: &'static RequestFact,
}

/// Returns all parts of a request that an API refuses.
///
/// # Errors
/// `unknown-dialect`, `invalid-request`, `invalid-json`.
pub fn check(mut request: Node<'_>, options: &CheckRequestOptions) -> Result<Vec<RequestViolation>, Error> {
    let dialect = dialect::of(&SanitizeOptions::new(options.dialect.as_str()))?;
    let model = request::model(&request, options.model.as_deref())?;
    let shape = dialect.tools.names_for(&model);
    // The tools of several servers are checked as they would be sent.
    let servers = servers::take(&mut request, (Prefix::Auto, shape), None)?;
    let api = recognize(&request, &AdaptOptions::new(dialect.name))?;
    server_mentions::settle(&mut request, api, servers.as_ref(), None)?;
    let mut found = Vec::new();
    let formats = check_formats::broken(&mut request, api, dialect, &model)?;
    let mut add_with = |fact: &'static RequestFact, severity, given_pointer: &str, message: String| {
        let constraint = fact.rule();
        let pointer = servers.as_ref().and_then(|servers| servers.pointer_in_request(given_pointer));
        let pointer = pointer.unwrap_or_else(|| given_pointer.into());
        found.push(RequestViolation { constraint, severity, pointer, message, fact });
    };
    for Broken { fact, severity, pointer, message } in formats {
        add_with(fact, severity, &pointer, message);
    }
    let mut add = |fact: &'static RequestFact, pointer: &str, message| add_with(fact, fact.severity, pointer, message);
    let broken = request_facts::broken_by_choice(&request, api, (&dialect.tools, &model))?;
    if let Some((pointer, fact)) = broken {
        add(fact, pointer, format!("expected a different choice of tools, or none: {}", fact.statement));
    }
    let choice = choice_of(&request, api)?.and_then(|(_, choice)| choice);
    for fact in dialect.requests() {
        let prefill;
        let (pointer, is_broken) = match fact.refuses {
            Refusal::ChoiceOfAbsentTool if broken.is_none() => {
                ("/tool_choice", names_absent_tool(&request, api, choice.as_ref())?)
            }
            Refusal::ChoiceByModel { models, is_any } => {
                let is_refused = choice.as_ref().is_some_and(|choice| is_any || choice.is_demand());
                ("/tool_choice", is_refused && models.include(&model))
            }
            Refusal::ModelWithoutTools { models, takes_hosted } => {
                ("/tools", models.include(&model) && has_tools(&request, takes_hosted)?)
            }
            Refusal::Prefill(models) => {
                let is_refused = models.include(&model) && check_formats::begins_answer(&request, api)?;
                prefill = format!("/{}/{}", api.history(), history_length(&request, api).saturating_sub(1));
                (prefill.as_str(), is_refused)
            }
            _ => match check_beside::broken(&request, api, fact, &model)? {
                Some(pointer) => (pointer, true),
                None => continue,
            },
        };
        if is_broken {
            add(fact, pointer, format!("expected a different value: {}", fact.statement));
        }
    }
    for (fact, member) in request_members::refused(&request, api, (&dialect.tools, &model))? {
        let message = format!("expected no `{}`, found one: {}", member.name, fact.statement);
        add(fact, &request_members::pointer(member), message);
    }
    let takes_custom = dialect.tools.has_custom_tools || api != Api::OpenaiResponses;
    for (pointer, fact) in refused_types(&request, api, dialect, takes_custom)? {
        let message = format!("expected a tool type that the API supports, found another: {}", fact.statement);
        add(fact, &pointer, message);
    }
    if !takes_custom {
        for RequestChange { pointer, .. } in request_facts::custom_tools(&request)? {
            add(&CUSTOM_TOOLS, &pointer, "expected a function, found a `custom` tool".into());
        }
    }
    if !dialect.tools.has_namespaces && api == Api::OpenaiResponses {
        for at in Namespaces::of(&request)?.places() {
            add(&NAMESPACES, &format!("/tools/{at}"), "expected a tool, found a namespace of tools".into());
        }
    }
    let legal_name = |name: &Text<'_>| (!names::is_legal(shape, name)).then(|| String::from("legal"));
    for at in rename_history(&mut request, api, &legal_name, &|_| true)? {
        let pointer = format!("/{}/{at}", api.history());
        add(&HISTORY_NAME, &pointer, format!("expected calls to tools with names of {shape}, found another name"));
    }
    for pointer in result_names::complete(&mut request, api)? {
        add(&RESULT_NAME, &pointer, "expected a result with the name of its function, found none".into());
    }
    for RequestChange { pointer, .. } in history_arguments::repair(&mut request, api)? {
        add(&HISTORY_ARGUMENTS, &pointer, "expected arguments that are a JSON object, found something else".into());
    }
    if let Some(fact) = dialect.history_pairs(api) {
        for (pointer, message) in history_pairs::broken(&mut request, api, fact)? {
            add(fact, &pointer, message.into());
        }
    }
    Ok(found)
}

/// Returns true if a choice names a tool that neither the list nor the history of a request contains.
fn names_absent_tool(request: &Node<'_>, api: Api, choice: Option<&Choice<'_>>) -> Result<bool, Error> {
    let Some(Choice::Tool(Mention::Tool { namespace: None, name })) = choice else { return Ok(false) };
    let Some(tools) = request.get("tools") else { return Ok(false) };
    let tools = view(tools)?;
    let list = tools.as_array().unwrap_or_default();
    let is_it = |entry: &Node<'_>| {
        request::tool::name(entry).is_none_or(|known| known == name) || request::tool::has_type(entry, "namespace")
    };
    Ok(!list.is_empty() && !list.iter().any(is_it) && !carriers::any(request, api)?)
}

/// Returns the pointers to the types of hosted tools that the API is known to refuse, each with its fact. Includes
/// `custom` tools only if `with_custom` is true.
fn refused_types(
    request: &Node<'_>,
    api: Api,
    dialect: &Dialect,
    with_custom: bool,
) -> Result<Vec<(String, &'static RequestFact)>, Error> {
    let mut found = Vec::new();
    let mut judge = |entry: &Node<'_>, pointer: &dyn Fn() -> String| {
        let is_custom = !with_custom && request::tool::has_type(entry, "custom");
        if is_custom || tool_format::recognize(entry) != Entry::Hosted {
            return;
        }
        let fact = request::tool::type_of(entry).and_then(|kind| dialect.refuses_type(kind, api));
        found.extend(fact.map(|fact| (pointer() + "/type", fact)));
    };
    let mut judge_entry = |entry: &Node<'_>, pointer: &dyn Fn() -> String| {
        // Namespaces have their own rule.
        if !request::tool::has_type(entry, "namespace") {
            return judge(entry, pointer);
        }
        for (at, member) in entry.items_at("tools").iter().enumerate() {
            judge(member, &|| format!("{}/tools/{at}", pointer()));
        }
    };
    if let Some(tools) = request.get("tools") {
        for (at, entry) in view(tools)?.as_array().unwrap_or_default().iter().enumerate() {
            judge_entry(entry, &|| format!("/tools/{at}"));
        }
    }
    carriers::each_at(request, api, None, |place, list| {
        for (at, entry) in list.iter().enumerate() {
            judge_entry(entry, &|| place.pointer(api, at));
        }
    })?;
    Ok(found)
}
