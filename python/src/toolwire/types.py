"""What the functions take and give, for type checkers. Keys of results are JSON and so in camelCase."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired, Required

    from ._restore import Restore
elif sys.version_info >= (3, 11):
    # For those who read the hints at run time, which with 3.10 alone nobody can.
    from typing import NotRequired, Required

DialectName: TypeAlias = Literal[
    "codex",
    "codex-wire",
    "openai-responses",
    "openai-chat",
    "openai-strict",
    "portable",
    "anthropic",
    "anthropic-strict",
    "gemini",
    "gemini-json-schema",
    "moonshot",
    "xai",
    "deepseek",
    "deepseek-strict",
    "bedrock",
    "mistral",
    "groq",
    "cerebras",
    "fireworks",
    "llama-cpp",
]
"""The dialects there are; `dialects()` says what is known about each."""

Accepts: TypeAlias = Literal["same", "wider", "narrower", "mixed"]
"""What a change does to the set of accepted arguments."""

Guidance: TypeAlias = Literal["same", "moved", "lost"]
"""What a change does to what the model reads."""

ErrorCode: TypeAlias = Literal[
    "invalid-json",
    "invalid-value",
    "too-deep",
    "invalid-schema",
    "invalid-request",
    "unknown-dialect",
    "unknown-option",
    "invalid-option",
    "not-representable",
    "too-lossy",
    "budget-exceeded",
    "limit-exceeded",
    "forced-deferred-tool",
    "empty-query",
    "invalid-pattern",
    "pattern-too-long",
    "internal",
]
"""What kind of error a `ToolwireError` is: a closed list that is the same in every language."""


class CheckOptions(TypedDict, total=False):
    """Keyword arguments of `check` and `check_json`."""

    dialect: Required[DialectName]
    """Which API's rules to use. Required: no schema is right for every API."""
    refs: Literal["inline", "keep"] | None
    """What becomes of `$ref`."""
    untyped: Literal["keep", "any", "string"] | None
    """What becomes of a schema from which no type can be inferred."""
    hints: Literal["describe", "drop"] | None
    """What becomes of constraints that the dialect cannot say."""
    allow: Literal["same", "encoded", "wider", "any"] | None
    """The most loss that is accepted; beyond it the error is `too-lossy`. By default `"any"`."""
    max_bytes: int | None
    """The size above which the dialect compacts; `None` turns that off."""
    max_nodes: int | None
    """The most nodes that inlining may produce."""
    max_steps: int | None
    """The most work of one call, in steps: visits, copies and comparisons of nodes. Beyond it the error is
    `budget-exceeded`, on every machine at the same step. By default 5,000,000, and 1,000 for each value read."""


class SanitizeOptions(CheckOptions, total=False):
    """Keyword arguments of `sanitize` and its other forms."""

    share: bool | None
    """Return unchanged parts as the caller's own objects instead of copies. By default false."""


ToolFormat: TypeAlias = Literal[
    "mcp", "anthropic", "openai-chat", "openai-responses", "gemini", "gemini-json-schema", "bedrock"
]
"""The shape of a tool in a list: which API's. `"gemini"` has schemas in `parameters`, `"gemini-json-schema"` in
`parametersJsonSchema`."""


class ToolsOptions(SanitizeOptions, total=False):
    """Keyword arguments of `sanitize_tools` and `sanitize_tools_json`."""

    format: ToolFormat | None
    """The shape of the tools. By default the one of the dialect's API."""
    fallback: DialectName | None
    """Another dialect, for tools that the first one cannot say, or only with more loss than `allow` permits."""
    max_tools: int | None
    """The most tools that are rewritten: those after them are set aside. `None` is no limit but the API's. By
    default 10,000."""


class AdaptOptions(SanitizeOptions, total=False):
    """Keyword arguments of `adapt_request` and `adapt_request_json`."""

    format: Literal["anthropic", "openai-chat", "openai-responses", "gemini"] | None
    """The request's format, where its shape does not tell."""
    fallback: DialectName | None
    """Another dialect, for tools that the first one cannot say, or only with more loss than `allow` permits."""
    max_tools: int | None
    """The most tools that are rewritten: those after them are set aside. `None` is no limit but the API's. By
    default 10,000."""
    deferred: DeferredOptions | bool | None
    """How tools are loaded that are deferred. By default as `apply_deferred_loading` does; with false they stay as they
    are, for an API that has the feature."""


class CheckToolsOptions(TypedDict):
    """Keyword arguments of `check_tools` and `check_tools_json`."""

    dialects: list[DialectName] | tuple[DialectName, ...]
    """The dialects to ask about."""


