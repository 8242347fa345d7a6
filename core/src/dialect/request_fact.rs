//! The type of facts about what an API refuses in a request as a whole.

pub(crate) use super::models::Models;
use super::{
    name_rules::NamePattern,
    rule::{Location, Refused, Rule},
};
use crate::{json::Node, options::Api, report::Grade, report::Severity};

/// A fact about what an API refuses in a request as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestFact {
    pub(crate) refuses: Refusal,
    /// The fact as a sentence.
    pub statement: &'static str,
    /// Confidence of the fact, as in [`Fact`](super::Fact).
    pub confidence: Grade,
    /// The API's reaction to a request that violates the fact.
    pub severity: Severity,
    /// The API's answer, and its source.
    pub source: &'static str,
    /// The day on which the fact was last checked (ISO 8601).
    pub checked: &'static str,
}

/// A construct of requests that an API refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A choice that forces a call while the model thinks: a named tool, and also `required` if the model does not
    /// accept it. If several such facts exist, the first fact that includes the model applies.
    ChoiceWhileThinking {
        models: Models,
        thinks: Thinks,
        /// True if the model accepts `required` while it thinks.
        required: bool,
    },
    /// `tool_choice` in a request without tools. The value `none` is refused only if `accepts_none` is false, and
    /// `parallel_tool_calls` alone only if `is_of_parallel_calls` is true. Requests of the formats in `accepts_auto`
    /// may have `auto` and `parallel_tool_calls`.
    ChoiceWithoutTools { accepts_none: bool, is_of_parallel_calls: bool, accepts_auto: &'static [Api] },
    /// A choice of a tool that the request does not have.
    ChoiceOfAbsentTool,
    /// A choice that these models do not accept: every choice if `is_any` is true, otherwise a choice that forces a
    /// call.
    ChoiceByModel { models: Models, is_any: bool },
    /// Tools, for models that accept none. If `accepts_hosted` is true, these models refuse only functions.
    ModelWithoutTools { models: Models, accepts_hosted: bool },
    /// A function without a schema, for these models.
    NoParameters(Models),
    /// Entries of the list with a type other than `function` and the types in `accepts`, in requests of these formats.
    ToolTypes { apis: &'static [Api], accepts: &'static [&'static str] },
    /// Tools of a kind that the API does not support.
    ToolKind,
    /// Arguments in the history that are not JSON objects.
    HistoryArguments,
    /// A call in the history without a result, or a result without a call, in requests of these formats.
    HistoryPairs(&'static [Api]),
    /// A value at a location of the request.
    Rule(Rule),
    /// Namespaces of tools.
    Namespaces,
    /// A namespace without tools.
    EmptyNamespace,
    /// The name of a tool in a call in the history.
    HistoryName,
    /// A response format.
    Format(FormatRule),
    /// A last message from the assistant that begins the answer, for these models.
    Prefill(Models),
    /// The client's functions together with a hosted tool, for these models.
    FunctionsBesideHosted {
        /// The format of the requests that the fact is about.
        api: Api,
        models: Models,
        /// The members that identify an entry of the list as a hosted tool.
        hosted: &'static [&'static str],
        /// The spellings of the member with the configuration of tools, and the member there that allows the
        /// combination.
        unless: Option<(&'static [&'static str], &'static str)>,
    },
    /// These members together with a cached prompt, which already contains them.
    BesideCache {
        /// The format of the requests that the fact is about.
        api: Api,
        /// The spellings of the member that refers to the cached prompt.
        cache: &'static [&'static str],
        /// The members, with their pointers.
        members: &'static [(&'static str, &'static str)],
    },
}

impl Rule {
    pub(super) const fn fact(self, confidence: Grade, statement: &'static str, source: &'static str) -> RequestFact {
        RequestFact {
            refuses: Refusal::Rule(self),
            statement,
            confidence,
            severity: Severity::Refused,
            source,
            checked: DAY,
        }
    }
}

/// Condition under which a model thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thinks {
    /// Always, independent of the request.
    Always,
    /// Unless `thinking.type` is `disabled`.
    ByDefault,
    /// If `thinking.type` is `enabled` or `adaptive`.
    IfAsked,
    /// If `thinking.type` is `enabled`.
    IfExtended,
    /// If `enable_thinking` is true.
    IfEnabled,
}

