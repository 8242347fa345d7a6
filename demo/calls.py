"""Answers the demo's calls from Python: one JSON line in, one out. `languages.mjs` describes their format."""

from __future__ import annotations

import json
import sys
from typing import Any

import toolwire

FUNCTIONS: dict[str, tuple[Any, str]] = {
    "sanitize": (toolwire.sanitize, "schema"),
    "normalizeEnvelope": (toolwire.normalize_envelope, "schema"),
}


def answer(call: dict[str, Any]) -> dict[str, Any]:
    """Makes one call, on text with its report and on a value."""
    text, options = call["input"], call["options"]
    try:
        if call["function"] == "applyDeferredLoading":
            report = toolwire.apply_deferred_loading(text, **options).to_dict()
            rewritten = report.pop("request")
            value = toolwire.apply_deferred_loading(json.loads(text), **options).request
            return {"text": rewritten, "report": report, "value": value}
        function, member = FUNCTIONS[call["function"]]
        report = function(text, **options).to_dict()
        rewritten = report.pop(member)
        value = getattr(function(json.loads(text), **options), member)
        return {"text": rewritten, "report": report, "value": value}
    except toolwire.ToolwireError as error:
        return {"error": {"code": error.code, "pointer": error.pointer, "message": error.message}}


def spelled(value: object) -> Any:
    """Return restore data in the form of JavaScript and Rust."""
    return json.loads(value.to_json()) if isinstance(value, toolwire.Restore) else value


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line)), separators=(",", ":"), default=spelled))
