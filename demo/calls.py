"""Answers the demo's calls from Python: one JSON line in, one out. `languages.mjs` says what stands in them."""

from __future__ import annotations

import json
import sys
from typing import Any

import toolwire

FUNCTIONS = {
    "sanitize": (toolwire.sanitize, toolwire.sanitize_json_with_report, "schema"),
    "normalizeEnvelope": (toolwire.normalize_envelope, toolwire.normalize_envelope_json_with_report, "schema"),
    "applyDeferredLoading": (
        toolwire.apply_deferred_loading,
        toolwire.apply_deferred_loading_json_with_report,
        "request",
    ),
}


def answer(call: dict[str, Any]) -> dict[str, Any]:
    """Makes one call, on text with its report and on a value."""
    on_value, on_text, result = FUNCTIONS[call["function"]]
    text, options = call["input"], call["options"]
    try:
        report = dict(on_text(text, **options))
        rewritten = report.pop(result)
        return {"text": rewritten, "report": report, "value": on_value(json.loads(text), **options)}
    except toolwire.ToolwireError as error:
        return {"error": {"code": error.code, "pointer": error.pointer, "message": error.message}}


def spelled(value: object) -> Any:
    """What is kept of the way back, as JavaScript and Rust spell it."""
    return json.loads(value.to_json()) if isinstance(value, toolwire.Restore) else value


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line)), separators=(",", ":"), default=spelled))