class DialectQuery(TypedDict, total=False):
    """Keyword arguments of `dialect_for`: at least one of `api`, `model` and `host`."""

    api: (
        Literal["openai-chat", "openai-responses", "anthropic", "gemini", "gemini-json-schema", "bedrock", "llama-cpp"]
        | None
    )
    """The protocol."""
    model: str | None
    """The model, as the request names it."""
    host: str | None
    """The host, or a URL on it."""
    strict: bool | None
    """Whether the tools are sent with `strict: true`. By default false."""


class EnvelopeOptions(TypedDict, total=False):
    """Keyword arguments of `normalize_envelope` and its other forms."""

    share: bool | None
    """Return unchanged parts as the caller's own objects instead of copies. By default false."""


class DeferredOptions(TypedDict, total=False):
    """Keyword arguments of `apply_deferred_loading` and its other forms."""

    announce: Literal["none", "names"] | None
    """Whether hidden tools are announced by name in the system prompt. By default `"none"`."""
    target: Literal["openai-responses", "openai-chat"] | None
    """The request format to translate an Anthropic request into. By default the format stays."""
    mode: Literal["filter", "load-all"] | None
    """Whether deferred tools are hidden until they are loaded. By default `"filter"`."""
    order: Literal["catalog", "append"] | None
    """Where loaded tools stand: at their place, or last in the order of loading. By default `"catalog"`."""
    unknown_reference: Literal["notice", "unavailable", "drop"] | None
    """What a reference to an unknown tool becomes. By default `"notice"`."""
    forced_tool: Literal["load", "auto", "error"] | None
    """What happens if `tool_choice` forces a tool that is not loaded. By default `"load"`."""
    server_tool_search: Literal["load-all", "drop", "emulate"] | None
    """What becomes of the hosted tool search. By default `"load-all"`."""
    server_history: Literal["drop", "split"] | None
    """What becomes of hosted searches in the history. By default `"drop"`."""
    empty_tools: Literal["keep", "omit"] | None
    """What is sent if no tool is visible. By default `"keep"`: `tools: []`."""
    loaded_tools: list[str] | tuple[str, ...] | None
    """Tools that count as loaded whatever the history says, for use after compaction."""
    load_used_tools: bool | None
    """Whether a call of a tool in the history counts as a load of it. By default false."""
    tool_search_name: str | None
    """The name of the function that stands for a tool search. By default `"tool_search"`. Where a tool has that
    name, the function gets another; the report says which."""
    tool_changes: Literal["apply", "ignore"] | None
    """Whether the history may change the tools that there are: by `tool_addition` and `tool_removal` in system
    messages, and by items of OpenAI Responses that hold definitions. `"ignore"` is for a history that is not all
    your own. By default `"apply"`."""
    max_repeated_bytes: int | None
    """Bytes of notices that may repeat earlier ones; beyond them a tool is announced again by the first sentence
    alone. By default as many as the notices that do not repeat, and 64 KiB at least."""
    system_messages: Literal["keep", "user"] | None
    """The role of system messages whose directives became text. By default `"keep"`."""
    format: Literal["anthropic", "openai-responses", "openai-chat"] | None
    """The request's format, where it should not be recognised by its shape."""
    share: bool | None
    """Return unchanged parts as the caller's own objects instead of copies. By default false."""


class SearchOptions(TypedDict, total=False):
    """Keyword arguments of `search_tools`, `answer_tool_search` and their other forms."""

    mode: Literal["bm25", "regex"] | None
    """Whether a query is words, by which tools are ranked, or a regular expression, which a tool's name or description
    has to match. By default `"bm25"`."""
    limit: int | None
    """The most tools that are found. By default 5."""
    tool_search_name: str | None
    """The name of the function that stands for a tool search, which never finds itself. By default `"tool_search"`."""


class ExchangeDeferral(TypedDict, total=False):
    """The option `deferred` of `Exchange.open`: that of `adapt_request`, less what an exchange cannot do."""

    announce: Literal["none", "names"] | None
    """See `DeferredOptions`, and so with all others."""
    mode: Literal["filter", "load-all"] | None
    order: Literal["catalog", "append"] | None
    unknown_reference: Literal["notice", "unavailable", "drop"] | None
    forced_tool: Literal["load", "auto", "error"] | None
    server_tool_search: Literal["load-all", "drop", "emulate"] | None
    """By default `"emulate"` where the format is Anthropic's, so that searches which its servers would run are run
    here; elsewhere `"load-all"`."""
    server_history: Literal["drop", "split"] | None
    empty_tools: Literal["keep", "omit"] | None
    loaded_tools: list[str] | tuple[str, ...] | None
    load_used_tools: bool | None
    tool_search_name: str | None
    tool_changes: Literal["apply", "ignore"] | None
    max_repeated_bytes: int | None
    system_messages: Literal["keep", "user"] | None


