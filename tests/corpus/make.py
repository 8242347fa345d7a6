"""Writes schemas.jsonl: schemas with unions at the root, tuples and outputs, made by pydantic from published packages.

    pip install openai==3.52.0 anthropic==2.11.0 mcp==1.30.0 pydantic==2.14.3
    python tests/corpus/make.py

Each row has its package and type, and the license of the package.
"""

import importlib
import json
import sys
import typing
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, Optional, TypeVar, Union

from pydantic import BaseModel, ConfigDict, Field, RootModel, TypeAdapter
from typing_extensions import TypedDict

MOST_BYTES = 2_500
"""Maximum size of a row, so that rows stay readable."""

MOST_ROWS = 24
"""Maximum number of rows of one package and role that have neither a union at the root nor a tuple."""

PACKAGES = {
    "mcp": ("MIT", ["mcp.types"]),
    "anthropic": ("MIT", ["anthropic.types", "anthropic.types.beta"]),
    "openai": ("Apache-2.0", ["openai.types.chat", "openai.types.responses", "openai.types.realtime"]),
}


class Circle(BaseModel):
    kind: Literal["circle"]
    centre: tuple[float, float]
    radius: float = Field(gt=0)


class Box(BaseModel):
    kind: Literal["box"]
    corners: tuple[tuple[float, float], tuple[float, float]]


class Path3(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["path"]
    points: list[tuple[float, float, float]] = Field(min_length=2)


class Pair(NamedTuple):
    key: str
    value: int


class Row(TypedDict, total=False):
    name: str
    cells: tuple[str, Optional[int], bool]


class Tree(BaseModel):
    value: Union[int, str, None] = None
    children: list["Tree"] = []


class Page(BaseModel):
    items: list[Row]
    next: Optional[str] = None
    total: int = Field(ge=0)


Item = TypeVar("Item")


class Result(BaseModel, Generic[Item]):
    ok: Literal[True]
    value: Item


class Failure(BaseModel):
    ok: Literal[False]
    code: int
    message: str


OWN: dict[str, Any] = {
    "Shape": Annotated[Union[Circle, Box, Path3], Field(discriminator="kind")],
    "ShapeOrPage": Union[Circle, Page],
    "Pair": Pair,
    "Coordinates": RootModel[tuple[float, float]],
    "AnyTuple": RootModel[tuple[int, ...]],
    "Tree": Tree,
    "Outcome": Union[Result[Page], Failure],
    "OutcomeOfTree": Annotated[Union[Result[Tree], Failure], Field(discriminator="ok")],
    "OptionalPage": Optional[Page],
    "Rows": list[Row],
    "Scores": dict[str, tuple[int, int]],
    "Word": Literal["a", "b"],
}


def kinds(schema: Any) -> set[str]:
    """Return the features for which a schema is in the corpus."""
    found = set()
    if any(key in schema for key in ("anyOf", "oneOf", "allOf", "$ref")):
        found.add("root")
    if '"prefixItems"' in json.dumps(schema):
        found.add("tuple")
    return found


def rows() -> typing.Iterator[dict[str, Any]]:
    for name, kind in OWN.items():
        for mode in ("validation", "serialization"):
            schema = TypeAdapter(kind).json_schema(mode=mode)
            if mode == "validation" or schema != TypeAdapter(kind).json_schema():
                yield row(f"own/{name}", "MIT OR Apache-2.0", mode, schema)
    for package, (license, modules) in PACKAGES.items():
        for module in modules:
            for name, kind in sorted(vars(importlib.import_module(module)).items()):
                if name.startswith("_") or not (isinstance(kind, type) or typing.get_origin(kind)):
                    continue
                is_output = isinstance(kind, type) and name.endswith(("Result", "Response", "Usage", "Block"))
                try:
                    mode = "serialization" if is_output else "validation"
                    schema = TypeAdapter(kind).json_schema(mode=mode)
                except Exception:
                    continue
                if len(json.dumps(schema)) <= MOST_BYTES and (kinds(schema) or is_output):
                    yield row(f"{package}=={version(package)}:{module}.{name}", license, mode, schema)


def row(source: str, license: str, mode: str, schema: Any) -> dict[str, Any]:
    role = "output" if mode == "serialization" else "input"
    return {"source": source, "license": license, "role": role, "schema": schema}


def main() -> None:
    seen, counts, lines = set(), Counter(), []
    for one in rows():
        text = json.dumps(one["schema"], sort_keys=True)
        group = (one["source"].split("==")[0], one["role"])
        # Unions at the root and tuples are few, and all of them are kept.
        if text not in seen and (counts[group] < MOST_ROWS or kinds(one["schema"])):
            seen.add(text)
            counts[group] += not kinds(one["schema"])
            lines.append(json.dumps(one, ensure_ascii=False) + "\n")
    path = Path(__file__).with_name("schemas.jsonl")
    path.write_text("".join(lines), encoding="utf-8")
    print(f"{path.name}: {len(lines)} rows", file=sys.stderr)


if __name__ == "__main__":
    main()
