"""Judges that know nothing of toolwire: what `sanitize` writes for an API, read by code that stands for that API.

Each judge reads the outputs of all real tools there are (`reference`). A judge that is not installed is
skipped by name. What one refuses is a fault of ours unless its limit here says how often it may, and why.
"""

from __future__ import annotations

import importlib
import json
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

import toolwire
from reference import sources

if TYPE_CHECKING:
    from collections.abc import Callable


def installed(name: str) -> Any:
    """Import a judge, or skip saying which one is missing."""
    try:
        with warnings.catch_warnings():
            # What a judge deprecates of its own dependencies is not ours.
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"`{name}` is not installed: {error}")


@cache
def schemas() -> list[str]:
    """The schemas of all real tools, each once."""
    rows = (row for source in sources() for row in source.rows("mcp_tools.jsonl"))
    return sorted({json.dumps(row["inputSchema"], ensure_ascii=False) for row in rows})


@cache
def outputs(dialect: str) -> list[str]:
    """What `sanitize` writes for a dialect, each once. What it refuses is for the Rust tests to count."""
    # Dialects come from the tables below, so no overload names them.
    sanitize: Any = toolwire.sanitize_json
    written = set()
    for schema in schemas():
        try:
            written.add(sanitize(schema, dialect=dialect))
        except toolwire.ToolwireError:
            continue
    return sorted(written)


def judged(dialect: str, judge: Callable[[str], str | None], most: int = 0) -> None:
    """Put every output before a judge that gives its complaint, or None."""
    texts = outputs(dialect)
    complaints = [f"{complaint}\n  {text[:600]}" for text in texts if (complaint := judge(text)) is not None]
    print(f"{dialect}: {len(texts)} different outputs of {len(schemas())} different schemas, {len(complaints)} refused")
    assert len(complaints) <= most, f"{len(complaints)} of {len(texts)} refused\n\n" + "\n\n".join(complaints[:10])


@cache
def is_valid_by_meta_schema() -> Callable[[str], str | None]:
    """The 2020-12 meta-schema, patterns compiled by Python's `re`, as OpenAI's API speaks."""
    jsonschema = installed("jsonschema")
    meta = jsonschema.Draft202012Validator(
        jsonschema.Draft202012Validator.META_SCHEMA, format_checker=jsonschema.FormatChecker(["regex"])
    )

    @cache
    def complaint(text: str) -> str | None:
        error = next(meta.iter_errors(json.loads(text)), None)
        return None if error is None else f"{error.json_path}: {error.message}"

    return complaint


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses", "anthropic", "portable"])
def test_the_meta_schema_accepts(dialect: str) -> None:
    judged(dialect, is_valid_by_meta_schema())


def test_the_meta_schema_judge_can_refuse() -> None:
    complaint = is_valid_by_meta_schema()
    assert complaint('{"type": "any"}') is not None
    assert complaint('{"pattern": "\\\\p{L}"}') is not None
    assert complaint('{"type": "object"}') is None


def test_geminis_message_accepts() -> None:
    types = installed("google.genai.types")

    def complaint(text: str) -> str | None:
        try:
            types.Schema.model_validate(json.loads(text))
        except ValueError as error:
            return str(error)
        return None

    assert types.Schema.model_config["extra"] == "forbid"
    assert complaint('{"type": "object", "patternProperties": {}}') is not None
    judged("gemini", complaint)


# How many outputs an engine may refuse. llama.cpp's own converter ignores what it does not know; llguidance, which can
# stand in for it, refuses `propertyNames`, `dependentRequired`, `not`, `oneOf` and formats it does not know. xgrammar
# does not decode `%20` in a reference.
LLGUIDANCE = {"llama-cpp": 14, "openai-strict": 0, "anthropic-strict": 0, "deepseek-strict": 0}
XGRAMMAR = {"llama-cpp": 1, "openai-strict": 0, "anthropic-strict": 0, "deepseek-strict": 0}


@pytest.mark.parametrize("dialect", LLGUIDANCE)
def test_llguidance_compiles(dialect: str) -> None:
    matcher = installed("llguidance").LLMatcher

    def complaint(text: str) -> str | None:
        return matcher.validate_grammar(matcher.grammar_from_json_schema(text)) or None

    assert complaint('{"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=a)"}}}') is not None
    judged(dialect, complaint, LLGUIDANCE[dialect])


@pytest.mark.parametrize("dialect", XGRAMMAR)
def test_xgrammar_compiles(dialect: str) -> None:
    grammar = installed("xgrammar").Grammar

    def complaint(text: str) -> str | None:
        try:
            grammar.from_json_schema(text, strict_mode=False)
        except RuntimeError as error:
            return str(error)
        return None

    assert complaint('{"type": "nothing"}') is not None
    judged(dialect, complaint, XGRAMMAR[dialect])
