//! Tables of the JSON Schema that each model API accepts, with the sources of every fact. One file per API family; this
//! module rewrites nothing.

mod anthropic;
mod azure;
pub(crate) mod backends;
mod bedrock;
mod betas;
mod cerebras;
pub(crate) mod codex;
mod cohere;
mod deepseek;
pub(crate) mod features;
mod fireworks;
pub(crate) mod formats;
mod gemini;
mod gemini_interactions;
pub(crate) mod grammar;
mod groq;
mod history_facts;
mod id;
pub(crate) mod json_schema;
mod llama_cpp;
pub(crate) mod lookup;
mod mcp_clients;
mod mistral;
pub(crate) mod models;
mod moonshot;
pub(crate) mod name_rules;
mod ollama;
mod openai;
mod portable;
pub(crate) mod reason;
mod request_fact;
mod request_rows;
pub(crate) mod requests;
pub(crate) mod responses;
pub(crate) mod rule;
mod sglang;
pub(crate) mod surface;
pub(crate) mod templates;
mod vertex;
mod vllm;
mod vscode;
mod well_formed;
mod xai;

use alloc::{format, string::String, vec::Vec};

use crate::{
    error::{Code, Error},
    json::{Data, Node, Text},
    naming::nearest,
    options::{Api, SanitizeOptions, Use},
    report::{Grade, Reason, Severity},
    rules::{Constraint, Rule},
    schema::keyword::{Keyword, Keywords},
};

/// Method by which `sanitize` rewrites a schema for a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// Emulation of Codex's sanitizer.
    Codex {
        /// Also emulates the steps that Codex applies before a request is sent: pruning, compacting and keeping.
        wire: bool,
    },
    /// The general passes, which rewrite a schema until this grammar accepts it.
    Rules(&'static grammar::Grammar),
}

/// One fact about an API, with its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fact {
    /// The fact as a sentence.
    pub statement: &'static str,
    /// `A`: official documentation, validator or source, or two independent live reports; `B`: one live report; `C`:
    /// inferred.
    pub confidence: Grade,
    /// Source of the fact.
    pub source: &'static str,
    /// The constraints that rest on this fact.
    pub rules: &'static [Constraint],
    /// The API's reaction to a schema that violates the fact.
    pub severity: Severity,
    /// Keywords that the fact is about, if its constraints are about keywords; empty for all keywords.
    pub(crate) keywords: Keywords,
    /// True if a program that passes schemas to the model removes the part of the schema that violates the fact.
    pub(crate) hides: bool,
    /// True if a client refuses all tools of a server because one tool violates the fact.
    pub(crate) drops_server: bool,
    /// Rules that the fact explains, in addition to the rules that serve its constraints.
    pub(crate) explains: &'static [Rule],
    /// The dialects that a general fact combines. Their facts are more specific.
    pub(crate) restates: &'static [&'static Dialect],
}

impl Fact {
    /// Without `checked`, the date of the dialect.
    pub(crate) fn describe(&self) -> Node<'static> {
        Node::record([
            ("statement", Node::string(self.statement)),
            ("confidence", Node::literal(self.confidence.as_str())),
            ("source", Node::string(self.source)),
            ("rules", Node::array(self.rules.iter().map(|rule| Node::literal(rule.id())).collect())),
            ("severity", Node::literal(self.severity.as_str())),
        ])
    }

    /// Default: a schema that violates the fact is refused.
    const REFUSED: Fact = Fact {
        statement: "",
        confidence: Grade::C,
        source: "",
        rules: &[],
        severity: Severity::Refused,
        keywords: Keywords::NONE,
        hides: false,
        drops_server: false,
        explains: &[],
        restates: &[],
    };

    const fn accepts_strict(source: &'static str) -> Fact {
        Fact {
            statement: "a tool may have `strict: true`",
            confidence: Grade::A,
            source,
            rules: &[Constraint::StrictFlag],
            severity: Severity::Ignored,
            ..Fact::REFUSED
        }
    }

    const fn applies_strict(source: &'static str) -> Fact {
        Fact {
            statement: "a tool with `strict: true` must follow the rules of strict tools",
            severity: Severity::Reinterpreted,
            ..Fact::accepts_strict(source)
        }
    }

    const fn enforces_strict(confidence: Grade, source: &'static str) -> Fact {
        Fact {
            statement: "the API enforces the schema of a tool with `strict: true`",
            confidence,
            source,
            ..Fact::REFUSED
        }
    }

    pub(crate) const fn reason(&self) -> Reason {
        Reason::fact(self.statement, self.confidence, self.source)
    }
}

