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

from ._framework import Adapter, arguments_of, fits, is_cut

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


_ENDS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")
"""Members in which providers' packages report why a reply ended."""

_UNREAD = (
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
        turn, adapted = self._adapted(request)
        return self._restored(turn, handler(adapted))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Adapt the request, and restore the calls of the response."""
        turn, adapted = self._adapted(request)
        return self._restored(turn, await handler(adapted))

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """Run a call, unless it could not be repaired."""
        return self._refused(request) or handler(request)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        """Run a call, unless it could not be repaired."""
        return self._refused(request) or await handler(request)

    def _refused(self, request: ToolCallRequest) -> ToolMessage | None:
        call = request.tool_call
        text = self._adapter.refusals.get(call["id"], call["name"], call["args"])
        if text is None:
            return None
        return ToolMessage(text, tool_call_id=call["id"] or "", name=call["name"], status="error")

    def _adapted(self, request: ModelRequest[Any]) -> tuple[Turn, ModelRequest[Any]]:
        given = [_given(tool) for tool in request.tools]
        hosted = [_name(tool) for tool, function in zip(request.tools, given, strict=True) if function is None]
        messages = [one for one in request.messages if isinstance(one, AIMessage)]
        called = [(call["name"] or "", call["args"]) for one in messages for call in _calls(one)]
        # `name` is only the model's name in traces, so it comes last.
        found = (getattr(request.model, name, None) for name in ("model_name", "model", "name"))
        model = next((str(name) for name in found if name), "")
        turn = self._adapter.turn(given, hosted=hosted, choice=request.tool_choice, called=called, model=model)
        changed: dict[str, Any] = {
            "tools": turn.listed(request.tools, _written),
            "messages": [_renamed(one, turn) for one in request.messages],
            "tool_choice": turn.chosen(request.tool_choice),
        }
        return turn, request.override(**changed)

    def _restored(self, turn: Turn, response: ModelResponse[Any]) -> ModelResponse[Any]:
        if isinstance(response, AIMessage):  # a short form that other middleware may return
            return ModelResponse(result=[self._message(turn, response)])
        result = [self._message(turn, one) if isinstance(one, AIMessage) else one for one in response.result]
        return ModelResponse(result=result, structured_response=response.structured_response)

    def _message(self, turn: Turn, message: AIMessage) -> AIMessage:
        cut = any(is_cut(message.response_metadata.get(member)) for member in _ENDS)
        # In a stream, LangChain silently completes truncated text, so the last call may be incomplete.
        last: Any = message.tool_calls[-1] if cut and message.tool_calls else None

        def own(call: Any) -> Any:
            call_id, name = call["id"], call["name"] or ""
            if call is last:
                return refused(call_id, name, call["args"])
            found = turn.call(call_id, name, call["args"], is_cut=cut)
            args = arguments_of(found.arguments)
            # An invalid call would end the agent. As a refused call, its result reports the error to the model.
            if args is None and found.retry_message is None:
                return {**call, "type": "invalid_tool_call", "name": found.name}
            if args is None:
                self._adapter.refusals.keep(call["id"], found.name, {}, found.retry_message)
            return {"type": "tool_call", "id": call["id"], "name": found.name, "args": args or {}}

        def refused(call_id: str | None, name: str, given: Any) -> Any:
            found = turn.call(call_id, name, json.dumps(given, default=repr)[:-1], is_cut=True)
            # The arguments are restored like complete ones, so that the model reads what it wrote.
            whole, _ = turn.judged_call(call_id, name, given)
            args = arguments_of(whole.arguments) or {}
            self._adapter.refusals.keep(call_id, found.name, args, found.retry_message or _UNREAD.format(found.name))
            return {"type": "tool_call", "id": call_id, "name": found.name, "args": args}

        return _recalled(message, own)


def _given(tool: Any) -> dict[str, Any] | None:
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


def _written(tool: Any, sent: dict[str, Any]) -> Any:
    """Return a tool to send, in its original format."""
    if isinstance(tool, dict):
        kept = {name: value for name, value in _exampled(tool, sent).items() if name not in ("description", "strict")}
        if "input_schema" in tool:
            own = {name: value for name, value in sent.items() if name != "parameters"}
            return {**kept, **own, "input_schema": sent["parameters"]}
        if tool.get("type") == "function" and "function" not in tool:
            return {**kept, **sent}
        return {**(tool if "function" in tool else {"type": "function"}), "function": sent}
    if getattr(tool, "extras", None):
        # Only LangChain's own tools have `extras`, which providers' packages read.
        update = {"name": sent["name"], "description": sent.get("description", ""), "args_schema": sent["parameters"]}
        return tool.model_copy(update={**update, "extras": _exampled(tool.extras, sent)})
    return {"type": "function", "function": sent}


def _exampled(members: dict[str, Any], sent: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a tool, with only those examples that the sent schema accepts."""
    found = members.get("input_examples")
    examples = [one for one in found if fits(one, sent["parameters"])] if isinstance(found, list) else []
    kept = {name: value for name, value in members.items() if name != "input_examples"}
    return {**kept, "input_examples": examples} if examples else kept


def _renamed(message: AnyMessage, turn: Turn) -> BaseMessage:
    """Return a message of the history with the names and arguments that are sent."""
    if isinstance(message, AIMessage) and _calls(message):

        def sent(call: Any) -> Any:
            return {**call, "name": turn.sent_name(call["name"] or ""), "args": turn.sent_arguments(call["args"])}

        return _recalled(message, sent)
    if isinstance(message, ToolMessage) and message.name is not None:
        return message.model_copy(update={"name": turn.sent_name(message.name)})
    return message


def _calls(message: AIMessage) -> list[Any]:
    """Return the calls of a message, including those that LangChain could not parse."""
    return [*message.tool_calls, *message.invalid_tool_calls]


def _recalled(message: AIMessage, change: Callable[[Any], Any]) -> AIMessage:
    """Return a message with changed calls, including those that its content repeats (`output_version="v1"`)."""
    calls = _calls(message)
    changed = [change(call) for call in calls]
    left = list(zip(calls, changed, strict=True))

    def block(found: Any) -> Any:
        if not isinstance(found, dict) or found.get("type") not in ("tool_call", "invalid_tool_call"):
            return found
        for at, (call, now) in enumerate(left):
            if (call["id"], call["name"]) == (found.get("id"), found.get("name")):
                del left[at]
                return {**found, **now}
        return found

    update: dict[str, Any] = {"tool_calls": [call for call in changed if call.get("type") != "invalid_tool_call"]}
    update["invalid_tool_calls"] = [call for call in changed if call.get("type") == "invalid_tool_call"]
    if isinstance(message.content, list):
        update["content"] = [block(one) for one in message.content]
    return message.model_copy(update=update)
