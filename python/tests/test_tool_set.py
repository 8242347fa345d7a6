"""`ToolSet` gives the results of `sanitize_tools`: at first, again, and after the list has changed."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any

import pytest

import toolwire
from cases import CASES, Case, as_raised

if TYPE_CHECKING:
    from collections.abc import Callable

RUN = [case for case in CASES if case.function == "sanitizeTools" and case.has_value]


def shown(found: Any) -> dict[str, Any]:
    """Make a result comparable."""
    return found.to_dict()


@pytest.mark.parametrize("case", RUN, ids=str)
def test_case(case: Case) -> None:
    if case.error is not None:
        with pytest.raises(toolwire.ToolwireError) as caught:
            toolwire.ToolSet(case.value()).sanitize(**case.options)
        assert {"code": caught.value.code, "pointer": caught.value.pointer} == as_raised(case.error)
        return
    expected = shown(toolwire.sanitize_tools(case.value(), **case.options))
    for tools in (toolwire.ToolSet(case.value()), toolwire.ToolSet(case.text())):
        ready = tools.sanitize(**case.options)
        assert tools.sanitize(**case.options) is ready
        found = shown(ready)
        assert json.loads(found.pop("json")) == ready.tools
        assert found == expected
    other = case.value()
    listed = other if isinstance(other, list) else other["tools"]
    if not isinstance(listed, list) or len(listed) < 2:
        return
    del listed[0]
    tools = toolwire.ToolSet(other)
    tools.sanitize(**case.options)
    assert tools.update(case.value())
    found = shown(tools.sanitize(**case.options))
    del found["json"]
    assert found == expected
    assert not tools.update(case.text())


def test_results_are_immutable() -> None:
    listed = [{"name": "a.b", "inputSchema": {"type": "object", "properties": {"a": {"const": 1}}}}]
    tools = toolwire.ToolSet(listed)
    listed[0]["name"] = "other"
    ready: Any = tools.sanitize(dialect="moonshot")
    function = ready.tools[0]["function"]
    assert function["name"] == "a_b"
    changes: list[Callable[[], Any]] = [
        lambda: ready.tools.append({}),
        lambda: ready.tools.__setitem__(0, {}),
        lambda: function.pop("name"),
        lambda: function["parameters"]["properties"].clear(),
    ]
    for change in changes:
        with pytest.raises(TypeError, match="change a copy"):
            change()
    with pytest.raises(FrozenInstanceError):
        ready.tools = []
    with pytest.raises(FrozenInstanceError):
        del ready.json
    for plain in (copy.deepcopy(ready.tools), pickle.loads(pickle.dumps(ready.tools))):
        assert (type(plain), type(plain[0])) == (list, dict)
        plain[0]["function"]["name"] = "c"
        assert plain != ready.tools
    assert (type(copy.copy(ready.tools)), type(copy.copy(function))) == (list, dict)
    assert json.dumps(ready.tools) == json.dumps(json.loads(ready.json))
    assert len(tools) == 1
    assert repr(tools) == "<ToolSet of 1 tools>"


def test_changes_are_computed_once() -> None:
    listed = [{"name": "a.b", "inputSchema": {"type": "object", "properties": {"a": {"const": 1}}}}]
    expected = toolwire.sanitize_tools(listed, dialect="moonshot")
    ready = toolwire.ToolSet(listed).sanitize(dialect="moonshot")
    assert ready.changes
    assert ready.changes == expected.changes
    assert ready.changes is ready.changes
    names = ["tools", "json", "quarantined", "changes", "lossless", "restore"]
    assert list(ready.to_dict()) == names
    for kept in (copy.copy(ready), pickle.loads(pickle.dumps(ready))):
        assert kept == ready
    assert repr(ready).startswith("ReadyTools(tools=[")


def test_refused_options_and_lists_change_nothing() -> None:
    tools = toolwire.ToolSet([{"name": "a"}])
    ready = tools.sanitize(dialect="moonshot")
    for wrong in ({"dialect": "none"}, {"dialect": "moonshot", "max_tools": float("nan")}, {}):
        for _ in range(2):
            with pytest.raises(toolwire.ToolwireError):
                tools.sanitize(**wrong)
    with pytest.raises(toolwire.ToolwireError, match="invalid-request"):
        tools.update({"tools": 3})
    with pytest.raises(toolwire.ToolwireError, match="invalid-json"):
        tools.update("[")
    assert tools.sanitize(dialect="moonshot") is ready
    for limit in range(16):
        tools.sanitize(dialect="moonshot", max_tools=limit + 1)
    assert tools.sanitize(dialect="moonshot") is not ready


def test_reading_a_new_list_may_use_the_set() -> None:
    tools = toolwire.ToolSet([{"name": "a", "inputSchema": {}}])

    class Tool:
        """A tool that uses the same set while it is read."""

        def model_dump(self, **_: object) -> dict[str, Any]:
            tools.update([{"name": "b", "inputSchema": {}}])
            return {"name": "c", "inputSchema": {}}

    assert tools.update([Tool()])
    assert [tool["name"] for tool in tools.sanitize(dialect="anthropic").tools] == ["c"]


def test_callback_does_not_suppress_later_warnings() -> None:
    tools = toolwire.ToolSet([{"name": "only of this test", "inputSchema": {"type": "object"}}, "no tool of this test"])
    missing: list[object] = []
    tools.sanitize(dialect="codex", on_set_aside=lambda found, _: missing.extend(found))
    assert len(missing) == 1
    with pytest.warns(toolwire.ToolwireWarning):
        tools.sanitize(dialect="codex", on_set_aside="warn").tools  # noqa: B018
