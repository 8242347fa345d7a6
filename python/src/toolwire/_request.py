"""The functions on a whole request, and `strip_deferral_betas`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from ._ask import ask
from ._results import Adapted, Deferred, RequestViolation
from ._toolwire import call, call_late

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .types import AdaptOptions, BetaOptions, CheckRequestOptions, DeferredOptions


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

    Tools that are not loaded yet are hidden, tools that the conversation loaded are shown, and `tool_reference` blocks
    become text. The request is not changed, and what comes back shares no dict or list with it unless `share` is true.

    JSON text gives JSON text: `str` gives `str`, anything else `bytes`. Messages that hold nothing to rewrite are
    copied as they stand, and text that needs no change comes back as the very same object. Long texts are read without
    holding the GIL.

    Options, all by keyword: `client`, `announce`, `target`, `mode`, `order`, `unknown_reference`, `forced_tool`,
    `server_tool_search`, `server_history`, `empty_tools`, `loaded_tools`, `load_used_tools`, `tool_search_name`,
    `tool_changes`, `max_repeated_bytes`, `system_messages`, `format`, `share`; `toolwire.types.DeferredOptions`
    describes them.

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
    """Take the betas of deferred loading out of the value of an `anthropic-beta` header, a list with commas.

    A backend that does not know a beta refuses the request. `None`: nothing is left, or nothing was there, so there is
    to be no header. (In a request `apply_deferred_loading` does the same; headers are the caller's.)

    For a backend with a construct of its own, say which: the betas that it has stay, and those of the report's `betas`
    are added.

    Raises `ToolwireError`: `invalid-value` if it is neither a string nor `None`; `unknown-option`, `invalid-option`.

    >>> strip_deferral_betas("tool-search-tool-2025-10-19, context-1m-2025-08-07")
    'context-1m-2025-08-07'
    >>> strip_deferral_betas("advanced-tool-use-2025-11-20") is None
    True
    >>> strip_deferral_betas(None, native="inline", betas=["inline-tools-2026-09-15"])
    'inline-tools-2026-09-15'
    """
    left: str | None = call("stripDeferralBetas", (value,), options)[0]
    return left


@overload
def adapt_request(request: str, /, **options: Unpack[AdaptOptions]) -> Adapted[str]: ...
@overload
def adapt_request(request: bytes | bytearray | memoryview, /, **options: Unpack[AdaptOptions]) -> Adapted[bytes]: ...
@overload
def adapt_request(request: object, /, **options: Unpack[AdaptOptions]) -> Adapted[Any]: ...
def adapt_request(request: object, /, **options: Unpack[AdaptOptions]) -> Adapted[Any]:
    """Make a whole request acceptable, for Anthropic Messages, OpenAI Chat Completions and Responses, and Gemini.

    Deferred loading first (`apply_deferred_loading`), then every tool (`sanitize_tools`), then what speaks of tools by
    their names, in `tool_choice` and in the history. The request is not changed.
    JSON text gives JSON text: `str` gives `str`, anything else `bytes`; messages that hold nothing to rewrite are
    copied as they stand.

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
    value, late = call_late("adaptRequest", request, options)
    return Adapted(value, late.members)


def check_request(request: object, /, **options: Unpack[CheckRequestOptions]) -> tuple[RequestViolation, ...]:
    """Find what an API refuses about a request as a whole.

    That is a choice of tools beside thinking or without tools, tools that the model does not take, and arguments in the
    history that are no JSON object. `check_tools` judges the request's tools. The request is a value or JSON text.

    The only option is `dialect`. Nothing means that no rule is broken.

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
    return RequestViolation.list_of(ask("checkRequest", request, options))
