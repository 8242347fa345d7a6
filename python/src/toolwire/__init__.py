"""Any tool schema, any model. Nothing is lost silently.

Take the tools of an MCP server, send them to a model in the form that its API accepts, and bring the model's calls
back:

>>> import toolwire
>>> schema = {"type": "object", "properties": {"a": {"type": "number"}}}
>>> listed = {"tools": [{"name": "get.sum", "inputSchema": schema}]}
>>> sanitized = toolwire.sanitize_tools(listed, dialect="openai-strict")
>>> [tool["function"]["name"] for tool in sanitized.tools]  # send `tools` with the request
['get_sum']
>>> call = sanitized.restore.call("get_sum", '{"a": null}')  # what the model answered
>>> call.name, call.arguments
('get.sum', '{}')

An SDK needs one line instead: `http_client=httpx2.Client(transport=ToolwireTransport())`, from `toolwire.httpx2`.

- `sanitize`: rewrite a tool's parameter schema into one *dialect*, what one model API accepts.
- `normalize_envelope`: repair the tool-parameter envelope only; nested content comes back exactly as it came.
- `apply_deferred_loading`: make a request that uses deferred tools work on an API without that feature.
- `sanitize_tools`, `adapt_request`: the same for a whole tool list, and for a whole request.
- `check`, `check_tools`, `check_request`: what would an API reject, read otherwise or ignore?
- `restore_arguments`, `Restore`, `ReplyRestorer`, `CallStream`: bring the model's calls back.
- `repair_arguments`: repair the arguments that a model answered wrongly, by the tool's own schema.
- `validate_arguments`: what does the tool's own schema have against the arguments of a call?
- `validate_result`: what does the `outputSchema` of an MCP tool have against a result?
- `ToolSet`: a tool list that is sent with every request, sanitized once.
- `dialects`, `dialect_for`: what is known of each API, and which dialect a host needs.
- `deferral_for`: which construct of its own for deferred tools a host has.
- `search_tools`, `answer_tool_search`, `ToolIndex`: the tool search that deferred tools are found with.
- `Exchange`: one request of a client and its reply, for gateways. `strip_deferral_betas`: for their headers.

`str`, `bytes`, `bytearray` and `memoryview` are JSON text, and text is given back: `str` for `str`, `bytes` for the
others. Anything else is a value. Results are frozen records: a report that nobody reads costs nothing, and `to_dict()`
is the JSON object that every language shares.

Values are what `json.dumps` takes, strictly: dict, list, tuple (as a list), str, int of any size, float, bool, None,
and their subclasses. Results of the MCP SDK and other pydantic models are read as their `model_dump` writes them. NaN,
infinities, keys that are no strings, cycles and everything else raise `ToolwireError` with the code `invalid-value` and
a JSON Pointer to the place. A subclass of dict is read through its own `items()`; of every other subclass the stored
value counts. What is rewritten is plain dicts and lists, and holds
your own strings and numbers.
"""

from . import types as types
from ._dialect import dialects
from ._error import ToolwireError, ToolwireWarning
from ._exchange import Exchange
from ._repair import repair_arguments
from ._request import adapt_request, apply_deferred_loading, check_request, strip_deferral_betas
from ._restore import CallStream, ReplyRestorer, Restore
from ._schema import check, normalize_envelope, restore_arguments, sanitize, validate_arguments, validate_result
from ._search import ToolIndex, answer_tool_search, search_tools
from ._tool_set import ToolSet
from ._tools import check_tools, deferral_for, dialect_for, sanitize_tools
from ._toolwire import __version__

normalizeEnvelope = normalize_envelope
"""The name `normalize_envelope` has in TypeScript."""
applyDeferredLoading = apply_deferred_loading
"""The name `apply_deferred_loading` has in TypeScript."""

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
