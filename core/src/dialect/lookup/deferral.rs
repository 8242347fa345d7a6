//! Finds the native construct of a backend for deferred tools, by its host, its protocol and the model.
//!
//! A backend refuses a construct that it does not support, or hides its content from the model. Therefore, the table
//! lists only constructs that are documented or recorded. For all other backends, deferral is emulated.

use alloc::{
    borrow::Cow,
    format,
    string::{String, ToString},
};

use super::{bare_model, Host};
use crate::{
    error::{Code, Error},
    options::{Api, DeferralQuery, Native},
    report::Grade,
};

/// Date on which the whole table was last compared with its sources.
const CHECKED: &str = "2026-11-21";

/// The options of deferred loading for a backend, and the evidence for them.
///
/// ```
/// use toolwire::{deferral_for, DeferralQuery, DeferredOptions};
/// let choice = deferral_for(&DeferralQuery::default().host("api.moonshot.ai").model("kimi-k3"))?;
/// let options = DeferredOptions::default().target(choice.target).native(choice.native);
/// # let _ = options;
/// # Ok::<(), toolwire::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeferralChoice {
    /// The format of requests that have the construct; `None` if the backend has no construct.
    pub target: Option<Api>,
    /// The construct.
    pub native: Native,
    /// How well it is known that the backend has this construct.
    pub confidence: Grade,
    /// The evidence, as a sentence.
    pub because: Cow<'static, str>,
    /// The day on which the evidence was looked up or recorded (ISO 8601).
    pub checked: &'static str,
}

/// Major and minor.
type Version = (u16, u16);

/// Both ends are included.
struct Span {
    /// The lower-case prefix of the models' names, up to the version.
    family: &'static str,
    first: Version,
    last: Version,
}

const fn span(family: &'static str, first: Version, last: Version) -> Span {
    Span { family, first, last }
}

const fn only(family: &'static str, version: Version) -> Span {
    span(family, version, version)
}

impl Span {
    fn has(&self, model: &str) -> bool {
        // Bedrock's names have the region and the vendor before the family: `us.anthropic.claude-…`.
        let parts = model.split_once(self.family).filter(|(maker, _)| maker.is_empty() || maker.ends_with('.'));
        let version = parts.and_then(|(_, rest)| version(rest));
        version.is_some_and(|version| (self.first..=self.last).contains(&version))
    }
}

/// Returns the version at the start of a string: `5`, `5.4` or `5-4`. A date or a variant may follow: `-2026-03-05`,
/// `-codex`.
fn version(text: &str) -> Option<Version> {
    let (major, rest) = number(text)?;
    // A minor version has at most two digits; longer numbers are dates.
    let minor = rest.strip_prefix(['.', '-']).filter(|rest| digits(rest) <= 2).and_then(number);
    Some((major, minor.map_or(0, |(minor, _)| minor)))
}

/// Returns the number at the start of a string and the rest of the string, unless a letter follows the number (`4o`,
/// `1m`).
fn number(text: &str) -> Option<(u16, &str)> {
    let (number, rest) = text.split_at(digits(text));
    let is_whole = !rest.starts_with(|next: char| next.is_alphanumeric());
    number.parse().ok().filter(|_| is_whole).map(|number| (number, rest))
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

struct Row {
    /// `*` matches any characters.
    hosts: &'static [&'static str],
    /// Dialect of servers that may run at any host.
    dialect: Option<&'static str>,
    /// The construct needs one of these betas; empty if it needs none.
    betas: &'static [&'static str],
    /// True if the backend runs the hosted search of the construct's format.
    searches: bool,
    /// The models that support the construct; empty if all models of the host do.
    models: &'static [Span],
    /// Prefixes of the names of models that lack the construct although their version is in range.
    except: &'static [&'static str],
    /// True if the row also applies to queries without a model.
    without_model: bool,
    target: Api,
    native: Native,
    /// `A` documented or recorded, `C` inferred.
    confidence: Grade,
    /// The evidence, as a sentence without a full stop.
    source: &'static str,
    checked: &'static str,
}

const LATEST: u16 = u16::MAX;

/// Source: pydantic-ai 2.68, the profile of Anthropic's models, measured live; `claude-sonnet-5` was refused with 400.
const CLAUDE_WITH_CHANGES: &[Span] = &[
    span("claude-fable-", (5, 0), (5, LATEST)),
    span("claude-mythos-", (5, 0), (5, LATEST)),
    only("claude-opus-", (4, 8)),
    span("claude-opus-", (5, 0), (5, LATEST)),
    only("claude-sonnet-", (5, 5)),
    only("claude-haiku-", (5, 5)),
];

