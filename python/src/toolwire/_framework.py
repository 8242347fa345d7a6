"""Code that the adapters of frameworks share.

Each framework has its own types for tools and calls. Its adapter passes the tools to this code, and gets the tools to
send, and an object that restores the calls.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from ._argument_results import RepairedCall
from ._error import ToolwireError
from ._options import AdaptOptions, _DialectOptions, _ListOptions
from ._record import Record
from ._request import adapt_request
from ._schema import validate_arguments
from ._tools import sanitize_tools

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from ._dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ._names import DialectName
    from ._options import SanitizedList
    from ._restore import CallStream, ReplyRestorer, Restore
    from ._restored import RestoredCall
    from ._results import AdaptReport, Quarantined

T = TypeVar("T")

_MAX_CALLS = 1000
"""Maximum number of calls whose `retry_message` is kept."""

_MAX_DEPTH = 64
"""Maximum depth to which the arguments of calls are compared."""


@dataclass(frozen=True, slots=True)
class SentTools(Record):
    """The tools of a request, in the form in which they are sent."""

    dialect: DialectName
    """The dialect of the tools."""
    model: str
    """The model, as the framework names it."""
    tools: tuple[dict[str, Any], ...]
    """The tools, each in the form of the member `function` in Chat Completions."""


class FrameworkOptions(_DialectOptions, _ListOptions, total=False):
    """Keyword arguments of the adapters of frameworks."""

    on_set_aside: Literal["warn", "error"] | Callable[[tuple[Quarantined, ...], SanitizedList], object] | None
    """Handling of a list if some of its tools have to be set aside. By default `"warn"`: the list is sent without them,
    and a `ToolwireWarning` reports the tools, the dialect, the reasons and the remedies, once for each list. `"error"`:
    the list is not sent. A callable is called with the tools instead of the warning, every time."""
    on_report: Callable[[AdaptReport, SentTools], object] | None
    """Called with the report of each request before it is sent. Its exceptions reach the caller of the model."""
    on_repair: Callable[[list[RepairedCall], SentTools], object] | None
    """With `repair`: called with the repairs of each call's arguments, once the arguments are complete."""


class Adapter:
    """State that an adapter keeps between requests: its options, and the calls that it has refused."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        """Check the options, so that invalid ones raise an error here and not at the first request."""
        for name in options:
            if name in _ADAPTER_OPTIONS:
                message = f"expected no `{name}`, which the adapter sets itself"
                raise ToolwireError("unknown-option", f"/{name}", message)
        for name in ("on_report", "on_repair"):
            if options.get(name) is not None and not callable(options[name]):
                message = f"expected `{name}` to be callable, found a value of type `{type(options[name]).__name__}`"
                raise ToolwireError("invalid-option", f"/{name}", message)
        self.options = options
        self.rewriting = {name: value for name, value in options.items() if not name.startswith("on_")}
        """The options for the core."""
        self.refusals = Refusals()
        self.set_aside(())
        Turn(self, (), (), None, (), "")

    def turn(
        self,
        tools: Sequence[dict[str, Any] | None],
        *,
        hosted: Iterable[str | None] = (),
        choice: Any = None,
        called: Iterable[tuple[str, Any]] = (),
        model: str = "",
    ) -> Turn:
        """Adapt the tools of a request.

        `tools` contains the tools in the core's format, with `None` for tools that the provider runs itself. `hosted`
        contains the names of these tools, under which no other tool is sent. `choice` is a mode or a tool's name: a
        string, or an object with the name in `name` or `function.name`. `called` contains the names and arguments of
        the calls in the history: tools that are no longer listed also need a name that the API accepts.
        """
        turn = Turn(self, tools, hosted, choice, called, model)
        if on_report := self.options.get("on_report"):
            on_report(turn.report, turn.sent)
        return turn

    def chat(self, body: dict[str, Any]) -> tuple[dict[str, Any], Reply]:
        """Adapt a Chat Completions request, which contains the framework's history and tool choice."""
        adapted: Any = adapt_request(body, **self.rewriting, format="openai-chat", deferred=False, share=True)
        if adapted.report.quarantined:
            self.set_aside(body["tools"])
        functions = tuple(tool["function"] for tool in adapted.request.get("tools") or () if "function" in tool)
        sent = SentTools(dialect=adapted.report.dialect, model=str(body.get("model", "")), tools=functions)
        if on_report := self.options.get("on_report"):
            on_report(adapted.report, sent)
        return adapted.request, Reply(self, adapted.restore, sent)

    def set_aside(self, functions: Sequence[Any]) -> None:
        """Warn, raise or call the function for tools that have to be set aside, depending on `on_set_aside`."""
        on_set_aside = self.options.get("on_set_aside")
        # Reading `tools` triggers the warning, the error or the call.
        _ = sanitize_tools(list(functions), **self.rewriting, format="openai-chat", on_set_aside=on_set_aside).tools


