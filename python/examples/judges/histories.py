"""Compares a conversation with the request that is sent: lost marks, their order, prefixes, and the report."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any, TypeAlias

from conversations import HISTORY
from sdk_types import token

MARK = re.compile(r"zq\d{4}z")

Seen: TypeAlias = dict[str, list[str]]
"""The pointers of each mark, in their order."""


def marks(value: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Yield the marks in a value, each with the pointer to its string or to the member whose name has it."""
    if isinstance(value, str):
        yield from ((mark, at) for mark in MARK.findall(value))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from marks(item, f"{at}/{number}")
    elif isinstance(value, dict):
        # Chat Completions has the parts of a message in members, whose order has no meaning.
        order = {"reasoning_content": 0, "reasoning": 0, "tool_calls": 2}
        for key, member in sorted(value.items(), key=lambda entry: order.get(entry[0], 1)):
            below = f"{at}/{token(key)}"
            yield from ((mark, below) for mark in MARK.findall(key))
            yield from marks(member, below)


def seen(value: Any) -> Seen:
    found: Seen = {}
    for mark, pointer in marks(value):
        found.setdefault(mark, []).append(pointer)
    return found


def found_in(value: Any) -> list[str]:
    """Return the marks in a value, in the order of its text, which is faster to find than their pointers."""
    return MARK.findall(json.dumps(value))


BY_NAME = ("prefix-changed", "redefined-tool")
"""Warnings about a tool that the history removed or replaced: its old definition is not sent."""


class Reported:
    """The parts of a request that a report names."""

    def __init__(self, report: dict[str, Any], request: dict[str, Any], api: str) -> None:
        deferred = report["deferred"] or {"warnings": [], "hidden": [], "loaded": []}
        lists = ("changes", "requestChanges", "formatChanges", "quarantined")
        entries = [entry for name in lists for entry in report[name]] + deferred["warnings"]
        self.entries = [entry for entry in entries if entry.get("pointer") is not None]
        self.pointers = {entry["pointer"] for entry in self.entries}
        # The whole entry of a tool that is not sent is gone, although the pointer is that of the reason.
        for tool in report["quarantined"]:
            whole = re.match(r".*?/(?:tools|functionDeclarations)/\d+(?=/|$)(?!/functionDeclarations)", tool["pointer"])
            self.pointers |= {whole.group()} if whole else set()
        if report["choice"] is not None or report["unforced"]:
            self.pointers |= {f"/{key}" for key in ("tool_choice", "toolConfig", "generation_config")}
        named = [entry.get("name") for entry in deferred["warnings"] if entry["code"] in BY_NAME]
        self.hidden = {*deferred["hidden"], *named}
        # A reported choice leaves out the tools that it does not allow.
        if any(pointer.split("/")[-1] == "tool_choice" for pointer in self.pointers):
            allowed = json.dumps([request.get("tool_choice"), request.get("generation_config")])
            tools = (name_of(tool) or tool.get("type") for tool in request.get("tools") or ())
            if "allowed_tools" in allowed:
                self.hidden |= {name for name in tools if json.dumps(name) not in allowed}
        history = f"/{HISTORY[api]}"
        self.lists = {"", "/tools", "/toolConfig/tools", "/tools/0/functionDeclarations", history}
        self.request = request

    def names(self, pointer: str) -> bool:
        """Return true if an entry points to this part, or to a part around it."""
        return any(above in self.pointers and above not in self.lists for above in around(pointer))

    def hides(self, pointer: str) -> bool:
        """Return true if the part is a tool that deferred loading hides."""
        above = [value_at(self.request, one) for one in around(pointer)]
        names = {name_of(value) for value in above} | {
            str(value.get("type")) for value in above if isinstance(value, dict)
        }
        return not names.isdisjoint(self.hidden)


def around(pointer: str) -> list[str]:
    steps = pointer.split("/")
    return ["/".join(steps[:end]) for end in range(len(steps), 0, -1)]


def value_at(value: Any, pointer: str) -> Any:
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(key)] if isinstance(value, list) else value[key]
        except (LookupError, TypeError, ValueError):
            return None
    return value


def name_of(tool: Any) -> Any:
    if not isinstance(tool, dict):
        return None
    for holder in (tool, tool.get("function"), tool.get("toolSpec"), tool.get("custom")):
        if isinstance(holder, dict) and isinstance(holder.get("name"), str):
            return holder["name"]
    return None


def lost(source: Seen, sent: Any, reported: Reported) -> list[str]:
    """Return the pointers of marks that are neither sent nor reported."""
    after = set(found_in(sent))
    missing = [pointers for mark, pointers in source.items() if mark not in after]
    return [
        pointers[0]
        for pointers in missing
        if not any(reported.names(pointer) or reported.hides(pointer) for pointer in pointers)
    ]


