"""A capability for pydantic-ai's agents: `pip install toolwire[pydantic-ai]`.

Tools are sent in a dialect, and calls are restored to the names and arguments that the tools expect:

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
        ToolAvailabilityDeltaPart,
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

from ._error import ToolwireError
from ._framework import Adapter, arguments_of, is_cut

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from pydantic_ai import RunContext
    from pydantic_ai.messages import ModelMessage, ModelResponseStreamEvent
    from pydantic_ai.models import Model, ModelRequestContext, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.usage import RequestUsage
    from typing_extensions import Unpack

    from ._framework import Turn
    from ._restore import CallStream
    from .types import FrameworkOptions

__all__ = ["Toolwire"]


class Toolwire(AbstractCapability[Any]):
    """Sends an agent's tools in a dialect and restores the calls.

    A call that could not be repaired (`repair`) raises `ModelRetry` with the `retry_message`, which tells the model
    what was expected. Tools that the provider runs itself pass unchanged.
    """

    def __init__(self, **options: Unpack[FrameworkOptions]) -> None:
        """Accept the options of `sanitize_tools`, `on_report` and `on_repair`.

        Raises `ToolwireError`: `unknown-option`, `invalid-option`, `unknown-dialect`.
        """
        self._adapter = Adapter(options)

    def get_wrapper_model(self, model: Model) -> Model:
        """Wrap the model in one that adapts its requests."""
        return _AdaptingModel(model, self)

    async def before_tool_validate(
        self,
        ctx: RunContext[Any],  # noqa: ARG002
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,  # noqa: ARG002
        args: Any,
    ) -> Any:
        """Refuse a call that could not be repaired."""
        text = self._adapter.refusals.get(call.tool_call_id, call.tool_name, call.args)
        if text is not None:
            raise ModelRetry(text)
        return args

    def turn(
        self,
        model: Model,
        messages: list[ModelMessage],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> Turn:
        """Adapt the tools of a request."""
        tools = [_function(tool) for tool in (*parameters.function_tools, *parameters.output_tools)]
        hosted = [tool.kind for tool in parameters.native_tools]
        called = [
            (part.tool_name, part.args)
            for message in messages
            for part in message.parts
            if isinstance(part, ToolCallPart)
        ]
        choice: Any = (settings or {}).get("tool_choice")
        # The core does not support a choice among several tools.
        if isinstance(choice, list):
            choice = choice[0] if len(choice) == 1 else None
        return self._adapter.turn(tools, hosted=hosted, choice=choice, called=called, model=model.model_name)

    def restore_part(self, turn: Turn, part: ToolCallPart, *, cut: bool) -> ToolCallPart:
        """Restore a call with its final arguments. If `cut` is true, the reply may have ended within them."""
        args = part.args if part.args is not None else ""
        call = turn.call(part.tool_call_id, part.tool_name, args, is_cut=cut)
        return replace(part, tool_name=call.name, args=part.args if part.args is None else call.arguments)


class _AdaptingModel(WrapperModel):
    """A model that adapts the tools of requests, and restores the calls of replies."""

    def __init__(self, wrapped: Model, toolwire: Toolwire) -> None:
        super().__init__(wrapped)
        self._toolwire = toolwire

    async def request(
        self, messages: list[ModelMessage], settings: ModelSettings | None, parameters: ModelRequestParameters
    ) -> ModelResponse:
        turn, adapted = self._adapt(messages, settings, parameters)
        return self._restore_response(turn, await self.wrapped.request(*adapted))

    async def count_tokens(
        self, messages: list[ModelMessage], settings: ModelSettings | None, parameters: ModelRequestParameters
    ) -> RequestUsage:
        _, adapted = self._adapt(messages, settings, parameters)
        return await self.wrapped.count_tokens(*adapted)

    async def compact_messages(
        self, request_context: ModelRequestContext, *, instructions: str | None = None
    ) -> ModelResponse:
        turn, adapted = self._adapt(
            request_context.messages, request_context.model_settings, request_context.model_request_parameters
        )
        messages, settings, parameters = adapted
        sent = replace(request_context, messages=messages, model_settings=settings, model_request_parameters=parameters)
        return self._restore_response(turn, await self.wrapped.compact_messages(sent, instructions=instructions))

    def _adapt(
        self, messages: list[ModelMessage], settings: ModelSettings | None, parameters: ModelRequestParameters
    ) -> tuple[Turn, tuple[list[ModelMessage], ModelSettings | None, ModelRequestParameters]]:
        turn = self._toolwire.turn(self.wrapped, messages, settings, parameters)
        return turn, _adapt_parameters(turn, messages, settings, parameters)

    def _restore_response(self, turn: Turn, response: ModelResponse) -> ModelResponse:
        cut = is_cut(response.finish_reason)
        parts = [
            self._toolwire.restore_part(turn, part, cut=cut) if isinstance(part, ToolCallPart) else part
            for part in response.parts
        ]
        return replace(response, parts=parts)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        turn, adapted = self._adapt(messages, settings, parameters)
        async with self.wrapped.request_stream(*adapted, run_context) as stream:
            # The agent reads and sets the state of this object, so the class of the object is replaced, not the object.
            stream.__class__ = type("RestoringStream", (_RestoringStream, type(stream)), {})
            stream._toolwire = (self._toolwire, turn, {})  # type: ignore[attr-defined]
            yield stream


class _RestoringStream(StreamedResponse):
    """Restores the calls of a stream: a mixin for the class of the model's own stream."""

    _toolwire: tuple[Toolwire, Turn, dict[int, _StreamedCall]]

    def __aiter__(self) -> AsyncIterator[ModelResponseStreamEvent]:
        if "_restored" not in self.__dict__:
            self._restored = self._restore_events(super().__aiter__())
        return self._restored

    def get(self) -> ModelResponse:
        response = super().get()
        _, turn, calls = self._toolwire
        parts = [
            (calls[at].part(turn, part) if at in calls else part) if isinstance(part, ToolCallPart) else part
            for at, part in enumerate(response.parts)
        ]
        return replace(response, parts=parts)

    async def _restore_events(self, events: AsyncIterator[Any]) -> AsyncIterator[ModelResponseStreamEvent]:
        _, turn, calls = self._toolwire
        async for event in events:
            index = getattr(event, "index", None)
            if isinstance(event, PartStartEvent) and isinstance(event.part, ToolCallPart):
                calls[event.index] = call = _StreamedCall(turn.call_stream(event.part.tool_name))
                call.feed(event.part.args)
                yield replace(event, part=call.part(turn, event.part))
            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, ToolCallPartDelta) and index in calls:
                if piece := calls[event.index].feed(event.delta.args_delta):
                    yield replace(event, delta=replace(event.delta, tool_name_delta=None, args_delta=piece))
            elif isinstance(event, PartEndEvent) and index in calls:
                calls[event.index].end = event
                # The next call may begin before the last piece of this one.
                if arguments_of(getattr(event.part, "args", None)) is not None:
                    for rest in self._end_call(event.index):
                        yield rest
            elif isinstance(event, FinalResultEvent) and event.tool_name is not None:
                yield replace(event, tool_name=turn.own_name(event.tool_name))
            else:
                yield event
        for index in [at for at, call in calls.items() if call.restored_part is None]:
            for event in self._end_call(index):
                yield event

    def _end_call(self, index: int) -> list[ModelResponseStreamEvent]:
        """Restore a complete call, and return its remaining events."""
        toolwire, turn, calls = self._toolwire
        call, part = calls[index], super().get().parts[index]
        assert isinstance(part, ToolCallPart)
        is_blank = isinstance(part.args, str | None) and not (part.args or "").strip()
        call.restored_part = toolwire.restore_part(turn, part, cut=not is_blank or is_cut(self.finish_reason))
        args = call.restored_part.args
        rest = args[len(call.text) :] if isinstance(args, str) else args
        events: list[Any] = []
        if rest:
            delta = ToolCallPartDelta(args_delta=rest, tool_call_id=part.tool_call_id)
            events.append(PartDeltaEvent(index=index, delta=delta))
        if call.end is not None:
            events.append(replace(call.end, part=call.restored_part))
        return events


