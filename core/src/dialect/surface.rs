//! The form of tools around their schemas (wrappers, names, flags, descriptions) and the rules for whole requests, as
//! data. `tools` rewrites and checks tools with it.

pub(crate) use super::name_rules::NamePattern;
use super::{requests::RequestFact, Dialect, Fact};
use crate::{options::ToolFormat, rules::Constraint};

/// The tools of one API surface, apart from their schemas. Write `Surface { names: NamePattern::OPENAI,
/// ..Surface::PLAIN }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Surface {
    /// The format of tools in a request if the caller does not name one.
    pub(crate) format: ToolFormat,
    /// Accepted tool names (rule `tool-name`).
    pub(crate) names: NamePattern,
    /// How a client of MCP names a tool together with its server (rule `qualified-name`); `None` if the length of such
    /// names is not limited.
    pub(crate) qualified: Option<QualifiedName>,
    /// The value of a tool's flag `strict` (rule `strict-flag`).
    pub(crate) strict: StrictFlag,
    /// How the API interprets the schema of a tool without the flag, if it does not treat the flag as `false`. In a
    /// request, a tool stays without the flag if the interpretation is equal to `false`.
    pub(crate) without_strict: Option<WithoutStrict>,
    /// The formats of tools in which the API closes objects that have no `additionalProperties`.
    pub(crate) closes_in: &'static [ToolFormat],
    /// The fact behind `strict: true`, if no fact with the rule `strict-flag` is about it.
    pub(crate) strict_fact: Option<&'static Fact>,
    /// The replacement of the schema of a tool without arguments (rule `no-arguments`).
    pub(crate) no_arguments: NoArguments,
    /// Maximum number of characters (Unicode code points) of a tool's description; longer descriptions are cut (rule
    /// `description-length`).
    pub(crate) max_description: Option<usize>,
    /// An empty or blank description is refused, so it is left out (rule `empty-description`).
    pub(crate) no_empty_description: bool,
    /// A description that is null is refused; other APIs treat it as a missing description (rule
    /// `description-not-string`).
    pub(crate) no_null_description: bool,
    /// The API's other members for a schema, each with its dialect. The format of tools identifies the member. A schema
    /// stays in its member, of a tool or of a response format, and the dialect of the member applies to it.
    pub(crate) carriers: &'static [(ToolFormat, &'static str)],
    /// Maximum number of tools of a request, including hosted tools (rule `too-many-tools`).
    pub(crate) max_tools: Option<usize>,
    /// Limits for all tools of a request together.
    pub(crate) budgets: &'static [Budget],
    /// Limits for one tool (rule `too-complex`).
    pub(crate) tool_budgets: &'static [Budget],
    /// The dialect of tools that are not strict, if a list may contain strict and other tools. A tool that the strict
    /// dialect cannot represent is written in this dialect.
    pub(crate) not_strict: Option<&'static str>,
    /// All tools of a request become one grammar, compiled by one compiler. Their definitions share one table, so
    /// definitions of the same name must be equal (rules `definition-conflict` and `mixed-backends`).
    pub(crate) one_grammar: bool,
    /// Accepted tool names for some models, by the prefix of the model's name; `names` applies to all others.
    pub(crate) names_by_model: &'static [(&'static str, NamePattern)],
    /// The API has `custom` tools.
    pub(crate) has_custom_tools: bool,
    /// Messages of the model may have parts of the type `refusal`. In a translated history, refusals are text for other
    /// APIs.
    pub(crate) has_refusals: bool,
    /// The API has namespaces of tools.
    pub(crate) has_namespaces: bool,
    /// The surface is a client of MCP servers: schemas that it refuses never reach an API.
    pub(crate) is_client: bool,
    /// The client drops tools with an `x-mcp-header` that MCP does not allow (rule `mcp-header`).
    pub(crate) reads_mcp_headers: bool,
    /// The dialect for the `outputSchema` of a tool; `None` if the surface does not read it.
    pub(crate) output: Option<&'static Dialect>,
    /// The member of a function for the schema of its result, if the tools are in the format of OpenAI Responses.
    pub(crate) result_member: Option<&'static str>,
    /// What the API refuses in a request as a whole.
    pub(crate) requests: &'static [RequestFact],
}

