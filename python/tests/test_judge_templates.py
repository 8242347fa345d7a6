"""The chat templates in llama.cpp as judges of tools: a template that traverses schemas fails for unknown shapes.

Each template runs in llama.cpp's own engine, and in Jinja2 with the settings of transformers, which vLLM and SGLang
use. Every result is compared with that of `check` with the option `template`.
"""

from __future__ import annotations

import datetime
import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import toolwire
from judging import installed, real_schemas, sanitized_with
from llama_cpp_judge import TEMPLATE_PROGRAM, TEMPLATES

LLAMA_CPP = "llama-cpp"
NAMES = sorted(path.stem for path in TEMPLATES.glob("*.jinja"))

LISTED = {"type": ["string", "null"]}
SHAPES: dict[str, Any] = {
    "a string": {"type": "string"},
    "a list of types": LISTED,
    "a list with an object": {"type": ["object", "null"], "properties": {}},
    "a list with values": {**LISTED, "enum": ["a", None]},
    "null": {"type": "null"},
    "an array": {"type": "array"},
    "an array with items": {"type": "array", "items": {"type": "string"}},
    "an array of anything": {"type": "array", "items": {}},
    "an array of lists of types": {"type": "array", "items": LISTED},
    "anything": {},
    "a union": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "an exclusive union": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
    "a constant": {"const": "a"},
    "values": {"enum": ["a", None]},
    "values of a type": {"type": "string", "enum": ["a", "b"]},
    "an object": {"type": "object"},
    "a map": {"type": "object", "additionalProperties": {"type": "integer"}},
    "a format": {"type": "string", "format": "date", "default": None, "title": "t", "examples": ["a"]},
}

PLACES: dict[str, Any] = {
    "a property": lambda shape: shape,
    "a property of a property": lambda shape: {"type": "object", "properties": {"b": shape}},
    "items": lambda shape: {"type": "array", "items": shape},
    "a property of items": lambda shape: {"type": "array", "items": {"type": "object", "properties": {"b": shape}}},
    "a branch": lambda shape: {"anyOf": [shape, {"type": "boolean"}]},
    "a map": lambda shape: {"type": "object", "additionalProperties": shape},
}

DISPUTED = {
    ("CohereForAI-c4ai-command-r-plus-tool_use", "the template only", r" in items| in a property of items"): (
        "the template refuses every array, so its items cannot be compared"
    ),
    ("google-gemma-4-31B-it", "check only", r"^an array of lists of types in items"): "it does not walk nested arrays",
    ("meetkai-functionary-medium-v3.2", "check only", r"^an exclusive union in (items|a branch|a map)"): (
        "the template refuses `oneOf` only in parts that it walks; `sanitize` never writes `oneOf` for it"
    ),
}
"""Differences between the two engines, by template: the engine that refuses, and the shapes as a regular expression."""


def tool(parameters: Any) -> dict[str, Any]:
    """Return a tool with these parameters."""
    return {"type": "function", "function": {"name": "f", "description": "d", "parameters": parameters}}


def root(schema: Any) -> dict[str, Any]:
    """Return the schema of a tool with this property."""
    return {"type": "object", "properties": {"a": schema}, "required": ["a"]}


@cache
def schemas_by_shape() -> dict[str, Any]:
    """Return every shape in every place, by name."""
    return {
        f"{shape} in {place}": root(put(schema)) for shape, schema in SHAPES.items() for place, put in PLACES.items()
    }


def llama_cpp(name: str, schemas: list[Any]) -> list[str | None]:
    """Return llama.cpp's errors for tools with these schemas; `None` for an accepted tool."""
    if not TEMPLATE_PROGRAM.exists():
        pytest.skip("the judge of templates is not built: `python tests/llama_cpp_judge.py --templates FOLDER`")
    template = (TEMPLATES / f"{name}.jinja").read_text(encoding="utf-8")
    question = json.dumps({"template": template, "tools": [tool(schema) for schema in schemas]})
    done = subprocess.run([TEMPLATE_PROGRAM], input=question + "\n", capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    assert "errors" in answer, answer
    errors: list[str | None] = answer["errors"]
    return errors


def jinja2(name: str, schemas: list[Any]) -> list[str | None]:
    """Return Jinja2's errors."""
    sandbox, ext = installed("jinja2.sandbox"), installed("jinja2.ext")
    environment = sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[ext.loopcontrols]
    )

    def to_json(value: Any, ensure_ascii: bool = False, **options: Any) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, **options)

    def refuse(message: str) -> None:
        raise ValueError(message)

    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = datetime.datetime(2026, 11, 26, tzinfo=datetime.timezone.utc).strftime
    text = (TEMPLATES / f"{name}.jinja").read_text(encoding="utf-8")
    template = environment.from_string(re.sub(r"{%-?\s*(end)?generation\s*-?%}", "", text))
    messages = [{"role": "user", "content": "Hello"}]

    def error(schema: Any) -> str | None:
        try:
            template.render(
                messages=messages,
                tools=[tool(schema)],
                add_generation_prompt=True,
                bos_token="<s>",
                eos_token="</s>",
            )
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None

    return [error(schema) for schema in schemas]


