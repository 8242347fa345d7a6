"""Types of the functions' options, for type checkers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from ._names import DialectName, RepairRule  # noqa: TC001 - needed to evaluate the hints at run time
from ._record import Record

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from ._dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Required

    from ._results import Quarantined
elif sys.version_info >= (3, 11):
    # Needed to evaluate the hints at run time; Python 3.10 without `typing_extensions` cannot.
    from typing import Required


class _RewritingOptions(TypedDict, total=False):
    """Options of every function that rewrites or checks schemas."""

    refs: Literal["inline", "keep"] | None
    """Handling of `$ref`. `"inline"` replaces references with their targets; `"keep"` keeps them if the dialect
    supports them. The default depends on the dialect."""
    untyped: Literal["keep", "any", "string"] | None
    """Handling of a schema whose type cannot be inferred. The default depends on the dialect."""
    hints: Literal["describe", "drop"] | None
    """Handling of constraints that the dialect cannot express. `"describe"` adds them to the description. The default
    depends on the dialect."""
    allow: Literal["same", "encoded", "closed", "wider", "any"] | None
    """Maximum loss that is accepted; a greater loss is the error `too-lossy`. `"same"`: the set of accepted arguments
    must not change. `"encoded"`: in addition, arguments may be encoded. `"closed"`: in addition, objects that do not
    state whether they are open may be closed. `"wider"`: in addition, more arguments may be accepted. By default
    `"any"`.
    """
    max_bytes: int | None
    """Size in bytes above which the dialect compacts the schema; `None` disables compaction. The default depends on the
    dialect."""
    max_nodes: int | None
    """Maximum number of nodes that inlining may produce. By default 10,000."""
    template: str | None
    """Chat template of the server: the name of its file, or of a model. A template may refuse schemas that the server
    accepts."""
    max_steps: int | None
    """Maximum work of one call, in steps: visits, copies and comparisons of nodes. A call that exceeds it fails with
    `budget-exceeded`, at the same step on every machine. By default 3,000,000, plus 100 for each value read, but at
    most 4,000,000."""


class _DialectOptions(_RewritingOptions, total=False):
    """Options of every function that has one dialect."""

    dialect: Required[DialectName]
    """Dialect to write. Required: no schema is right for every API."""


class CheckOptions(_DialectOptions, total=False):
    """Keyword arguments of `check`."""

    use: Literal["tool", "response", "output"] | None
    """Purpose of the schema: arguments of a tool, response format, or result of a tool. `"response"`: a response
    format, to which APIs apply different rules. `"output"`: the `outputSchema` of an MCP tool, for the dialects of
    clients that read it. By default `"tool"`."""
    wrapper: str | None
    """Name of the property that holds the answer if the API requires an object and the schema describes something else.
    By default `"response"`."""


class _ShareOptions(TypedDict, total=False):
    """Options of every function that may return parts of its input."""

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
"""Format of the tools of an API, or of MCP. `"gemini"` has schemas in `parameters`, `"gemini-json-schema"` in
`parametersJsonSchema`; `"gemini-interactions"` has flat functions."""


class CallRepairOptions(TypedDict, total=False):
    """Options for repairing restored calls: those of `repair_arguments` without the tool's name, which is known."""

    confidence: Literal["exact", "likely"] | None
    """Minimum confidence of a repair. By default `"likely"`."""
    disable: list[RepairRule] | None
    """Repair rules to disable. By default `[]`."""
    use_defaults: bool | None
    """If true, a required member that is missing, null or blank gets the `default` of its schema. By default false."""
    remove_additional: bool | None
    """If true, undeclared members of closed objects are removed. By default false."""
    truncated: Literal["refuse", "close"] | None
    """Handling of truncated text: an error, or adding the missing brackets. By default `"refuse"`."""


class RepairOptions(CallRepairOptions, total=False):
    """Keyword arguments of `repair_arguments`."""

    name: str | None
    """Name of the tool: arguments wrapped in a call are not unwrapped if the call names another tool."""


