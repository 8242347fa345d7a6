"""Nothing is dropped silently: tools that `sanitize_tools` and `ToolSet` set aside."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any

import pytest

import toolwire
from toolwire import _set_aside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LIST = [{"name": "good", "inputSchema": {}}, {"name": "odd", "inputSchema": {"type": "array"}}]
START = "toolwire: 1 tool was not sent: `odd` at `/1/inputSchema` for `anthropic`"


def by_list(**options: Any) -> Any:
    return toolwire.sanitize_tools(LIST, **{"dialect": "anthropic", **options})


def by_text(**options: Any) -> Any:
    return toolwire.sanitize_tools(json.dumps(LIST), **{"dialect": "anthropic", **options})


def by_set(**options: Any) -> Any:
    return toolwire.ToolSet(LIST).sanitize(**{"dialect": "anthropic", **options})


ALL = pytest.mark.parametrize("sanitize", [by_list, by_text, by_set])


@pytest.fixture(autouse=True)
def caught() -> Iterator[list[warnings.WarningMessage]]:
    _set_aside._shown_keys.clear()
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        yield given


@ALL
def test_reading_only_the_tools_warns(sanitize: Callable[..., Any], caught: list[warnings.WarningMessage]) -> None:
    result = sanitize()
    assert result.restore.to_json()
    assert result.lossless is False
    assert caught == []
    for _ in range(2):
        assert result.tools
    assert [(str(one.message)[: len(START)], one.category, one.filename) for one in caught] == [
        (START, toolwire.ToolwireWarning, __file__)
    ]
    # One warning for each list and dialect.
    assert sanitize().tools
    assert len(caught) == 1
    assert sanitize(dialect="bedrock").tools
    assert len(caught) == 2


@ALL
@pytest.mark.parametrize(
    "look",
    [
        lambda result: result.quarantined,
        lambda result: result.to_dict(),
        repr,
        copy.copy,
        lambda result: result == {},
    ],
)
def test_reading_the_report_first_prevents_the_warning(
    sanitize: Callable[..., Any], look: Callable[[Any], object], caught: list[warnings.WarningMessage]
) -> None:
    result = sanitize()
    look(result)
    assert result.tools
    assert caught == []


def test_tool_set_does_not_warn_after_its_report_was_read(caught: list[warnings.WarningMessage]) -> None:
    tools = toolwire.ToolSet(LIST)
    assert [tool.name for tool in tools.sanitize(dialect="anthropic").quarantined] == ["odd"]
    assert tools.sanitize(dialect="anthropic").tools
    assert caught == []
    # Reading the text counts as reading the list.
    assert tools.sanitize(dialect="bedrock").json
    assert len(caught) == 1


@ALL
def test_callback_is_called_every_time(sanitize: Callable[..., Any], caught: list[warnings.WarningMessage]) -> None:
    reported: list[Any] = []
    for _ in range(2):
        assert sanitize(on_set_aside=lambda *what: reported.append(what)).tools
    assert [([tool.name for tool in tools], about.dialect) for tools, about in reported] == [(["odd"], "anthropic")] * 2
    assert caught == []


def test_tool_set_calls_each_callback(caught: list[warnings.WarningMessage]) -> None:
    tools, reported = toolwire.ToolSet(LIST), []
    first = tools.sanitize(dialect="anthropic", on_set_aside=lambda *_: reported.append("first"))
    second = tools.sanitize(dialect="anthropic", on_set_aside=lambda *_: reported.append("second"))
    assert first is second
    assert reported == ["first", "second"]
    assert caught == []


@ALL
def test_on_set_aside_error_raises(sanitize: Callable[..., Any]) -> None:
    with pytest.raises(toolwire.ToolwireError) as raised:
        sanitize(on_set_aside="error")
    assert (raised.value.code, raised.value.pointer) == ("not-representable", "/1/inputSchema")
    assert (
        str(raised.value)
        .split(": ", 1)[1]
        .startswith("expected to send every tool, found 1 tool that cannot be sent: ")
    )


@ALL
@pytest.mark.parametrize("wrong", ["loud", 1])
def test_other_values_of_on_set_aside_are_refused(sanitize: Callable[..., Any], wrong: object) -> None:
    with pytest.raises(toolwire.ToolwireError) as raised:
        sanitize(on_set_aside=wrong)
    assert (raised.value.code, raised.value.pointer) == ("invalid-option", "/on_set_aside")


@ALL
def test_complete_list_causes_no_warning(sanitize: Callable[..., Any], caught: list[warnings.WarningMessage]) -> None:
    reported: list[Any] = []
    assert sanitize(dialect="anthropic", fallback="codex", on_set_aside=lambda *what: reported.append(what)).tools
    good = toolwire.sanitize_tools(LIST[:1], dialect="anthropic", on_set_aside=lambda *what: reported.append(what))
    assert good.tools
    assert caught == []


def test_warning_as_an_error_is_raised_when_the_tools_are_read() -> None:
    result = by_list()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(toolwire.ToolwireWarning):
                _ = result.tools


def test_result_can_be_converted_and_copied(caught: list[warnings.WarningMessage]) -> None:
    result: Any = by_list()
    keys = ["tools", "quarantined", "changes", "lossless", "restore"]
    assert list(result.to_dict()) == keys
    assert "warning" not in repr(result)
    assert json.loads(json.dumps(result.to_dict())) == result.to_dict()
    for copied in (copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert type(copied) is toolwire.types.SanitizedTools
        assert copied == result
    with pytest.raises(FrozenInstanceError):
        result.tools = []
    assert caught == []