/// Source: pydantic-ai 2.68, the profile of Anthropic's models.
const CLAUDE_WITH_SEARCH: &[Span] = &[
    span("claude-sonnet-", (4, 5), (LATEST, LATEST)),
    span("claude-opus-", (4, 5), (LATEST, LATEST)),
    span("claude-haiku-", (4, 5), (LATEST, LATEST)),
    span("claude-fable-", (0, 0), (LATEST, LATEST)),
    span("claude-mythos-", (0, 0), (LATEST, LATEST)),
];

const OPENAI: &[&str] = &["api.openai.com"];
const ANTHROPIC: &[&str] = &["api.anthropic.com"];
const GOOGLE: &[&str] = &["generativelanguage.googleapis.com"];
const MOONSHOT: &[&str] = &["api.moonshot.ai", "api.moonshot.cn"];
/// Amazon's endpoints of the Messages API (docs.aws.amazon.com/bedrock/latest/userguide/inference-messages-api.html).
const BEDROCK: &[&str] = &["bedrock-runtime.*", "bedrock-runtime-fips.*", "bedrock-mantle.*"];
const CONVERSE: &[&str] = &["bedrock-runtime.*", "bedrock-runtime-fips.*"];
const VERTEX: &[&str] = &["aiplatform.googleapis.com", "*-aiplatform.googleapis.com"];

/// The beta's name at Amazon and Google, and its name at Anthropic, which `adapt_request` replaces for them.
const TOOL_SEARCH: &[&str] = &["tool-search-tool-2025-10-19", "advanced-tool-use-2025-11-20"];

const OF_CHANGES_ELSEWHERE: &str =
    "Amazon Bedrock and Google Cloud accept tool changes by reference, not by value, with these models \
        (platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages)";

