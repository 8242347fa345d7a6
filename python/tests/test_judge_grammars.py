"""Grammar compilers judge outputs for APIs that compile schemas to grammars with an unpublished compiler.

These compilers substitute for the APIs' own ones, so only real tools are compared, and no fixtures.
"""

from __future__ import annotations

from functools import cache

import pytest

from judging import (
    Complaint,
    Judge,
    Row,
    accepts_outputs,
    corpus,
    installed,
    installed_xgrammar,
    real_schemas,
    still_refused,
)

DIALECTS = ["llama-cpp", "openai-strict", "anthropic-strict", "deepseek-strict"]

LLAMA_CPP = "llama.cpp's own converter ignores unknown keywords and formats, which llguidance refuses"
LLGUIDANCE = [
    Row(
        f"{LLAMA_CPP}: a keyword",
        r"^Unimplemented keys: \[(\"(propertyNames|dependentRequired|not)\"(, )?)+\]",
        {"type": "object", "properties": {}, "propertyNames": {"maxLength": 3}},
    ),
    Row(
        f"{LLAMA_CPP}: a format",
        r"^Unknown format: ",
        {"type": "object", "properties": {"a": {"type": "string", "format": "json"}}},
    ),
]


@cache
def llguidance() -> Judge:
    matcher = installed("llguidance").LLMatcher

    def judge(text: str) -> list[Complaint]:
        error = matcher.validate_grammar(matcher.grammar_from_json_schema(text))
        return [Complaint(error)] if error else []

    return judge


@cache
def xgrammar() -> Judge:
    grammar = installed_xgrammar().Grammar

    def judge(text: str) -> list[Complaint]:
        try:
            grammar.from_json_schema(text, strict_mode=False)
        except RuntimeError as error:
            return [Complaint(str(error))]
        return []

    return judge


@pytest.mark.parametrize("dialect", DIALECTS)
def test_llguidance_accepts_outputs(dialect: str) -> None:
    accepts_outputs(dialect, llguidance(), LLGUIDANCE if dialect == "llama-cpp" else [], [*real_schemas(), *corpus()])


@pytest.mark.parametrize("row", LLGUIDANCE, ids=str)
def test_llguidance_still_refuses_an_output(row: Row) -> None:
    still_refused("llama-cpp", llguidance(), row)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_xgrammar_accepts_outputs(dialect: str) -> None:
    accepts_outputs(dialect, xgrammar(), [], [*real_schemas(), *corpus()])


def test_the_judges_can_refuse() -> None:
    assert llguidance()('{"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=a)"}}}')
    assert xgrammar()('{"type": "nothing"}')
