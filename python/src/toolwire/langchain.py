"""A middleware for LangChain's agents: `pip install toolwire[langchain]`.

Tools are sent in a dialect, and calls are restored to the names and arguments that the tools expect:

    create_agent(model, tools, middleware=[ToolwireMiddleware(dialect="moonshot", repair=True)])
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

try:
    from langchain.agents.middleware import AgentMiddleware, ModelResponse
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.utils.function_calling import convert_to_openai_tool
except ImportError as missing:
    message = f"expected the package langchain 1.0 or later: run `pip install 'toolwire[langchain]'` ({missing})"
    raise ImportError(message) from missing

from ._framework import Adapter, arguments_of, is_cut, matches_schema

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware import ModelRequest
    from langchain.agents.middleware.types import ToolCallRequest
    from langchain_core.messages import AnyMessage, BaseMessage
    from langgraph.types import Command
    from typing_extensions import Unpack

    from ._framework import Turn
    from .types import FrameworkOptions

__all__ = ["ToolwireMiddleware"]


_REASON_MEMBERS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")
"""Members in which providers' packages report why a reply ended."""

_UNREAD_MESSAGE = (
    "The call to `{}` was not run: expected its arguments as JSON, found text that is not JSON or is truncated."
    " Call it again with complete arguments."
)
"""Error for a call that may have been cut off, if calls are not repaired."""


class ToolwireMiddleware(AgentMiddleware):
    """Sends an agent's tools in a dialect and restores the calls.

    A call that could not be repaired (`repair`) does not run: its result is the `retry_message`, which tells the model
    what was expected. Tools that the provider runs itself pass unchanged.
    """

    def __init__(self, **options: Unpack[FrameworkOptions]) -> None:
        """Accept the options of `sanitize_tools`, `on_report` and `on_repair`.

        Raises `ToolwireError`: `unknown-option`, `invalid-option`, `unknown-dialect`.
        """
        super().__init__()
        self._adapter = Adapter(options)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Adapt the request, and restore the calls of the response."""
        turn, adapted = self._adapt(request)
        return self._restore_response(turn, handler(adapted))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Adapt the request, and restore the calls of the response."""
        turn, adapted = self._adapt(request)
        return self._restore_response(turn, await handler(adapted))

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """Run a call, unless it could not be repaired."""
        return self._refusal(request) or handler(request)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        """Run a call, unless it could not be repaired."""
        return self._refusal(request) or await handler(request)

    def _refusal(self, request: ToolCallRequest) -> ToolMessage | None:
        call = request.tool_call
        text = self._adapter.refusals.get(call["id"], call["name"], call["args"])
        if text is None:
            return None
        return ToolMessage(text, tool_call_id=call["id"] or "", name=call["name"], status="error")

    def _adapt(self, request: ModelRequest[Any]) -> tuple[Turn, ModelRequest[Any]]:
        core_tools = [_core_tool(tool) for tool in request.tools]
        hosted = [_name(tool) for tool, function in zip(request.tools, core_tools, strict=True) if function is None]
        messages = [message for message in request.messages if isinstance(message, AIMessage)]
        past_calls = [(call["name"] or "", call["args"]) for message in messages for call in _calls(message)]
        # `name` is only the model's name in traces, so it comes last.
        model_names = (getattr(request.model, name, None) for name in ("model_name", "model", "name"))
        model = next((str(name) for name in model_names if name), "")
        turn = self._adapter.turn(core_tools, hosted=hosted, choice=request.tool_choice, called=past_calls, model=model)
        changed: dict[str, Any] = {
            "tools": turn.sent_list(request.tools, _sent_tool),
            "messages": [_with_sent_names(message, turn) for message in request.messages],
            "tool_choice": turn.sent_choice(request.tool_choice),
        }
        return turn, request.override(**changed)

    def _restore_response(self, turn: Turn, response: ModelResponse[Any]) -> ModelResponse[Any]:
        if isinstance(response, AIMessage):  # a short form that other middleware may return
            return ModelResponse(result=[self._restore_message(turn, response)])
        result = [
            self._restore_message(turn, message) if isinstance(message, AIMessage) else message
            for message in response.result
        ]
        return ModelResponse(result=result, structured_response=response.structured_response)

    def _restore_message(self, turn: Turn, message: AIMessage) -> AIMessage:
        may_be_cut = any(is_cut(message.response_metadata.get(member)) for member in _REASON_MEMBERS)
        # In a stream, LangChain silently completes truncated text, so the last call may be incomplete.
        last: Any = message.tool_calls[-1] if may_be_cut and message.tool_calls else None

        def restored_call(call: Any) -> Any:
            call_id, name = call["id"], call["name"] or ""
            if call is last:
                return refused(call_id, name, call["args"])
            restored = turn.call(call_id, name, call["args"], is_cut=may_be_cut)
            args = arguments_of(restored.arguments)
            # An invalid call would end the agent. As a refused call, its result reports the error to the model.
            if args is None and restored.retry_message is None:
                return {**call, "type": "invalid_tool_call", "name": restored.name}
            if args is None:
                self._adapter.refusals.record(call["id"], restored.name, {}, restored.retry_message)
            return {"type": "tool_call", "id": call["id"], "name": restored.name, "args": args or {}}

        def refused(call_id: str | None, name: str, arguments: Any) -> Any:
            restored = turn.call(call_id, name, json.dumps(arguments, default=repr)[:-1], is_cut=True)
            # The arguments are restored like complete ones, so that the model reads what it wrote.
            complete, _ = turn.restore_call(call_id, name, arguments)
            args = arguments_of(complete.arguments) or {}
            self._adapter.refusals.record(
                call_id, restored.name, args, restored.retry_message or _UNREAD_MESSAGE.format(restored.name)
            )
            return {"type": "tool_call", "id": call_id, "name": restored.name, "args": args}

        return _with_changed_calls(message, restored_call)