class ResultOptions(TypedDict, total=False):
    """Keyword arguments of `fit_result`."""

    mismatch: Literal["pass", "refuse", "drop"] | None
    """Handling of structured content that is missing or does not match, in a result that is not an error. By default
    `"pass"`."""
    structured_text: Literal["empty", "missing", "never"] | None
    """Results whose structured content is also added as text. By default `"empty"`."""


class _ListOptions(_RewritingOptions, total=False):
    """Options of every function that rewrites lists of tools."""

    fallback: DialectName | None
    """Dialect for tools that the first dialect cannot express, or only with more loss than `allow` permits. By default
    the dialect for tools that are not strict, if a list may contain both kinds (`"anthropic-strict"`,
    `"openai-strict"`, `"azure-strict"`)."""
    max_tools: int | None
    """Maximum number of tools to rewrite; further tools are set aside. `None`: only the API's limit applies. By default
    10,000."""
    repair: CallRepairOptions | bool | None
    """Options with which `restore` repairs the arguments of calls to fit the tool's own schema, as `repair_arguments`
    does. `True` uses the defaults of these options. By default false."""
    lenient_types: bool | None
    """If true, schemas also accept text for numbers and booleans, and null for optional properties, and `restore`
    repairs such calls: for APIs that refuse a call of their own model before the client sees it (Groq). By default
    false."""
    prefix: Literal["auto", "always", "never"] | None
    """Naming of tools in a list from several servers. By default `"auto"`: `server__tool` if several servers of the
    list use the name, and the tool's own name otherwise. `"always"`: `server__tool`, so that no name depends on which
    other servers are in the list. `"never"`: a name that several servers use gets a digest of the server and the name
    as a suffix."""
    output_schemas: Literal["drop", "send"] | None
    """Handling of the `outputSchema` of MCP tools that are sent to an API. By default `"drop"`: the schema is removed.
    `"send"`: the schema becomes `output_schema` of the functions of OpenAI Responses."""


class ToolsOptions(_DialectOptions, _ShareOptions, _ListOptions, total=False):
    """Keyword arguments of `sanitize_tools`."""

    format: ToolFormat | None
    """Format of the tools. By default the format of the dialect's API."""
    duplicate_names: Literal["quarantine", "rename"] | None
    """Handling of tools with the same name but different definitions in one list. By default `"quarantine"`: the first
    tool is sent, and the others are set aside. `"rename"`: each tool gets a distinct name, and a restored call has
    `index`, the tool's index in the list. Use `"rename"` only if your code reads `index`: the `name` of such calls is
    the same."""
    on_set_aside: Literal["warn", "error"] | Callable[[tuple[Quarantined, ...], SanitizedList], object] | None
    """Handling of a list if some of its tools have to be set aside. By default `"warn"`: unless `quarantined` is read
    before `tools`, a `ToolwireWarning` reports the tools, the dialect, the reasons and the remedies, once for each
    list. `"error"`: the call fails. A callable is called with the tools instead of the warning, every time; a callable
    that does nothing suppresses it."""


@dataclass(frozen=True, slots=True)
class SanitizedList(Record):
    """A sanitized list."""

    dialect: DialectName
    """Dialect of the list."""


