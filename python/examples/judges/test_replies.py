"""Replies and their events, restored, before the reply types and the accumulators of the SDKs."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

from conversations import FORMATS, Conversation, conversation
from histories import name_of
from replies import Event, Reply, Said, Splitter, accumulated, judge_of_event, judge_of_reply, reply, said_in
from sdk_judges import Judge, kind
from tables import is_stricter, unexplained
from ways import Way, ways

import toolwire

PATHS = {
    "anthropic": "v1/messages",
    "openai-chat": "v1/chat/completions",
    "openai-responses": "v1/responses",
    "gemini": "v1beta/models/{model}:generateContent",
    "gemini-interactions": "v1beta/interactions",
}
"""The formats of `Exchange`."""


def own_ways(count: int, api: str) -> Iterator[tuple[Conversation, Way]]:
    """Return the conversations of a format, each with a way that keeps the format."""
    for number in range(FORMATS.index(api), count, len(FORMATS)):
        given = conversation(number)
        kept = [way for way in ways(given, 6) if way.api == api]
        yield given, kept[number // len(FORMATS) % len(kept)]


def functions(api: str, request: dict[str, Any]) -> list[str]:
    """Return the names of the functions in a request."""
    tools = request.get("tools") or (request.get("toolConfig") or {}).get("tools") or []
    if api == "gemini":
        tools = [function for group in tools for function in group.get("functionDeclarations", ())]
    plain = [tool for tool in tools if tool.get("type") in (None, "function") or tool.get("input_schema")]
    return [name for tool in plain if isinstance(name := name_of(tool), str)]


def words(api: str, names: list[str], number: int, search: str | None = None) -> Said:
    """Return what the model says: thoughts, a text and calls; or a search."""
    numbers = random.Random(number)
    said: Said = []
    if numbers.random() < 0.5 and api != "openai-chat":
        said.append(("thought", f"thought {number}, which is long"))
    if numbers.random() < 0.7:
        said.append(("text", f'Réponse {number} with "quotes", \\ and 日本'))
    if search is not None:
        return [*said, ("call", f"search_{number}", search, {"query": "late"})]
    for at in range(numbers.randint(0 if said else 1, 3) if names else 0):
        arguments = {"q": "x" * numbers.randint(0, 9), "list": [1, "a"], "o": {"é": None}}
        said.append(("call", f"call_{number}_{at}", numbers.choice(names), arguments))
    return said or [("text", "Nothing.")]


class Verdicts:
    """The faults of replies, and the numbers of what was compared."""

    def __init__(self) -> None:
        self.faults: list[tuple[str, str]] = []
        self.counts: Counter[str] = Counter()

    def judge(self, judge: Judge, api: str, before: list[Any], after: list[Any], about: str) -> None:
        """Check that the types refuse nothing that they did not refuse before."""
        refused = {kind(fault) for one in before for fault in judge(one)}
        found = {kind(fault) for one in after for fault in judge(one)} - refused
        self.faults += [(f"{api} refuses {one}", about) for one in sorted(found) if not is_stricter(api, one)]

    def compare(self, api: str, events: list[Event], whole: Reply, about: str) -> None:
        """Check that the SDK's accumulator makes the whole reply of its events."""
        try:
            collected = plain(said_in(api, accumulated(api, events)))
        except Exception as error:  # what an accumulator raises depends on the SDK
            self.faults.append((f"{api}: {error!r}", about))
            return
        expected = plain(said_in(api, whole))
        if collected != expected:
            breaks = (
                "the breaks between rounds" if without_breaks(collected) == without_breaks(expected) else "the reply"
            )
            self.faults.append((f"{api}: {breaks}", f"{about}\n  {collected}\n  is not {expected}"))


def without_breaks(said: Said) -> Said:
    return [(one[0], one[1].replace("\n\n", "")) if one[0] == "text" else one for one in said]


def plain(said: Said) -> Said:
    """Return texts that are JSON as values, because only streams keep the spelling of the model."""
    out: Said = []
    for one in said:
        try:
            out.append(("json", json.loads(one[1])) if one[0] == "text" else one)
        except ValueError:
            out.append(one)
    return out


def test_restored_events_accumulate_to_the_restored_reply(count: int) -> None:
    faults: list[tuple[str, str]] = []
    for api in FORMATS:
        faults += restored(api, count).faults
    left = unexplained("reply", faults, is_whole=False)
    assert not left, "\n".join(left[:8])


