"""Plans conversations with every kind of block that the formats of requests have.

A conversation is a list of turns, which each format writes in its own way. Every text, argument, result and id has a
unique mark, so that a test can look for it. A number always gives the same conversation.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

FORMATS = ("anthropic", "openai-chat", "openai-responses", "gemini", "gemini-interactions", "bedrock")

MODELS = {
    "anthropic": "claude-sonnet-4-6",
    "openai-chat": "gpt-5.5",
    "openai-responses": "gpt-5.5",
    "gemini": "gemini-3-pro",
    "gemini-interactions": "gemini-3-pro",
    "bedrock": "anthropic.claude-sonnet-4-6",
}

HISTORY = {
    "anthropic": "messages",
    "openai-chat": "messages",
    "openai-responses": "input",
    "gemini": "contents",
    "gemini-interactions": "input",
    "bedrock": "messages",
}

NAMES = ("read_file", "list.rooms", "book_room", "send/mail", "get_price", "find_user", "x" * 70)


@dataclass
class Call:
    """A call of the model, with its result."""

    name: str
    id: str
    arguments: dict[str, Any]
    result: str
    """`text`, `blocks`, `image`, `error` or `json`."""
    custom: bool = False
    kind: str = "call"
    """`call`; or `search`, which loads `loads`."""
    loads: str = ""


@dataclass
class Turn:
    """What the user says, and the steps of the model that answer it."""

    user: list[str]
    """The kinds of its parts: `text`, `image`, `document`, `audio`."""
    steps: list[tuple[list[str], list[Call]]]
    """Parts of the model (`thinking`, `redacted`, `text`, `refusal`, `hosted`), and its calls. Only the last step has
    no calls."""
    system: bool = False
    """A message of the system follows."""


@dataclass
class Conversation:
    """A request, and the lengths of its history at which earlier requests of the conversation ended."""

    number: int
    api: str
    request: dict[str, Any]
    ends: list[int] = field(default_factory=list)
    deferred: bool = False

    @property
    def history(self) -> list[Any]:
        """The history."""
        messages: list[Any] = self.request[HISTORY[self.api]]
        return messages

    def until(self, end: int) -> dict[str, Any]:
        """Return the request of an earlier turn."""
        return {**self.request, HISTORY[self.api]: self.history[:end]}


class Writer:
    """Writes one conversation."""

    def __init__(self, number: int) -> None:
        self.random = random.Random(number)
        self.marks = 0
        self.number = number
        self.api = FORMATS[number % len(FORMATS)]

    def mark(self) -> str:
        self.marks += 1
        return f"zq{self.marks:04d}z"

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def data(self) -> str:
        """Return base64 with a mark."""
        return f"{self.mark()}A"

    def some(self, share: float, member: str, value: Any) -> dict[str, Any]:
        return {member: value} if self.chance(share) else {}

    # The plan.

    def plan(self) -> Conversation:
        self.deferred = self.chance(0.4)
        count = self.random.randint(1, 5)
        self.names = self.random.sample(NAMES, count)
        self.late = ["late_one", "late/two"] if self.deferred else []
        self.custom = ["apply_patch"] if self.api.startswith("openai") and self.chance(0.3) else []
        turns = [self.turn(number) for number in range(self.random.randint(1, 4))]
        self.history: list[Any] = []
        ends = []
        for turn in turns:
            self.user(turn.user)
            ends.append(len(self.history))
            for parts, calls in turn.steps:
                self.model(parts, calls)
                if calls:
                    self.results(calls)
                    ends.append(len(self.history))
            if turn.system:
                self.system_message()
        self.user(["text"])
        ends.append(len(self.history))
        request = self.request()
        return Conversation(self.number, self.api, request, ends, self.deferred)

    def turn(self, number: int) -> Turn:
        user = ["text", *(kind for kind in ("image", "document", "audio") if self.chance(0.15))]
        steps = [self.step(True) for _ in range(self.random.choice((0, 0, 1, 1, 2, 3)))]
        if self.deferred and number == 0:
            search = Call(
                "ToolSearch", self.call_id(), {"query": self.mark()}, "text", kind="search", loads=self.late[0]
            )
            call = Call(self.late[0], self.call_id(), {"q": self.mark()}, "text")
            steps += [(["text"] if self.chance(0.5) else [], [search]), ([], [call])]
        return Turn(user, [*steps, self.step(False)], self.chance(0.1))

    def step(self, calls: bool) -> tuple[list[str], list[Call]]:
        parts = [kind for kind in ("thinking", "redacted") if self.chance(0.2)]
        parts += [kind for kind in ("hosted",) if self.chance(0.08)]
        if not calls:
            return [*parts, "refusal" if self.chance(0.04) else "text"], []
        parts += ["text"] if self.chance(0.5) else []
        made = []
        for _ in range(self.random.choice((1, 1, 2, 3))):
            custom = bool(self.custom) and self.chance(0.4)
            name = self.custom[0] if custom else self.random.choice(self.names)
            result = self.random.choice(("text", "text", "blocks", "image", "error", "json"))
            made.append(Call(name, self.call_id(), self.arguments(), result, custom))
        return parts, made

    def call_id(self) -> str:
        kind = self.random.choice(("call_", "toolu_", "functions.f:"))
        return f"{kind if self.api != 'anthropic' else 'toolu_'}{self.mark()}"

    def arguments(self) -> dict[str, Any]:
        return {"q": self.mark(), **self.some(0.2, "list", [1, self.mark()]), **self.some(0.2, "o", {"n": None})}

    def schema(self) -> dict[str, Any]:
        properties: dict[str, Any] = {"q": {"type": "string", "description": self.mark()}}
        more = {
            "list": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
            "o": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
            "kind": {"enum": ["a", "b"], "default": "a"},
            "part": {"$ref": "#/$defs/part"},
            "when": {"type": "string", "format": "date-time", "pattern": "^2"},
        }
        properties |= {name: schema for name, schema in more.items() if self.chance(0.3)}
        schema: dict[str, Any] = {"type": "object", "properties": properties, **self.some(0.5, "required", ["q"])}
        if "part" in properties:
            schema["$defs"] = {"part": {"type": "object", "properties": {"n": {"type": "number"}}}}
        return {**schema, **self.some(0.3, "additionalProperties", False)}

    def format_schema(self) -> dict[str, Any]:
        properties = {"place": {"type": "string", "description": self.mark()}}
        return {"type": "object", "properties": properties, "required": ["place"], "additionalProperties": False}

    # What each format writes.

    def user(self, kinds: list[str]) -> None:
        raise NotImplementedError

    def model(self, kinds: list[str], calls: list[Call]) -> None:
        raise NotImplementedError

    def results(self, calls: list[Call]) -> None:
        raise NotImplementedError

    def system_message(self) -> None:
        """Add a message of the system within the history, if the format has one."""

    def request(self) -> dict[str, Any]:
        raise NotImplementedError