class ExchangeSearch(TypedDict, total=False):
    """The option `search` of `Exchange.open`: how searches are run."""

    mode: Literal["bm25", "regex"] | None
    """See `SearchOptions`."""
    limit: int | None
    """The most tools that are found. By default 5."""


class ExchangeOptions(TypedDict, total=False):
    """Keyword arguments of `Exchange.open`, and of the transports in `toolwire.httpx2` and `toolwire.httpx`."""

    dialect: DialectName | None
    """The dialect of the backend. By default the one that the host, the path and the model tell."""
    refs: Literal["inline", "keep"] | None
    """See `SanitizeOptions`, and so with the others that are not described here."""
    untyped: Literal["keep", "any", "string"] | None
    hints: Literal["describe", "drop"] | None
    allow: Literal["same", "encoded", "wider", "any"] | None
    max_bytes: int | None
    max_nodes: int | None
    max_steps: int | None
    format: Literal["anthropic", "openai-chat", "openai-responses", "gemini"] | None
    """The request's format, where the path does not tell."""
    fallback: DialectName | None
    """Another dialect, for tools that the first one cannot say, or only with more loss than `allow` permits."""
    max_tools: int | None
    deferred: ExchangeDeferral | bool | None
    """How tools are loaded that are deferred; with false they stay as they are, for a backend that has the feature."""
    search: ExchangeSearch | None
    """How searches are run."""
    max_rounds: int | None
    """How often the model is asked again, for one request, after searches that it made. By default 10. After that the
    client is told `pause_turn`, as by Anthropic, and goes on if it sends the reply back."""


class Change(TypedDict):
    """One change: where, by which rule, with what effect, and why."""

    pointer: str
    """JSON Pointer into the input: where the cause stands."""
    outputPointer: str | None
    """JSON Pointer into the output: where the effect stands; `None` if nothing is left."""
    rule: str
    """The rule's kebab-case name."""
    accepts: Accepts
    """The effect on accepted arguments. With `encoded` it speaks of the arguments after restoring."""
    guidance: Guidance
    """The effect on what the model reads."""
    encoded: bool
    """Arguments look different now, and have to be restored."""
    because: str
    """The provider fact the rule serves, with its confidence, and the error text it prevents."""
    message: str
    """For people: what was done to what."""


class Rewritten(TypedDict):
    """A rewritten schema and what was changed."""

    schema: Any
    """The schema."""
    changes: list[Change]
    """Every change, in document order."""
    lossless: bool
    """Whether the same arguments are accepted and no guidance is lost."""


class RewrittenText(TypedDict):
    """The text of a rewritten schema and what was changed."""

    schema: str
    changes: list[Change]
    lossless: bool


class RewrittenBytes(TypedDict):
    """The UTF-8 text of a rewritten schema and what was changed."""

    schema: bytes
    changes: list[Change]
    lossless: bool


class Warning(TypedDict):  # noqa: A001 - its name in every language; reached as `toolwire.types.Warning` only
    """Something odd about a request that did not stop it."""

    code: str
    """Its snake_case code."""
    name: NotRequired[str]
    """The tool or key it is about, where there is one."""


class NamespacedName(TypedDict):
    """A tool's name inside its namespace, as the OpenAI Responses API knows it."""

    namespace: str
    name: str


class DeferredReport(TypedDict):
    """What was decided about a request. Names stand in order of first appearance."""

    loaded: list[str]
    """Deferred tools that are in the request now."""
    hidden: list[str]
    """Deferred tools that are not."""
    warnings: list[Warning]
    """What was odd about the request."""
    nameMap: NotRequired[dict[str, NamespacedName]]
    """Flattened names and what they stand for."""
    toolSearchName: NotRequired[str]
    """The name of the function that stands for a tool search, if one does: the option `tool_search_name`, unless a
    tool is called so. It is the `tool_search_name` for `answer_tool_search`."""
    unreachable: bool
    """Tools are hidden, no search tool is visible, and nothing announces them: the model cannot reach them."""
    savedBytes: int
    """What the hidden tools would have cost, in bytes of compact JSON."""


class Deferred(TypedDict):
    """A rewritten request and what was decided."""

    request: Any
    report: DeferredReport


class DeferredText(TypedDict):
    """The text of a rewritten request and what was decided."""

    request: str
    report: DeferredReport


