"""Any tool schema, any model, nothing lost on the way without saying so.

Three functions are the product; each takes and returns ordinary Python values or JSON text, and has a form with a
report.

- `sanitize` rewrites a tool's parameter schema into one *dialect*: what one model API accepts.
- `normalize_envelope` repairs the tool-parameter envelope only; nested content comes back exactly as it came.
- `apply_deferred_loading` makes a request that uses deferred tools work on an API without that feature.

`search_tools`, `answer_tool_search` and `ToolIndex` are the tool search that deferred tools are found with.

>>> import toolwire
>>> toolwire.sanitize({"properties": {"unit": {"const": "celsius"}}}, dialect="codex")
{'type': 'object', 'properties': {'unit': {'type': 'string', 'enum': ['celsius']}}}

Values are what `json.dumps` takes, strictly: dict, list, tuple (as a list), str, int of any size, float, bool, None,
and their subclasses. NaN, infinities, keys that are no strings, cycles and everything else raise `ToolwireError` with
the code `invalid-value` and a JSON Pointer to the place. A subclass of dict is read through its own `items()`; of every
other subclass the stored value counts. Results are plain dicts and lists, and hold your own strings and numbers.
"""

from . import types as types
from ._dialect import dialects
from ._error import ToolwireError, ToolwireWarning
from ._exchange import Exchange
from ._request import (
    adapt_request,
    adapt_request_json,
    apply_deferred_loading,
    apply_deferred_loading_json,
    apply_deferred_loading_json_with_report,
    apply_deferred_loading_with_report,
    strip_deferral_betas,
)
from ._restore import ReplyRestorer, Restore, restore_from
from ._schema import (
    check,
    check_json,
    normalize_envelope,
    normalize_envelope_json,
    normalize_envelope_json_with_report,
    normalize_envelope_with_report,
    restore_arguments,
    restore_arguments_json,
    sanitize,
    sanitize_json,
    sanitize_json_with_report,
    sanitize_with_report,
)
from ._search import ToolIndex, answer_tool_search, answer_tool_search_json, search_tools, search_tools_json
from ._tools import (
    check_tools,
    check_tools_json,
    dialect_for,
    dialect_for_with_report,
    sanitize_tools,
    sanitize_tools_json,
)
from ._toolwire import __version__

normalizeEnvelope = normalize_envelope
"""The name `normalize_envelope` has in TypeScript."""
applyDeferredLoading = apply_deferred_loading
"""The name `apply_deferred_loading` has in TypeScript."""

__all__ = [
    "Exchange",
    "ReplyRestorer",
    "Restore",
    "ToolIndex",
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
    "check_json",
    "check_tools",
    "check_tools_json",
    "dialect_for",
    "dialect_for_with_report",
    "dialects",
    "normalizeEnvelope",
    "normalize_envelope",
    "normalize_envelope_json",
    "normalize_envelope_json_with_report",
    "normalize_envelope_with_report",
    "restore_arguments",
    "restore_arguments_json",
    "restore_from",
    "sanitize",
    "sanitize_json",
    "sanitize_json_with_report",
    "sanitize_tools",
    "sanitize_tools_json",
    "sanitize_with_report",
    "search_tools",
    "search_tools_json",
    "strip_deferral_betas",
]