/// One dialect: what one surface of one API accepts, and how reliable that knowledge is. A dialect cannot be copied, so
/// every [`Dialect::id`] is that of a known one.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dialect {
    /// The name in the options and reports of every language; see [`Self::id`].
    pub name: &'static str,
    /// The API surface, as a short description.
    pub surface: &'static str,
    /// URL of the documentation of that surface.
    pub documentation: &'static str,
    /// The day on which the facts were last checked (ISO 8601).
    pub as_of: &'static str,
    /// Increases whenever a change of the table changes output.
    pub revision: u32,
    /// The options of `sanitize` that this dialect supports in addition to `dialect`, `allow` and `share`, in
    /// camelCase.
    pub options: &'static [&'static str],
    /// Encodings that `restore_arguments` may have to undo; empty if this dialect never encodes arguments.
    pub encodes: &'static [&'static str],
    /// Size limits by name. The name states the unit: bytes, levels or counts.
    pub limits: &'static [(&'static str, u64)],
    /// Known facts, with confidence and source. The first fact is the reason for every rule of `check` that no fact
    /// names.
    pub facts: &'static [Fact],
    /// Statements that are unverified, or about which reports contradict each other. The table does not enforce them.
    pub unverified: &'static [&'static str],
    pub(crate) method: Method,
    /// The form of tools around their schemas, and the rules for whole requests.
    pub(crate) tools: surface::Surface,
}

pub(crate) use id::named;
pub use id::DialectId;
pub(crate) use openai::DEFAULT_OF_STRICT;

/// In the order of the documentation.
pub(crate) const DIALECTS: &[Dialect] = &[
    codex::CODEX,
    codex::CODEX_WIRE,
    openai::RESPONSES,
    openai::CHAT,
    openai::STRICT,
    azure::STRICT,
    portable::PORTABLE,
    anthropic::ANTHROPIC,
    anthropic::STRICT,
    gemini::GEMINI,
    gemini::JSON_SCHEMA,
    gemini_interactions::INTERACTIONS,
    vertex::VERTEX,
    vertex::JSON_SCHEMA,
    moonshot::MOONSHOT,
    xai::XAI,
    deepseek::DEEPSEEK,
    deepseek::STRICT,
    bedrock::BEDROCK,
    bedrock::ANTHROPIC,
    bedrock::STRICT,
    mistral::MISTRAL,
    groq::GROQ,
    groq::STRICT,
    cerebras::CEREBRAS,
    cerebras::STRICT,
    fireworks::FIREWORKS,
    cohere::COHERE,
    cohere::STRICT,
    llama_cpp::LLAMA_CPP,
    ollama::OLLAMA,
    vllm::VLLM,
    sglang::SGLANG,
    vscode::VSCODE,
    mcp_clients::MCP_TYPESCRIPT,
    mcp_clients::CLAUDE_DESKTOP,
    mcp_clients::CLAUDE_CODE,
    mcp_clients::CURSOR,
    mcp_clients::COWORK,
];

#[cfg(feature = "search")]
pub(crate) fn name_patterns() -> Vec<surface::NamePattern> {
    let mut found = Vec::new();
    for dialect in DIALECTS {
        let by_model = dialect.tools.names_by_model.iter().map(|(_, names)| *names);
        for names in by_model.chain([dialect.tools.names]) {
            if !found.contains(&names) {
                found.push(names);
            }
        }
    }
    found
}

impl Dialect {
    /// Returns the name as the type that options have.
    pub const fn id(&self) -> DialectId {
        DialectId::listed(self.name)
    }

    pub(crate) fn limit(&self, name: &str) -> Option<usize> {
        self.limits.iter().find(|(known, _)| *known == name).and_then(|(_, value)| usize::try_from(*value).ok())
    }