def refuses(schema: Any, dialect: str, **options: Any) -> bool:
    """Return whether `check` refuses a schema."""
    check: Any = toolwire.check
    return any(one.severity == "refused" for one in check(schema, dialect=dialect, **options))


def disagreements(name: str, dialect: str, errors: list[str | None]) -> list[str]:
    """Return the shapes that only the template or only `check` refuses, unless the server refuses them in any case."""
    found = []
    for (shape, schema), error in zip(schemas_by_shape().items(), errors, strict=True):
        ours = refuses(schema, dialect, template=name)
        if ours == (error is not None) or refuses(schema, dialect):
            continue
        who = "check only" if ours else "the template only"
        if not any(
            name.startswith(template) and who == whose and re.search(shapes, shape)
            for template, whose, shapes in DISPUTED
        ):
            found.append(f"{who}: {shape}: {error}")
    return found


@pytest.mark.parametrize("name", NAMES)
def test_check_agrees_with_llama_cpp(name: str) -> None:
    assert not disagreements(name, LLAMA_CPP, llama_cpp(name, list(schemas_by_shape().values())))


UNLIKE_JINJA2 = {
    "CohereForAI-c4ai-command-r-plus-tool_use": "needs a description of every property",
    "fireworks-ai-llama-3-firefunction-v2": "reads `functions`, which no server gives it",
    "llama-cpp-deepseek-r1": "is written for llama.cpp's engine",
}
"""Templates that fail for all tools in Jinja2, so that no option can help."""


@pytest.mark.parametrize("dialect", ["vllm", "sglang"])
@pytest.mark.parametrize("name", [name for name in NAMES if name not in UNLIKE_JINJA2])
def test_check_agrees_with_jinja2(name: str, dialect: str) -> None:
    assert not disagreements(name, dialect, jinja2(name, list(schemas_by_shape().values())))


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_accepted(name: str) -> None:
    """A template accepts the outputs of `sanitize` for it: real tools and all shapes."""
    texts = [*map(json.dumps, schemas_by_shape().values()), *real_schemas()[:: 1 if is_picky(name) else 50]]
    written = [text for one in texts if (text := sanitized_with(one, LLAMA_CPP, template=name)) is not None]
    errors = llama_cpp(name, [json.loads(text) for text in written])
    refused = [(error, text[:200]) for error, text in zip(errors, written, strict=True) if error]
    print(f"{name}: {len(written)} of {len(texts)} written")
    assert not refused


def is_picky(name: str) -> bool:
    """Return whether a template fails for some shape."""
    check: Any = toolwire.check
    return any(
        check(schema, dialect=LLAMA_CPP) != check(schema, dialect=LLAMA_CPP, template=name)
        for schema in schemas_by_shape().values()
    )


@pytest.mark.parametrize("name", UNLIKE_JINJA2)
def test_jinja2_fails_for_every_tool(name: str) -> None:
    if not NAMES:
        pytest.skip("the judge of templates is not built")
    assert all(jinja2(name, list(schemas_by_shape().values())))


def test_the_table_has_every_template() -> None:
    """An unknown name is refused, so that new templates of a release are noticed; and every row has a template."""
    if not NAMES:
        pytest.skip("the judge of templates is not built")
    for name in NAMES:
        toolwire.check({}, dialect="llama-cpp", template=name)
    page = (Path(__file__).parents[2] / "docs" / "templates.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)
    others = re.findall(r"`([^`]+)`", page[page.index("\nThese ") :])
    assert sorted([*rows, *others]) == sorted(NAMES)
