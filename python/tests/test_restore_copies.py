"""A `Restore` is read and prepared once, and can still be copied, pickled and shared between threads."""

from __future__ import annotations

import copy
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import toolwire
from toolwire import _toolwire


def restore_of(member: str) -> toolwire.Restore:
    """Return the `Restore` of a tool whose only argument is an integer."""
    schema = {"type": "object", "properties": {member: {"type": "integer"}}, "required": [member]}
    tools = [{"name": "a.b", "inputSchema": schema}]
    restore: toolwire.Restore = toolwire.sanitize_tools(tools, dialect="moonshot", repair=True).restore
    return restore


def called(restore: toolwire.Restore, member: str) -> Any:
    """Restore a call in which the integer is a string."""
    return restore.call("a_b", {member: "1"}).arguments


def test_copies_are_equal() -> None:
    restore = restore_of("a")
    for _ in range(2):
        for twin in (copy.copy(restore), copy.deepcopy(restore), pickle.loads(pickle.dumps(restore))):
            assert twin == restore
            assert called(twin, "a") == {"a": 1}
        # The original still works. The second round copies it after use.
        assert called(restore, "a") == {"a": 1}


def test_threads_can_share_a_restore() -> None:
    restore = restore_of("a")
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: called(restore, "a"), range(200))) == [{"a": 1}] * 200


def test_restore_works_after_a_panic() -> None:
    restore = restore_of("a")
    for _ in range(2):
        _toolwire._fail_next()
        with pytest.raises(toolwire.ToolwireError) as caught:
            called(restore, "a")
        assert caught.value.code == "internal"
        assert called(restore, "a") == {"a": 1}


def test_restore_does_not_change_with_its_source() -> None:
    kept = json.loads(restore_of("a").to_json())
    restore = toolwire.Restore.from_json(kept)
    kept["tools"].clear()
    assert called(restore, "a") == {"a": 1}
    assert restore.reply('{"content":[]}').reply == '{"content":[]}'


def test_deep_restore_can_be_copied() -> None:
    plan: dict[str, Any] = {"json": "any"}
    for _ in range(500):
        plan = {"items": plan}
    kept = {"version": 2, "tools": {"f": {"name": "f", "plan": {"encoded": plan}}}}
    restore = toolwire.Restore.from_json(kept)
    given, text = restore.to_dict(), json.dumps(kept)
    assert json.dumps(given) == text
    given["tools"].clear()
    assert json.dumps(restore.to_dict()) == text
    assert copy.deepcopy(restore).to_json() == restore.to_json()


def test_bytes_that_are_not_utf8_are_unchanged() -> None:
    restore = restore_of("a")
    assert restore.call("unknown", b'"\xff"').arguments == b'"\xff"'
    assert restore.call("unknown", bytearray(b'"\xff"')).arguments == b'"\xff"'


@pytest.mark.parametrize("kept", ["[" * 200_000, f'{{"version": {"9" * 5_000}}}', b'{"version": "\xff"}', "{"])
def test_invalid_restore_is_refused(kept: str | bytes) -> None:
    with pytest.raises(toolwire.ToolwireError):
        toolwire.Restore.from_json(kept)