def _core_tool(tool: Any) -> dict[str, Any] | None:
    """Return a tool in the core's format; `None` if the provider runs it, or if it is not a function."""
    if isinstance(tool, dict) and ("input_schema" in tool or tool.get("type") == "function"):
        return tool
    # LangChain treats any other dict as a function only if it has one of these members and no `type`.
    if isinstance(tool, dict) and ("type" in tool or not tool.keys() & {"name", "title", "function"}):
        return None
    schema = getattr(tool, "tool_call_schema", None)
    if isinstance(schema, dict) and (getattr(tool, "metadata", None) or {}).get("type") != "custom_tool":
        # The schema is passed on unchanged, because LangChain's own conversion fails for a property named `$ref`.
        function = {"name": tool.name, "description": tool.description, "parameters": schema}
        return {"type": "function", "function": function}
    converted: dict[str, Any] = convert_to_openai_tool(tool)
    return converted if "function" in converted else None


def _name(tool: Any) -> str | None:
    return tool.get("name") if isinstance(tool, dict) else getattr(tool, "name", None)


def _sent_tool(tool: Any, sent: dict[str, Any]) -> Any:
    """Return a tool to send, in its original format."""
    if isinstance(tool, dict):
        kept = {
            name: value
            for name, value in _with_fitting_examples(tool, sent).items()
            if name not in ("description", "strict")
        }
        if "input_schema" in tool:
            own = {name: value for name, value in sent.items() if name != "parameters"}
            return {**kept, **own, "input_schema": sent["parameters"]}
        if tool.get("type") == "function" and "function" not in tool:
            return {**kept, **sent}
        return {**(tool if "function" in tool else {"type": "function"}), "function": sent}
    if getattr(tool, "extras", None):
        # Only LangChain's own tools have `extras`, which providers' packages read.
        update = {"name": sent["name"], "description": sent.get("description", ""), "args_schema": sent["parameters"]}
        return tool.model_copy(update={**update, "extras": _with_fitting_examples(tool.extras, sent)})
    return {"type": "function", "function": sent}


def _with_fitting_examples(members: dict[str, Any], sent: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a tool, with only those examples that the sent schema accepts."""
    examples_found = members.get("input_examples")
    examples = (
        [example for example in examples_found if matches_schema(example, sent["parameters"])]
        if isinstance(examples_found, list)
        else []
    )
    other_members = {name: value for name, value in members.items() if name != "input_examples"}
    return {**other_members, "input_examples": examples} if examples else other_members


def _with_sent_names(message: AnyMessage, turn: Turn) -> BaseMessage:
    """Return a message of the history with the names and arguments that are sent."""
    if isinstance(message, AIMessage) and _calls(message):

        def sent(call: Any) -> Any:
            return {**call, "name": turn.sent_name(call["name"] or ""), "args": turn.sent_arguments(call["args"])}

        return _with_changed_calls(message, sent)
    if isinstance(message, ToolMessage) and message.name is not None:
        return message.model_copy(update={"name": turn.sent_name(message.name)})
    return message


def _calls(message: AIMessage) -> list[Any]:
    """Return the calls of a message, including those that LangChain could not parse."""
    return [*message.tool_calls, *message.invalid_tool_calls]


def _with_changed_calls(message: AIMessage, change: Callable[[Any], Any]) -> AIMessage:
    """Return a message with changed calls, including those that its content repeats (`output_version="v1"`)."""
    calls = _calls(message)
    changed = [change(call) for call in calls]
    remaining = list(zip(calls, changed, strict=True))

    def block(content_block: Any) -> Any:
        if not isinstance(content_block, dict) or content_block.get("type") not in ("tool_call", "invalid_tool_call"):
            return content_block
        for at, (call, changed_call) in enumerate(remaining):
            if (call["id"], call["name"]) == (content_block.get("id"), content_block.get("name")):
                del remaining[at]
                return {**content_block, **changed_call}
        return content_block

    update: dict[str, Any] = {"tool_calls": [call for call in changed if call.get("type") != "invalid_tool_call"]}
    update["invalid_tool_calls"] = [call for call in changed if call.get("type") == "invalid_tool_call"]
    if isinstance(message.content, list):
        update["content"] = [block(item) for item in message.content]
    return message.model_copy(update=update)
