"""Adapts generated conversations, and finds what the judges refuse, what is lost, and what the report does not name."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from conversations import HISTORY, Conversation, conversation
from histories import (
    Reported,
    Seen,
    around,
    differences,
    grows,
    is_deferral,
    lost,
    name_of,
    overlap,
    reordered,
    repeated,
    seen,
    value_at,
    with_names,
)
from sdk_judges import JUDGES, judge_of, kind
from ways import Way, ways

import toolwire

WAYS = 2
"""The number of ways in which each conversation is adapted."""

SYSTEM = ("system", "instructions", "systemInstruction", "system_instruction")
"""The members that hold the prompt of the system."""


@dataclass(frozen=True)
class Finding:
    """A difference that a row of a table has to explain."""

    what: str
    """The property: `type`, `lost`, `repeated`, `order`, `prefix`, `unreported` or `unfounded`."""
    text: str
    """The formats, the place and the options, against which rows are matched."""
    example: str
    """The conversation, the way, and the place in it."""


@dataclass
class Findings:
    """All findings, with the numbers of what was compared."""

    all: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, what: str, text: str, example: str) -> None:
        """Add a finding."""
        self.all.append(Finding(what, text, example))


def kind_of_place(pointer: str) -> str:
    """Return a pointer without indices and marks."""
    return re.sub(r"zq\d{4}z", "<>", re.sub(r"/\d+(?=/|$)", "/*", pointer))


def names_of_options(way: Way) -> str:
    inner = way.deferred if isinstance(way.deferred, dict) else {}
    chosen = [key for key in (*inner, *way.options) if key not in ("target", "format", "host")]
    return f" with {' '.join(chosen)}" if chosen else ""


def find(count: int) -> Findings:
    """Adapt conversations, and compare each with the request that is sent."""
    findings = Findings()
    for number in range(count):
        given = conversation(number)
        refused = {kind(fault) for fault in JUDGES[given.api]()(given.request)} - FLAGS
        findings.counts["conversations that the types of their own format refuse"] += bool(refused)
        marks = Marks.of(given)
        for at, way in enumerate(ways(given, WAYS)):
            compare(given, marks, way, findings)
            # Each earlier turn is adapted as well, which is slower than everything else.
            if at == number % WAYS:
                compare_turns(given, way, findings)
    return findings


@dataclass
class Marks:
    """The marks of a conversation."""

    whole: Seen
    history: Seen

    @classmethod
    def of(cls, given: Conversation) -> Marks:
        """Find the marks."""
        name = HISTORY[given.api]
        history = {mark: [f"/{name}{at}" for at in places] for mark, places in seen(given.history).items()}
        return cls(seen(given.request), history)


def compare(given: Conversation, marks: Marks, way: Way, findings: Findings) -> None:
    request = way.request(given.request)
    try:
        adapted = toolwire.adapt_request(request, **way.keywords)
    except toolwire.ToolwireError as error:
        findings.counts[f"not sent: {error.code}"] += 1
        return
    sent = adapted.request
    report = adapted.report.to_dict()
    reported = Reported(report, request, given.api)
    in_place = way.api == given.api
    route = f"{given.api} in place" if in_place else f"{given.api} to {way.api}"
    options = names_of_options(way)
    about = f"conversation {given.number} as {way}"

    def add(what: str, place: str, pointer: str) -> None:
        findings.add(what, f"{route} {place}{options}", f"{about}: {pointer}")

    name = judge_of(way.api, way.dialect)
    before = {kind(fault) for fault in JUDGES[name]()(request)} if in_place else set()
    findings.counts[f"judged by {name}"] += 1
    for fault in JUDGES[name]()(sent):
        if kind(fault) not in before:
            findings.add("type", f"{name}: {route} {kind(fault)}{options}", f"{about}: {fault[0]}")
        else:
            findings.counts[f"refused by {name} before and after"] += 1

    if isinstance(way.deferred, dict):
        keywords: Any = {**way.deferred, "format": given.api}
        deferred = toolwire.apply_deferred_loading(request, **keywords).request
        findings.counts[f"deferred requests judged by {way.api}"] += 1
        before = {kind(fault) for fault in JUDGES[given.api]()(request)} if in_place else set()
        for fault in JUDGES[way.api]()(deferred):
            if kind(fault) not in before:
                findings.add("type", f"{way.api}: {route} {kind(fault)}{options}", f"{about}, deferred: {fault[0]}")

    history = sent.get(HISTORY[way.api]) or []
    for pointer in lost(marks.whole, sent, reported):
        add("lost", kind_of_place(pointer), pointer)
    for pointer in repeated(marks.history, history):
        add("repeated", kind_of_place(pointer), pointer)
    for pointer in reordered(marks.history, history, reported):
        add("order", kind_of_place(pointer), pointer)
    if in_place:
        tools = json.loads(adapted.restore.to_json())["tools"]
        names = {called: tool["name"] for called, tool in tools.items()}
        places = list(differences(request, with_names(sent, names)))
        findings.counts["requests that are sent as they came"] += sent == request
        for pointer in unreported(request, places, reported, tools):
            add("unreported", kind_of_place(pointer), pointer)
        for entry in reported.entries:
            named = entry.get("rule") or entry.get("code")
            # Betas are in a header, and names were replaced above.
            if named not in ("rename-tool", "unsupported-beta", "missing-beta") and not any(
                overlap(entry["pointer"], place) for place in places
            ):
                add("unfounded", f"{named} {kind_of_place(entry['pointer'])}", entry["pointer"])


FLAGS = {
    "/tools/*/defer_loading: unknown key",
    "/tools/*/functionDeclarations/*/defer_loading: Extra inputs are not permitted",
    "/toolConfig/tools/*/defer_loading: unknown field",
    "/toolConfig/tools/*: more than one input",
}
"""Deferred tools of formats that have none, which toolwire reads."""


TOOL = re.compile(r"/tools/\d+/(functionDeclarations|tools)/\d+|/tools/\d+|/toolConfig/tools/\d+")


def unreported(request: dict[str, Any], places: list[str], reported: Reported, tools: dict[str, Any]) -> Iterator[str]:
    """Yield the places of differences that no entry of the report names."""
    # One entry covers an id that occurs twice.
    same = {value for pointer in reported.pointers if isinstance(value := value_at(request, pointer), str)}
    custom = {tool["name"] for tool in tools.values() if tool.get("kind") == "custom"}
    called = (holder for holder in (holders(request) if custom else ()) if name_of(holder) in custom)
    calls = {holder.get("call_id") or holder.get("id") for holder in called}
    for place in places:
        if any(overlap(place, pointer) for pointer in reported.pointers):
            continue
        if reported.hides(place) or is_deferral(request, place):
            continue
        # The report on schemas is tested elsewhere.
        tool = TOOL.match(place)
        if tool and any(pointer.startswith(f"{tool.group()}/") for pointer in reported.pointers):
            continue
        value = value_at(request, place)
        if isinstance(value, str) and value in same:
            continue
        above = [holder for one in around(place) if isinstance(holder := value_at(request, one), dict)]
        # `nameMap` has the kind of each tool of the client.
        if custom and any(name_of(holder) in custom or holder.get("call_id") in calls for holder in above):
            continue
        yield place


def holders(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from holders(member)
    elif isinstance(value, list):
        for item in value:
            yield from holders(item)


def list_of_tools(request: dict[str, Any]) -> list[Any]:
    """Return the declarations of all tools that a request lists."""
    entries = request.get("tools") or (request.get("toolConfig") or {}).get("tools") or []
    # A cache point marks a place, and is not a tool.
    listed = [entry for entry in entries if "cachePoint" not in entry]
    return [tool for entry in listed for tool in entry.get("functionDeclarations") or [entry]]


def compare_turns(given: Conversation, way: Way, findings: Findings) -> None:
    """Compare the request of each turn with that of the turn before it."""
    previous: dict[str, Any] | None = None
    route = f"{given.api} in place" if way.api == given.api else f"{given.api} to {way.api}"
    options = names_of_options(way)
    for end in given.ends:
        try:
            sent = toolwire.adapt_request(way.request(given.until(end)), **way.keywords).request
        except toolwire.ToolwireError:
            previous = None
            continue
        if previous is not None:
            findings.counts["turns compared with the turn before"] += 1
            about = f"conversation {given.number} until {end} as {way}"
            for place in changes_of_prefix(given, way, previous, sent):
                findings.add("prefix", f"{route} {place}{options}", about)
        previous = sent


def changes_of_prefix(given: Conversation, way: Way, before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """Yield the parts of a request that the request of the next turn does not begin with."""
    if grows(before.get(HISTORY[way.api]) or [], after.get(HISTORY[way.api]) or []) is not None:
        yield "history"
    for member in SYSTEM:
        if before.get(member) != after.get(member):
            yield f"/{member}"
    if given.deferred and not (isinstance(way.deferred, dict) and way.deferred.get("order") == "append"):
        return
    old, new = list_of_tools(before), list_of_tools(after)
    # A tool that was deferred is added at the end of the list when it is found.
    may_grow = given.deferred or way.options.get("overflow") == "defer"
    if (new[: len(old)] if may_grow else new) != old:
        yield "/tools"
