"""What the functions take, for type checkers."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from ._names import DialectName, RepairRule  # noqa: TC001 - for those who read the hints at run time
from ._record import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Required

    from ._results import Quarantined
elif sys.version_info >= (3, 11):
    # For those who read the hints at run time, which with 3.10 alone nobody can.
    from typing import Required


class _RewritingOptions(TypedDict, total=False):
    """What every function takes that rewrites schemas or checks them."""

    refs: Literal["inline", "keep"] | None
    """What becomes of `$ref`."""
    untyped: Literal["keep", "any", "string"] | None
    """What becomes of a schema from which no type can be inferred."""
    hints: Literal["describe", "drop"] | None
    """What becomes of constraints that the dialect cannot say."""
    allow: Literal["same", "encoded", "closed", "wider", "any"] | None
    """The most loss that is accepted; beyond it the error is `too-lossy`. `"same"` accepts no change of the accepted
    arguments, `"encoded"` besides that they are encoded, `"closed"` that objects are closed which never said
    whether they are open, `"wider"` that more arguments are accepted. By default `"any"`."""
    max_bytes: int | None
    """Size in bytes above which the dialect compacts; `None` turns that off."""
    max_nodes: int | None
    """The most nodes that inlining may produce."""
    template: str | None
    """The chat template that the server runs: the name of its file, or of a model. Templates refuse schemas that the
    server accepts."""
    max_steps: int | None
    """The most work of one call, in steps: visits, copies and comparisons of nodes. Beyond it the error is
    `budget-exceeded`, on every machine at the same step. By default 3,000,000, and 100 for each
    value read, 4,000,000 in all."""


class _DialectOptions(_RewritingOptions, total=False):
    """What every function takes that is about one dialect."""

    dialect: Required[DialectName]
    """The dialect to write. Required: no schema is right for every API."""


class CheckOptions(_DialectOptions, total=False):
    """Keyword arguments of `check`."""

    use: Literal["tool", "response", "output"] | None
    """What the schema describes. `"response"`: the answer itself, for which APIs have other rules. `"output"`: the
    result of a tool (the `outputSchema` of MCP), for the dialects of clients that read it. By default `"tool"`."""
    wrapper: str | None
    """The name of the property that holds the answer if the API wants an object and the schema describes something
    else. By default `"response"`."""


class _ShareOptions(TypedDict, total=False):
    """What every function takes that may return parts of its input."""

    share: bool | None
    """Return unchanged parts as the caller's own objects instead of copies. By default false."""


class SanitizeOptions(CheckOptions, _ShareOptions, total=False):
    """Keyword arguments of `sanitize`."""


ToolFormat: TypeAlias = Literal[
    "mcp",
    "anthropic",
    "openai-chat",
    "openai-responses",
    "gemini",
    "gemini-json-schema",
    "gemini-interactions",
    "bedrock",
]
"""The shape of a tool in a list: which API's. `"gemini"` has schemas in `parameters`, `"gemini-json-schema"` in
`parametersJsonSchema`; `"gemini-interactions"` has flat functions."""


class CallRepairOptions(TypedDict, total=False):
    """How the arguments of calls are repaired when they are restored; the tool's name is known there."""

    confidence: Literal["exact", "likely"] | None
    """The least confidence that a repair may have. By default `"likely"`."""
    disable: list[RepairRule] | None
    """Rules that are not applied. By default `[]`."""
    use_defaults: bool | None
    """Whether a required member that is missing, null or blank gets the schema's own `default`. By default false."""
    remove_additional: bool | None
    """Whether undeclared members of closed objects are left out. By default false."""
    truncated: Literal["refuse", "close"] | None
    """What becomes of text that breaks off: an error, or the brackets that lack are added. By default `"refuse"`."""


class RepairOptions(CallRepairOptions, total=False):
    """Keyword arguments of `repair_arguments`."""

    name: str | None
    """The tool's name: a whole call of another tool is no wrapper around the arguments."""


