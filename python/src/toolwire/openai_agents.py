"""A model for OpenAI's Agents SDK: `pip install toolwire[openai-agents]`.

Tools are sent in a dialect, and calls are restored to the names and arguments that the tools expect:

    Agent(name="files", tools=[…], model=ToolwireModel(model, dialect="moonshot", repair=True))
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

try:
    from agents import Handoff, ModelResponse, ToolGuardrailFunctionOutput, ToolInputGuardrail
    from agents.models.interface import Model
    from agents.tool import FunctionTool
    from openai.types.responses import ResponseFunctionToolCall, ResponseStreamEvent
except ImportError as missing:
    message = (
        f"expected the package openai-agents 0.24 or later: run `pip install 'toolwire[openai-agents]'` ({missing})"
    )
    raise ImportError(message) from missing

from ._framework import Adapter, is_cut

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from agents import ToolInputGuardrailData
    from typing_extensions import Unpack

    from ._argument_results import RepairedCall
    from ._framework import Turn
    from .types import FrameworkOptions

__all__ = ["ToolwireModel"]

_EVENTS = {
    name: event
    for event in get_args(get_args(ResponseStreamEvent)[0])
    for name in get_args(event.model_fields["type"].annotation)
}
"""The classes of events, by their `type`."""


class ToolwireModel(Model):
    """A model that sends an agent's tools and handoffs in a dialect, and restores the calls.

    Add `guardrail` to the `tool_input_guardrails` of function tools: then a call that could not be repaired (`repair`)
    does not run, and its result is the `retry_message`. Tools that the provider runs itself pass unchanged.
    """

    def __init__(self, model: Model, **options: Unpack[FrameworkOptions]) -> None:
        """Wrap another model. The options are those of `sanitize_tools`, `on_report` and `on_repair`.

        Raises `ToolwireError`: `unknown-option`, `invalid-option`, `unknown-dialect`.
        """
        self._model = model
        self._adapter = Adapter(options)
        self.guardrail: ToolInputGuardrail[Any] = ToolInputGuardrail(self._check_call, name="toolwire")
        """Refuses calls that could not be repaired."""

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        """Adapt the request, and restore the calls of the response."""
        turn, sent = self._adapt(*args, **kwargs)
        response = await self._model.get_response(**sent)
        output = [
            self._restore(turn, item) if isinstance(item, ResponseFunctionToolCall) else item
            for item in response.output
        ]
        return replace(response, output=output)

    async def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Adapt the request, and restore the calls of the stream."""
        turn, sent = self._adapt(*args, **kwargs)
        stream = turn.stream()
        streamed_calls = _StreamedCalls(turn, self._adapter)
        async for event in self._model.stream_response(**sent):
            # Unset members are excluded, because servers omit members that the classes require.
            event_json = event.model_dump(mode="json", exclude_unset=True, warnings=False)
            restored = stream.feed(event_json)
            streamed_calls.add(stream.take_repaired_calls())
            for restored_event in restored:
                streamed_calls.refuse_invalid(restored_event)
                yield event if restored_event == event_json else _to_event(restored_event, event)
        restored = stream.finish()
        streamed_calls.add(stream.take_repaired_calls())
        for restored_event in restored:
            streamed_calls.refuse_invalid(restored_event)
            yield _to_event(restored_event)

    async def close(self) -> None:
        """Close the wrapped model."""
        await self._model.close()

    def get_retry_advice(self, request: Any) -> Any:
        """Return the advice of the wrapped model."""
        return self._model.get_retry_advice(request)

    def _check_call(self, data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        call = data.context
        text = self._adapter.refusals.get(call.tool_call_id, call.tool_name, call.tool_arguments)
        if text is not None:
            return ToolGuardrailFunctionOutput.reject_content(text)
        return ToolGuardrailFunctionOutput.allow()

    def _restore(self, turn: Turn, call: Any) -> Any:
        if not isinstance(call, ResponseFunctionToolCall):
            return call
        restored = turn.call(call.call_id, call.name, call.arguments, is_cut=is_cut(call.status))
        return call.model_copy(update={"name": restored.name, "arguments": restored.arguments})

    def _adapt(
        self,
        system_instructions: Any,
        input: Any,  # noqa: A002 - the SDK's name
        model_settings: Any,
        tools: list[Any],
        output_schema: Any,
        handoffs: list[Handoff[Any, Any]],
        tracing: Any,
        **more: Any,
    ) -> tuple[Turn, dict[str, Any]]:
        functions = [_function(tool) for tool in (*tools, *handoffs)]
        hosted = [
            getattr(tool, "name", None) for tool, function in zip(tools, functions, strict=False) if function is None
        ]
        items = input if isinstance(input, list) else []
        past_calls = [(item["name"], item.get("arguments") or "") for item in items if _is_call(item)]
        model = str(getattr(self._model, "model", ""))
        turn = self._adapter.turn(
            functions, hosted=hosted, choice=model_settings.tool_choice, called=past_calls, model=model
        )
        if items:
            input = [_sent_call(turn, item) if _is_call(item) else item for item in items]  # noqa: A001
        if (choice := turn.sent_choice(model_settings.tool_choice)) is not model_settings.tool_choice:
            model_settings = replace(model_settings, tool_choice=choice)
        sent = {
            "system_instructions": system_instructions,
            "input": input,
            "model_settings": model_settings,
            "tools": turn.sent_list(tools, _sent_tool),
            "output_schema": output_schema,
            "handoffs": turn.sent_list(handoffs, _sent_tool, len(tools)),
            "tracing": tracing,
        }
        return turn, {**sent, **more}


class _StreamedCalls:
    """The validated calls of a stream, kept until events contain their arguments."""

    def __init__(self, turn: Turn, adapter: Adapter) -> None:
        self._turn = turn
        self._adapter = adapter
        self._calls: list[RepairedCall] = []
        self._items: list[Any] = []

    def add(self, calls: list[RepairedCall]) -> None:
        """Add calls whose arguments are complete."""
        self._calls += self._turn.report_calls(calls)

    def refuse_invalid(self, event: Any) -> None:
        """Read a restored event, and refuse the calls in it that could not be repaired."""
        if event.get("type") == "response.output_item.done":
            self._items.append(event.get("item"))
            items = self._items
        else:
            # The last event repeats all items. Some servers send no other events with items.
            items = (event.get("response") or {}).get("output") or []
        calls = list(self._calls)
        for item in filter(_is_call, items):
            id_and_name = (item.get("call_id"), item.get("name"))
            repaired = next((call for call in calls if (call.id, call.name) == id_and_name), None)
            if repaired is not None:
                # Each call is used only once, because another call may have the same id.
                calls = [call for call in calls if call is not repaired]
                self._adapter.refusals.record(*id_and_name, item.get("arguments"), repaired.retry_message)


def _to_event(event: dict[str, Any], sent: Any = None) -> Any:
    """Return a restored event as an object of the SDK."""
    is_same = sent is not None and sent.type == event["type"]
    return (type(sent) if is_same else _EVENTS[event["type"]]).construct(**event)


def _is_call(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") == "function_call"


def _sent_call(turn: Turn, item: dict[str, Any]) -> dict[str, Any]:
    """Return a call of the history with the name and arguments that are sent."""
    return {**item, "name": turn.sent_name(item["name"]), "arguments": turn.sent_arguments(item.get("arguments") or "")}


def _function(tool: Any) -> dict[str, Any] | None:
    """Return a tool or a handoff as a function of Chat Completions; `None` if the provider runs it."""
    if isinstance(tool, FunctionTool):
        name, description, schema = tool.name, tool.description, tool.params_json_schema
    elif isinstance(tool, Handoff):
        name, description, schema = tool.tool_name, tool.tool_description, tool.input_json_schema
    else:
        return None
    function = {"name": name, "description": description, "parameters": schema, "strict": tool.strict_json_schema}
    return {"type": "function", "function": function}


def _sent_tool(tool: Any, sent: dict[str, Any]) -> Any:
    """Return a tool or a handoff in the form that is sent."""
    # `replace` is not used, because it would make the schema strict again.
    adapted = copy(tool)
    if isinstance(adapted, FunctionTool):
        adapted.name, adapted.params_json_schema = sent["name"], sent["parameters"]
        adapted.description = sent.get("description", "")
    else:
        adapted.tool_name, adapted.input_json_schema = sent["name"], sent["parameters"]
        adapted.tool_description = sent.get("description", "")
    adapted.strict_json_schema = sent.get("strict", False)
    return adapted
