"""Which backend of vLLM takes a tool under `tool_choice: "required"`, as its `auto` chooses: by the rules of vLLM 0.33.

A schema of the whole answer is made of the tools: a list of calls. xgrammar takes it unless vLLM's gate knows that it
would not do what the schema says, or its compiler refuses. Then it is for llguidance; or for outlines, which is not
asked here, where `patternProperties` stands anywhere.
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
"""Formats of strings that xgrammar knows."""


@dataclass(frozen=True)
class Answer:
    """Who takes a tool; where it is nobody, or nobody who was asked, `complaint` says why."""

    backend: Literal["xgrammar", "llguidance", "outlines", "none"]
    complaint: str | None = None
    """What the gate or xgrammar's compiler says, and after it what llguidance says."""


def schema_of_calls(parameters: dict[str, Any], name: str = "tool") -> dict[str, Any]:
    """Give the schema of an answer that calls one tool, its `$defs` carried to the root."""
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
    """Give every object in a schema. Both gates look into whatever is an object, a property's default, too."""
    if isinstance(value, dict):
        yield value
        for member in value.values():
            if isinstance(member, dict):
                yield from objects(member)
            elif isinstance(member, list):
                for item in member:
                    yield from objects(item)


def gate(schema: Any) -> str | None:
    """Say what vLLM keeps from xgrammar."""
    return next((fault for found in objects(schema) if (fault := unsupported(found)) is not None), None)


def unsupported(found: dict[str, Any]) -> str | None:
    """Say what of one object xgrammar is not trusted with. Only what its `type` is about counts."""
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
            return "`propertyNames` beside properties"
        if isinstance(found.get("additionalProperties"), dict) or found.get("unevaluatedProperties", True) is not True:
            return "`propertyNames` beside a schema of the others"
    patterns = found.get("patternProperties")
    if isinstance(patterns, dict) and ("properties" in found or len(patterns) > 1):
        return "`patternProperties` beside properties, or two of them"
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
    """Both backends that are asked: the modules `xgrammar` and `llguidance`."""

    def __init__(self, xgrammar: Any, llguidance: Any) -> None:
        self.xgrammar = xgrammar
        self.grammar = xgrammar.Grammar
        self.matcher = llguidance.LLMatcher
        self.tokenizer = llguidance.LLTokenizer("byte")
        # Every byte but NUL is a token, and the last one ends the text.
        tokens = xgrammar.TokenizerInfo([*(bytes([byte]) for byte in range(1, 256)), "</s>"], stop_token_ids=[255])
        self.compiler = xgrammar.GrammarCompiler(tokens)

    def answer(self, parameters: Any) -> Answer:
        """Say who takes one tool."""
        if not isinstance(parameters, dict):
            return Answer("none", "the request has no other `parameters` than an object")
        schema = schema_of_calls(parameters)
        complaint = gate(schema) or self.compile(schema)
        if complaint is None:
            return Answer("xgrammar")
        if any("patternProperties" in found for found in objects(schema)):
            return Answer("outlines", complaint)
        error = self.matcher.validate_grammar(self.matcher.grammar_from_json_schema(json.dumps(schema)))
        return Answer("none", f"{complaint}; {error}") if error else Answer("llguidance", complaint)

    def admits(self, parameters: dict[str, Any], arguments: Any) -> bool | None:
        """Say whether the model may call the tool with these arguments; `None` if neither backend takes the tool."""
        backend = self.answer(parameters).backend
        schema = json.dumps(schema_of_calls(parameters))
        text = json.dumps([{"name": "tool", "parameters": arguments}], ensure_ascii=False)
        if backend == "xgrammar":
            grammar = self.compiler.compile_json_schema(schema)
            asked = self.xgrammar.GrammarMatcher(grammar, terminate_without_stop_token=True)
            return bool(asked.accept_string(text) and asked.is_terminated())
        if backend == "llguidance":
            matcher = self.matcher(self.tokenizer, self.matcher.grammar_from_json_schema(schema))
            tokens = self.tokenizer.tokenize_str(text)
            return bool(matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting())
        return None

    def compile(self, schema: dict[str, Any]) -> str | None:
        """Say what xgrammar says, whose defaults vLLM keeps: objects that list properties are closed."""
        try:
            self.grammar.from_json_schema(json.dumps(schema))
        except RuntimeError as error:
            return str(error).split("] ", 1)[-1].split(": ", 1)[-1].strip()
        return None