class _ListOptions(_RewritingOptions, total=False):
    """What every function takes that rewrites lists of tools."""

    fallback: DialectName | None
    """Another dialect, for tools that the first one cannot say, or only with more loss than `allow` permits. By default
    the one for tools that are not strict, where a list may hold both kinds (`"anthropic-strict"`, `"openai-strict"`,
    `"azure-strict"`)."""
    max_tools: int | None
    """Maximum number of tools that are rewritten: those after them are set aside. `None` is no limit but the API's. By
    default 10,000."""
    repair: CallRepairOptions | bool | None
    """Whether and how `restore` repairs the arguments of calls by the tool's own schema, as `repair_arguments` does. By
    default false."""
    prefix: Literal["auto", "always", "never"] | None
    """How tools of a list of several servers are called. By default `"auto"`: `server__tool` if several servers of the
    list have the name, and the tool's own name otherwise. `"always"`: `server__tool`, so that no name depends on which
    servers there are. `"never"`: a name that several servers have gets a digest of the server and the name."""
    output_schemas: Literal["drop", "send"] | None
    """What becomes of the `outputSchema` of MCP tools in the format of an API. By default `"drop"`. `"send"`: it is
    `output_schema` of the functions of OpenAI Responses."""


class ToolsOptions(_DialectOptions, _ShareOptions, _ListOptions, total=False):
    """Keyword arguments of `sanitize_tools`."""

    format: ToolFormat | None
    """The shape of the tools. By default the one of the dialect's API."""
    duplicate_names: Literal["quarantine", "rename"] | None
    """What becomes of tools of one name in a list that has several definitions for it. By default `"quarantine"`: the
    first one is sent. `"rename"`: each gets a name of its own, and a restored call has `index`, the tool's index in the
    list. Set it only if your code reads `index`: the `name` of such calls is the same."""
    on_set_aside: Literal["warn", "error"] | Callable[[tuple[Quarantined, ...], SanitizedList], object] | None
    """What becomes of a list of which tools have to be set aside. By default `"warn"`: unless `quarantined` is read
    before `tools`, a `ToolwireWarning` says which, for which dialect, why, and what to do, once for each list.
    `"error"`: the call fails. A callable is called in place of the warning, with the tools, every time; one that does
    nothing silences it."""


@dataclass(frozen=True, slots=True)
class SanitizedList(Record):
    """A list that was sanitized."""

    dialect: DialectName
    """For which dialect."""


class _RequestOptions(_ListOptions, total=False):
    """What every function takes that rewrites requests."""

    formats: Literal["native", "tool", "prompt", "ladder"] | None
    """How the schema of a response format is sent. By default `"native"`: as the API's own response format. `"tool"`:
    as the arguments of a function that the model is forced to call; `restore` returns the call as the text of the
    answer. `"prompt"`: in the instructions, with the API's JSON mode if it has one; nothing enforces the
    schema. `"ladder"`: the first of the others that the API takes in this request."""
    wrapper: str | None
    """The name of the property that holds the answer if the API wants an object and the schema describes something
    else. By default `"response"`."""
    history_arguments: Literal["repair", "keep"] | None
    """What becomes of the arguments of calls in the history that are not JSON objects, for which APIs refuse the
    request and every later one. By default `"repair"`: they are read tolerantly, and become `{}` if that fails.
    `"keep"`: they stay."""
    history_pairs: Literal["keep", "complete"] | None
    """What becomes of calls in the history without a result, and of results without a call, for which APIs refuse the
    request and every later one. By default `"keep"`: they stay. `"complete"`: a call without a result gets one that
    says so, results in other messages are moved behind their calls, and a result without a call is removed. Gemini
    Interactions ignores it."""
    model: str | None
    """The model, if the request does not name it because its URL does (Gemini, Bedrock): some facts hold for some
    models alone."""
    overflow: Literal["quarantine", "defer"] | None
    """What becomes of the tools of a request that has more than the API takes. By default `"quarantine"`: those past
    the maximum are set aside. `"defer"`: they are deferred behind a search, and their names are in the system prompt.
    """


