"""Modules do not import each other in circles, so that each can be read alone."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

import pytest

from reference import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE = ROOT / "python/src/toolwire"


def imports(path: Path) -> Iterator[str]:
    """Yield the modules of the package that a module imports, also in functions and for type checkers."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            module = (node.module or "").removeprefix("toolwire").lstrip(".")
            if node.level == 1 or (node.level == 0 and (node.module or "").split(".")[0] == "toolwire"):
                yield from [module] if module else [alias.name for alias in node.names]


def order(uses: dict[str, set[str]]) -> list[str]:
    """Return the modules in an order in which each one only imports modules before it."""
    return list(TopologicalSorter(uses).static_order())


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports for type checkers are included, because a reader follows them, too."""
    modules = {path.stem: path for path in PACKAGE.glob("*.py") if path.stem != "__init__"}
    uses = {name: set(imports(path)) & set(modules) for name, path in modules.items()}
    assert "_ask" in uses["_schema"]
    assert set(order(uses)) == set(modules)


def test_a_circle_is_found() -> None:
    """The test can fail."""
    with pytest.raises(CycleError):
        order({"one": {"two"}, "two": {"three"}, "three": {"one"}})
