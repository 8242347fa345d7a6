"""Any tool schema, any model, nothing lost on the way without saying so.

Take the tools of an MCP server, send them to a model in the form that its API accepts, and bring the model's calls
back:

>>> import toolwire
>>> schema = {"type": "object", "properties": {"a": {"type": "number"}}}
>>> listed = {"tools": [{"name": "get.sum", "inputSchema": schema}]}
>>> sanitized = toolwire.sanitize_tools(listed, dialect="openai-strict")
>>> [tool["function"]["name"] for tool in sanitized.tools]  # send `tools` with the request
['get_sum']
>>> sanitized.restore.call("get_sum", '{"a": null}')  # what the model answered
{'name': 'get.sum', 'arguments': '{}'}

An SDK needs one line instead: `http_client=httpx2.Client(transport=ToolwireTransport())`, from `toolwire.httpx2`.

- `sanitize`: rewrite a tool's parameter schema into one *dialect*, what one model API accepts.
- `normalize_envelope`: repair the tool-parameter envelope only; nested content comes back exactly as it came.
- `apply_deferred_loading`: make a request that uses deferred tools work on an API without that feature.
- `sanitize_tools`, `adapt_request`: the same for a whole tool list, and for a whole request.
- `check`, `check_tools`: what would an API reject, read otherwise or ignore?
- `restore_arguments`, `Restore`, `restore_from`, `ReplyRestorer`, `CallStream`: bring the model's calls back.
- `repair_arguments`: repair the arguments that a model answered wrongly, by the tool's own schema.
- `validate_arguments`: what does the tool's own schema have against the arguments of a call?
- `ToolSet`: a tool list that is sent with every request, sanitized once.
- `dialects`, `dialect_for`, `dialect_for_with_report`: what is known of each API, and which dialect a host needs.
- `deferral_for`: which construct of its own for deferred tools a host has.
- `search_tools`, `answer_tool_search`, `ToolIndex`: the tool search that deferred tools are found with.
- `Exchange`: one request of a client and its reply, for gateways. `strip_deferral_betas`: for their headers.

Forms whose names end in `_json` take JSON text and give it back in the type that it had; those that end in
`_with_report` give every change, too. Keys of reports are JSON, and so in camelCase, as in every language.

Values are what `json.dumps` takes, strictly: dict, list, tuple (as a list), str, int of any size, float, bool, None,
and their subclasses. Results of the MCP SDK and other pydantic models are read as their `model_dump` writes them. NaN,
infinities, keys that are no strings, cycles and everything else raise `ToolwireError` with the code `invalid-value` and
a JSON Pointer to the place. A subclass of dict is read through its own `items()`; of every other subclass the stored
value counts. Results are plain dicts and lists, and hold your own strings and numbers.
"""

from . import types as types
from ._dialect import dialects
from ._error import ToolwireError, ToolwireWarning
from ._exchange import Exchange
from ._repair import (
    repair_arguments,
    repair_arguments_json,
    repair_arguments_json_with_report,
    repair_arguments_with_report,
)
from ._request import (
    adapt_request,
    adapt_request_json,
    apply_deferred_loading,
    apply_deferred_loading_json,
    apply_deferred_loading_json_with_report,
    apply_deferred_loading_with_report,
    strip_deferral_betas,
)
from ._restore import CallStream, ReplyRestorer, Restore, restore_from
from ._schema import (
    check,
    normalize_envelope,
    restore_arguments,
    restore_arguments_json,
    sanitize,
    validate_arguments,
    validate_arguments_json,
)
from ._search import ToolIndex, answer_tool_search, answer_tool_search_json, search_tools, search_tools_json
from ._tool_set import ToolSet
from ._tools import (
    check_tools,
    deferral_for,
    dialect_for,
    dialect_for_with_report,
    sanitize_tools,
)
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
    "adapt_request_json",
    "answer_tool_search",
    "answer_tool_search_json",
    "applyDeferredLoading",
    "apply_deferred_loading",
    "apply_deferred_loading_json",
    "apply_deferred_loading_json_with_report",
    "apply_deferred_loading_with_report",
    "check",
    "check_tools",
    "deferral_for",
    "dialect_for",
    "dialect_for_with_report",
    "dialects",
    "normalizeEnvelope",
    "normalize_envelope",
    "repair_arguments",
    "repair_arguments_json",
    "repair_arguments_json_with_report",
    "repair_arguments_with_report",
    "restore_arguments",
    "restore_arguments_json",
    "restore_from",
    "sanitize",
    "sanitize_tools",
    "search_tools",
    "search_tools_json",
    "strip_deferral_betas",
    "validate_arguments",
    "validate_arguments_json",
]