class DeferredBytes(TypedDict):
    """The UTF-8 text of a rewritten request and what was decided."""

    request: bytes
    report: DeferredReport


class Violation(TypedDict):
    """One thing a dialect would reject."""

    rule: str
    """The rule's kebab-case name."""
    pointer: str
    """JSON Pointer to what is rejected."""
    message: str
    """For people: what was expected, then what was found."""


class ToolViolation(Violation):
    """Something about a tool list that the API behind a dialect would reject."""

    tool: str | None
    """The tool's name; `None` if it has none."""
    dialect: DialectName
    """The dialect that rejects it."""
    confidence: Literal["A", "B", "C"]
    """How sure we are, as in `Fact`."""
    source: str
    """Where the fact behind the rule was read."""


class ToolChange(Change):
    """A change, and which tool it is about. Its pointers are pointers into the lists."""

    tool: str
    """The name that the tool's server knows."""
    dialect: DialectName
    """The dialect the tool is written in."""


class Quarantined(TypedDict):
    """A tool that was set aside, and why."""

    name: str | None
    """Its name, if it has one."""
    pointer: str
    """JSON Pointer into the list: what cannot be accepted."""
    rule: str
    """Why, in kebab-case: the code of an error of `sanitize`, or a rule about tools."""
    message: str
    """For people: what was expected, then what was found."""


class _Sanitized(TypedDict):
    quarantined: list[Quarantined]
    """The tools that could not be made acceptable: they are not in the list."""
    changes: list[ToolChange]
    """Every change, tool by tool. That a tool has another shape is none."""
    lossless: bool
    """Whether the same arguments are accepted, no guidance is lost, and no tool is missing."""
    restore: Restore
    """Brings the model's calls back to what the tools' own servers expect."""


class SanitizedTools(_Sanitized):
    """A tool list that an API accepts, and what was done for that."""

    tools: list[Any]


class SanitizedToolsText(_Sanitized):
    """The text of a tool list that an API accepts, and what was done for that."""

    tools: str


class SanitizedToolsBytes(_Sanitized):
    """The UTF-8 text of a tool list that an API accepts, and what was done for that."""

    tools: bytes


class AdaptReport(TypedDict):
    """What was decided and changed about a request."""

    deferred: DeferredReport | None
    """What deferred loading decided; `None` if it was not asked."""
    quarantined: list[Quarantined]
    """The tools that could not be made acceptable: they are not in the request."""
    changes: list[ToolChange]
    """Every change of a tool, in their order."""
    unforced: list[str]
    """The tools that `tool_choice` forced, or allowed, and that were set aside: nothing forces them now."""


class Adapted(TypedDict):
    """A request that an API accepts, and what was done for that."""

    request: Any
    report: AdaptReport
    restore: Restore


class AdaptedText(TypedDict):
    """The text of a request that an API accepts, and what was done for that."""

    request: str
    report: AdaptReport
    restore: Restore


class AdaptedBytes(TypedDict):
    """The UTF-8 text of a request that an API accepts, and what was done for that."""

    request: bytes
    report: AdaptReport
    restore: Restore


class RestoredCall(TypedDict):
    """A call as the tool's own server expects it."""

    name: str
    """The tool's name."""
    namespace: NotRequired[str]
    """The namespace of the tool (OpenAI Responses), if it stood in one."""
    arguments: Any
    """The arguments: text if text was given."""


class Fact(TypedDict):
    """One fact about an API, with where it comes from."""

    says: str
    """The fact in words."""
    confidence: Literal["A", "B", "C"]
    """`A`: documentation, validator or source, or two live reports; `B`: one live report; `C`: inferred."""
    source: str
    """Where it was read."""
    rules: list[str]
    """The rules of `check` and `check_tools` that rest on it."""


class Dialect(TypedDict):
    """What one surface of one API accepts, and how sure we are."""

    name: DialectName
    """The name that `sanitize` takes."""
    surface: str
    """The API surface, in words."""
    documentation: str
    """Where that surface is documented."""
    asOf: str
    """The day on which the facts were last checked (ISO 8601)."""
    revision: int
    """Raised whenever a change of the dialect's table alters outputs."""
    options: list[str]
    """The options of `sanitize` that this dialect has, beyond `dialect`, `allow` and `share`."""
    encodes: list[str]
    """What restoring may have to undo; empty where arguments are never encoded."""
    limits: dict[str, int]
    """Size limits by name: bytes, levels or counts, as the name says."""
    facts: list[Fact]
    """What is known, with confidence and source."""
    holes: list[str]
    """What nobody has verified: the table lets it through."""
