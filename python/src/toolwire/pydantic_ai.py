"""A capability for pydantic-ai's agents: `pip install toolwire[pydantic-ai]`.

Tools are sent in a dialect, calls come back with the names and arguments that the tools expect:

    Agent(model, toolsets=[…], capabilities=[Toolwire(dialect="moonshot", repair=True)])
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

try:
    from pydantic_ai import ModelRetry
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import (
        FinalResultEvent,
        ModelResponse,
        PartDeltaEvent,
        PartEndEvent,
        PartStartEvent,
        RetryPromptPart,
        ToolCallPart,
        ToolCallPartDelta,
        ToolReturnPart,
    )
    from pydantic_ai.models import StreamedResponse
    from pydantic_ai.models.wrapper import WrapperModel
    from pydantic_ai.settings import ToolOrOutput
except ImportError as missing:
    message = f"expected pydantic-ai 2.68 or later: run `pip install 'toolwire[pydantic-ai]'` ({missing})"
    raise ImportError(message) from missing

from ._framework import Refusals, Turn, arguments_of, checked

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from pydantic_ai import RunContext
    from pydantic_ai.messages import ModelMessage, ModelResponseStreamEvent
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.tools import ToolDefinition
    from typing_extensions import Unpack

    from ._restore import CallStream
    from .types import FrameworkOptions

__all__ = ["Toolwire"]


class Toolwire(AbstractCapability[Any]):
    """Sends an agent's tools in a dialect and restores the calls.

    A call that could not be repaired (`repair`) is a `ModelRetry` with the `retry_message`, so that the model reads
    what was expected. Tools that the provider runs itself pass as they are.
    """

    def __init__(self, **options: Unpack[FrameworkOptions]) -> None:
        """Take the options of `sanitize_tools`, and `on_report` and `on_repair`.

        Raises `ToolwireError`: `unknown-option`, `invalid-option`, `unknown-dialect`.
        """
        self._options = checked(options)
        self._refusals = Refusals()

    def get_wrapper_model(self, model: Model) -> Model:
        """Put the adapting model before the one that serves the request."""
        return _Adapting(model, self)

    async def before_tool_validate(
        self,
        ctx: RunContext[Any],  # noqa: ARG002
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,  # noqa: ARG002
        args: Any,
    ) -> Any:
        """Refuse a call that could not be repaired."""
        text = self._refusals.get(call.tool_call_id)
        if text is not None:
            raise ModelRetry(text)
        return args

    def turn(self, model: Model, messages: list[ModelMessage], parameters: ModelRequestParameters) -> Turn:
        """Adapt the tools of a request."""
        tools = [_function(tool) for tool in (*parameters.function_tools, *parameters.output_tools)]
        called = [part.tool_name for one in messages for part in one.parts if isinstance(part, ToolCallPart)]
        return Turn(tools, self._options, called=called, model=model.model_name)

    def restored(self, turn: Turn, part: ToolCallPart) -> ToolCallPart:
        """Restore a call whose arguments are whole."""
        call = turn.call(part.tool_call_id, part.tool_name, part.args if part.args is not None else "")
        self._refusals.keep(part.tool_call_id, call.retry_message)
        return replace(part, tool_name=call.name, args=part.args if part.args is None else call.arguments)


class _Adapting(WrapperModel):
    """A model whose tools are adapted."""

    def __init__(self, wrapped: Model, toolwire: Toolwire) -> None:
        super().__init__(wrapped)
        self._toolwire = toolwire

    async def request(
        self, messages: list[ModelMessage], settings: ModelSettings | None, parameters: ModelRequestParameters
    ) -> ModelResponse:
        turn = self._toolwire.turn(self.wrapped, messages, parameters)
        response = await self.wrapped.request(*_adapted(turn, messages, settings, parameters))
        return replace(response, parts=[self._part(turn, part) for part in response.parts])

    def _part(self, turn: Turn, part: Any) -> Any:
        return self._toolwire.restored(turn, part) if isinstance(part, ToolCallPart) else part

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        turn = self._toolwire.turn(self.wrapped, messages, parameters)
        adapted = _adapted(turn, messages, settings, parameters)
        async with self.wrapped.request_stream(*adapted, run_context) as stream:
            # The same object, whose state the agent reads and sets, with two methods that restore.
            stream.__class__ = type("RestoringStream", (_Restoring, type(stream)), {})
            stream._toolwire = (self._toolwire, turn, {})  # type: ignore[attr-defined]
            yield stream


class _Restoring(StreamedResponse):
    """What restores the calls of a stream, mixed into the class of the model's own stream."""

    _toolwire: tuple[Toolwire, Turn, dict[int, _Call]]

    def __aiter__(self) -> AsyncIterator[ModelResponseStreamEvent]:
        if "_restored" not in self.__dict__:
            self._restored = self._events(super().__aiter__())
        return self._restored

    def get(self) -> ModelResponse:
        response = super().get()
        _, turn, calls = self._toolwire
        parts = [
            (calls[at].part(turn, part) if at in calls else part) if isinstance(part, ToolCallPart) else part
            for at, part in enumerate(response.parts)
        ]
        return replace(response, parts=parts)

    async def _events(self, events: AsyncIterator[Any]) -> AsyncIterator[ModelResponseStreamEvent]:
        _, turn, calls = self._toolwire
        async for event in events:
            index = getattr(event, "index", None)
            if isinstance(event, PartStartEvent) and isinstance(event.part, ToolCallPart):
                calls[event.index] = call = _Call(turn.call_stream(event.part.tool_name))
                call.feed(event.part.args)
                yield replace(event, part=call.part(turn, event.part))
            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, ToolCallPartDelta) and index in calls:
                if piece := calls[event.index].feed(event.delta.args_delta):
                    yield replace(event, delta=replace(event.delta, tool_name_delta=None, args_delta=piece))
            elif isinstance(event, PartEndEvent) and index in calls:
                calls[event.index].end = event
                # The next call may begin before the last piece of this one.
                if arguments_of(getattr(event.part, "args", None)) is not None:
                    for one in self._ended(event.index):
                        yield one
            elif isinstance(event, FinalResultEvent) and event.tool_name is not None:
                yield replace(event, tool_name=turn.own_name(event.tool_name))
            else:
                yield event
        for index in [at for at, call in calls.items() if call.whole is None]:
            for one in self._ended(index):
                yield one

    def _ended(self, index: int) -> list[ModelResponseStreamEvent]:
        """Restore a call that is whole, and return the events that are left of it."""
        toolwire, turn, calls = self._toolwire
        call, part = calls[index], super().get().parts[index]
        assert isinstance(part, ToolCallPart)
        call.whole = toolwire.restored(turn, part)
        args = call.whole.args
        rest = args[len(call.text) :] if isinstance(args, str) else args
        events: list[Any] = []
        if rest:
            delta = ToolCallPartDelta(args_delta=rest, tool_call_id=part.tool_call_id)
            events.append(PartDeltaEvent(index=index, delta=delta))
        if call.end is not None:
            events.append(replace(call.end, part=call.whole))
        return events


