"""Any tool schema, any model. Nothing is lost silently.

Take the tools of an MCP server, send them to a model in the form that its API accepts, and restore the model's calls:

>>> import toolwire
>>> schema = {"type": "object", "properties": {"a": {"type": "number"}}}
>>> listed = {"tools": [{"name": "get.sum", "inputSchema": schema}]}
>>> sanitized = toolwire.sanitize_tools(listed, dialect="openai-strict")
>>> [tool["function"]["name"] for tool in sanitized.tools]  # send `tools` with the request
['get_sum']
>>> call = sanitized.restore.call("get_sum", '{"a": null}')  # what the model answered
>>> call.name, call.arguments
('get.sum', '{}')

With an SDK, one line is enough: `http_client=httpx2.Client(transport=ToolwireTransport())`, from `toolwire.httpx2`.

- `sanitize`: rewrite a tool's parameter schema into one *dialect*: the part of JSON Schema that one model API accepts.
- `normalize_envelope`: make the root of a tool's parameters an object with `properties`. Nested schemas stay unchanged.
- `apply_deferred_loading`: make a request that uses deferred tools work on an API without that feature.
- `sanitize_tools`: sanitize a whole tool list and its names. `adapt_request`: do this and the deferred loading for a
  whole request.
- `check`, `check_tools`, `check_request`: report what an API would refuse, reinterpret or ignore.
- `restore_arguments`, `Restore`, `ReplyRestorer`, `CallStream`: restore the model's calls to the tools' own names and
  schemas.
- `repair_arguments`: repair invalid arguments from a model to fit the tool's own schema.
- `validate_arguments`: validate the arguments of a call against the tool's own schema.
- `validate_result`: validate a result against the `outputSchema` of an MCP tool.
- `fit_result`: change a result that clients refuse, by the `outputSchema` of an MCP tool.
- `ToolSet`: a tool list that is sent with every request and sanitized only once.
- `dialects`, `dialect_for`: the known facts about each API, and the dialect that a host needs.
- `deferral_for`: the construct for deferred tools that a host supports natively.
- `search_tools`, `answer_tool_search`, `ToolIndex`: tool search, with which a model finds deferred tools.
- `Exchange`: one request of a client and its reply, for gateways.
- `strip_deferral_betas`: remove the beta flags of deferred loading from an `anthropic-beta` header.

`str`, `bytes`, `bytearray` and `memoryview` are JSON text, and the result is JSON text, too: `str` for `str`, `bytes`
for the others. Anything else is a value. Results are frozen records. Reports are computed when they are first read, so
an unread report costs nothing. `to_dict()` returns the JSON object that is the same in every language.

Values are what `json.dumps` accepts, strictly: dict, list, tuple (as a list), str, int of any size, float, bool, None,
and their subclasses. Results of the MCP SDK and other pydantic models are read as their `model_dump` writes them. NaN,
infinities, keys that are not strings, cycles and everything else raise `ToolwireError` with the code `invalid-value`
and a JSON Pointer to the value. A subclass of dict is read through its own `items()`; any other subclass is read as the
value that it stores. Rewritten values are plain dicts and lists that contain your own strings and numbers.
"""

from . import types as types
from ._dialect import dialects
from ._error import ToolwireError, ToolwireWarning
from ._exchange import Exchange
from ._repair import repair_arguments
from ._request import adapt_request, apply_deferred_loading, check_request, strip_deferral_betas
from ._restore import CallStream, ReplyRestorer, Restore
from ._schema import (
    check,
    fit_result,
    normalize_envelope,
    restore_arguments,
    sanitize,
    validate_arguments,
    validate_result,
)
from ._search import ToolIndex, answer_tool_search, search_tools
from ._tool_set import ToolSet
from ._tools import check_tools, deferral_for, dialect_for, sanitize_tools
from ._toolwire import __version__

normalizeEnvelope = normalize_envelope
"""Alias of `normalize_envelope`: its name in TypeScript."""
applyDeferredLoading = apply_deferred_loading
"""Alias of `apply_deferred_loading`: its name in TypeScript."""

__all__ = [
    "CallStream",
    "Exchange",
    "ReplyRestorer",
    "Restore",
    "ToolIndex",
    "ToolSet",
    "ToolwireError",
    "ToolwireWarning",
    "__version__",
    "adapt_request",
    "answer_tool_search",
    "applyDeferredLoading",
    "apply_deferred_loading",
    "check",
    "check_request",
    "check_tools",
    "deferral_for",
    "dialect_for",
    "dialects",
    "fit_result",
    "normalizeEnvelope",
    "normalize_envelope",
    "repair_arguments",
    "restore_arguments",
    "sanitize",
    "sanitize_tools",
    "search_tools",
    "strip_deferral_betas",
    "validate_arguments",
    "validate_result",
]
