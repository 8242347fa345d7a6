"""What the adapters of frameworks share.

A framework has its own types for tools and calls: its adapter gives the tools here, and gets back what is sent for them
and what restores the calls.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ._argument_results import RepairedCall
from ._error import ToolwireError
from ._options import _DialectOptions, _ListOptions
from ._record import Record
from ._request import adapt_request
from ._tools import sanitize_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ._names import DialectName
    from ._options import SanitizedList
    from ._restore import CallStream, ReplyRestorer
    from ._restored import RestoredCall
    from ._results import AdaptReport, Quarantined

_MOST = 1000
"""Maximum number of calls whose `retry_message` is kept."""


@dataclass(frozen=True, slots=True)
class SentTools(Record):
    """The tools of a request as they are sent."""

    dialect: DialectName
    """The dialect that they are written in."""
    model: str
    """The model, as the framework names it."""
    tools: tuple[dict[str, Any], ...]
    """The tools: what Chat Completions have in `function`."""


class FrameworkOptions(_DialectOptions, _ListOptions, total=False):
    """Keyword arguments of the adapters of frameworks."""

    on_set_aside: Literal["warn", "error"] | Callable[[tuple[Quarantined, ...], SanitizedList], object] | None
    """What becomes of a list of which tools have to be set aside. By default `"warn"`: it is sent without them, and a
    `ToolwireWarning` says which, for which dialect, why, and what to do, once for each list. `"error"`: it is not sent.
    A callable is called in place of the warning, with the tools, every time."""
    on_report: Callable[[AdaptReport, SentTools], object] | None
    """Is called with the report of each request before it is sent. What it raises, the caller of the model gets."""
    on_repair: Callable[[list[RepairedCall], SentTools], object] | None
    """With `repair`: is called with what became of the arguments of each call, once they are whole."""


class Turn:
    """One request of a framework: what is sent for its tools, and what restores the calls of its reply."""

    def __init__(
        self,
        tools: Sequence[Mapping[str, Any]],
        options: Mapping[str, Any],
        *,
        called: Iterable[str] = (),
        choice: str | None = None,
        model: str = "",
    ) -> None:
        """Adapt the tools of a request, each with `name`, `description`, `parameters` and `strict`.

        `called` are the names of the calls in the history: tools that the list no longer has need a name that the API
        takes, too. `choice` is `"auto"`, `"none"`, `"required"`, or the name of a tool.
        """
        rest = {name: value for name, value in options.items() if not name.startswith("on_")}
        names = list(dict.fromkeys([*(tool["name"] for tool in tools), *called]))
        functions = [{"type": "function", "function": dict(tool)} for tool in tools]
        calls = [
            {"id": str(at), "type": "function", "function": {"name": name, "arguments": "{}"}}
            for at, name in enumerate(names)
        ]
        request: dict[str, Any] = {
            "messages": [
                {"role": "user", "content": ""},
                {"role": "assistant", "content": None, "tool_calls": calls},
            ],
            "tools": functions,
        }
        # Some models refuse to be forced while they think, which only the framework's own settings say.
        if choice in (None, "auto", "none"):
            request["model"] = model
        if choice is not None:
            is_mode = choice in ("auto", "none", "required")
            request["tool_choice"] = choice if is_mode else {"type": "function", "function": {"name": choice}}
        adapted: Any = adapt_request(request, **rest, format="openai-chat", deferred=False)
        if adapted.report.quarantined:
            on_set_aside = options.get("on_set_aside")
            # Reading `tools` warns, raises or calls the function, depending on `on_set_aside`.
            _ = sanitize_tools(functions, **rest, format="openai-chat", on_set_aside=on_set_aside).tools
        sent = adapted.request
        called_as = [call["function"]["name"] for call in sent["messages"][1]["tool_calls"]] if names else []
        self._sent_names = dict(zip(names, called_as, strict=True))
        self._own_names = {name: own for own, name in self._sent_names.items()}
        self._restore = adapted.restore
        self._on_repair = options.get("on_repair")
        sent_choice = sent.get("tool_choice")
        self.choice: str | None = sent_choice["function"]["name"] if isinstance(sent_choice, dict) else sent_choice
        """The choice as it is sent; the name of a tool is the one that is sent."""
        tools_sent = tuple(tool["function"] for tool in sent.get("tools") or ())
        self.sent = SentTools(dialect=adapted.report.dialect, model=model, tools=tools_sent)
        """The tools as they are sent."""
        self._by_name = {tool["name"]: tool for tool in tools_sent}
        if on_report := options.get("on_report"):
            on_report(adapted.report, self.sent)

    def sent_name(self, own: str) -> str:
        """Return the name that is sent for a tool's own name."""
        return self._sent_names.get(own, own)

    def own_name(self, sent: str) -> str:
        """Return the tool's own name, of a name that the model knows."""
        return self._own_names.get(sent, sent)

    def sent_tool(self, own: str) -> dict[str, Any] | None:
        """Return what is sent for a tool; `None` if it was set aside."""
        return self._by_name.get(self.sent_name(own))

    def call(self, call_id: str | None, name: str, arguments: Any) -> RestoredCall[Any]:
        """Restore a call, and report what became of its arguments."""
        restored: RestoredCall[Any] = self._restore.call(name, arguments)
        if restored.repairs is not None:
            call = RepairedCall(
                id=call_id,
                name=restored.name,
                valid=restored.valid,
                repairs=restored.repairs,
                left=restored.left,
                retry_message=restored.retry_message,
            )
            self.report_calls([call])
        return restored

    def stream(self) -> ReplyRestorer:
        """Restore a reply that comes in events of a model API."""
        stream: ReplyRestorer = self._restore.stream()
        return stream

    def report_calls(self, calls: list[RepairedCall]) -> list[RepairedCall]:
        """Report what became of the arguments of calls that a stream has restored."""
        if calls and self._on_repair is not None:
            self._on_repair(calls, self.sent)
        return calls

    def call_stream(self, name: str) -> CallStream:
        """Restore the arguments of a call in pieces. Does not report repairs: `call` does, once they are whole."""
        stream: CallStream = self._restore.call_stream(name)
        return stream


def checked(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options; wrong ones raise here, and not with the first request."""
    for name in ("on_report", "on_repair"):
        if options.get(name) is not None and not callable(options[name]):
            message = f"expected `{name}` to be callable, found a value of type `{type(options[name]).__name__}`"
            raise ToolwireError("invalid-option", f"/{name}", message)
    Turn((), {name: value for name, value in options.items() if name != "on_report"})
    return options


class Refusals:
    """The `retry_message` of calls that could not be repaired, until they would run."""

    def __init__(self) -> None:
        """Start with none."""
        self._messages: dict[str, str] = {}

    def keep(self, call_id: str | None, message: str | None) -> None:
        """Keep the message of a call."""
        # Another call may have the same id: some backends count them in each reply.
        self._messages.pop(call_id or "", None)
        if call_id and message:
            while len(self._messages) >= _MOST:
                self._messages.pop(next(iter(self._messages)), None)
            self._messages[call_id] = message

    def get(self, call_id: str | None) -> str | None:
        """Return the message of a call that could not be repaired."""
        return self._messages.get(call_id or "")


def arguments_of(arguments: Any) -> dict[str, Any] | None:
    """Read the arguments of a call, which may be JSON text; `None` if they are no object."""
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