class Reply:
    """Restores the calls of a reply."""

    def __init__(self, adapter: Adapter, restore: Restore, sent: SentTools) -> None:
        """Store the sent tools, and the object that restores their calls."""
        self._adapter = adapter
        self._restore = restore
        self.sent = sent
        """The sent tools."""

    def call(self, call_id: str | None, name: str, arguments: Any, *, is_cut: bool = False) -> RestoredCall[Any]:
        """Restore a call, report the repairs of its arguments, and refuse it if they could not be repaired.

        If the reply may have ended within the call (`is_cut`), truncated text is not completed.
        """
        restored, repaired = self.restore_call(call_id, name, arguments, is_cut=is_cut)
        self.report_calls(repaired)
        return restored

    def restore_call(
        self, call_id: str | None, name: str, arguments: Any, *, is_cut: bool = False
    ) -> tuple[RestoredCall[Any], list[RepairedCall]]:
        """Restore a call like `call`, but return the report instead of calling `on_repair`."""
        restored: Any
        if is_cut and isinstance(arguments, str):
            restored = self._truncated_call(name, arguments)
        else:
            restored = self._restore.call(name, arguments)
        self._adapter.refusals.record(call_id, restored.name, restored.arguments, restored.retry_message)
        repaired: list[RepairedCall] = []
        if restored.repairs is not None:
            call = RepairedCall(
                id=call_id,
                name=restored.name,
                valid=restored.valid,
                repairs=restored.repairs,
                left=restored.left,
                retry_message=restored.retry_message,
            )
            repaired.append(call)
        return cast("RestoredCall[Any]", restored), repaired

    def _truncated_call(self, name: str, text: str) -> Any:
        """Restore a call of a reply that ended at a length limit."""
        message = {"tool_calls": [{"type": "function", "function": {"name": name, "arguments": text}}]}
        reply: Any = self._restore.reply({"choices": [{"finish_reason": "length", "message": message}]})
        function = reply.reply["choices"][0]["message"]["tool_calls"][0]["function"]
        call = reply.calls[0] if reply.calls else None
        outcome = {member: getattr(call, member, None) for member in ("valid", "repairs", "left", "retry_message")}
        return SimpleNamespace(**function, **outcome)

    def stream(self) -> ReplyRestorer:
        """Return an object that restores a reply in the events of a model API."""
        stream: ReplyRestorer = self._restore.stream()
        return stream

    def report_calls(self, calls: list[RepairedCall]) -> list[RepairedCall]:
        """Report the repairs of calls that a stream has restored."""
        on_repair = self._adapter.options.get("on_repair")
        if calls and on_repair is not None:
            on_repair(calls, self.sent)
        return calls

    def call_stream(self, name: str) -> CallStream:
        """Return an object that restores arguments in pieces. Repairs are reported only by `call`, at the end."""
        stream: CallStream = self._restore.call_stream(name)
        return stream


