//! How an API wants its tools, around their schemas: the shape of a tool, its names, flags and descriptions, and what a
//! whole request may hold. As data; `tools` writes towards it and judges by it.

pub(crate) use super::name_pattern::NamePattern;
use super::{requests::RequestFact, Dialect};
use crate::{options::ToolFormat, rules::Constraint};

/// The tools of one API surface, schemas aside. Write `Surface { names: NamePattern::OPENAI, ..Surface::PLAIN }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Surface {
    /// The shape of a tool in a request, where the caller does not say.
    pub(crate) format: ToolFormat,
    /// What a tool may be called. The rule `tool-name`.
    pub(crate) names: NamePattern,
    /// What the flag `strict` of a tool says. The rule `strict-flag`.
    pub(crate) strict: StrictFlag,
    /// What stands for the schema of a tool without arguments. The rule `no-arguments`.
    pub(crate) no_arguments: NoArguments,
    /// Maximum number of characters (Unicode code points) of a tool's description; longer ones are cut. The rule
    /// `description-length`.
    pub(crate) description_most: Option<usize>,
    /// An empty description is refused, so it is left out. The rule `empty-description`.
    pub(crate) no_empty_description: bool,
    /// A description that is null is refused; other APIs take it for none. The rule `description-not-string`.
    pub(crate) no_null_description: bool,
    /// The dialects by which `check_tools` judges schemas in other members of a tool, by the format of that member.
    pub(crate) carriers: &'static [(ToolFormat, &'static str)],
    /// Maximum number of tools of a request, hosted ones included. The rule `too-many-tools`.
    pub(crate) tools_most: Option<usize>,
    /// What all the tools of a request together may hold.
    pub(crate) budgets: &'static [Budget],
    /// What one tool may hold. The rule `too-complex`.
    pub(crate) tool_budgets: &'static [Budget],
    /// The dialect of the tools that are not strict, which may stand in one list with those that are: a tool that this
    /// dialect cannot take is written in that one.
    pub(crate) not_strict: Option<&'static str>,
    /// All tools of a request become one grammar: their definitions are put into one table, where two of one name must
    /// be alike, and one compiler takes all of them. The rules `definition-conflict` and `mixed-backends`.
    pub(crate) one_grammar: bool,
    /// What some models' tools may be called, by what the model's name begins with; `names` is for all others.
    pub(crate) names_by_model: &'static [(&'static str, NamePattern)],
    /// The API has `custom` tools.
    pub(crate) has_custom_tools: bool,
    /// The API has namespaces of tools.
    pub(crate) has_namespaces: bool,
    /// The surface is a client of MCP servers: what it refuses reaches no API.
    pub(crate) is_client: bool,
    /// What is refused of the `outputSchema` of a tool; `None`: the surface does not read it.
    pub(crate) output: Option<&'static Dialect>,
    /// The member of a function that takes the schema of its result, where the format of tools is OpenAI Responses.
    pub(crate) result_member: Option<&'static str>,
    /// What the API refuses about a request as a whole.
    pub(crate) requests: &'static [RequestFact],
}

impl Surface {
    /// Tools as MCP has them, under any name, as many as there are.
    pub(crate) const PLAIN: Surface = Surface {
        format: ToolFormat::Mcp,
        names: NamePattern::ANY,
        strict: StrictFlag::Unsaid,
        no_arguments: NoArguments::Schema,
        description_most: None,
        no_empty_description: false,
        no_null_description: false,
        carriers: &[],
        tools_most: None,
        budgets: &[],
        tool_budgets: &[],
        not_strict: None,
        one_grammar: false,
        names_by_model: &[],
        has_custom_tools: false,
        has_namespaces: false,
        is_client: false,
        output: None,
        result_member: None,
        requests: &[],
    };

    /// What tools may be called that are sent to a model.
    pub(crate) fn names_for(&self, model: &str) -> NamePattern {
        let own = self.names_by_model.iter().find(|(begin, _)| model.starts_with(begin));
        own.map_or(self.names, |(_, names)| *names)
    }
}

/// What the flag `strict` of a tool says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StrictFlag {
    /// Nothing: it is left out.
    Unsaid,
    /// `false`, written out, because omission means something else.
    False,
    /// `true`, written out.
    True,
    /// Nothing: this member of the request says it for all its tools.
    Request(&'static str),
}

/// What stands for the schema of a tool without arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoArguments {
    /// The schema, as for any other tool.
    Schema,
    /// Nothing: the member that would hold it is left out.
    Omitted,
}

/// The most of something that all the tools of a request together, or one of them, may hold. What is written in another
/// dialect (`fallback`, or not strict) does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget {
    pub(crate) counts: Counted,
    pub(crate) most: usize,
}

/// What a budget counts. Only what is reached without following `$ref` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Tools. The rule `too-many-strict-tools`.
    Tools,
    /// Properties that are not required. The rule `too-many-optional-properties`.
    OptionalProperties,
    /// Properties with `anyOf` or a list of types. The rule `too-many-unions`.
    Unions,
    /// Properties. The rule `too-many-strict-properties`.
    Properties,
}

impl Counted {
    /// The name of the rule that a request breaks when it holds too many.
    pub(crate) const fn rule(self) -> &'static str {
        match self {
            Counted::Tools => Constraint::TooManyStrictTools.id(),
            Counted::OptionalProperties => Constraint::TooManyOptionalProperties.id(),
            Counted::Unions => Constraint::TooManyUnions.id(),
            Counted::Properties => Constraint::TooManyStrictProperties.id(),
        }
    }

    /// What is counted, for messages.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Counted::Tools => "strict tools",
            Counted::OptionalProperties => "optional properties",
            Counted::Unions => "properties with several types",
            Counted::Properties => "properties",
        }
    }
}
