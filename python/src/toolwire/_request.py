"""Functions on a whole request, and `strip_deferral_betas`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from ._ask import call_for_value
from ._results import Adapted, Deferred, RequestViolation
from ._toolwire import call, call_late

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import AdaptOptions, BetaOptions, CheckRequestOptions, DeferredOptions


@overload
def apply_deferred_loading(request: str, /, **options: Unpack[DeferredOptions]) -> Deferred[str]: ...
@overload
def apply_deferred_loading(
    request: bytes | bytearray | memoryview, /, **options: Unpack[DeferredOptions]
) -> Deferred[bytes]: ...
@overload
def apply_deferred_loading(request: object, /, **options: Unpack[DeferredOptions]) -> Deferred[Any]: ...
def apply_deferred_loading(request: object, /, **options: Unpack[DeferredOptions]) -> Deferred[Any]:
    """Make a request that uses deferred tools work on an API without that feature.

    Tools that are not loaded yet are hidden, tools that the conversation loaded are included, and `tool_reference`
    blocks become text. The input is not changed, and the result shares no dict or list with it unless `share` is true.

    JSON text gives JSON text: `str` gives `str`, anything else `bytes`. Messages that need no rewriting are copied
    unchanged, and text that needs no change is returned as the same object. Long texts are read without holding the
    GIL.

    Options, all by keyword: `client`, `announce`, `target`, `mode`, `order`, `unknown_reference`, `forced_tool`,
    `server_tool_search`, `server_history`, `loaded_tools`, `load_used_tools`, `tool_search_name`, `tool_changes`,
    `max_repeated_bytes`, `format`, `share`; `toolwire.types.DeferredOptions` describes them.

    Raises `ToolwireError`: `invalid-request`, `unknown-option`, `invalid-option`, `invalid-json`,
    `invalid-value`, `forced-deferred-tool`, `too-deep`.

    >>> request = {
    ...     "model": "some-model",
    ...     "messages": [{"role": "user", "content": "hello"}],
    ...     "tools": [{"name": "Read", "input_schema": {"type": "object"}, "defer_loading": True}],
    ... }
    >>> result = apply_deferred_loading(request)
    >>> result.request["tools"], result.report.hidden
    ([], ('Read',))
    >>> apply_deferred_loading(request, loaded_tools=["Read"]).request["tools"]
    [{'name': 'Read', 'input_schema': {'type': 'object'}}]
    """
    return Deferred(*call_late("applyDeferredLoading", request, options))


def strip_deferral_betas(value: str | None, /, **options: Unpack[BetaOptions]) -> str | None:
    """Remove the betas of deferred loading from the value of an `anthropic-beta` header, a comma-separated list.

    A backend refuses a request that names an unknown beta. If the result is `None`, no beta remains, and the request
    must not have the header. (`apply_deferred_loading` does the same within a request; headers are up to the caller.)

    For a backend with a native construct for deferred tools, pass it as `native`: the betas that it supports are kept,
    and the betas of the report, passed as `betas`, are added.

    Raises `ToolwireError`: `invalid-value` if `value` is neither a string nor `None`; `unknown-option`,
    `invalid-option`.

    >>> strip_deferral_betas("tool-search-tool-2025-10-19, context-1m-2025-08-07")
    'context-1m-2025-08-07'
    >>> strip_deferral_betas("advanced-tool-use-2025-11-20") is None
    True
    >>> strip_deferral_betas(None, native="inline", betas=["inline-tools-2026-09-15"])
    'inline-tools-2026-09-15'
    """
    remaining: str | None = call("stripDeferralBetas", (value,), options)[0]
    return remaining


@overload
def adapt_request(request: str, /, **options: Unpack[AdaptOptions]) -> Adapted[str]: ...
@overload
def adapt_request(request: bytes | bytearray | memoryview, /, **options: Unpack[AdaptOptions]) -> Adapted[bytes]: ...
@overload
def adapt_request(request: object, /, **options: Unpack[AdaptOptions]) -> Adapted[Any]: ...
def adapt_request(request: object, /, **options: Unpack[AdaptOptions]) -> Adapted[Any]:
    """Make a whole request acceptable: of Anthropic Messages, OpenAI Chat Completions or Responses, or Gemini.

    Applies deferred loading (`apply_deferred_loading`), then rewrites every tool (`sanitize_tools`), then the names of
    tools in `tool_choice` and in the history. The input is not changed. JSON text gives JSON text: `str` gives `str`,
    anything else `bytes`; messages that need no rewriting are copied unchanged.

    Options, all by keyword: those of `sanitize`, `format`, `fallback`, `max_tools`, `deferred`;
    `toolwire.types.AdaptOptions` describes them.

    Raises `ToolwireError`: `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-request`, `invalid-json`,
    `invalid-value`, `forced-deferred-tool`, `too-deep`.

    >>> schema = {"type": "object", "properties": {}}
    >>> request = {
    ...     "messages": [{"role": "user", "content": "read it"}],
    ...     "tools": [{"name": "files.read", "input_schema": schema}],
    ...     "tool_choice": {"type": "tool", "name": "files.read"},
    ... }
    >>> adapted = adapt_request(request, dialect="anthropic")
    >>> adapted.request["tools"][0]["name"], adapted.request["tool_choice"]["name"]
    ('files_read', 'files_read')
    >>> adapted.restore.reply({"content": [{"type": "tool_use", "id": "t1", "name": "files_read", "input": {}}]}).reply
    {'content': [{'type': 'tool_use', 'id': 't1', 'name': 'files.read', 'input': {}}]}
    """
    value, lazy = call_late("adaptRequest", request, options)
    return Adapted(value, lazy.members)


def check_request(request: object, /, **options: Unpack[CheckRequestOptions]) -> tuple[RequestViolation, ...]:
    """Report what an API would refuse in a request as a whole.

    Examples: a forced tool choice together with thinking, a tool choice without tools, tools that the model does not
    support, and arguments in the history that are not a JSON object. `check_tools` checks the tools of a request. The
    request is a value or JSON text.

    The options are `dialect` and `model`. An empty result means that no constraint is violated.

    Raises `ToolwireError`: `unknown-dialect`, `unknown-option`, `invalid-option`, `invalid-request`, `invalid-json`,
    `invalid-value`, `too-deep`.

    >>> request = {
    ...     "messages": [{"role": "user", "content": "hi"}],
    ...     "thinking": {"type": "enabled", "budget_tokens": 2000},
    ...     "tools": [{"name": "ping", "input_schema": {"type": "object", "properties": {}}}],
    ...     "tool_choice": {"type": "any"},
    ... }
    >>> [(found.constraint, found.pointer) for found in check_request(request, dialect="anthropic")]
    [('choice-while-thinking', '/tool_choice')]
    """
    return RequestViolation.list_of(call_for_value("checkRequest", request, options))