class AdaptOptions(_DialectOptions, _ShareOptions, _RequestOptions, total=False):
    """Keyword arguments of `adapt_request`."""

    format: Literal["anthropic", "openai-chat", "openai-responses", "gemini", "gemini-interactions", "bedrock"] | None
    """The request's format, where its shape does not tell."""
    deferred: DeferredOptions | bool | None
    """How tools are loaded that are deferred. By default as `apply_deferred_loading` does. With false they stay as they
    are, for an API that has the feature."""


class CheckToolsOptions(TypedDict):
    """Keyword arguments of `check_tools`."""

    dialects: list[DialectName] | tuple[DialectName, ...]
    """The dialects to ask about."""


class CheckRequestOptions(TypedDict, total=False):
    """Keyword arguments of `check_request`."""

    dialect: Required[DialectName]
    """The dialect of the API that the request is for."""
    model: str | None
    """The model, if the request does not name it because its URL does (Gemini, Bedrock): some facts hold for some
    models alone."""


class DialectQuery(TypedDict, total=False):
    """Keyword arguments of `dialect_for`: at least one of `api`, `model` and `host`."""

    api: (
        Literal[
            "openai-chat",
            "openai-responses",
            "anthropic",
            "gemini",
            "gemini-json-schema",
            "gemini-interactions",
            "bedrock",
            "llama-cpp",
        ]
        | None
    )
    """The protocol."""
    model: str | None
    """The model, as the request names it."""
    host: str | None
    """The host, or a URL on it."""
    strict: bool | None
    """Whether the tools are sent with `strict: true`. By default false."""
    exact: bool | None
    """Whether an unknown API is an error. Otherwise the answer is `portable`. By default false."""


class BetaOptions(TypedDict, total=False):
    """Keyword arguments of `strip_deferral_betas`."""

    native: (
        Literal[
            "none",
            "references",
            "changes",
            "inline",
            "additional-tools",
            "tool-search",
            "kimi",
            "interactions",
            "converse",
        ]
        | None
    )
    """Which construct of its own for deferred tools the backend has. By default `"none"`."""
    betas: list[str] | None
    """The betas that the request needs: `betas` of its report. By default `[]`."""


class DeferralQuery(TypedDict, total=False):
    """Keyword arguments of `deferral_for`: at least one of `host` and `model`; most constructs depend on both."""

    api: (
        Literal[
            "openai-chat",
            "openai-responses",
            "anthropic",
            "gemini",
            "gemini-json-schema",
            "gemini-interactions",
            "bedrock",
            "llama-cpp",
        ]
        | None
    )
    """The protocol that the backend is asked in, if only one comes into question: a construct of another does not fit
    then."""
    model: str | None
    """The model, as the request names it."""
    host: str | None
    """The host, or a URL on it."""


class EnvelopeOptions(TypedDict, total=False):
    """Keyword arguments of `normalize_envelope`."""

    share: bool | None
    """Return unchanged parts as the caller's own objects instead of copies. By default false."""