    /// `pointer` is the location of the violating value, and ends in the keyword.
    pub(crate) fn fact_of(&self, constraint: Constraint, pointer: &str) -> Option<&'static Fact> {
        let keyword = keyword_at(pointer);
        let rests_on = |fact: &&Fact| fact.rules.contains(&constraint);
        let concerns = |fact: &&Fact| keyword.is_some_and(|keyword| fact.keywords.contains(keyword));
        // A fact that names the keyword is more specific than a fact about all keywords.
        self.facts
            .iter()
            .find(|fact| rests_on(fact) && concerns(fact))
            .or_else(|| self.facts.iter().find(|fact| rests_on(fact) && fact.keywords == Keywords::NONE))
    }

    /// Returns the dialect of the API's response formats, or `None` if the API has none.
    ///
    /// ```
    /// let dialects = toolwire::dialects();
    /// let gemini = dialects.iter().find(|dialect| dialect.name == "gemini").unwrap();
    /// assert_eq!(gemini.response_format().unwrap().surface, "Gemini API, `generationConfig.responseSchema`");
    /// ```
    pub fn response_format(&self) -> Option<&'static Dialect> {
        responses::of(self).ok()
    }

    /// Returns the table for the `outputSchema` of tools if the surface is an MCP client that reads it.
    ///
    /// ```
    /// let dialects = toolwire::dialects();
    /// let claude = dialects.iter().find(|dialect| dialect.name == "claude-desktop").unwrap();
    /// assert_eq!(claude.output_schema().unwrap().surface, "Claude Desktop, `outputSchema` of tools");
    /// ```
    pub const fn output_schema(&self) -> Option<&'static Dialect> {
        self.tools.output
    }

    /// Returns true if the dialect describes an MCP client: schemas that the client refuses never reach a model's API.
    pub const fn is_mcp_client(&self) -> bool {
        self.tools.is_client
    }

    /// Returns true if a program that passes schemas to the model removes parts of some schemas. `check` reports such
    /// parts as `ignored` or `reinterpreted`, because the model does not see them.
    pub fn hides(&self) -> bool {
        self.facts.iter().any(|fact| fact.hides)
    }

    /// Returns the known chat templates by file name, each with what the server refuses in addition if it runs that
    /// template. Empty if the templates of this dialect's server are not known.
    pub fn templates(&self) -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
        templates::all(self)
    }

    pub(crate) fn severity_of(&self, constraint: Constraint, pointer: &str) -> Severity {
        let of_rule = if constraint == Constraint::IgnoredKeyword { Severity::Ignored } else { Severity::Refused };
        self.fact_of(constraint, pointer).map_or(of_rule, |fact| fact.severity)
    }

    /// Returns the facts about what the API refuses in a request as a whole.
    pub const fn requests(&self) -> &'static [requests::RequestFact] {
        self.tools.requests
    }

    pub(crate) fn refuses_type(&self, kind: &Text<'_>, api: Api) -> Option<&'static requests::RequestFact> {
        self.requests().iter().find(|fact| match fact.refuses {
            requests::Refusal::ToolTypes { apis, accepts } => {
                apis.contains(&api) && !accepts.iter().any(|known| kind.is(known))
            }
            _ => false,
        })
    }

    pub(crate) fn needs_parameters(&self, model: &str) -> Option<&'static requests::RequestFact> {
        self.requests().iter().find(|fact| match fact.refuses {
            requests::Refusal::NoParameters(models) => models.include(model),
            _ => false,
        })
    }

    pub(crate) fn lists_type(&self, kind: &str) -> bool {
        self.requests().iter().any(|fact| match fact.refuses {
            requests::Refusal::ToolTypes { accepts, .. } => accepts.contains(&kind),
            _ => false,
        })
    }

    fn facts_to_node(&self, facts: &'static [Fact]) -> Node<'static> {
        let facts = facts.iter().map(|fact| {
            let mut node = fact.describe();
            node.set("checked", Node::string(self.as_of));
            node
        });
        Node::array(facts.collect())
    }

    pub(crate) fn describe(&self) -> Node<'static> {
        let words =
            |words: &'static [&'static str]| Node::array(words.iter().map(|word| Node::string(*word)).collect());
        let limits = self.limits.iter().map(|(name, value)| ((*name).into(), Node::count(*value)));
        let requests = self.requests().iter().map(requests::RequestFact::describe);
        Node::record([
            ("name", Node::string(self.name)),
            ("surface", Node::string(self.surface)),
            ("documentation", Node::string(self.documentation)),
            ("asOf", Node::string(self.as_of)),
            ("revision", Node::count(self.revision.into())),
            ("options", words(self.options)),
            ("encodes", words(self.encodes)),
            ("limits", Node::new(Data::Object(limits.collect()))),
            ("facts", self.facts_to_node(self.facts)),
            ("requests", Node::array(requests.collect())),
            ("response", responses::to_node(self)),
            ("unverified", words(self.unverified)),
        ])
    }
}

fn no_output_schema(dialect: &Dialect) -> Error {
    let message = format!(
        "expected a client of MCP servers that reads the `outputSchema` of tools, such as `mcp-typescript`, found \
            `{}`",
        dialect.name
    );
    Error::new(Code::NotRepresentable, "", message)
}

fn keyword_at(pointer: &str) -> Option<Keyword> {
    pointer.rsplit('/').next().and_then(|name| Keyword::named(&Text::new(name)))
}

pub(crate) fn nearest_name(name: &str) -> &'static str {
    let names = || DIALECTS.iter().map(|dialect| dialect.name);
    nearest(name, names(), |letters| letters.div_ceil(4)).unwrap_or("moonshot")
}

/// Checks that the dialect supports all options that are set.
///
/// # Errors
/// `invalid-option`, or `not-representable` if the API has no response formats.
pub(crate) fn of(options: &SanitizeOptions) -> Result<&'static Dialect, Error> {
    let dialect = named(options.dialect.as_str())?;
    let dialect = match options.used_as {
        Use::Tool => dialect,
        Use::Response => responses::of(dialect)?,
        Use::Output => dialect.tools.output.ok_or_else(|| no_output_schema(dialect))?,
    };
    if let Some(name) = options.dialect_options().find(|name| !dialect.options.contains(name)) {
        let has = match dialect.options {
            [] => String::from("has no options"),
            names => {
                let names: Vec<_> = names.iter().map(|name| options.naming.spell(name)).collect();
                format!("has only `{}`", names.join("`, `"))
            }
        };
        return Err(Error::new(
            Code::InvalidOption,
            format!("/{}", options.naming.spell(name)),
            format!(
                "expected no `{}` because the dialect `{}` {has}, found one",
                options.naming.spell(name),
                dialect.name
            ),
        ));
    }
    match &options.template {
        Some(template) => templates::of(dialect, template, options),
        None => Ok(dialect),
    }
}
