//! What each model API accepts, as tables with their sources. One file per API family; nothing here rewrites anything.

mod anthropic;
mod azure;
mod bedrock;
mod cerebras;
mod codex;
mod cohere;
mod constants;
mod deepseek;
pub(crate) mod features;
mod fireworks;
pub(crate) mod format_facts;
pub(crate) mod format_places;
pub(crate) mod format_steps;
mod gemini;
mod gemini_interactions;
pub(crate) mod grammar;
mod groq;
mod llama_cpp;
pub(crate) mod lookup;
mod mcp_clients;
mod mistral;
mod moonshot;
mod name_pattern;
pub(crate) mod name_rule;
mod ollama;
mod openai;
mod portable;
mod request_fact;
pub(crate) mod requests;
pub(crate) mod responses;
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
    nearest::did_you_mean,
    options::{Api, SanitizeOptions, Use},
    report::{Reason, Severity},
    rules::{Constraint, Rule},
    schema::keyword::{Keyword, Keywords},
};

/// How a dialect's schemas are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// Codex's sanitizer; `wire` adds what Codex does before a request leaves.
    Codex {
        /// Prune, compact and keep, too.
        wire: bool,
    },
    /// The general rules, towards a grammar.
    Rules(&'static grammar::Grammar),
}

/// One fact about an API, with where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fact {
    /// The fact in words.
    pub statement: &'static str,
    /// `A`: official documentation, validator or source, or two independent live reports; `B`: one live report; `C`:
    /// inferred.
    pub confidence: char,
    /// Where it was read.
    pub source: &'static str,
    /// The constraints that rest on it.
    pub rules: &'static [Constraint],
    /// What becomes of a schema that goes against it.
    pub severity: Severity,
    /// Of the constraints that are about keywords, the keywords it speaks of; none: all of them.
    pub(crate) keywords: Keywords,
    /// What goes against it never reaches the model: a program before it leaves it out.
    pub(crate) hides: bool,
}

impl Fact {
    /// What facts have in common unless they say otherwise: what goes against them is refused.
    const REFUSED: Fact = Fact {
        statement: "",
        confidence: 'C',
        source: "",
        rules: &[],
        severity: Severity::Refused,
        keywords: Keywords::NONE,
        hides: false,
    };

    /// The API accepts tools with `strict: true`.
    const fn accepts_strict(source: &'static str) -> Fact {
        Fact {
            statement: "a tool may have `strict: true`",
            confidence: 'A',
            source,
            rules: &[Constraint::StrictFlag],
            severity: Severity::Ignored,
            ..Fact::REFUSED
        }
    }

    /// The API applies the rules of its strict dialect to tools with `strict: true`.
    const fn applies_strict(source: &'static str) -> Fact {
        Fact {
            statement: "a tool with `strict: true` is held to the rules of strict tools",
            severity: Severity::Reinterpreted,
            ..Fact::accepts_strict(source)
        }
    }

    /// The fact, its confidence and its source, as the report says why a rule is there.
    pub(crate) const fn reason(&self) -> Reason {
        Reason::fact(self.statement, self.confidence, self.source)
    }
}

/// One dialect: what one surface of one API accepts, and how sure we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dialect {
    /// The name that `sanitize` takes.
    pub name: &'static str,
    /// The API surface, in words.
    pub surface: &'static str,
    /// Where that surface is documented.
    pub documentation: &'static str,
    /// The day on which the facts were last checked (ISO 8601).
    pub as_of: &'static str,
    /// Raised whenever a table change alters outputs.
    pub revision: u32,
    /// The options of `sanitize` that this dialect has, beyond `dialect`, `allow` and `share`, in camelCase.
    pub options: &'static [&'static str],
    /// What `restore_arguments` may have to undo; empty where arguments are never encoded.
    pub encodes: &'static [&'static str],
    /// Size limits by name: bytes, levels or counts, as the name says.
    pub limits: &'static [(&'static str, u64)],
    /// What is known, with confidence and source. The first one stands behind every rule of `check` that none names.
    pub facts: &'static [Fact],
    /// What nobody has verified, or what reports contradict each other about: the table lets it through.
    pub unverified: &'static [&'static str],
    /// Why a rule is there: the fact it serves, with confidence, and the error it prevents. `None` is the reason of all
    /// others.
    pub(crate) reasons: &'static [(Option<Rule>, &'static str)],
    pub(crate) method: Method,
    /// How tools are written around their schemas, and what a request may hold.
    pub(crate) tools: surface::Surface,
}

/// Every dialect, in the order in which they are documented.
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
];