class _Call:
    """A call whose arguments are coming."""

    def __init__(self, stream: CallStream) -> None:
        self._stream = stream
        self.text = ""
        self.end: PartEndEvent | None = None
        self.whole: ToolCallPart | None = None

    def feed(self, args: Any) -> str:
        """Take a piece of the arguments, and return what is passed on. A value is held back until the call ends."""
        piece = self._stream.feed(args) if isinstance(args, str) else ""
        self.text += piece
        return piece

    def part(self, turn: Turn, part: ToolCallPart) -> ToolCallPart:
        """Return the call as far as it was passed on."""
        if self.whole is not None:
            return self.whole
        return replace(part, tool_name=turn.own_name(part.tool_name), args=self.text or None)


def _function(tool: ToolDefinition) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters_json_schema}
    return {key: value for key, value in {**function, "strict": tool.strict}.items() if value is not None}


def _adapted(
    turn: Turn, messages: list[ModelMessage], settings: ModelSettings | None, parameters: ModelRequestParameters
) -> tuple[list[ModelMessage], ModelSettings | None, ModelRequestParameters]:
    """Return what is sent."""
    choice: Any = (settings or {}).get("tool_choice")
    if settings is not None and isinstance(choice, list):
        settings = {**settings, "tool_choice": [turn.sent_name(name) for name in choice]}
    elif settings is not None and isinstance(choice, ToolOrOutput):
        names = [turn.sent_name(name) for name in choice.function_tools]
        settings = {**settings, "tool_choice": ToolOrOutput(names)}
    adapted = replace(
        parameters,
        function_tools=_tools(turn, parameters.function_tools),
        output_tools=_tools(turn, parameters.output_tools),
        revealed_tool_names={turn.sent_name(name) for name in parameters.revealed_tool_names},
        introduced_tool_names={turn.sent_name(name) for name in parameters.introduced_tool_names},
    )
    return [_renamed(turn, one) for one in messages], settings, adapted


def _tools(turn: Turn, tools: list[ToolDefinition]) -> list[ToolDefinition]:
    found = [(tool, turn.sent_tool(tool.name)) for tool in tools]
    return [
        replace(
            tool,
            name=sent["name"],
            description=sent.get("description"),
            parameters_json_schema=sent["parameters"],
            # Nothing else may make a tool strict: that is another dialect.
            strict=sent.get("strict", False),
        )
        for tool, sent in found
        if sent is not None
    ]


def _renamed(turn: Turn, message: ModelMessage) -> ModelMessage:
    """Return a message of the history with the names that are sent."""

    def named(part: Any) -> Any:
        is_named = isinstance(part, ToolCallPart | ToolReturnPart | RetryPromptPart) and part.tool_name is not None
        return replace(part, tool_name=turn.sent_name(part.tool_name)) if is_named else part

    parts: Any = [named(part) for part in message.parts]
    return replace(message, parts=parts)