def restored(api: str, count: int) -> Verdicts:
    """Restore replies and their events."""
    verdicts = Verdicts()
    for given, way in own_ways(count, api):
        number, about = given.number, f"conversation {given.number} as {way}"
        try:
            adapted = toolwire.adapt_request(way.request(given.request), **way.keywords)
        except toolwire.ToolwireError:
            continue
        whole = reply(api, way.model, words(api, functions(api, adapted.request), number), number)
        events = Splitter(number).events(api, whole)
        outcome = adapted.restore.reply(whole).reply
        stream = adapted.restore.stream()
        passed = [passed for event in events for passed in stream.feed(event)] + stream.finish()
        verdicts.judge(judge_of_reply(api, way.dialect), api, [whole], [outcome], about)
        verdicts.judge(judge_of_event(api, way.dialect), api, events, passed, about)
        verdicts.compare(api, passed, outcome, about)
        verdicts.counts["replies"] += 1
        verdicts.counts["replies that change"] += outcome != whole
    print(api, dict(verdicts.counts))
    assert verdicts.counts["replies that change"] > count // 100
    return verdicts


def text_of(api: str, events: list[Event]) -> str:
    texts = []
    for event in events:
        name = event.get("type", event.get("event_type"))
        texts.append((f"event: {name}\n" if name else "") + f"data: {json.dumps(event)}\n\n")
    return "".join(texts) + ("data: [DONE]\n\n" if api == "openai-chat" else "")


def events_of(text: str) -> list[Event]:
    lines = (line for line in text.split("\n") if line.startswith("data: ") and line != "data: [DONE]")
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def opened(api: str, way: Way, request: dict[str, Any], number: int) -> toolwire.Exchange | None:
    """Open an exchange; some defer the tools beyond the third, so that the model searches in hidden rounds."""
    host = way.options.get("host", "localhost")
    options = {key: value for key, value in way.keywords.items() if key not in ("format", "host")}
    if options["deferred"] is True:
        del options["deferred"]
    if number // len(FORMATS) % 3 == 0:
        options |= {"overflow": "defer", "max_tools": 2}
    elif number // len(FORMATS) % 3 == 1:
        options["formats"] = "tool"
    url = f"https://{host}/{PATHS[api].format(model=way.model)}"
    body = json.dumps(request)
    return toolwire.Exchange.open(url, body, on_set_aside=lambda *_: None, **options)


def exchanged(api: str, given: Conversation, way: Way, verdicts: Verdicts) -> None:
    """Play an exchange twice, with whole replies and with events."""
    request, about = way.request(given.request), f"conversation {given.number} as {way}"
    try:
        whole, streamed = (opened(api, way, request, given.number) for _ in range(2))
    except toolwire.ToolwireError as error:
        verdicts.counts[f"not opened: {error.code}"] += 1
        return
    assert whole is not None
    assert streamed is not None
    text = ""
    given_events: list[Event] = []
    rounds = 0
    told: str | None = None
    while told is None:
        assert rounds < 8, f"too many rounds: {about}"
        names = functions(api, json.loads(whole.request))
        deferred = whole.report.deferred
        search = deferred.tool_search_name if deferred else None
        own = set(functions(api, request))
        step = next((change for change in whole.report.format_changes if change.rule == "format-as-tool"), None)
        answers = [name for name in names if name not in own and name != search and step is not None]
        number = given.number + 100_000 * rounds
        said = words(api, [name for name in names if name != search and name not in answers], number)
        if rounds < 2 and search in names and random.Random(number).random() < 0.6:
            said = words(api, names, number, search)
        elif answers and random.Random(number).random() < 0.6:
            said = [("call", f"answer_{number}", answers[-1], {"place": "here"})]
            verdicts.counts["answers as calls"] += 1
        sent = reply(api, way.model, said, number)
        events = Splitter(number).events(api, sent)
        told = whole.reply(json.dumps(sent))
        piece = text_of(api, events)
        half = len(piece) // 2
        text += streamed.feed_text(piece[:half]) + streamed.feed_text(piece[half:]) + streamed.finish_text()
        given_events += events
        rounds += 1
        assert streamed.asks_again is (told is None), about
    verdicts.counts[f"rounds: {rounds}"] += 1
    restored, passed = json.loads(told), events_of(text)
    verdicts.judge(judge_of_reply(api, way.dialect), api, [sent], [restored], about)
    verdicts.judge(judge_of_event(api, way.dialect), api, given_events, passed, about)
    verdicts.compare(api, passed, restored, f"{about}, {rounds} rounds")


def test_exchanged_events_accumulate_to_the_exchanged_reply(count: int, is_whole: bool) -> None:
    faults = []
    for api in PATHS:
        verdicts = Verdicts()
        for given, way in own_ways(count, api):
            exchanged(api, given, way, verdicts)
        print(api, dict(sorted(verdicts.counts.items())))
        faults += verdicts.faults
        assert sum(verdicts.counts[f"rounds: {number}"] for number in (2, 3, 4)) >= count // 300
    left = unexplained("reply", faults, is_whole)
    assert not left, "\n".join(left[:8])