class _StreamedCall:
    """A call whose arguments are still arriving."""

    def __init__(self, stream: CallStream) -> None:
        self._stream = stream
        self.text = ""
        self.end: PartEndEvent | None = None
        self.restored_part: ToolCallPart | None = None

    def feed(self, args: Any) -> str:
        """Read a piece of the arguments, and return the text to pass on. A value is held back until the call ends."""
        piece = self._stream.feed(args) if isinstance(args, str) else ""
        self.text += piece
        return piece

    def part(self, turn: Turn, part: ToolCallPart) -> ToolCallPart:
        """Return the call, with the arguments that were passed on so far."""
        if self.restored_part is not None:
            return self.restored_part
        return replace(part, tool_name=turn.own_name(part.tool_name), args=self.text or None)


def _function(tool: ToolDefinition) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters_json_schema}
    function_with_strict = {
        key: value for key, value in {**function, "strict": tool.strict}.items() if value is not None
    }
    return {"type": "function", "function": function_with_strict}


def _adapt_parameters(
    turn: Turn, messages: list[ModelMessage], settings: ModelSettings | None, parameters: ModelRequestParameters
) -> tuple[list[ModelMessage], ModelSettings | None, ModelRequestParameters]:
    """Return the messages, settings and parameters to send."""
    functions, outputs = parameters.function_tools, parameters.output_tools
    adapted = replace(
        parameters,
        function_tools=turn.sent_list(functions, _sent_tool),
        output_tools=turn.sent_list(outputs, _sent_tool, len(functions)),
        revealed_tool_names={turn.sent_name(name) for name in parameters.revealed_tool_names},
        introduced_tool_names={turn.sent_name(name) for name in parameters.introduced_tool_names},
    )
    choice: Any = (settings or {}).get("tool_choice")
    if settings is not None and isinstance(choice, list | ToolOrOutput):
        chosen = choice if isinstance(choice, list) else choice.function_tools
        sent = {tool.name for tool in (*adapted.function_tools, *adapted.output_tools)}
        set_aside = {tool.name for tool in (*functions, *outputs) if turn.sent_name(tool.name) not in sent}
        names = [turn.sent_name(name) for name in chosen if name not in set_aside]
        if not names and isinstance(choice, list) and choice:
            message = f"expected a tool that can be sent, found `{choice[0]}`, which was set aside"
            raise ToolwireError("invalid-request", "/tool_choice", message)
        settings = {**settings, "tool_choice": names if isinstance(choice, list) else ToolOrOutput(names)}
    return [_with_sent_names(turn, message) for message in messages], settings, adapted


def _sent_tool(tool: ToolDefinition, sent: dict[str, Any]) -> ToolDefinition:
    return replace(
        tool,
        name=sent["name"],
        description=sent.get("description"),
        parameters_json_schema=sent["parameters"],
        # pydantic-ai must not make a tool strict, because that would be another dialect.
        strict=sent.get("strict", False),
    )


def _with_sent_names(turn: Turn, message: ModelMessage) -> ModelMessage:
    """Return a message of the history with the names and arguments that are sent."""

    def renamed(part: Any) -> Any:
        if isinstance(part, ToolAvailabilityDeltaPart):
            return replace(part, tools_added=[turn.sent_name(name) for name in part.tools_added])
        if isinstance(part, ToolCallPart):
            args = part.args if part.args is None else turn.sent_arguments(part.args)
            return replace(part, tool_name=turn.sent_name(part.tool_name), args=args)
        is_named = isinstance(part, ToolReturnPart | RetryPromptPart) and part.tool_name is not None
        return replace(part, tool_name=turn.sent_name(part.tool_name)) if is_named else part

    parts: Any = [renamed(part) for part in message.parts]
    return replace(message, parts=parts)
