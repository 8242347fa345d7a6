"""A panic in the core: the call raises an error that reports it, and the next call works.

A hidden function makes calls panic.
"""

from __future__ import annotations

import json
import pickle
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

import toolwire
from toolwire import _toolwire

if TYPE_CHECKING:
    from collections.abc import Callable

TOOLS = [{"name": "files.read", "inputSchema": {"type": "object", "properties": {"$ref": {"type": "string"}}}}]
REQUEST = {"messages": [], "tools": [{"name": "a.b", "input_schema": {"type": "object", "properties": {}}}]}
SCHEMA = {"type": "object", "properties": {"a": {"const": 1}}}
CALL = {"type": "tool_use", "id": "c", "name": "tool_search", "input": {"query": "read"}}
RESTORE = toolwire.sanitize_tools(TOOLS, dialect="moonshot").restore
INDEX = toolwire.ToolIndex(TOOLS)
URL = "http://localhost/v1/messages"


def piece(arguments: str, **more: object) -> str:
    """Return the text of an event with a piece of a call."""
    call = {"index": 0, "function": {"arguments": arguments, **more}}
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'tool_calls': [call]}}]})}\n\n"


BEGIN = piece("", name="files_read")
END = f"data: {json.dumps({'choices': [{'index': 0, 'delta': {}, 'finish_reason': 'tool_calls'}]})}\n\n"

CALLS: dict[str, Callable[[], Any]] = {
    "sanitize": lambda: toolwire.sanitize(SCHEMA, dialect="codex").schema,
    "sanitize text": lambda: toolwire.sanitize(json.dumps(SCHEMA), dialect="codex").schema,
    "large text": lambda: toolwire.sanitize(json.dumps({**SCHEMA, "x": "y" * 100_000}), dialect="codex").schema,
    "check": lambda: toolwire.check(SCHEMA, dialect="codex"),
    "sanitize_tools": lambda: toolwire.sanitize_tools(TOOLS, dialect="moonshot").tools,
    "adapt_request": lambda: toolwire.adapt_request(REQUEST, dialect="anthropic").request,
    "restore.call": lambda: RESTORE.call("files_read", {"dollar_ref_": "x"}),
    "reply": lambda: RESTORE.reply({"content": []}),
    "search_tools": lambda: toolwire.search_tools(TOOLS, "read"),
    "answer_tool_search": lambda: toolwire.answer_tool_search(CALL, TOOLS),
    "index, search": lambda: INDEX.search("read"),
    "index, answer": lambda: INDEX.answer(CALL),
    "tool set": lambda: toolwire.ToolSet(TOOLS).sanitize(dialect="moonshot").json,
    "index, new": lambda: len(toolwire.ToolIndex(TOOLS)),
    "stream, new": lambda: RESTORE.stream().feed_text(BEGIN),
    "exchange, open": lambda: opened().request,
}


def opened() -> toolwire.Exchange:
    """Open an exchange."""
    exchange = toolwire.Exchange.open(URL, json.dumps(REQUEST), dialect="anthropic")
    assert exchange is not None
    return exchange


def failed(call: Callable[[], Any], known: str) -> None:
    """Check that a call panics and reports it."""
    with pytest.raises(toolwire.ToolwireError) as caught:
        call()
    error = caught.value
    assert (error.code, error.pointer, error.changes) == ("internal", "", ())
    assert known in error.message
    assert "Please report it with" in error.message
    assert "SECURITY.md" in error.message
    assert pickle.loads(pickle.dumps(error)).args == error.args


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_panic_in_a_call_is_reported(call: Callable[[], Any]) -> None:
    expected = call()
    _toolwire._fail_next()
    failed(call, "a test asked for it")
    assert call() == expected