class _RequestOptions(_ListOptions, total=False):
    """Options of every function that rewrites requests."""

    formats: Literal["native", "tool", "prompt", "ladder"] | None
    """Form in which the schema of a response format is sent. By default `"native"`: as the API's own response format.
    `"tool"`: as the parameters of a function that the model is forced to call; `restore` returns the call as the text
    of the answer. `"prompt"`: in the instructions, with the API's JSON mode if it has one; nothing enforces the schema.
    `"ladder"`: the first of the other forms that the API supports in this request."""
    wrapper: str | None
    """Name of the property that holds the answer if the API requires an object and the schema describes something else.
    By default `"response"`."""
    history_arguments: Literal["repair", "keep"] | None
    """Handling of call arguments in the history that are not JSON objects: they make APIs refuse this and every later
    request. By default `"repair"`: the arguments are parsed tolerantly, and replaced by `{}` if that fails. `"keep"`:
    the arguments are left unchanged."""
    history_pairs: Literal["auto", "keep", "complete"] | None
    """Handling of calls in the history without a result and results without a call: they make APIs refuse this and
    every later request. `"complete"`: a call without a result gets a result that states this, results in other
    messages are moved directly after their calls, and a result without a call is removed; Gemini Interactions ignores
    this value. `"keep"`: such calls and results are left unchanged. By default `"auto"`: `"complete"` for an API that
    is known to refuse them, `"keep"` for others."""
    betas: list[str] | tuple[str, ...] | None
    """Betas in the header `anthropic-beta`, in addition to those in the body. Some APIs accept a member or a construct
    only with a beta, and refuse betas that they do not know; `betas` of the report are those that the header has to
    name. By default the header is not known; for `Exchange`, `[]`. The transports add those of the request's header."""
    host: str | None
    """Host of the API, or a URL on it: some facts apply only to some hosts."""
    model: str | None
    """Model, if the URL names it instead of the request (Gemini, Bedrock): some facts apply only to some models."""
    overflow: Literal["quarantine", "defer"] | None
    """Handling of a request that has more tools than the API accepts. By default `"quarantine"`: the tools beyond the
    maximum are set aside. `"defer"`: these tools are deferred behind a search, and the system prompt lists their
    names."""


class AdaptOptions(_DialectOptions, _ShareOptions, _RequestOptions, total=False):
    """Keyword arguments of `adapt_request`."""

    format: Literal["anthropic", "openai-chat", "openai-responses", "gemini", "gemini-interactions", "bedrock"] | None
    """Format of the request, if its content does not determine it."""
    deferred: DeferredOptions | bool | None
    """Handling of deferred tools. By default that of `apply_deferred_loading` with its default options. False leaves
    deferred tools unchanged, for an API that supports deferred loading."""


class CheckToolsOptions(TypedDict):
    """Keyword arguments of `check_tools`."""

    dialects: list[DialectName] | tuple[DialectName, ...]
    """Dialects against which the tools are checked."""


class CheckRequestOptions(TypedDict, total=False):
    """Keyword arguments of `check_request`."""

    dialect: Required[DialectName]
    """Dialect of the API that the request is for."""
    betas: list[str] | tuple[str, ...] | None
    """Betas in the header `anthropic-beta`, in addition to those in the body. By default the header is not known."""
    host: str | None
    """Host of the API, or a URL on it: some facts apply only to some hosts."""
    model: str | None
    """Model, if the URL names it instead of the request (Gemini, Bedrock): some facts apply only to some models."""


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
    """API protocol."""
    model: str | None
    """Model, as named in the request."""
    host: str | None
    """Host, or a URL on it."""
    strict: bool | None
    """True if the tools are sent with `strict: true`. By default false."""
    exact: bool | None
    """If true, an unknown API is an error. Otherwise, the result is `portable`. By default false."""


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
    """Native construct for deferred tools that the backend supports. By default `"none"`."""
    betas: list[str] | None
    """Betas that the request needs: `betas` of its report. By default `[]`."""


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
    """Protocol of the requests, if only one is possible: constructs of other protocols are then excluded."""
    model: str | None
    """Model, as named in the request."""
    host: str | None
    """Host, or a URL on it."""


class EnvelopeOptions(TypedDict, total=False):
    """Keyword arguments of `normalize_envelope`."""

    share: bool | None
    """Return unchanged parts as the caller's own objects instead of copies. By default false."""