class Turn(Reply):
    """One request of a framework: adapts its tools, and restores the calls of its reply."""

    def __init__(
        self,
        adapter: Adapter,
        tools: Sequence[dict[str, Any] | None],
        hosted: Iterable[str | None],
        choice: Any,
        called: Iterable[tuple[str, Any]],
        model: str,
    ) -> None:
        """Adapt the tools of a request; see `Adapter.turn`."""
        self._tools = tools
        functions = [tool for tool in tools if tool is not None]
        own_names = [_name_of(tool) for tool in functions]
        past = list(called)
        names = list(dict.fromkeys(name for name, _ in past))
        # Arguments that are an object are not changed.
        unparsed = [(name, _text(arguments)) for name, arguments in past if not isinstance(arguments, dict)]
        calls = [*((name, "{}") for name in names), *unparsed]
        request: dict[str, Any] = {"messages": _history(calls), "tools": functions}
        choice = _choice_of(choice, own_names) if functions else None
        # Some models refuse a forced choice while they think, and only the framework knows if they think. Without the
        # model in the request, a forced choice is kept.
        if choice in (None, "auto", "none"):
            request["model"] = model
        if choice is not None:
            request["tool_choice"] = choice

        def adapt() -> tuple[Any, list[dict[str, Any]]]:
            adapted: Any = adapt_request(request, **adapter.rewriting, format="openai-chat", deferred=False)
            return adapted, [tool["function"] for tool in adapted.request.get("tools") or ()]

        adapted, sent = adapt()
        # Functions reserve the names of tools that the provider runs. This works in every dialect.
        hosted_names = {name for name in hosted if name}.difference(own_names)
        if any(function["name"] in hosted_names for function in sent):
            reserved = [
                {"type": "function", "function": {"name": name, **_EMPTY_SCHEMA}} for name in sorted(hosted_names)
            ]
            request["tools"] = [*functions, *reserved]
            adapted, sent = adapt()
        self.report: AdaptReport = adapted.report
        if self.report.quarantined:
            adapter.set_aside(functions)
        quarantined_indices = {int(found.pointer.split("/")[2]) for found in self.report.quarantined}
        remaining = iter(sent)
        sent_tools_by_index = [None if at in quarantined_indices else next(remaining) for at in range(len(functions))]
        functions_called = [call["function"] for call in adapted.request["messages"][1]["tool_calls"]] if calls else []
        # Later pairs win: listed tools override tools that occur only in the history, and the first of two tools with
        # equal names overrides the second.
        sent_names = [
            (name, sent_tool["name"])
            for name, sent_tool in zip(own_names, sent_tools_by_index, strict=True)
            if sent_tool is not None
        ]
        calls_and_sent = list(zip(calls, functions_called, strict=True))
        self._sent_texts = {text: function["arguments"] for (_, text), function in calls_and_sent}
        pairs = [*((name, function["name"]) for (name, _), function in calls_and_sent), *reversed(sent_names)]
        self._sent_names: dict[str, str] = dict(pairs)
        self._own_names: dict[str, str] = {name: own_name for own_name, name in pairs}
        sent_choice = adapted.request.get("tool_choice")
        self._choices = (choice, sent_choice)
        functions_sent = tuple(sent_tool for sent_tool in sent_tools_by_index if sent_tool is not None)
        sent_tools = SentTools(dialect=adapted.report.dialect, model=model, tools=functions_sent)
        super().__init__(adapter, adapted.restore, sent_tools)
        sent_left = iter(sent_tools_by_index)
        self._sent_tools = [None if tool is None else next(sent_left) for tool in tools]

    def sent_name(self, own: str) -> str:
        """Return the name under which a tool is sent."""
        return self._sent_names.get(own, own)

    def own_name(self, sent: str) -> str:
        """Return the tool's own name for a name that was sent."""
        return self._own_names.get(sent, sent)

    def sent_arguments(self, arguments: Any) -> Any:
        """Return the arguments to send for a call in the history: an object, or JSON text if `arguments` is text."""
        if isinstance(arguments, dict):
            return arguments
        text = self._sent_texts.get(_text(arguments), "{}")
        return text if isinstance(arguments, str) else json.loads(text)

    def sent_choice(self, framework_choice: Any) -> Any:
        """Return the tool choice to send: `framework_choice` if nothing has to change, `None` if it was dropped.

        A choice of one tool becomes the name that is sent.
        """
        choice, sent = self._choices
        if choice is None or (choice == sent and isinstance(choice, str)):
            return framework_choice
        return sent["function"]["name"] if isinstance(sent, dict) else sent

    def sent_list(self, tools: Sequence[T], write: Callable[[T, dict[str, Any]], T], start: int = 0) -> list[T]:
        """Return the list to send, without tools that were set aside. Tools that the provider runs are unchanged.

        `start` is the index of the first tool among the tools of the turn.
        """
        sent_tools: list[T] = []
        for at, tool in enumerate(tools, start):
            sent = self._sent_tools[at]
            if self._tools[at] is None:
                sent_tools.append(tool)
            elif sent is not None:
                sent_tools.append(write(tool, sent))
        return sent_tools