/// The first row that matches applies.
///
/// Other Claude models at Bedrock and at Google Cloud are omitted intentionally without a beta. Tool search is
/// documented there with the beta `tool-search-tool-2025-10-19` (at Bedrock only in InvokeModel). Without the beta,
/// only Google Cloud with Sonnet 4.5 is known to work (vercel/ai#13337). References are recorded for the Claude API,
/// where they need no beta.
const ROWS: &[Row] = &[
    Row {
        hosts: OPENAI,
        models: &[span("gpt-", (5, 4), (LATEST, LATEST))],
        except: &["gpt-5.4-nano"],
        target: Api::OpenaiResponses,
        native: Native::ToolSearch,
        source: "OpenAI documents `tool_search` for GPT-5.4 and later \
                 (developers.openai.com/api/docs/guides/tools-tool-search); recorded requests were answered 200",
        checked: CHECKED,
        ..Row::ANY
    },
    Row {
        hosts: OPENAI,
        target: Api::OpenaiResponses,
        native: Native::AdditionalTools,
        source:
            "13 models from gpt-4o-mini to gpt-5.6 called a tool that only `additional_tools` declared (pydantic-ai \
                 2.68, measured live); `tool_search` needs GPT-5.4, and gpt-5.4-nano refuses it",
        checked: CHECKED,
        ..Row::ANY
    },
    Row {
        hosts: MOONSHOT,
        models: &[span("kimi-k", (3, 0), (3, u16::MAX))],
        target: Api::OpenaiChat,
        native: Native::Kimi,
        source:
            "Moonshot documents tools in system messages for Kimi K3 (platform.kimi.ai, dynamic tool loading), and \
                 its own tests send them (MoonshotAI/Kimi-Vendor-Verifier, 2026-08-13)",
        checked: CHECKED,
        ..Row::ANY
    },
    Row {
        hosts: ANTHROPIC,
        models: CLAUDE_WITH_CHANGES,
        target: Api::Anthropic,
        native: Native::Inline,
        source: "the Claude API accepts tool changes by reference and by value with these models \
            (platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages; pydantic-ai 2.68, \
            measured live)",
        checked: CHECKED,
        ..Row::ANY
    },
    Row {
        hosts: ANTHROPIC,
        models: CLAUDE_WITH_SEARCH,
        without_model: true,
        target: Api::Anthropic,
        native: Native::References,
        source: "the Claude API loads deferred tools by `tool_reference` and needs no beta for that \
                 (platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool); recorded requests were \
                 answered 200; older models have no tool search (pydantic-ai 2.68)",
        checked: CHECKED,
        ..Row::ANY
    },
    Row {
        hosts: GOOGLE,
        target: Api::GeminiInteractions,
        native: Native::Interactions,
        source: "Google's SDK has deferred functions and search steps in Interactions since google-genai 3.4.0 \
            (2026-11-16); it does not document which models have them",
        confidence: Grade::B,
        checked: "2026-11-26",
        ..Row::ANY
    },
    Row {
        hosts: BEDROCK,
        models: CLAUDE_WITH_CHANGES,
        target: Api::Anthropic,
        native: Native::Changes,
        source: OF_CHANGES_ELSEWHERE,
        checked: "2026-09-22",
        ..Row::ANY
    },
    Row {
        hosts: CONVERSE,
        models: CLAUDE_WITH_CHANGES,
        target: Api::Bedrock,
        native: Native::Converse,
        confidence: Grade::C,
        source:
            "Converse has `toolAddition` and `toolRemoval` in system messages since botocore 1.43.127 (2026-11-09), \
                which names no models; Claude accepts such changes in its own format",
        checked: "2026-11-26",
        ..Row::ANY
    },
    Row {
        hosts: VERTEX,
        models: CLAUDE_WITH_CHANGES,
        target: Api::Anthropic,
        native: Native::Changes,
        source: OF_CHANGES_ELSEWHERE,
        checked: "2026-09-22",
        ..Row::ANY
    },
    Row {
        hosts: VERTEX,
        models: CLAUDE_WITH_SEARCH,
        betas: TOOL_SEARCH,
        target: Api::Anthropic,
        native: Native::References,
        source:
            "Google Cloud documents deferred tools for the Claude API with the beta `tool-search-tool-2025-10-19`, \
            and Bifrost's matrix of backends forwards both",
        confidence: Grade::B,
        checked: "2026-11-28",
        ..Row::ANY
    },
    Row {
        hosts: CONVERSE,
        models: CLAUDE_WITH_SEARCH,
        betas: TOOL_SEARCH,
        target: Api::Anthropic,
        native: Native::References,
        source: "Amazon documents deferred tools for InvokeModel with the beta `tool-search-tool-2025-10-19` \
            (docs.aws.amazon.com/bedrock/latest/userguide, tool use with Claude); Claude Code 2.1.197 sends both there",
        confidence: Grade::B,
        checked: "2026-11-29",
        ..Row::ANY
    },
    Row {
        dialect: Some("vllm"),
        searches: false,
        target: Api::Anthropic,
        native: Native::References,
        source: "vLLM's Messages protocol has `defer_loading` and `tool_reference` (vllm-project/vllm at 00589e56, \
            entrypoints/anthropic/protocol.py), and no search of its own",
        confidence: Grade::B,
        checked: "2026-11-28",
        ..Row::ANY
    },
];

impl Row {
    const ANY: Row = Row {
        hosts: &[],
        dialect: None,
        betas: &[],
        searches: true,
        models: &[],
        except: &[],
        without_model: false,
        target: Api::Anthropic,
        native: Native::None,
        confidence: Grade::A,
        source: "",
        checked: CHECKED,
    };
}

struct Known<'q> {
    request: &'q Request<'q>,
    host: Option<Host>,
    api: Option<Api>,
    model: Option<String>,
}

/// The facts about a request on which its construct depends. By default, nothing is known.
#[derive(Default)]
pub(crate) struct Request<'q> {
    pub(crate) dialect: Option<&'q str>,
    /// The betas in the body.
    pub(crate) betas: &'q [String],
    /// True if the request leaves the search to the provider.
    pub(crate) searches: bool,
}

impl<'q> Known<'q> {
    fn of(query: &DeferralQuery, request: &'q Request<'q>) -> Self {
        Known {
            request,
            host: query.host.as_deref().and_then(Host::of),
            api: query.api,
            model: query.model.as_deref().map(bare_model).filter(|model| !model.is_empty()),
        }
    }

    fn is_at(&self, row: &Row) -> bool {
        row.dialect.is_some() && row.dialect == self.request.dialect
            || self.host.as_ref().is_some_and(|host| row.hosts.iter().any(|pattern| host.is(pattern)))
    }

    fn has_model(&self, row: &Row) -> bool {
        let unnamed = self.model.is_none() && row.without_model;
        row.models.is_empty() || unnamed || self.is_model_of(row)
    }

    fn is_model_of(&self, row: &Row) -> bool {
        self.model.as_deref().is_some_and(|model| {
            row.models.iter().any(|span| span.has(model)) && !row.except.iter().any(|start| model.starts_with(start))
        })
    }

