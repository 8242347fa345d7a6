"""A model for OpenAI's Agents SDK: `pip install toolwire[openai-agents]`.

Tools are sent in a dialect, calls come back with the names and arguments that the tools expect:

    Agent(name="files", tools=[…], model=ToolwireModel(model, dialect="moonshot", repair=True))
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

try:
    from agents import Handoff, ModelResponse, ToolGuardrailFunctionOutput, ToolInputGuardrail
    from agents.models.interface import Model
    from agents.tool import FunctionTool
    from openai.types.responses import ResponseFunctionToolCall, ResponseStreamEvent
    from pydantic import TypeAdapter
except ImportError as missing:
    message = (
        f"expected the package openai-agents 0.24 or later: run `pip install 'toolwire[openai-agents]'` ({missing})"
    )
    raise ImportError(message) from missing

from ._framework import Refusals, Turn, checked

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from agents import ToolInputGuardrailData
    from typing_extensions import Unpack

    from .types import FrameworkOptions

__all__ = ["ToolwireModel"]

_EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


class ToolwireModel(Model):
    """A model that gets an agent's tools and handoffs in a dialect, and whose calls are restored.

    `guardrail` is for `tool_input_guardrails` of function tools: a call that could not be repaired (`repair`) does not
    run, and its result is the `retry_message`. Tools that the provider runs itself pass as they are.
    """

    def __init__(self, model: Model, **options: Unpack[FrameworkOptions]) -> None:
        """Stand before another model. Takes the options of `sanitize_tools`, and `on_report` and `on_repair`.

        Raises `ToolwireError`: `unknown-option`, `invalid-option`, `unknown-dialect`.
        """
        self._model = model
        self._options = checked(options)
        self._refusals = Refusals()
        self.guardrail: ToolInputGuardrail[Any] = ToolInputGuardrail(self._judged, name="toolwire")
        """Refuses calls that could not be repaired."""

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        """Adapt the request, and restore the calls of the response."""
        turn, sent = self._adapted(*args, **kwargs)
        response = await self._model.get_response(**sent)
        output = [
            self._restored(turn, one) if isinstance(one, ResponseFunctionToolCall) else one for one in response.output
        ]
        return replace(response, output=output)

    async def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Adapt the request, and restore the calls of the stream."""
        turn, sent = self._adapted(*args, **kwargs)
        stream = turn.stream()
        async for event in self._model.stream_response(**sent):
            given = event.model_dump(mode="json", exclude_unset=True)
            restored = stream.feed(given)
            for call in turn.report_calls(stream.take_repaired_calls()):
                self._refusals.keep(call.id, call.retry_message)
            for one in restored:
                yield event if one == given else _EVENT.validate_python(one)
        for one in stream.finish():
            yield _EVENT.validate_python(one)

    async def close(self) -> None:
        """Close the other model."""
        await self._model.close()

    def get_retry_advice(self, request: Any) -> Any:
        """Return the advice of the other model."""
        return self._model.get_retry_advice(request)

    def _judged(self, data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        text = self._refusals.get(data.context.tool_call_id)
        if text is not None:
            return ToolGuardrailFunctionOutput.reject_content(text)
        return ToolGuardrailFunctionOutput.allow()

    def _restored(self, turn: Turn, call: Any) -> Any:
        if not isinstance(call, ResponseFunctionToolCall):
            return call
        found = turn.call(call.call_id, call.name, call.arguments)
        self._refusals.keep(call.call_id, found.retry_message)
        return call.model_copy(update={"name": found.name, "arguments": found.arguments})

    def _adapted(
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
        given = [function for one in (*tools, *handoffs) if (function := _function(one)) is not None]
        names = {function["name"] for function in given}
        choice = model_settings.tool_choice
        chosen = choice if given and (choice in names or choice in ("auto", "none", "required")) else None
        items = input if isinstance(input, list) else []
        called = [item["name"] for item in items if _is_call(item)]
        model = str(getattr(self._model, "model", ""))
        turn = Turn(given, self._options, called=called, choice=chosen, model=model)
        if items:
            input = [{**one, "name": turn.sent_name(one["name"])} if _is_call(one) else one for one in items]  # noqa: A001
        if chosen is not None:
            model_settings = replace(model_settings, tool_choice=turn.choice)
        sent = {
            "system_instructions": system_instructions,
            "input": input,
            "model_settings": model_settings,
            "tools": [sent for one in tools if (sent := _sent(turn, one)) is not None],
            "output_schema": output_schema,
            "handoffs": [sent for one in handoffs if (sent := _sent(turn, one)) is not None],
            "tracing": tracing,
        }
        return turn, {**sent, **more}


def _is_call(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") == "function_call"


def _function(tool: Any) -> dict[str, Any] | None:
    """Return a tool or a handoff as a function of Chat Completions; `None` if the provider runs it."""
    if isinstance(tool, FunctionTool):
        name, description, schema = tool.name, tool.description, tool.params_json_schema
    elif isinstance(tool, Handoff):
        name, description, schema = tool.tool_name, tool.tool_description, tool.input_json_schema
    else:
        return None
    return {"name": name, "description": description, "parameters": schema, "strict": tool.strict_json_schema}


def _sent(turn: Turn, tool: Any) -> Any:
    """Return a tool or a handoff as it is sent; `None` if it was set aside."""
    function = _function(tool)
    if function is None:
        return tool
    sent = turn.sent_tool(function["name"])
    if sent is None:
        return None
    # A copy, not `replace`: that would make the schema strict once more.
    adapted = copy(tool)
    if isinstance(adapted, FunctionTool):
        adapted.name, adapted.params_json_schema = sent["name"], sent["parameters"]
        adapted.description = sent.get("description", "")
    else:
        adapted.tool_name, adapted.input_json_schema = sent["name"], sent["parameters"]
        adapted.tool_description = sent.get("description", "")
    adapted.strict_json_schema = sent.get("strict", False)
    return adapted