class _DeferralOptions(TypedDict, total=False):
    """Options of `apply_deferred_loading` and of the option `deferred` of functions on requests."""

    client: Literal["claude-code", "codex", "kimi"] | None
    """Client that sends the request; it determines `format`, `announce` and `search_tools`, unless they are given. By
    default an unknown client."""
    announce: Literal["none", "names"] | None
    """Announcement of hidden tools by name in the system prompt. By default `"none"`."""
    target: Literal["anthropic", "openai-responses", "openai-chat", "gemini-interactions", "bedrock", "gemini"] | None
    """Format to translate the request into. By default, the request keeps its format."""
    search_tools: list[str] | tuple[str, ...] | None
    """Names of your own functions that search for tools. By default `["ToolSearch"]`."""
    custom_tools: Literal["function", "keep"] | None
    """Handling of OpenAI's `custom` tools, whose input is text: `"function"` makes them functions with one argument,
    `input`. By default the tools are kept if the request stays in the format of OpenAI Responses, and otherwise become
    functions."""
    removals: Literal["withdraw", "notice"] | None
    """Handling of a tool that the history removes, if the backend does not support removals: `"withdraw"` removes every
    definition, `"notice"` only announces the removal and keeps the prefix of the prompt cache valid. By default
    `"withdraw"`."""
    unavailable_calls: Literal["keep", "text"] | None
    """Handling of calls to tools that are not sent: some APIs refuse calls to undeclared tools. By default `"keep"`."""
    reasoning: Literal["drop", "content"] | None
    """Handling of the model's reasoning when the format changes: `"content"` writes `reasoning_content`. By default
    `"content"` in a request to an API that is known to read it, and otherwise `"drop"`."""
    max_tokens: int | None
    """Maximum number of tokens of an answer, if the target requires a maximum and the request has none. By default
    32,000, or the maximum of a model that is known to accept fewer."""
    mode: Literal["filter", "load-all"] | None
    """Visibility of deferred tools: hidden until loaded, or all sent to keep the prompt cache valid. By default
    `"filter"`."""
    order: Literal["catalog", "append"] | None
    """Position of loaded tools: their original one, or last to keep the prefix of the prompt cache valid. By default
    `"catalog"`."""
    unknown_reference: Literal["notice", "unavailable", "drop"] | None
    """Replacement of a reference to an unknown tool. By default `"notice"`."""
    forced_tool: Literal["load", "auto", "error"] | None
    """Handling of a `tool_choice` that forces a tool that is not loaded. By default `"load"`."""
    server_tool_search: Literal["load-all", "drop", "emulate"] | None
    """Handling of a hosted tool search, which the backend does not have. By default `"load-all"`."""
    server_history: Literal["drop", "split"] | None
    """Handling of hosted searches in the history. By default `"drop"`."""
    loaded_tools: list[str] | tuple[str, ...] | None
    """Tools that are treated as loaded regardless of the history, for use after compaction. By default `[]`."""
    load_used_tools: bool | None
    """If true, a call in the history is treated as loading its tool. By default false."""
    tool_search_name: str | None
    """Name of the function that replaces a hosted tool search. If a tool already has the name, the function gets
    another name, which the report contains. By default `"tool_search"`."""
    tool_changes: Literal["apply", "ignore"] | None
    """Handling of changes to the tools in the history: `tool_addition` and `tool_removal` in system messages, and items
    of OpenAI Responses that contain definitions. `"ignore"` is for a history that you do not fully control. By default
    `"apply"`."""
    max_repeated_bytes: int | None
    """Maximum total size in bytes of notices that repeat earlier ones; beyond it, only the first sentence of a notice
    is repeated. By default the total size of the first notices, but at least 64 KiB."""