impl Surface {
    /// MCP tools with any name, in any number.
    pub(crate) const PLAIN: Surface = Surface {
        format: ToolFormat::Mcp,
        names: NamePattern::ANY,
        qualified: None,
        strict: StrictFlag::Omitted,
        without_strict: None,
        closes_in: &[],
        strict_fact: None,
        no_arguments: NoArguments::Schema,
        max_description: None,
        no_empty_description: false,
        no_null_description: false,
        carriers: &[],
        max_tools: None,
        budgets: &[],
        tool_budgets: &[],
        not_strict: None,
        one_grammar: false,
        names_by_model: &[],
        has_custom_tools: false,
        has_refusals: false,
        has_namespaces: false,
        is_client: false,
        reads_mcp_headers: false,
        output: None,
        result_member: None,
        requests: &[],
    };

    pub(crate) fn dialect_in(&self, member: ToolFormat) -> Option<&'static str> {
        self.carriers.iter().find(|(format, _)| *format == member).map(|(_, dialect)| *dialect)
    }

    pub(crate) fn names_for(&self, model: &str) -> NamePattern {
        let of_model = self.names_by_model.iter().find(|(begin, _)| model.starts_with(begin));
        of_model.map_or(self.names, |(_, names)| *names)
    }
}

impl Surface {
    /// `server` is the length of the server's name in the client's configuration.
    pub(crate) fn names_for_server(&self, server: Option<usize>) -> NamePattern {
        let max = self.qualified.zip(server).map_or(usize::MAX, |(qualified, length)| qualified.max_tool_name(length));
        NamePattern { max_length: self.names.max_length.min(max), ..self.names }
    }
}

/// The name under which a client sends the tool of a server: a prefix, the server's name, a separator, the tool's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QualifiedName {
    pub(crate) prefix: &'static str,
    pub(crate) separator: &'static str,
    /// Maximum number of characters of the whole name.
    pub(crate) max_length: usize,
}

impl QualifiedName {
    pub(crate) fn max_tool_name(&self, server: usize) -> usize {
        let affixes = self.prefix.len() + self.separator.len();
        self.max_length.saturating_sub(affixes).saturating_sub(server)
    }
}

/// How an API reads the schema of a tool without the flag `strict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WithoutStrict {
    /// The dialect of the schemas for which a missing flag has the effect of `false`.
    pub(crate) dialect: &'static str,
    /// True if the API closes objects without `additionalProperties`.
    pub(crate) closes: bool,
}

/// The value of a tool's flag `strict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StrictFlag {
    /// The flag is omitted.
    Omitted,
    /// Explicit `false`, because the API does not treat a missing flag as `false`.
    False,
    /// Explicit `true`.
    True,
    /// The flag is omitted: this member of the request applies to all tools.
    Request(&'static str),
}

/// The replacement of the schema of a tool without arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoArguments {
    /// No replacement: the schema is sent, as for any other tool.
    Schema,
    /// No schema: the member that would hold it is omitted.
    Omitted,
    /// No replacement, and a tool without a schema keeps none.
    Optional,
    /// No replacement. In a request, a tool without a schema keeps none, unless its model needs a schema
    /// (`Refusal::NoParameters`). In a list, it gets a schema, because other hosts of the dialect may refuse it.
    OptionalInRequests,
    /// No replacement, and a tool with `strict: true` but without a schema is refused (rule `root-object`).
    Required,
}

/// A maximum for all tools of a request together, or for one tool. Tools in another dialect (`fallback`, or not strict)
/// are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget {
    pub(crate) counts: Counted,
    pub(crate) limit: usize,
}

/// The objects that a budget counts, without following `$ref`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Tools (rule `too-many-strict-tools`).
    Tools,
    /// Properties that are not required (rule `too-many-optional-properties`).
    OptionalProperties,
    /// Properties with `anyOf` or a list of types (rule `too-many-unions`).
    Unions,
    /// Properties (rule `too-many-strict-properties`).
    Properties,
}

impl Counted {
    pub(crate) const fn constraint(self) -> Constraint {
        match self {
            Counted::Tools => Constraint::TooManyStrictTools,
            Counted::OptionalProperties => Constraint::TooManyOptionalProperties,
            Counted::Unions => Constraint::TooManyUnions,
            Counted::Properties => Constraint::TooManyStrictProperties,
        }
    }

    pub(crate) const fn words(self) -> &'static str {
        match self {
            Counted::Tools => "strict tools",
            Counted::OptionalProperties => "optional properties",
            Counted::Unions => "properties with several types",
            Counted::Properties => "properties",
        }
    }
}