class _DeferralOptions(TypedDict, total=False):
    """What `apply_deferred_loading` and the option `deferred` of requests take."""

    client: Literal["claude-code", "codex", "kimi"] | None
    """The client that the request comes from: sets `format`, `announce` and `search_tools` as they fit it, unless they
    are given. By default the client is not known."""
    announce: Literal["none", "names"] | None
    """Whether hidden tools are announced by name in the system prompt. By default `"none"`."""
    target: Literal["anthropic", "openai-responses", "openai-chat", "gemini-interactions", "bedrock", "gemini"] | None
    """The format to translate the request into. By default the format stays."""
    search_tools: list[str] | tuple[str, ...] | None
    """Your own functions that search for tools, by name. By default `["ToolSearch"]`."""
    custom_tools: Literal["function", "keep"] | None
    """What happens to OpenAI's `custom` tools, which take a text: `"function"` makes them functions with one argument,
    `input`. By default they stay where OpenAI Responses stays, and become functions elsewhere."""
    removals: Literal["withdraw", "notice"] | None
    """What happens to a tool that the history takes away, where the backend has no removals: `"withdraw"` leaves no
    definition anywhere, `"notice"` only says so and keeps the prefix for a prompt cache. By default `"withdraw"`."""
    unavailable_calls: Literal["keep", "text"] | None
    """What happens to calls of tools that are not sent: some APIs refuse undeclared ones. By default `"keep"`."""
    reasoning: Literal["drop", "content"] | None
    """What happens to the model's reasoning in another format: `"content"` writes `reasoning_content`. By default
    `"drop"`."""
    max_tokens: int | None
    """The most tokens of an answer, if the target wants a number and the request has none. By default 32000."""
    mode: Literal["filter", "load-all"] | None
    """Whether deferred tools are hidden until loaded, or all sent to keep a prompt cache whole. By default
    `"filter"`."""
    order: Literal["catalog", "append"] | None
    """Where loaded tools stand: in their old places, or last to keep the prefix for a prompt cache. By default
    `"catalog"`."""
    unknown_reference: Literal["notice", "unavailable", "drop"] | None
    """What a reference to an unknown tool becomes. By default `"notice"`."""
    forced_tool: Literal["load", "auto", "error"] | None
    """What happens if `tool_choice` forces a tool that is not loaded. By default `"load"`."""
    server_tool_search: Literal["load-all", "drop", "emulate"] | None
    """What becomes of the hosted tool search, which the backend does not have. By default `"load-all"`."""
    server_history: Literal["drop", "split"] | None
    """What becomes of hosted searches in the history. By default `"drop"`."""
    empty_tools: Literal["keep", "omit"] | None
    """What is sent if no tool is visible: `tools: []`, or neither `tools` nor `tool_choice`. By default `"keep"`."""
    loaded_tools: list[str] | tuple[str, ...] | None
    """Tools that count as loaded whatever the history says, for use after compaction. By default `[]`."""
    load_used_tools: bool | None
    """Whether a call of a tool in the history counts as a load of it. By default false."""
    tool_search_name: str | None
    """The name of the function that replaces a tool search. If a tool has that name, the function gets another; the
    report says which. By default `"tool_search"`."""
    tool_changes: Literal["apply", "ignore"] | None
    """Whether the history may change the tools that there are: by `tool_addition` and `tool_removal` in system
    messages, and by items of OpenAI Responses that hold definitions. `"ignore"` is for a history that is not all
    your own. By default `"apply"`."""
    max_repeated_bytes: int | None
    """Bytes of notices that may repeat earlier ones; beyond them a tool is announced again by the first sentence
    alone. By default as many as the notices that do not repeat, and 64 KiB at least."""
    system_messages: Literal["keep", "user"] | None
    """The role of system messages whose directives became text. By default `"keep"`."""


class ExchangeDeferral(_DeferralOptions, total=False):
    """The option `deferred` of `Exchange.open`: that of `adapt_request`, less what an exchange cannot do.

    For an exchange, `target` is the request's own format, if any: replies are not translated back. By default,
    `server_tool_search` is `"emulate"` if the format is Anthropic's, so that searches which its servers would run are
    run here; elsewhere `"load-all"`.
    """

    native: (
        Literal[
            "none",
            "references",
            "changes",
            "inline",
            "additional-tools",
            "tool-search",
            "kimi",
            "interactions",
            "converse",
            "auto",
        ]
        | None
    )
    """Which construct of its own for deferred tools the backend understands; it says nothing about where the request
    comes from. Anthropic has `"references"`, `"changes"` and `"inline"`, OpenAI Responses `"additional-tools"` and
    `"tool-search"`, the Chat Completions of Kimi K3 `"kimi"`, Gemini Interactions `"interactions"`, Bedrock
    Converse `"converse"`. By default `"none"`: deferred tools are emulated. `"auto"` takes the construct that
    `deferral_for` gives for the URL and the model."""