    fn has_required_beta_and_search(&self, row: &Row) -> bool {
        let has_beta = row.betas.is_empty() || self.request.betas.iter().any(|beta| row.betas.contains(&beta.as_str()));
        has_beta && (row.searches || !self.request.searches)
    }

    fn has_api(&self, row: &Row) -> bool {
        self.api.is_none_or(|api| api == row.target)
    }

    fn why_none(&self) -> String {
        let Some(Host { name, .. }) = &self.host else {
            let row = ROWS.iter().find(|row| self.is_model_of(row));
            return match row.and_then(|row| Some((row.hosts.first()?, row.native.as_str()))) {
                Some((host, native)) => {
                    format!(
                        "no host is given: `{host}` supports `{native}` with this model, and other hosts \
                        may support no construct"
                    )
                }
                None => "no host is given, and no host is known to have a construct for deferred tools with this model"
                    .to_string(),
            };
        };
        if let Some(Row { target, native, .. }) = ROWS.iter().find(|row| self.is_at(row) && self.has_model(row)) {
            return format!(
                "`{name}` supports `{}` with this model, but only in `{}`",
                native.as_str(),
                target.as_str()
            );
        }
        if !ROWS.iter().any(|row| self.is_at(row)) {
            return format!("the host `{name}` is not known to have its own construct for deferred tools");
        }
        match &self.model {
            Some(model) => format!(
                "`{name}` has a construct for deferred tools, but is not known to have one with \
                `{model}`"
            ),
            None => format!("`{name}` has a construct for deferred tools with some models, and no model is given"),
        }
    }
}

pub(crate) fn deferral_for(query: &DeferralQuery) -> Result<DeferralChoice, Error> {
    deferral_for_request(query, &Request::default())
}

pub(crate) fn deferral_for_request(query: &DeferralQuery, request: &Request<'_>) -> Result<DeferralChoice, Error> {
    let known = Known::of(query, request);
    if known.host.is_none() && known.model.is_none() {
        let message = "expected a `host` or a `model`, preferably both, found neither";
        return Err(Error::new(Code::InvalidOption, "", message));
    }
    let applies = |row: &&Row| {
        known.is_at(row) && known.has_model(row) && known.has_api(row) && known.has_required_beta_and_search(row)
    };
    Ok(match ROWS.iter().find(applies) {
        Some(row) => DeferralChoice {
            target: Some(row.target),
            native: row.native,
            confidence: row.confidence,
            because: Cow::Borrowed(row.source),
            checked: row.checked,
        },
        None => DeferralChoice {
            target: None,
            native: Native::None,
            confidence: Grade::C,
            because: Cow::Owned(known.why_none()),
            checked: CHECKED,
        },
    })
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{version, ROWS};

    #[test]
    fn the_construct_of_a_row_belongs_to_its_target() {
        for row in ROWS {
            assert_eq!(row.native.api(), Some(row.target), "{}", row.source);
        }
    }

    #[test]
    fn every_row_has_a_source_and_a_date() {
        for row in ROWS {
            assert!(row.source.len() > 20 && !row.source.ends_with('.'), "{}", row.source);
            let day: Vec<&str> = row.checked.split('-').collect();
            assert_eq!(day.iter().map(|part| part.len()).collect::<Vec<_>>(), [4, 2, 2], "{}", row.checked);
        }
    }

    #[test]
    fn names_are_lower_case_with_at_most_one_wildcard() {
        for name in ROWS.iter().flat_map(|row| row.hosts.iter().copied().chain(row.models.iter().map(|one| one.family)))
        {
            assert!(name.matches('*').count() <= 1 && *name == name.to_lowercase(), "{name}");
        }
    }

    #[test]
    fn versions_are_read_without_dates_and_variants() {
        for (text, expected) in [
            ("5", Some((5, 0))),
            ("5.4", Some((5, 4))),
            ("5.10-mini", Some((5, 10))),
            ("5-5", Some((5, 5))),
            ("5-2025-08-07", Some((5, 0))),
            ("4-8-20260528", Some((4, 8))),
            ("5-20260724-v1:0", Some((5, 0))),
            ("5-v1:0", Some((5, 0))),
            ("5@20260724", Some((5, 0))),
            ("5-1m", Some((5, 0))),
            ("5.", Some((5, 0))),
            ("4o-mini", None),
            ("99999", None),
            ("oss-120b", None),
            ("", None),
        ] {
            assert_eq!(version(text), expected, "{text}");
        }
    }
}