def repeated(source: Seen, sent: list[Any]) -> list[str]:
    """Return the pointers of marks that a history has more often than before."""
    after = Counter(found_in(sent))
    return [source[mark][0] for mark, times in after.items() if mark in source and times > len(source[mark])]


def entry_of(pointer: str) -> str:
    """Return the pointer to the entry of a list that a value is in: members of one object have no order."""
    steps = pointer.split("/")
    while len(steps) > 1 and not steps[-1].isdigit():
        steps.pop()
    return "/".join(steps)


def in_source_order(marks: list[str], source: Seen) -> list[str]:
    """Return marks, with the marks of each entry in the order of the source."""
    places = {mark: at for at, mark in enumerate(source)}
    runs = groupby(marks, key=lambda mark: entry_of(source[mark][0]))
    return [mark for _, run in runs for mark in sorted(run, key=places.__getitem__)]


def reordered(source: Seen, sent: list[Any], reported: Reported) -> list[str]:
    """Return the pointers of marks of a history that changed their places, except for reported ones."""
    first = in_source_order([mark for mark in dict.fromkeys(found_in(sent)) if mark in source], source)
    if [mark for mark in source if mark in set(first)] == first:
        return []
    after = seen(sent)
    both = [mark for mark in source if mark in after and not reported.names(source[mark][0])]
    known = set(both)
    now = in_source_order([mark for mark in after if mark in known], source)
    kept = set()
    for block in SequenceMatcher(None, both, now, autojunk=False).get_matching_blocks():
        kept |= set(both[block.a : block.a + block.size])
    return [source[mark][0] for mark in both if mark not in kept]


CONSTRUCTS = re.compile(
    "tool_search|tool_reference|tool_addition|tool_removal|additional_tools|toolAddition|toolRemoval"
)
"""Deferred loading reports its constructs by the names of tools, not by pointers."""


def is_deferral(request: Any, pointer: str) -> bool:
    """Return true if a part belongs to a construct of deferred loading."""
    if CONSTRUCTS.search(pointer) or "defer_loading" in pointer:
        return True
    found = (value for above in around(pointer) if isinstance(value := value_at(request, above), dict))
    nearest = next(found, {})
    holders = [nearest, *found]
    if CONSTRUCTS.search(json.dumps(nearest)):
        return True
    kinds = " ".join(str(holder.get("type")) for holder in holders)
    marked = any(holder.get("defer_loading") or name_of(holder) == "ToolSearch" for holder in holders)
    return marked or bool(CONSTRUCTS.search(kinds))


def with_names(value: Any, names: dict[str, str]) -> Any:
    """Return a value with the client's names of tools."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, list):
        return [with_names(item, names) for item in value]
    if isinstance(value, dict):
        return {key: with_names(member, names) for key, member in value.items()}
    return value


def grows(before: list[Any], after: list[Any]) -> int | None:
    """Return the index of the first message that a longer history does not begin with.

    The last message may have more blocks at its end: APIs cache blocks, and several messages of the user in a row are
    one message for some.
    """
    for number, message in enumerate(before):
        now = after[number] if number < len(after) else None
        if now == message:
            continue
        if number == len(before) - 1 and isinstance(now, dict) and extends(message, now):
            continue
        return number
    return None


def extends(message: dict[str, Any], now: dict[str, Any]) -> bool:
    differ = [key for key in message.keys() | now.keys() if message.get(key) != now.get(key)]
    if differ not in (["content"], ["parts"]):
        return False
    parts, longer = message[differ[0]], now[differ[0]]
    return isinstance(parts, list) and isinstance(longer, list) and longer[: len(parts)] == parts


def differences(before: Any, after: Any, at: str = "") -> Iterator[str]:
    """Yield the pointers of the smallest parts of a value that another does not have in this place."""
    if type(before) is not type(after):
        yield at
    elif isinstance(before, dict):
        for key in before.keys() | after.keys():
            below = f"{at}/{token(key)}"
            if key in before and key in after:
                yield from differences(before[key], after[key], below)
            else:
                yield below
    elif isinstance(before, list):
        yield from of_lists(before, after, at)
    elif before != after:
        yield at


def of_lists(before: list[Any], after: list[Any], at: str) -> Iterator[str]:
    texts = [[json.dumps(item, sort_keys=True) for item in items] for items in (before, after)]
    for what, one, end, other, other_end in SequenceMatcher(None, texts[0], texts[1], autojunk=False).get_opcodes():
        if what == "equal":
            continue
        pairs = min(end - one, other_end - other)
        for number in range(pairs):
            yield from differences(before[one + number], after[other + number], f"{at}/{one + number}")
        yield from (f"{at}/{number}" for number in range(one + pairs, end))
        if other + pairs < other_end:
            # Added items have no place of their own before the change.
            yield f"{at}/{min(one + pairs, max(len(before) - 1, 0))}"


def overlap(pointer: str, other: str) -> bool:
    return pointer == other or pointer.startswith(f"{other}/") or other.startswith(f"{pointer}/")