class ExchangeDeferral(_DeferralOptions, total=False):
    """The option `deferred` of `Exchange.open`: that of `adapt_request` without what an exchange does not support.

    `target` must be the request's own format, because replies are not translated back. By default, `server_tool_search`
    is `"emulate"` if the format is Anthropic's, so that searches which its servers would run are run here, and
    otherwise `"load-all"`.
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
    """Native construct for deferred tools that the backend supports, regardless of the client that sent the request.
    Anthropic has `"references"`, `"changes"` and `"inline"`, OpenAI Responses `"additional-tools"` and `"tool-search"`,
    the Chat Completions of Kimi K3 `"kimi"`, Gemini Interactions `"interactions"`, Bedrock Converse `"converse"`. By
    default `"auto"`: the construct that `deferral_for` returns for the URL and the model. `"none"` emulates deferred
    tools."""


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
    """Native construct for deferred tools that the backend supports, regardless of the client that sent the request.
    Anthropic has `"references"`, `"changes"` and `"inline"`, OpenAI Responses `"additional-tools"` and `"tool-search"`,
    the Chat Completions of Kimi K3 `"kimi"`, Gemini Interactions `"interactions"`, Bedrock Converse `"converse"`. By
    default `"none"`: deferred tools are emulated."""
    format: Literal["anthropic", "openai-responses", "openai-chat", "gemini-interactions", "bedrock", "gemini"] | None
    """Format of the request, if its content does not determine it."""
    share: bool | None
    """Return unchanged parts as the caller's own objects instead of copies. By default false."""


class SearchOptions(TypedDict, total=False):
    """Keyword arguments of `search_tools`, `answer_tool_search` and their variants."""

    mode: Literal["bm25", "regex"] | None
    """Interpretation of the query. By default `"bm25"`: as words, by which tools are ranked. `"regex"`: as a regular
    expression of at most 200 characters in the syntax of `re.search`, which must match the name or description of a
    tool."""
    limit: int | None
    """Maximum number of tools to return. By default 5."""
    tool_search_name: str | None
    """Name of the function that replaces a hosted tool search. The search never returns this function. By default
    `"tool_search"`."""


class ExchangeSearch(TypedDict, total=False):
    """The option `search` of `Exchange.open`: options of searches."""

    mode: Literal["bm25", "regex"] | None
    """See `SearchOptions`."""
    limit: int | None
    """Maximum number of tools to return. By default 5."""


class ExchangeOptions(_RequestOptions, total=False):
    """Keyword arguments of `Exchange.open`, and of the transports in `toolwire.httpx2` and `toolwire.httpx`.

    With `repair`, `take_repaired_calls` or `on_repair` reports the repairs of the arguments.
    """

    dialect: DialectName | None
    """Dialect of the backend. By default determined by the host, the path and the model."""
    format: Literal["anthropic", "openai-chat", "openai-responses", "gemini", "gemini-interactions"] | None
    """Format of the request, if the path does not determine it."""
    deferred: ExchangeDeferral | bool | None
    """Handling of deferred tools; false leaves them unchanged, for a backend that supports deferred loading."""
    search: ExchangeSearch | None
    """Options of searches."""
    max_rounds: int | None
    """Maximum number of times that the model is asked again, within one request, after it searched for tools. By
    default 10. After that, the client receives the stop reason `pause_turn`, as from Anthropic, and continues by
    sending the reply back."""
    tool_list_cache: int | None
    """Number of rewritten tool lists to cache: a request that repeats a list byte for byte reuses the result. The least
    recently used list is removed first; all lists together have at most 8 MiB of text, and 32 MiB with the data that
    restores calls. By default 16; 0 disables the cache."""
    on_set_aside: Literal["warn", "error"] | Callable[[tuple[Quarantined, ...], SentRequest], object] | None
    """Handling of a request if some of its tools have to be set aside. By default `"warn"`: the request is sent without
    them, and a `ToolwireWarning` reports the tools, the dialect, the reasons and the remedies, once for each list.
    `"error"`: the request is not sent. A callable is called with the tools instead of the warning, every time."""


@dataclass(frozen=True, slots=True)
class SentRequest(Record):
    """A request in the form in which it is sent."""

    url: str
    """URL to which the request is sent."""
    dialect: DialectName
    """Dialect of the request."""
    body: str
    """Body as JSON text."""