/// Returns the patterns for names of tools of all dialects, each once.
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
    /// A limit of this dialect, if it has it.
    pub(crate) fn limit(&self, name: &str) -> Option<usize> {
        self.limits.iter().find(|(known, _)| *known == name).and_then(|(_, value)| usize::try_from(*value).ok())
    }

    /// Why a rule changed something at a pointer of the input: its own reason, or the fact that prevents what stood
    /// there.
    pub(crate) fn reason(&self, rule: Rule, pointer: &str) -> Reason {
        let find =
            |name: Option<Rule>| self.reasons.iter().find(|(known, _)| *known == name).map(|(_, reason)| *reason);
        if let Some(reason) = find(Some(rule)) {
            return Reason::from(reason);
        }
        let keyword = keyword_at(pointer);
        let is_below = pointer.matches('/').count() > 1;
        let serves = |fact: &&Fact, constraint: &dyn Fn(&Constraint) -> bool| {
            fact.rules.iter().any(|known| rule.serves().contains(known) && constraint(known))
        };
        let any = |_: &Constraint| true;
        let names_it = |fact: &&Fact| keyword.is_some_and(|keyword| fact.keywords.contains(keyword));
        // What is said of the root says nothing of what lies below.
        let is_of_here = |constraint: &Constraint| !(is_below && constraint.is_of_root());
        let facts = || self.facts.iter();
        let fact = facts()
            .find(|fact| names_it(fact) && serves(fact, &any))
            .or_else(|| facts().find(|fact| fact.keywords == Keywords::NONE && serves(fact, &is_of_here)))
            .or_else(|| facts().find(|fact| serves(fact, &any)));
        match (fact, find(None)) {
            (Some(fact), _) => fact.reason(),
            (None, Some(reason)) => Reason::from(reason),
            // What no fact of the API prevents is settled by JSON Schema, whose words the rules read.
            (None, None) => well_formed::WELL_FORMED.reason(),
        }
    }

    /// The fact that a violation rests on: its rule, and the pointer to what is at fault, which ends in the keyword.
    pub(crate) fn fact_of(&self, rule: &str, pointer: &str) -> Option<&'static Fact> {
        let keyword = keyword_at(pointer);
        let rests_on = |fact: &&Fact| fact.rules.iter().any(|constraint| constraint.id() == rule);
        let speaks_of = |fact: &&Fact| keyword.is_some_and(|keyword| fact.keywords.contains(keyword));
        // One that names the keyword knows better than one that speaks of all.
        self.facts
            .iter()
            .find(|fact| rests_on(fact) && speaks_of(fact))
            .or_else(|| self.facts.iter().find(|fact| rests_on(fact) && fact.keywords == Keywords::NONE))
    }

    /// The dialect of the API's response formats; `None` if it has none.
    ///
    /// ```
    /// let dialects = toolwire::dialects();
    /// let gemini = dialects.iter().find(|dialect| dialect.name == "gemini").unwrap();
    /// assert_eq!(gemini.response_format().unwrap().surface, "Gemini API, `generationConfig.responseSchema`");
    /// ```
    pub fn response_format(&self) -> Option<&'static Dialect> {
        responses::of(self).ok()
    }

    /// The table for the `outputSchema` of tools, if the surface is a client of MCP servers that reads it.
    ///
    /// ```
    /// let dialects = toolwire::dialects();
    /// let claude = dialects.iter().find(|dialect| dialect.name == "claude-desktop").unwrap();
    /// assert_eq!(claude.output_schema().unwrap().surface, "Claude Desktop and Claude Code, `outputSchema` of tools");
    /// ```
    pub const fn output_schema(&self) -> Option<&'static Dialect> {
        self.tools.output
    }

    /// Returns true for a client of MCP servers: what it refuses reaches no model's API.
    pub const fn is_mcp_client(&self) -> bool {
        self.tools.is_client
    }

    /// Is a part of some schemas never shown to the model, because a program before it leaves that out? Then `check`
    /// finds it `ignored` or `reinterpreted`, and people read in the tool what the model does not.
    pub fn hides(&self) -> bool {
        self.facts.iter().any(|fact| fact.hides)
    }

    /// The chat templates that are known, by their files, each with what this dialect's server refuses in addition if
    /// it runs that one. Empty if its server's templates are not known.
    pub fn templates(&self) -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
        templates::all(self)
    }

    /// What becomes of a schema or a tool with this violation.
    pub(crate) fn severity_of(&self, rule: &str, pointer: &str) -> Severity {
        self.fact_of(rule, pointer).map_or(Severity::Refused, |fact| fact.severity)
    }

    /// What the API refuses about a request as a whole.
    pub const fn requests(&self) -> &'static [requests::RequestFact] {
        self.tools.requests
    }

    /// Returns the fact that the API refuses broken pairs of calls and results in requests of this format.
    pub(crate) fn history_pairs(&self, api: Api) -> Option<&'static requests::RequestFact> {
        self.tools.requests.iter().find(|fact| match fact.refuses {
            requests::Refusal::HistoryPairs(apis) => apis.contains(&api),
            _ => false,
        })
    }

    /// Returns the fact that breaks a hosted tool of this type in a request of this format, if the API is known to
    /// refuse it.
    pub(crate) fn refuses_type(&self, kind: &Text<'_>, api: Api) -> Option<&'static requests::RequestFact> {
        self.requests().iter().find(|fact| match fact.refuses {
            requests::Refusal::ToolTypes { apis, takes } => {
                apis.contains(&api) && !takes.iter().any(|known| kind.is(known))
            }
            _ => false,
        })
    }

    /// Returns true if the API is known to have hosted tools of this type.
    pub(crate) fn lists_type(&self, kind: &str) -> bool {
        self.requests().iter().any(|fact| match fact.refuses {
            requests::Refusal::ToolTypes { takes, .. } => takes.contains(&kind),
            _ => false,
        })
    }

    /// Facts of this dialect as JSON.
    fn listed(&self, facts: &'static [Fact]) -> Node<'static> {
        let facts = facts.iter().map(|fact| {
            Node::record([
                ("statement", Node::string(fact.statement)),
                ("confidence", Node::string(String::from(fact.confidence))),
                ("source", Node::string(fact.source)),
                ("rules", Node::array(fact.rules.iter().map(|rule| Node::literal(rule.id())).collect())),
                ("severity", Node::literal(fact.severity.as_str())),
                ("checked", Node::string(self.as_of)),
            ])
        });
        Node::array(facts.collect())
    }

    pub(crate) fn to_node(self) -> Node<'static> {
        let words =
            |words: &'static [&'static str]| Node::array(words.iter().map(|word| Node::string(*word)).collect());
        let limits = self.limits.iter().map(|(name, value)| ((*name).into(), Node::count(*value)));
        let requests = self.requests().iter().map(|fact| {
            Node::record([
                ("statement", Node::string(fact.statement)),
                ("confidence", Node::string(String::from(fact.confidence))),
                ("source", Node::string(fact.source)),
                ("rule", Node::literal(fact.rule())),
                ("severity", Node::literal(fact.severity.as_str())),
                ("checked", Node::string(fact.checked)),
            ])
        });
        Node::record([
            ("name", Node::string(self.name)),
            ("surface", Node::string(self.surface)),
            ("documentation", Node::string(self.documentation)),
            ("asOf", Node::string(self.as_of)),
            ("revision", Node::count(self.revision.into())),
            ("options", words(self.options)),
            ("encodes", words(self.encodes)),
            ("limits", Node::new(Data::Object(limits.collect()))),
            ("facts", self.listed(self.facts)),
            ("requests", Node::array(requests.collect())),
            ("response", responses::to_node(&self)),
            ("unverified", words(self.unverified)),
        ])
    }
}

