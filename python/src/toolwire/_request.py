"""The functions on a whole request: `apply_deferred_loading`, and `strip_deferral_betas` for its header."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from ._toolwire import call, call_text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .types import Deferred, DeferredBytes, DeferredOptions, DeferredText


def apply_deferred_loading(request: object, /, **options: Unpack[DeferredOptions]) -> Any:
    """Make a request that uses deferred tools work on an API without that feature.

    Tools that are not loaded yet are hidden, tools that the conversation loaded are shown, and `tool_reference` blocks
    become text. The request is not changed, and what comes back shares no dict or list with it unless `share` is true.

    Options, all by keyword: `announce`, `target`, `mode`, `order`, `unknown_reference`, `forced_tool`,
    `server_tool_search`, `server_history`, `empty_tools`, `loaded_tools`, `load_used_tools`, `tool_search_name`,
    `system_messages`, `format`, `share`; `toolwire.types.DeferredOptions` describes them.

    Raises `ToolwireError`: `invalid-request`, `unknown-option`, `invalid-option`, `invalid-value`,
    `forced-deferred-tool`, `too-deep`.

    >>> request = {
    ...     "model": "some-model",
    ...     "messages": [{"role": "user", "content": "hello"}],
    ...     "tools": [{"name": "Read", "input_schema": {"type": "object"}, "defer_loading": True}],
    ... }
    >>> apply_deferred_loading(request)["tools"]
    []
    >>> apply_deferred_loading(request, loaded_tools=["Read"])["tools"]
    [{'name': 'Read', 'input_schema': {'type': 'object'}}]
    """
    return call("applyDeferredLoading", (request,), options, False)


def apply_deferred_loading_with_report(request: object, /, **options: Unpack[DeferredOptions]) -> Deferred:
    """Do what `apply_deferred_loading` does, and say what was decided.

    >>> request = {
    ...     "model": "some-model",
    ...     "messages": [{"role": "user", "content": "hello"}],
    ...     "tools": [{"name": "Read", "input_schema": {"type": "object"}, "defer_loading": True}],
    ... }
    >>> apply_deferred_loading_with_report(request)["report"]["hidden"]
    ['Read']
    """
    return call("applyDeferredLoading", (request,), options, True)


@overload
def apply_deferred_loading_json(text: str, /, **options: Unpack[DeferredOptions]) -> str: ...
@overload
def apply_deferred_loading_json(
    text: bytes | bytearray | memoryview, /, **options: Unpack[DeferredOptions]
) -> bytes: ...
def apply_deferred_loading_json(
    text: str | bytes | bytearray | memoryview, /, **options: Unpack[DeferredOptions]
) -> str | bytes:
    """Do what `apply_deferred_loading` does, from JSON text to JSON text: `str` gives `str`, anything else `bytes`.

    Messages that hold nothing to rewrite are copied as they stand. If there is nothing to change, the very same object
    comes back. Long texts are read without holding the GIL.

    Raises what `apply_deferred_loading` raises, and `invalid-json` with line and column.

    >>> apply_deferred_loading_json('{"messages": [], "tools": []}')
    '{"messages": [], "tools": []}'
    """
    return call_text("applyDeferredLoading", (text,), options, False)


@overload
def apply_deferred_loading_json_with_report(text: str, /, **options: Unpack[DeferredOptions]) -> DeferredText: ...
@overload
def apply_deferred_loading_json_with_report(
    text: bytes | bytearray | memoryview, /, **options: Unpack[DeferredOptions]
) -> DeferredBytes: ...
def apply_deferred_loading_json_with_report(
    text: str | bytes | bytearray | memoryview, /, **options: Unpack[DeferredOptions]
) -> DeferredText | DeferredBytes:
    """Do what `apply_deferred_loading_json` does, and say what was decided; the request in the answer is text.

    >>> answer = apply_deferred_loading_json_with_report(b'{"messages": [], "tools": []}')
    >>> answer["request"], answer["report"]["loaded"]
    (b'{"messages": [], "tools": []}', [])
    """
    return call_text("applyDeferredLoading", (text,), options, True)


def strip_deferral_betas(value: str | None, /) -> str | None:
    """Take the betas of deferred loading out of the value of an `anthropic-beta` header, a list with commas.

    A backend that does not know a beta refuses the request. `None`: nothing is left, or nothing was there, so there is
    to be no header. (In a request `apply_deferred_loading` does the same; headers are the caller's.)

    Raises `ToolwireError`: `invalid-value` if it is neither a string nor `None`.

    >>> strip_deferral_betas("tool-search-tool-2025-10-19, context-1m-2025-08-07")
    'context-1m-2025-08-07'
    >>> strip_deferral_betas("advanced-tool-use-2025-11-20") is None
    True
    """
    left: str | None = call("stripDeferralBetas", (value,), {}, False)
    return left
