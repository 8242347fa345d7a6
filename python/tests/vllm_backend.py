"""The backend of vLLM for a tool under `tool_choice: "required"`, chosen like its `auto`: by the rules of vLLM 0.33.

A schema of the whole answer, a list of calls, is made from the tools. xgrammar is used unless vLLM's gate excludes it,
because it would not enforce the schema, or its compiler refuses the schema. Otherwise llguidance is used, or outlines
if `patternProperties` occurs anywhere. This module does not run outlines.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMATS = (
    *("email", "date", "time", "date-time", "duration", "ipv4", "ipv6", "hostname", "uuid", "uri", "uri-reference"),
    *("uri-template", "json-pointer", "relative-json-pointer"),
)
"""Formats of strings that xgrammar supports."""


@dataclass(frozen=True)
class Answer:
    """The backend that accepts a tool. If no backend does, or the backend was not run, `complaint` is the reason."""

    backend: Literal["xgrammar", "llguidance", "outlines", "none"]
    complaint: str | None = None
    """The error of the gate or of xgrammar's compiler, followed by that of llguidance."""


def schema_of_calls(parameters: dict[str, Any], name: str = "tool") -> dict[str, Any]:
    """Return the schema of an answer that calls one tool, with its `$defs` moved to the root."""
    call = {
        "properties": {
            "name": {"type": "string", "enum": [name]},
            "parameters": {keyword: value for keyword, value in parameters.items() if keyword != "$defs"}
            if parameters
            else {"type": "object", "properties": {}},
        },
        "required": ["name", "parameters"],
    }
    calls = {"type": "array", "minItems": 1, "items": {"type": "object", "anyOf": [call]}}
    definitions = parameters.get("$defs")
    return {**calls, "$defs": definitions} if definitions else calls


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """Return every object in a schema. Both gates look into all objects, including a property's default."""
    if isinstance(value, dict):
        yield value
        for member in value.values():
            if isinstance(member, dict):
                yield from objects(member)
            elif isinstance(member, list):
                for item in member:
                    yield from objects(item)


def gate(schema: Any) -> str | None:
    """Return the reason why vLLM does not use xgrammar."""
    return next((fault for found in objects(schema) if (fault := unsupported(found)) is not None), None)


def unsupported(found: dict[str, Any]) -> str | None:
    """Return the first part of an object for which xgrammar is not used. Only keywords of its `type` count."""
    names = found.get("type")
    types = {names} if isinstance(names, str) else set(filter(is_text, names)) if isinstance(names, list) else set()
    if types & {"integer", "number"} and "multipleOf" in found:
        return "`multipleOf`"
    if "array" in types:
        for keyword in ("uniqueItems", "contains", "minContains", "maxContains"):
            if keyword in found:
                return f"`{keyword}`"
    if "string" in types:
        if "format" in found and not (is_text(found["format"]) and found["format"] in FORMATS):
            return f"`format` {found['format']!r}"
        if shape_and_length(found):
            return "`pattern` or `format` with a length"
    return unsupported_of_objects(found) if "object" in types else None


def unsupported_of_objects(found: dict[str, Any]) -> str | None:
    if "propertyNames" in found:
        if shape_and_length(found["propertyNames"]):
            return "`propertyNames` of `pattern` or `format` with a length"
        if "properties" in found or "patternProperties" in found:
            return "`propertyNames` next to properties"
        if isinstance(found.get("additionalProperties"), dict) or found.get("unevaluatedProperties", True) is not True:
            return "`propertyNames` next to a schema for other properties"
    patterns = found.get("patternProperties")
    if isinstance(patterns, dict) and ("properties" in found or len(patterns) > 1):
        return "`patternProperties` next to properties, or with several patterns"
    return None


def is_text(value: object) -> bool:
    return isinstance(value, str)


def shape_and_length(found: Any) -> bool:
    return (
        isinstance(found, dict)
        and ("pattern" in found or "format" in found)
        and ("minLength" in found or "maxLength" in found)
    )


class Backends:
    """The two backends that are run: the modules `xgrammar` and `llguidance`."""

    def __init__(self, xgrammar: Any, llguidance: Any) -> None:
        self.xgrammar = xgrammar
        self.grammar = xgrammar.Grammar
        self.matcher = llguidance.LLMatcher
        self.tokenizer = llguidance.LLTokenizer("byte")
        # Every byte except NUL is a token, and the last token ends the text.
        tokens = xgrammar.TokenizerInfo([*(bytes([byte]) for byte in range(1, 256)), "</s>"], stop_token_ids=[255])
        self.compiler = xgrammar.GrammarCompiler(tokens)

    def answer(self, parameters: Any) -> Answer:
        """Return the backend that accepts one tool."""
        if not isinstance(parameters, dict):
            return Answer("none", "`parameters` of a tool have to be an object")
        schema = schema_of_calls(parameters)
        complaint = gate(schema) or self.compile(schema)
        if complaint is None:
            return Answer("xgrammar")
        if any("patternProperties" in found for found in objects(schema)):
            return Answer("outlines", complaint)
        error = self.matcher.validate_grammar(self.matcher.grammar_from_json_schema(json.dumps(schema)))
        return Answer("none", f"{complaint}; {error}") if error else Answer("llguidance", complaint)

    def admits(self, parameters: dict[str, Any], arguments: Any) -> bool | None:
        """Return whether the model may call the tool with these arguments; `None` if no backend accepts the tool."""
        backend = self.answer(parameters).backend
        schema = json.dumps(schema_of_calls(parameters))
        text = json.dumps([{"name": "tool", "parameters": arguments}], ensure_ascii=False)
        if backend == "xgrammar":
            grammar = self.compiler.compile_json_schema(schema)
            matcher = self.xgrammar.GrammarMatcher(grammar, terminate_without_stop_token=True)
            return bool(matcher.accept_string(text) and matcher.is_terminated())
        if backend == "llguidance":
            matcher = self.matcher(self.tokenizer, self.matcher.grammar_from_json_schema(schema))
            tokens = self.tokenizer.tokenize_str(text)
            return bool(matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting())
        return None

    def compile(self, schema: dict[str, Any]) -> str | None:
        """Return xgrammar's error, with the defaults that vLLM uses: objects with properties are closed."""
        try:
            self.grammar.from_json_schema(json.dumps(schema))
        except RuntimeError as error:
            return str(error).split("] ", 1)[-1].split(": ", 1)[-1].strip()
        return None