fn no_output(dialect: &Dialect) -> Error {
    let message = format!(
        "expected a client of MCP servers that reads the `outputSchema` of tools, such as `mcp-typescript`, found \
            `{}`",
        dialect.name
    );
    Error::new(Code::NotRepresentable, "", message)
}

/// The keyword that a pointer ends in.
fn keyword_at(pointer: &str) -> Option<Keyword> {
    pointer.rsplit('/').next().and_then(|name| Keyword::named(&Text::new(name)))
}

/// The dialect that the options name, for the use that they name, once it is sure that it has all the options that are
/// set.
///
/// # Errors
/// `unknown-dialect` with the known ones, `invalid-option`, `not-representable` if its API has no response formats.
pub(crate) fn of(options: &SanitizeOptions) -> Result<&'static Dialect, Error> {
    let Some(dialect) = DIALECTS.iter().find(|dialect| dialect.name == options.dialect) else {
        let names: Vec<String> = DIALECTS.iter().map(|dialect| format!("`{}`", dialect.name)).collect();
        let found = &options.dialect;
        return Err(Error::new(
            Code::UnknownDialect,
            "/dialect",
            format!(
                "expected one of {}, found `{found}`{}; for example `{}`",
                names.join(", "),
                did_you_mean(found, DIALECTS.iter().map(|dialect| &dialect.name)),
                options.example()
            ),
        ));
    };
    let dialect = match options.used_as {
        Use::Tool => dialect,
        Use::Response => responses::of(dialect)?,
        Use::Output => dialect.tools.output.ok_or_else(|| no_output(dialect))?,
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
