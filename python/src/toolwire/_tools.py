"""The functions on whole tool lists, `sanitize_tools` and `check_tools`, and lookups: `dialect_for`, `deferral_for`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from ._ask import call_for_value
from ._options import SanitizedList
from ._results import DeferralChoice, DialectChoice, SanitizedTools, ToolViolation
from ._set_aside import without_callables
from ._toolwire import call, call_late

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import CheckToolsOptions, DeferralQuery, DialectQuery, ToolsOptions


@overload
def sanitize_tools(  # type: ignore[overload-overlap]
    tools: str, /, **options: Unpack[ToolsOptions]
) -> SanitizedTools[str]: ...
@overload
def sanitize_tools(  # type: ignore[overload-overlap]
    tools: bytes | bytearray | memoryview, /, **options: Unpack[ToolsOptions]
) -> SanitizedTools[bytes]: ...
@overload
def sanitize_tools(tools: object, /, **options: Unpack[ToolsOptions]) -> SanitizedTools[list[Any]]: ...
def sanitize_tools(tools: object, /, **options: Unpack[ToolsOptions]) -> SanitizedTools[Any]:
    """Rewrite a tool list for one API, with schemas in its dialect, legal names, and tools in the API's own format.

    `tools` is a list of tools in the format of MCP's `tools/list`, Anthropic, OpenAI (Chat Completions or Responses),
    Gemini or Bedrock, or a dict with such a list in `tools`. Tools that the API runs itself (a hosted search, for
    example) are kept unchanged. JSON text gives JSON text: `str` gives `str`, anything else `bytes`, and text that
    needs no change is returned as the same object. A tool that cannot be made acceptable is set aside, with the reason,
    and does not affect the others.

    Pass the tools of several servers in one list as `[{"server": …, "tools": …}, …]`: tools with the same name all stay
    callable, and `restore.call` returns the server.

    If tools were set aside and the caller reads `tools` before `quarantined`, a `ToolwireWarning` names them, once for
    each list; `on_set_aside` changes that.

    Options, all by keyword: those of `sanitize`, `format`, `fallback`, `max_tools`, `repair`, `prefix`, `on_set_aside`;
    `toolwire.types.ToolsOptions` describes them.

    Raises `ToolwireError`: `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-json`, `invalid-value`,
    `too-deep`, `invalid-request` if `tools` is not a list of tools, `not-representable` if tools have to be set aside
    and `on_set_aside` is `"error"`.

    >>> schema = {"type": "object", "properties": {"$ref": {"type": "string"}}}
    >>> answer = sanitize_tools([{"name": "21st_builder", "inputSchema": schema}], dialect="moonshot")
    >>> answer.tools[0]["function"]["name"]
    '_21st_builder'
    >>> call = answer.restore.call("_21st_builder", {"dollar_ref_": "main"})
    >>> call.name, call.arguments
    ('21st_builder', {'$ref': 'main'})
    """
    value, lazy = call_late("sanitizeTools", tools, without_callables(options))
    result: SanitizedTools[Any] = SanitizedTools(value, lazy, lazy.members())
    on_set_aside = options.get("on_set_aside")
    if callable(on_set_aside) and result.quarantined:
        on_set_aside(result.quarantined, SanitizedList(options["dialect"]))
    return result


def check_tools(tools: object, /, **options: Unpack[CheckToolsOptions]) -> tuple[ToolViolation, ...]:
    """Report what the APIs of some dialects would refuse, reinterpret or ignore in a tool list, dialect by dialect.

    The list is a value or JSON text.

    The only option is `dialects`, a list of their names. An empty result means that every dialect accepts the list.

    Raises `ToolwireError`: `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-json`, `invalid-value`,
    `too-deep`, `invalid-request` if it is not a list of tools.

    >>> tools = [{"name": "ls", "inputSchema": {"type": "object", "properties": {}}}]
    >>> found = check_tools(tools, dialects=["moonshot", "anthropic"])
    >>> [(violation.dialect, violation.constraint, violation.confidence) for violation in found]
    [('moonshot', 'tool-name', 'A')]
    """
    return ToolViolation.list_of(call_for_value("checkTools", tools, options))


def dialect_for(**query: Unpack[DialectQuery]) -> DialectChoice:
    """Return the dialect for an API, with the confidence of the choice and its reason.

    The query has the members `host`, `api`, `model` and `strict`. The dialect of an unknown API is
    `portable`, unless `exact` is true.

    Raises `ToolwireError`: `unknown-dialect` for a host that is retired, and with `exact` for an unknown API;
    `unknown-option`; `invalid-option`, including for an empty query.

    >>> dialect_for(host="openrouter.ai", model="anthropic/claude-sonnet-4.5").dialect
    'anthropic'
    >>> choice = dialect_for(host="llm.example")
    >>> choice.dialect, choice.confidence
    ('portable', 'C')
    >>> choice.because
    'unknown host `llm.example`; `portable` is what all major surfaces accept'
    """
    return DialectChoice.of(call("dialectFor", (), query)[0])


def deferral_for(**query: Unpack[DeferralQuery]) -> DeferralChoice:
    """Return the options `target` and `native` of `apply_deferred_loading` for a backend.

    They name the backend's native construct for deferred tools. The query is the `host`, the `model`, and the `api` if
    the backend is used through one protocol only. A backend without a known construct is not an error: its `native` is
    `"none"`, its `target` is `None`, and deferred tools are emulated.

    Raises `ToolwireError`: `unknown-option`; `invalid-option`, including for a query with neither a host nor a model.

    >>> choice = deferral_for(host="api.moonshot.ai", model="kimi-k3")
    >>> choice.target, choice.native
    ('openai-chat', 'kimi')
    >>> deferral_for(host="llm.example").because
    'the host `llm.example` is not known to have its own construct for deferred tools'
    """
    return DeferralChoice.of(call("deferralFor", (), query)[0])
