"""The functions on whole tool lists, `sanitize_tools` and `check_tools`, and lookups: `dialect_for`, `deferral_for`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from ._ask import ask
from ._options import SanitizedList
from ._results import DeferralChoice, DialectChoice, SanitizedTools, ToolViolation
from ._set_aside import without_callables
from ._toolwire import call, call_late

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .types import (
        CheckToolsOptions,
        DeferralQuery,
        DialectQuery,
        ToolsOptions,
    )


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
    """Rewrite a tool list for one API: each schema in its dialect, each name legal, each tool in the API's own shape.

    `tools` is a list of tools as MCP's `tools/list`, Anthropic, OpenAI (Chat Completions or Responses), Gemini or
    Bedrock have them, or a dict that has one in `tools`. What the API runs itself (a hosted search, say) is passed on
    as it is. JSON text gives JSON text: `str` gives `str`, anything else `bytes`, and text that needs no change comes
    back as the very same object. A tool that cannot be made acceptable is set aside, with the reason, and never costs
    the others.

    Tools of several servers go into one list as `[{"server": …, "tools": …}, …]`: tools of one name stay callable, and
    `restore.call` says the server.

    If tools were set aside and the caller takes `tools` without having read `quarantined`, a `ToolwireWarning` names
    them, once for each list; `on_set_aside` changes that.

    Options, all by keyword: those of `sanitize`, `format`, `fallback`, `max_tools`, `repair`, `prefix`, `on_set_aside`;
    `toolwire.types.ToolsOptions` describes them.

    Raises `ToolwireError`: `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-json`, `invalid-value`,
    `too-deep`, `invalid-request` if it is no list of tools, `not-representable` if tools have to be set aside and
    `on_set_aside` is `"error"`.

    >>> schema = {"type": "object", "properties": {"$ref": {"type": "string"}}}
    >>> answer = sanitize_tools([{"name": "21st_builder", "inputSchema": schema}], dialect="moonshot")
    >>> answer.tools[0]["function"]["name"]
    '_21st_builder'
    >>> call = answer.restore.call("_21st_builder", {"dollar_ref_": "main"})
    >>> call.name, call.arguments
    ('21st_builder', {'$ref': 'main'})
    """
    value, late = call_late("sanitizeTools", tools, without_callables(options))
    result: SanitizedTools[Any] = SanitizedTools(value, late, late.members())
    on_set_aside = options.get("on_set_aside")
    if callable(on_set_aside) and result.quarantined:
        on_set_aside(result.quarantined, SanitizedList(options["dialect"]))
    return result


def check_tools(tools: object, /, **options: Unpack[CheckToolsOptions]) -> tuple[ToolViolation, ...]:
    """Say what the APIs behind some dialects would reject about a tool list as it is, dialect by dialect.

    The list is a value or JSON text.

    The only option is `dialects`, a list of their names. Nothing means accepted.

    Raises `ToolwireError`: `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-json`, `invalid-value`,
    `too-deep`, `invalid-request` if it is no list of tools.

    >>> tools = [{"name": "ls", "inputSchema": {"type": "object", "properties": {}}}]
    >>> found = check_tools(tools, dialects=["moonshot", "anthropic"])
    >>> [(violation.dialect, violation.constraint, violation.confidence) for violation in found]
    [('moonshot', 'tool-name', 'A')]
    """
    return ToolViolation.list_of(ask("checkTools", tools, options))


def dialect_for(**query: Unpack[DialectQuery]) -> DialectChoice:
    """Name the dialect for what is known of an API, and say how sure that is, and why.

    The query is `host`, `api`, `model`, and whether its tools are `strict`. An unknown API is `portable`, unless
    `exact` is true.

    Raises `ToolwireError`: `unknown-dialect` for a host that is retired, and with `exact` for an unknown API;
    `unknown-option`; `invalid-option`, also if there is nothing to go by.

    >>> dialect_for(host="openrouter.ai", model="anthropic/claude-sonnet-4.5").dialect
    'anthropic'
    >>> choice = dialect_for(host="llm.example")
    >>> choice.dialect, choice.confidence
    ('portable', 'C')
    >>> choice.because
    'nobody knows the host `llm.example`; `portable` is what the major surfaces all accept'
    """
    return DialectChoice.of(call("dialectFor", (), query)[0])


def deferral_for(**query: Unpack[DeferralQuery]) -> DeferralChoice:
    """Name the options `target` and `native` of `apply_deferred_loading` for what is known of a backend.

    They say which construct of its own for deferred tools it has: by its `host`, the `model`, and `api` if it is asked
    in one protocol only. A backend that nobody knows to have one is no error: its `native` is `"none"`, its `target` is
    None, and deferred tools are emulated.

    Raises `ToolwireError`: `unknown-option`; `invalid-option`, also if neither a host nor a model is given.

    >>> choice = deferral_for(host="api.moonshot.ai", model="kimi-k3")
    >>> choice.target, choice.native
    ('openai-chat', 'kimi')
    >>> deferral_for(host="llm.example").because
    'the host `llm.example` is not known to have a construct of its own for deferred tools'
    """
    return DeferralChoice.of(call("deferralFor", (), query)[0])
