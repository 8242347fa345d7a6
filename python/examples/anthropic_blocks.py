"""The reply of a Chat Completions backend as blocks of Anthropic's API, with their events."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, Literal

from openai.types.chat.chat_completion_chunk import ChoiceDelta, ChoiceDeltaToolCall

from toolwire import CallStream, Restore, ToolIndex

Kind = Literal["text", "thinking", "call", "search"]


@dataclass
class Part:
    """One block (two for a search), with the text that has arrived."""

    kind: Kind
    text: str = ""
    started: bool = False
    # The following fields are used for calls and searches.
    index: int = -1
    id: str | None = None
    # The id that the client receives.
    own: str = ""
    name: str = ""
    stream: CallStream | None = None

    @property
    def complete(self) -> bool:
        """True if the part has no more pieces once another part follows."""
        if self.stream is None:
            return True
        try:
            json.loads(self.text)
        except ValueError:
            return False
        return True


class Blocks:
    """Converts a streamed reply to blocks, and appends each block to `content` when it ends.

    Anthropic's SDKs expect each block to end before the next one starts. Calls of Chat Completions may be interleaved,
    and only the next call shows that a call has ended. So one block is open, and pieces of later blocks are held back.
    """

    def __init__(
        self, content: list[dict[str, Any]], tools: Any, restore: Restore, search: str | None, history: str
    ) -> None:
        """Start without blocks.

        `search` is the name of the function that replaces the hosted search, `history` contains the messages as JSON.
        """
        self.content, self.tools, self.restore, self.search = content, tools, restore, search
        self.history = history
        self.parts: list[Part] = []
        self.open = 0

    def has(self, kind: Kind) -> bool:
        """Return whether the reply has a part of this kind."""
        return any(part.kind == kind for part in self.parts)

    def take(self, delta: ChoiceDelta, thinks: bool) -> Iterator[dict[str, Any]]:
        """Read the next piece of the reply, and yield the events to send."""
        thought = getattr(delta, "reasoning_content", None)
        if thinks and thought:
            yield from self._add(self._last("thinking"), thought)
        if text := delta.content or delta.refusal:
            yield from self._add(self._last("text"), text)
        for call in delta.tool_calls or []:
            yield from self._add(self._called(call), (call.function and call.function.arguments) or "")

    def advance(self, ended: bool) -> Iterator[dict[str, Any]]:
        """End each block that is complete, and start the next one."""
        while self.open < len(self.parts):
            part = self.parts[self.open]
            if not part.started:
                part.started = True
                if part.kind != "search":
                    yield self._event("start", content_block=self._block(part, ""))
                yield from self._piece(part, part.text)
            if not ended and (part is self.parts[-1] or not part.complete):
                return
            yield from self._searched(part) if part.kind == "search" else self._end(part)
            self.open += 1

    def _last(self, kind: Kind) -> Part:
        last = self.parts[-1] if self.parts else None
        return last if last and last.kind == kind else Part(kind)

    def _called(self, call: ChoiceDeltaToolCall) -> Part:
        # Some backends give every call the index 0, so a different id means another call.
        for part in reversed(self.parts):
            if part.index == call.index and (not call.id or call.id == part.id):
                return part
        name = (call.function and call.function.name) or ""
        kind: Kind = "search" if name == self.search else "call"
        stream = self.restore.call_stream(name)
        return Part(kind, index=call.index, id=call.id, own=self._id(call.id), name=name, stream=stream)

    def _id(self, given: str | None) -> str:
        """Return the backend's id, which Kimi's models read; if an earlier call has the same id, a new one.

        Some backends number the calls of each reply from 0.
        """

        def taken(own: str) -> bool:
            return json.dumps(own) in self.history or any(part.own == own for part in self.parts)

        return f"call_{token_hex(12)}" if not given or taken(given) or taken(hosted(given)) else given

    def _add(self, part: Part, piece: str) -> Iterator[dict[str, Any]]:
        if not any(part is known for known in self.parts):
            self.parts.append(part)
            yield from self.advance(False)
        part.text += piece
        if self.open < len(self.parts) and part is self.parts[self.open]:
            yield from self._piece(part, piece)

    def _piece(self, part: Part, piece: str) -> Iterator[dict[str, Any]]:
        if part.kind != "search" and (text := part.stream.feed(piece) if part.stream else piece):
            yield self._event("delta", delta=delta(part.kind, text))

    def _end(self, part: Part) -> Iterator[dict[str, Any]]:
        if part.stream and (rest := part.stream.finish()):
            yield self._event("delta", delta=delta(part.kind, rest))
        yield self._event("stop")
        self.content.append(self._block(part, part.text))

    def _block(self, part: Part, text: str) -> dict[str, Any]:
        if part.kind == "text":
            return {"type": "text", "text": text}
        if part.kind == "thinking":
            return {"type": "thinking", "thinking": text, "signature": ""}
        # In the client's format: the tool's own name, and arguments that fit its own schema.
        call = {"id": part.own, "name": part.name, "arguments": text or "{}"}
        return dict(self.restore.client_call(call).call)

    def _searched(self, part: Part) -> Iterator[dict[str, Any]]:
        """Yield the search and its result in the form of Anthropic's servers. The client sends both again."""
        call = self._block(part, part.text)
        answer = ToolIndex(self.tools).answer(call, tool_search_name=part.name) or {"content": []}
        id_ = hosted(part.own)
        name = next(tool["name"] for tool in self.tools if str(tool.get("type")).startswith("tool_search_tool_"))
        given = call["input"] if isinstance(call["input"], dict) else {}
        use: dict[str, Any] = {"type": "server_tool_use", "id": id_, "name": name, "input": given}
        yield self._event("start", content_block={**use, "input": {}})
        yield self._event("delta", delta=delta("search", json.dumps(given)))
        yield self._event("stop")
        self.content.append(use)
        found = [block for block in answer["content"] if block["type"] == "tool_reference"]
        content: dict[str, Any] = {"type": "tool_search_tool_search_result", "tool_references": found}
        if answer.get("is_error"):
            content = {"type": "tool_search_tool_result_error", "error_code": "invalid_tool_input"}
        result = {"type": "tool_search_tool_result", "tool_use_id": id_, "content": content}
        yield self._event("start", content_block=result)
        yield self._event("stop")
        self.content.append(result)

    def _event(self, kind: str, **members: Any) -> dict[str, Any]:
        return {"type": f"content_block_{kind}", "index": len(self.content), **members}


def hosted(id_: str) -> str:
    """Return an id in the form that Anthropic's servers use for tools that they run themselves."""
    return "srvtoolu_" + re.sub(r"[^A-Za-z0-9_]", "_", id_)


def delta(kind: Kind, text: str) -> dict[str, Any]:
    """Return a piece of a block, as the `delta` of an event."""
    if kind == "text":
        return {"type": "text_delta", "text": text}
    if kind == "thinking":
        return {"type": "thinking_delta", "thinking": text}
    return {"type": "input_json_delta", "partial_json": text}