class Refusals:
    """The `retry_message` of calls that could not be repaired.

    A call is identified by its id, tool and arguments. Some backends number the calls of each reply from 0, so ids of
    different replies and conversations may be equal.
    """

    def __init__(self) -> None:
        """Start without messages."""
        self._messages: dict[str, str] = {}

    def record(self, call_id: str | None, name: str, arguments: Any, message: str | None) -> None:
        """Keep the message of a call, identified by the tool's own name and the restored arguments."""
        if not message:
            return
        key = _key(call_id, name, arguments)
        self._messages.pop(key, None)
        while len(self._messages) >= _MAX_CALLS:
            # Another thread may remove the same message.
            self._messages.pop(next(iter(self._messages), ""), None)
        self._messages[key] = message

    def get(self, call_id: str | None, name: str, arguments: Any) -> str | None:
        """Return the message of a call that could not be repaired."""
        return self._messages.get(_key(call_id, name, arguments))


def is_cut(reason: object) -> bool:
    """Return true if a reply that ended for this reason may have ended within a call."""
    return reason in _LENGTH_LIMIT_REASONS


def matches_schema(example: object, parameters: object) -> bool:
    """Return false if the schema that is sent refuses an example of arguments. APIs would then refuse the tool."""
    return validate_arguments(example, parameters).valid is not False


def arguments_of(arguments: Any) -> dict[str, Any] | None:
    """Read the arguments of a call, which may be JSON text; `None` if they are not an object."""
    value = _parse_arguments(arguments)
    return value if isinstance(value, dict) else None


_ADAPTER_OPTIONS = AdaptOptions.__optional_keys__ - FrameworkOptions.__optional_keys__
"""Options of the core that an adapter sets itself."""

_LENGTH_LIMIT_REASONS = (
    "length",
    "model_length",
    "max_tokens",
    "MAX_TOKENS",
    "model_context_window_exceeded",
    "incomplete",
)
"""Values with which model APIs and frameworks report that a reply ended at a length limit."""

_EMPTY_SCHEMA = {"parameters": {"type": "object", "properties": {}}}
"""Members of a function that only reserves a name."""


def _history(past: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return a history with these calls."""
    calls = [
        {"id": str(at), "type": "function", "function": {"name": name, "arguments": text}}
        for at, (name, text) in enumerate(past)
    ]
    return [{"role": "user", "content": ""}, {"role": "assistant", "content": None, "tool_calls": calls}]


def _name_of(tool: Mapping[str, Any]) -> str:
    """Return a tool's own name."""
    return str(tool.get("function", tool).get("name", ""))


def _choice_of(choice: Any, names: Sequence[str]) -> Any:
    """Return a mode, or a choice of one of the tools in the format of Chat Completions; `None` for other choices."""
    if isinstance(choice, dict):
        choice = choice.get("function", choice).get("name")
    elif choice is True or choice == "any":
        return "required"
    elif choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "function": {"name": choice}} if choice in names else None


def _text(arguments: Any) -> str:
    """Return arguments as JSON text."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, default=repr)


def _parse_arguments(arguments: Any) -> Any:
    """Parse arguments that are JSON text. Values, and text that cannot be parsed, are returned unchanged."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def _key(call_id: str | None, name: str, arguments: Any) -> str:
    """Return a key for a call, independent of the order of members. Missing arguments are treated as empty."""
    value = _parse_arguments(arguments)
    is_none = value is None or (isinstance(value, str) and not value.strip())
    return json.dumps(
        [call_id or "", name, {} if is_none else _limit_depth(value, _MAX_DEPTH)], sort_keys=True, default=repr
    )


def _limit_depth(value: Any, levels: int) -> Any:
    """Return a value without the parts below a maximum depth."""
    if isinstance(value, dict):
        return {str(name): _limit_depth(member, levels - 1) for name, member in value.items()} if levels else None
    if isinstance(value, list | tuple):
        return [_limit_depth(item, levels - 1) for item in value] if levels else None
    return value