/// A property of response formats that an API refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormatRule {
    /// A schema, in requests of this format.
    Schema(Api),
    /// A schema, for these models.
    ByModel(Models),
    /// A format in a request with functions of the client, for these models; only JSON mode if `only_json` is true.
    BesideTools { models: Models, only_json: bool },
    /// A JSON type of the answer, for these models, if the list of tools has an entry with one of the members in
    /// `hosted`.
    BesideHosted { models: Models, hosted: &'static [&'static str] },
    /// A schema in a request whose last message is the assistant's, in requests of this format.
    BesidePrefill(Api),
    /// JSON mode, if no message contains the word JSON.
    WithoutWord,
    /// Two consecutive updates of the configuration.
    Updates(Api),
    /// A format without a name, or with a name that does not match this pattern.
    Name(NamePattern),
    /// A schema that violates a rule of the dialect.
    Broken,
}

impl FormatRule {
    pub(crate) const fn id(self) -> &'static str {
        match self {
            FormatRule::Schema(_) => "format-refused",
            FormatRule::ByModel(_) => "format-by-model",
            FormatRule::BesideTools { .. } | FormatRule::BesideHosted { .. } => "format-beside-tools",
            FormatRule::BesidePrefill(_) => "format-beside-prefill",
            FormatRule::WithoutWord => "format-without-word",
            FormatRule::Updates(_) => "format-updates",
            FormatRule::Name(_) => "format-name",
            FormatRule::Broken => "format-schema",
        }
    }
}

/// Names of constraints, each with a description of its violations.
const CONSTRAINTS: &[(&str, &str)] = &[
    ("choice-while-thinking", "A tool choice that forces a call while the model thinks."),
    ("choice-without-tools", "`tool_choice` or `parallel_tool_calls` in a request without tools."),
    ("choice-of-absent-tool", "A tool choice that names a tool that the request does not have."),
    ("choice-by-model", "A tool choice that the model does not accept."),
    ("model-without-tools", "Tools, for a model that does not accept them."),
    ("no-parameters", "A function without a schema, for a model that needs one."),
    ("tool-kind", "A tool of a kind that the API does not have."),
    ("history-arguments", "Arguments of a call in the history that are not a JSON object."),
    (
        "history-pairs",
        "A call in the history without a result, or a result without a call: `adaptRequest` completes the pairs, \
            unless `historyPairs` is `\"keep\"`.",
    ),
    ("history-name", "A name that the API does not accept, in a call of the history."),
    ("namespace", "A namespace of tools, for an API that has no namespaces."),
    ("empty-namespace", "A namespace without tools: `adaptRequest` omits it, and no API is known to refuse it."),
    (
        "unsupported-member",
        "A member of the request, of a message or its parts, or of a tool that the API or the model does not accept.",
    ),
    ("call-id", "The id of a call that the API does not accept, or that an earlier call has."),
    ("item-id", "The id of an item that does not begin with the prefix of its type."),
    ("unsupported-beta", "A beta in the header `anthropic-beta` or in the body that the API does not know."),
    ("missing-beta", "A member of the request that the API accepts only with a beta, which the request does not name."),
    ("missing-member", "A member that the API expects."),
    ("unsupported-value", "A value of a member that the model does not accept."),
    ("message-role", "A role of messages that the API does not have."),
    ("empty-list", "An empty list, for an API that accepts none."),
    ("empty-text", "Text without characters, or a message of nothing but white space."),
    ("block-order", "Parts of a message in an order that the API does not accept."),
    ("search-result", "A search of the server in the history, without its result."),
    ("turn-order", "Messages in an order that the API does not accept."),
    ("calls-without-tools", "Calls in the history of a request without tools."),
    ("call-signature", "A call in the history without its signature."),
    ("result-not-object", "The result of a call that is not an object."),
    ("choice-kind", "A choice of tools of a kind that the API does not have."),
    (
        "functions-beside-hosted",
        "Functions together with a tool that the API runs, for an API that does not combine them.",
    ),
    ("cached-content", "The system prompt, tools or their configuration together with a cached prompt."),
    (
        "format-refused",
        "A response format with a schema, for an API that does not accept one in requests of this format.",
    ),
    ("format-by-model", "A response format, for a model that does not accept one."),
    (
        "format-beside-tools",
        "A response format together with tools, or with a tool that the API does not combine with it.",
    ),
    ("format-beside-prefill", "A response format together with a prefilled answer in the last message."),
    ("prefill-by-model", "A prefilled answer in the last message, for a model that does not accept one."),
    ("format-without-word", "JSON mode in a request whose messages do not contain the word JSON."),
    ("format-updates", "Two consecutive updates of the configuration."),
    ("format-name", "A response format without a name, or with one that the API does not accept."),
    ("format-schema", "A schema of a response format that the API refuses or reads differently than written."),
];