class DeferredOptions(_DeferralOptions, total=False):
    """Keyword arguments of `apply_deferred_loading`."""

    native: (
        Literal[
            "none",
            "references",
            "changes",
            "inline",
            "additional-tools",
            "tool-search",
            "kimi",
            "interactions",
            "converse",
        ]
        | None
    )
    """Which construct of its own for deferred tools the backend understands; it says nothing about where the request
    comes from. Anthropic has `"references"`, `"changes"` and `"inline"`, OpenAI Responses `"additional-tools"` and
    `"tool-search"`, the Chat Completions of Kimi K3 `"kimi"`, Gemini Interactions `"interactions"`, Bedrock
    Converse `"converse"`. By default `"none"`: deferred tools are emulated."""
    format: Literal["anthropic", "openai-responses", "openai-chat", "gemini-interactions", "bedrock", "gemini"] | None
    """The request's format, where its shape does not tell."""
    share: bool | None
    """Return unchanged parts as the caller's own objects instead of copies. By default false."""


class SearchOptions(TypedDict, total=False):
    """Keyword arguments of `search_tools`, `answer_tool_search` and their other forms."""

    mode: Literal["bm25", "regex"] | None
    """How a query is read. By default `"bm25"`: as words, by which tools are ranked. `"regex"`: as a regular expression
    of at most 200 characters in the spelling of `re.search`, which a name or description has to match."""
    limit: int | None
    """Maximum number of tools that are found. By default 5."""
    tool_search_name: str | None
    """The name of the function that replaces a tool search. It never finds itself. By default `"tool_search"`."""


class ExchangeSearch(TypedDict, total=False):
    """The option `search` of `Exchange.open`: how searches are run."""

    mode: Literal["bm25", "regex"] | None
    """See `SearchOptions`."""
    limit: int | None
    """Maximum number of tools that are found. By default 5."""


class ExchangeOptions(_RequestOptions, total=False):
    """Keyword arguments of `Exchange.open`, and of the transports in `toolwire.httpx2` and `toolwire.httpx`.

    With `repair`, `take_repaired_calls` or `on_repair` tells what became of the arguments.
    """

    dialect: DialectName | None
    """The dialect of the backend. By default the one that the host, the path and the model tell."""
    format: Literal["anthropic", "openai-chat", "openai-responses", "gemini", "gemini-interactions"] | None
    """The request's format, where the path does not tell."""
    deferred: ExchangeDeferral | bool | None
    """How tools are loaded that are deferred; with false they stay as they are, for a backend that has the feature."""
    search: ExchangeSearch | None
    """How searches are run."""
    max_rounds: int | None
    """How often the model is asked again, for one request, after searches that it made. By default 10. After that the
    client is told `pause_turn`, as by Anthropic, and goes on if it sends the reply back."""
    tool_list_cache: int | None
    """How many tool lists are kept with what became of them, for requests that repeat a list: it is found by its bytes,
    and not rewritten again. The list used longest ago goes first; together they take at most 8 MiB of text, and
    32 MiB with what restores calls. By default 16; 0: none."""
    on_set_aside: Literal["warn", "error"] | Callable[[tuple[Quarantined, ...], SentRequest], object] | None
    """What becomes of a request of which tools have to be set aside. By default `"warn"`: it is sent without them, and
    a `ToolwireWarning` says which, for which dialect, why, and what to do, once for each list. `"error"`: it is not
    sent. A callable is called in place of the warning, with the tools, every time."""


@dataclass(frozen=True, slots=True)
class SentRequest(Record):
    """A request as it is sent."""

    url: str
    """Where it goes."""
    dialect: DialectName
    """The dialect that it is written in."""
    body: str
    """JSON text."""