def test_panic_ends_only_its_own_stream() -> None:
    whole = RESTORE.stream()
    expected = "".join(map(whole.feed_text, (BEGIN, piece('{"dollar_ref_":'), piece('"main"}'), END)))
    assert '\\"$ref\\"' in expected
    one, other = RESTORE.stream(), RESTORE.stream()
    out = one.feed_text(BEGIN) + one.feed_text(piece('{"dollar_ref_":'))
    _toolwire._fail_next()
    failed(lambda: other.feed_text(BEGIN), "a test asked for it")
    for again in (lambda: other.feed_text(BEGIN), other.finish_text, other.finish, lambda: other.feed({})):
        failed(again, "create it again")
    assert out + one.feed_text(piece('"main"}')) + one.feed_text(END) == expected


def test_panic_ends_only_its_own_exchange() -> None:
    one, other = opened(), opened()
    _toolwire._fail_next()
    failed(lambda: other.reply("{}"), "a test asked for it")
    failed(lambda: other.reply("{}"), "create it again")
    failed(lambda: other.asks_again, "create it again")
    called = '{"content":[{"type":"tool_use","name":"a_b"}]}'
    assert one.reply(called) == called.replace("a_b", "a.b")


def test_failure_hook_applies_to_one_thread() -> None:
    expected = toolwire.sanitize(SCHEMA, dialect="codex").schema
    _toolwire._fail_next()
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(toolwire.sanitize(SCHEMA, dialect="codex").schema))
    thread.start()
    thread.join()
    assert found == [expected]
    failed(lambda: toolwire.sanitize(SCHEMA, dialect="codex").schema, "a test asked for it")


def test_an_older_or_forged_restore_is_refused() -> None:
    """A stored `Restore` of a different version, or a forged one."""
    older = {"version": 1, "tools": {"a": {"name": "a", "options": {"dialect": "gemini"}, "schema": {}}}}
    with pytest.raises(
        toolwire.ToolwireError, match=r"version 2 to 6 of a `restore`, found 1.*sanitize the tools again"
    ) as refused:
        toolwire.Restore.from_json(older)
    assert (refused.value.code, refused.value.pointer) == ("invalid-value", "/version")
    with pytest.raises(toolwire.ToolwireError) as refused:
        toolwire.Restore.from_json({"version": 2, "tools": {"a": {"name": "a", "plan": {"encoded": []}}}})
    assert refused.value.pointer == "/tools/a/plan/encoded"


@pytest.mark.parametrize(
    "restore", [partial(toolwire.restore_arguments, {}), partial(toolwire.restore_arguments, "{}")]
)
@pytest.mark.parametrize(
    ("plan", "pointer", "message"),
    [
        ({"type": "object"}, "/version", r"an unchanged restore plan, .*found an object without one, such as a schema"),
        ({"version": 1}, "/version", r"expected version 2 of a plan, found 1, .*sanitize the schema again"),
        ({"version": 3}, "/version", r"expected version 2 of a plan, found 3, which a newer toolwire wrote"),
        (
            {"version": 2, "tools": {}},
            "/tools",
            r"an unchanged restore plan, .*of one schema; found the member `tools`",
        ),
        (None, "", r"an unchanged restore plan, .*an object; found null"),
        # Values that JSON cannot represent.
        ({"version": 2, "json": {"enum": [float("nan")]}}, "/json/enum/0", "NaN"),
        ({"version": 2, "names": {"names": {"a": b""}}}, "/names/names/a", "bytes"),
    ],
)
def test_invalid_plan_is_refused(restore: Callable[[object], object], plan: object, pointer: str, message: str) -> None:
    with pytest.raises(toolwire.ToolwireError, match=message) as refused:
        restore(plan)
    assert (refused.value.code, refused.value.pointer) == ("invalid-value", pointer)


def test_restore_does_not_change_with_its_source() -> None:
    kept: dict[str, Any] = {"version": 2, "tools": {"a_b": {"name": "a.b"}}}
    restore = toolwire.Restore.from_json(kept)
    kept["tools"]["a_b"]["name"] = "changed"
    assert restore.call("a_b", {}).name == "a.b"
