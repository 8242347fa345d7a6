"""A middleware for LangChain's agents: `pip install toolwire[langchain]`.

Tools are sent in a dialect, calls come back with the names and arguments that the tools expect:

    create_agent(model, tools, middleware=[ToolwireMiddleware(dialect="moonshot", repair=True)])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    from langchain.agents.middleware import AgentMiddleware, ModelResponse
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.utils.function_calling import convert_to_openai_tool
except ImportError as missing:
    message = f"expected the package langchain 1.0 or later: run `pip install 'toolwire[langchain]'` ({missing})"
    raise ImportError(message) from missing

from ._framework import Refusals, Turn, arguments_of, checked

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain.agents.middleware import ModelRequest
    from langchain.agents.middleware.types import ToolCallRequest
    from langchain_core.messages import AnyMessage, BaseMessage
    from langgraph.types import Command
    from typing_extensions import Unpack

    from .types import FrameworkOptions

__all__ = ["ToolwireMiddleware"]


class ToolwireMiddleware(AgentMiddleware):
    """Sends an agent's tools in a dialect and restores the calls.

    A call that could not be repaired (`repair`) does not run: its result is the `retry_message`, so that the model
    reads what was expected. Tools that the provider runs itself pass as they are.
    """

    def __init__(self, **options: Unpack[FrameworkOptions]) -> None:
        """Take the options of `sanitize_tools`, and `on_report` and `on_repair`.

        Raises `ToolwireError`: `unknown-option`, `invalid-option`, `unknown-dialect`.
        """
        super().__init__()
        self._options = checked(options)
        self._refusals = Refusals()

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
        text = self._refusals.get(call["id"])
        if text is None:
            return None
        return ToolMessage(text, tool_call_id=call["id"] or "", name=call["name"], status="error")

    def _adapted(self, request: ModelRequest[Any]) -> tuple[Turn, ModelRequest[Any]]:
        functions = {at: _function(tool) for at, tool in enumerate(request.tools)}
        given = {at: function for at, function in functions.items() if function is not None}
        names = {function["name"] for function in given.values()}
        choice = _choice(request.tool_choice, names) if given else None
        called = [call["name"] for call in _calls(request.messages)]
        model = request.model.name or getattr(request.model, "model_name", None) or getattr(request.model, "model", "")
        turn = Turn(list(given.values()), self._options, called=called, choice=choice, model=str(model))
        tools: list[Any] = []
        for at, tool in enumerate(request.tools):
            if at not in given:
                tools.append(tool)
            elif (function := turn.sent_tool(given[at]["name"])) is not None:
                tools.append({"type": "function", "function": function})
        changed: dict[str, Any] = {"tools": tools, "messages": [_renamed(one, turn) for one in request.messages]}
        if choice is not None and (turn.choice is None or choice in names):
            changed["tool_choice"] = turn.choice
        return turn, request.override(**changed)

    def _restored(self, turn: Turn, response: ModelResponse[Any]) -> ModelResponse[Any]:
        if isinstance(response, AIMessage):  # another middleware's short form
            return ModelResponse(result=[self._message(turn, response)])
        result = [self._message(turn, one) if isinstance(one, AIMessage) else one for one in response.result]
        return ModelResponse(result=result, structured_response=response.structured_response)

    def _message(self, turn: Turn, message: AIMessage) -> AIMessage:
        calls: list[Any] = []
        unread: list[Any] = []
        for call in [*message.tool_calls, *message.invalid_tool_calls]:
            found = turn.call(call["id"], call["name"] or "", call["args"])
            self._refusals.keep(call["id"], found.retry_message)
            args = arguments_of(found.arguments)
            # A call that LangChain could not read would end the agent: its result says what is wrong.
            if args is None and found.retry_message is None:
                unread.append({**call, "name": found.name})
            else:
                calls.append({"type": "tool_call", "id": call["id"], "name": found.name, "args": args or {}})
        return message.model_copy(update={"tool_calls": calls, "invalid_tool_calls": unread})


def _function(tool: Any) -> dict[str, Any] | None:
    """Return a tool as a function of Chat Completions; `None` if the provider runs it."""
    if isinstance(tool, dict) and tool.get("type", "function") != "function":
        return None
    schema = getattr(tool, "tool_call_schema", None)
    if isinstance(schema, dict):
        # As it was published: LangChain's own conversion fails for a property `$ref`.
        return {"name": tool.name, "description": tool.description, "parameters": schema}
    function: dict[str, Any] = convert_to_openai_tool(tool)["function"]
    return function


def _choice(choice: Any, names: set[str]) -> str | None:
    """Return the choice as `Turn` takes it; `None` if it is none of its tools."""
    if isinstance(choice, dict):
        choice = choice.get("function", choice).get("name")
    if choice in ("any", "required", True):
        return "required"
    return choice if choice in names or choice in ("auto", "none") else None


def _calls(messages: list[AnyMessage]) -> list[Any]:
    return [call for one in messages if isinstance(one, AIMessage) for call in one.tool_calls]


def _renamed(message: AnyMessage, turn: Turn) -> BaseMessage:
    """Return a message of the history with the names that are sent."""
    if isinstance(message, AIMessage) and message.tool_calls:
        calls = [{**call, "name": turn.sent_name(call["name"])} for call in message.tool_calls]
        return message.model_copy(update={"tool_calls": calls})
    if isinstance(message, ToolMessage) and message.name is not None:
        return message.model_copy(update={"name": turn.sent_name(message.name)})
    return message
