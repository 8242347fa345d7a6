"""Reads damaged arguments with BAML: a tool's schema becomes a function of BAML, whose reply is the text."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

SCALARS = {"string": "string", "integer": "int", "number": "float", "boolean": "bool", "null": "null"}
CLIENT = """
type Any = int | float | bool | string | null | Any[] | map<string, Any>
client<llm> Unused {
  provider openai
  options {
    model "unused"
    api_key "unused"
  }
}
function Read() -> C0 {
  client Unused
  prompt #"{{ ctx.output_format }}"#
}
"""


class Classes:
    """The classes of BAML that a schema needs. Their fields have other names, because some names are keywords."""

    def __init__(self) -> None:
        """Begin without classes."""
        self.texts: list[str] = []
        self.records: dict[str, type] = {}

    def type_of(self, schema: dict[str, Any]) -> str:
        """Return the type of a schema, and declare its classes."""
        if "enum" in schema:
            return "(" + " | ".join(json.dumps(value) for value in schema["enum"]) + ")"
        kinds = schema.get("type", "string")
        if isinstance(kinds, list):
            return "(" + " | ".join(self.type_of({**schema, "type": kind}) for kind in kinds) + ")"
        if kinds == "array":
            return f"{self.type_of(schema.get('items', {}))}[]"
        if kinds == "object" and "properties" in schema:
            return self.declare(schema)
        return "map<string, Any>" if kinds == "object" else SCALARS[kinds]

    def declare(self, schema: dict[str, Any]) -> str:
        """Declare a class for an object."""
        at = len(self.texts)
        name = f"C{at}"
        self.texts.append("")
        keys = list(schema["properties"])
        fields = []
        for number, key in enumerate(keys):
            optional = "" if key in schema.get("required", ()) else "?"
            kind = self.type_of(schema["properties"][key])
            fields.append(f"  f{number} {kind}{optional} @alias({json.dumps(key)})")
        self.texts[at] = "\n".join([f"class {name} {{", *fields, "}"])
        self.records[name] = record({f"f{number}": key for number, key in enumerate(keys)})
        return name


def record(keys: dict[str, str]) -> type:
    """Return what BAML makes objects with, instead of a class of pydantic: the members under their own names."""

    def model_validate(members: dict[str, Any]) -> dict[str, Any]:
        # Optional members that are absent are null.
        return {keys[field]: value for field, value in members.items() if value is not None}

    return type("Record", (), {"model_validate": staticmethod(model_validate)})


@cache
def function(schema: str) -> tuple[Any, ModuleType]:
    """Return the runtime for a schema, and the module with the classes of its results."""
    classes = Classes()
    classes.type_of(json.loads(schema))
    source = CLIENT + "\n".join(classes.texts) + "\n"
    module = ModuleType("classes")
    vars(module).update(classes.records)
    return import_module("baml_py").BamlRuntime.from_files("/", {"main.baml": source}, {}), module


def read(text: str, schema: dict[str, Any]) -> object:
    """Read arguments."""
    runtime, classes = function(json.dumps(schema))
    context = runtime.create_context_manager()
    result: object = runtime.parse_llm_response("Read", text, classes, classes, classes, False, context, None, None, {})
    return result
