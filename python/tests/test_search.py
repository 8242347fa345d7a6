"""`ToolIndex`: independent of its list and of other indexes, shared between threads; and its errors."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import toolwire


def tools(count: int, word: str) -> list[dict[str, Any]]:
    return [{"name": f"{word}_{number}", "description": f"About {word}"} for number in range(count)]


def test_indexes_are_independent() -> None:
    mails = toolwire.ToolIndex(tools(3, "mail"))
    rooms = toolwire.ToolIndex(json.dumps({"tools": tools(2, "room")}))
    assert (len(mails), len(rooms)) == (3, 2)
    assert mails.search("mail") == ["mail_0", "mail_1", "mail_2"]
    assert mails.search("room") == []
    assert rooms.search("room", limit=1) == ["room_0"]
    assert repr(rooms) == "<ToolIndex of 2 tools>"


def test_index_does_not_change_with_its_list() -> None:
    listed = tools(1, "mail")
    index = toolwire.ToolIndex(listed)
    listed[0]["name"] = "renamed"
    listed.append({"name": "mail_late"})
    assert index.search("mail") == ["mail_0"]


def test_long_text_makes_the_same_index() -> None:
    listed = tools(2_000, "mail")
    index = toolwire.ToolIndex(json.dumps(listed))
    assert len(index) == 2_000
    assert index.search("mail 1999", limit=1) == toolwire.search_tools(listed, "mail 1999", limit=1) == ["mail_1999"]


def test_threads_can_share_an_index() -> None:
    index = toolwire.ToolIndex(tools(500, "mail"))
    queries = [f"mail {number}" for number in range(200)]
    alone = [index.search(query) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(index.search, queries)) == alone


def test_subclass_of_the_index_can_be_constructed() -> None:
    class Mine(toolwire.ToolIndex):
        pass

    assert type(Mine("[]")) is Mine


@pytest.mark.parametrize("query", [7, None, b"mail", object()])
def test_a_query_must_be_a_string(query: Any) -> None:
    index = toolwire.ToolIndex(tools(1, "mail"))
    with pytest.raises(toolwire.ToolwireError, match="expected the query to be a string, found a `") as caught:
        index.search(query)
    assert (caught.value.code, caught.value.pointer) == ("invalid-value", "/query")


@pytest.mark.parametrize(("listed", "code"), [(7, "invalid-request"), ({1, 2}, "invalid-value")])
def test_value_that_is_not_a_tool_list_is_an_error(listed: object, code: str) -> None:
    with pytest.raises(toolwire.ToolwireError) as caught:
        toolwire.ToolIndex(listed)
    assert caught.value.code == code


def test_text_that_is_not_json_is_an_error() -> None:
    with pytest.raises(toolwire.ToolwireError, match="line 1") as caught:
        toolwire.ToolIndex("[{")
    assert caught.value.code == "invalid-json"


def test_call_as_text_has_the_same_answer_as_a_value() -> None:
    index = toolwire.ToolIndex([{"name": "send_mail", "defer_loading": True}])
    call = {"type": "tool_use", "id": "t\ud800", "name": "tool_search", "input": {"query": "mail"}}
    text = json.dumps(call)
    answer = index.answer(text)
    assert answer == toolwire.answer_tool_search(text, [{"name": "send_mail", "defer_loading": True}])
    assert answer is not None
    assert json.loads(answer) == index.answer(call)
    assert index.answer(text.encode()) == answer.encode()
    for hostile in ("[" * 200_000, "9" * 5_000 + "x", b"\xff"):
        with pytest.raises(toolwire.ToolwireError):
            index.answer(hostile)


def test_half_a_surrogate_pair_in_a_query_matches_nothing() -> None:
    listed = tools(1, "mail")
    assert toolwire.search_tools(listed, "mail \ud800") == ["mail_0"]
    assert toolwire.search_tools(json.dumps(listed), "mail \ud800") == ["mail_0"]