/// Date on which the facts about requests were checked.
pub(super) const DAY: &str = "2026-11-26";

impl RequestFact {
    pub(crate) fn describe(&self) -> Node<'static> {
        Node::record([
            ("statement", Node::string(self.statement)),
            ("confidence", Node::literal(self.confidence.as_str())),
            ("source", Node::string(self.source)),
            ("rule", Node::literal(self.rule())),
            ("severity", Node::literal(self.severity.as_str())),
            ("checked", Node::string(self.checked)),
        ])
    }

    /// The names of all constraints of requests, each with a description of what violates it.
    ///
    /// ```
    /// use toolwire::{dialects, reports::RequestFact};
    /// let known = |rule: &str| RequestFact::CONSTRAINTS.iter().any(|(name, _)| *name == rule);
    /// assert!(dialects().iter().flat_map(|dialect| dialect.requests()).all(|fact| known(fact.rule())));
    /// ```
    pub const CONSTRAINTS: &'static [(&'static str, &'static str)] = CONSTRAINTS;

    /// Returns the name of the constraint that the fact is about.
    ///
    /// ```
    /// use toolwire::dialects;
    /// let xai = dialects().iter().find(|dialect| dialect.name == "xai").unwrap();
    /// assert_eq!(xai.requests()[0].rule(), "choice-without-tools");
    /// ```
    pub const fn rule(&self) -> &'static str {
        match self.refuses {
            Refusal::ChoiceWhileThinking { .. } => "choice-while-thinking",
            Refusal::ChoiceWithoutTools { .. } => "choice-without-tools",
            Refusal::ChoiceOfAbsentTool => "choice-of-absent-tool",
            Refusal::ChoiceByModel { .. } => "choice-by-model",
            Refusal::ModelWithoutTools { .. } => "model-without-tools",
            Refusal::NoParameters(_) => "no-parameters",
            Refusal::ToolKind | Refusal::ToolTypes { .. } => "tool-kind",
            Refusal::HistoryArguments => "history-arguments",
            Refusal::HistoryPairs(_) => "history-pairs",
            Refusal::Rule(rule) => rule.id,
            Refusal::Namespaces => "namespace",
            Refusal::EmptyNamespace => "empty-namespace",
            Refusal::HistoryName => "history-name",
            Refusal::Format(rule) => rule.id(),
            Refusal::Prefill(_) => "prefill-by-model",
            Refusal::FunctionsBesideHosted { .. } => "functions-beside-hosted",
            Refusal::BesideCache { .. } => "cached-content",
        }
    }

    pub(crate) const fn beta(&self) -> Option<&'static str> {
        match self.refuses {
            Refusal::Rule(Rule { at: Location::Beta, refuses: Refused::Words([beta]), .. }) => Some(beta),
            _ => None,
        }
    }

    pub(super) const fn while_thinking(models: Models, thinks: Thinks, source: &'static str) -> RequestFact {
        RequestFact {
            refuses: Refusal::ChoiceWhileThinking { models, thinks, required: false },
            statement: "the tool choice must not force a call while the model thinks",
            confidence: Grade::A,
            source,
            severity: Severity::Refused,
            checked: DAY,
        }
    }
}
