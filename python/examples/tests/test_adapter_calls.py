"""Tests the framework adapters with unusual calls and tool lists.

For example, duplicate ids, names of hosted tools and tools in another API's format. The models are scripted, because no
API returns such replies on request.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import agents
import pytest
from agents.model_settings import MCPToolChoice
from agents.models.interface import Model
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    message_chunk_to_message,
)
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import StructuredTool
from langchain_openai import custom_tool
from openai.types import responses
from pydantic_ai import Agent
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolAvailabilityDeltaPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage
from pydantic_ai_seams import toolset_of

import toolwire
from toolwire._framework import Adapter, Refusals
from toolwire.langchain import ToolwireMiddleware
from toolwire.openai_agents import ToolwireModel
from toolwire.pydantic_ai import Toolwire

agents.set_tracing_disabled(True)

EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
REF: dict[str, Any] = {"type": "object", "properties": {"$ref": {"type": "string"}}, "required": ["$ref"]}
SENT_REF = {"type": "object", "properties": {"dollar_ref_": {"type": "string"}}, "required": ["dollar_ref_"]}
PAY: dict[str, Any] = {
    "type": "object",
    "properties": {"account": {"type": "string"}, "amount": {"type": "number"}},
    "required": ["account", "amount"],
}
LIST: dict[str, Any] = {"type": "object", "properties": {"ids": {"type": "array", "items": {"type": "string"}}}}
WRONG = {"account": "alice"}
RIGHT = {"account": "bob", "amount": 1}
# Kimi's ids, which are numbered from 0 in each reply.
ID = "functions.pay:0"
RETRY = "The arguments of `pay`"

BOTH = pytest.mark.parametrize(("slow", "fast"), [(WRONG, RIGHT), (RIGHT, WRONG)], ids=["refused", "valid"])


async def interleaved(
    ask: Callable[[Any, list[Any]], Awaitable[Any]], slow: Any, fast: Any, waits: asyncio.Event, gate: asyncio.Event
) -> list[Any]:
    """Run two conversations, of which the first waits until the second has ended, and return the calls that ran."""
    runs: list[Any] = []
    first = asyncio.ensure_future(ask(slow, runs))
    await waits.wait()
    await ask(fast, runs)
    gate.set()
    await first
    return runs


def test_refusal_applies_to_one_call_only() -> None:
    refusals = Refusals()
    refusals.record("a", "pay", '{"x": 1, "y": [{"b": 1, "a": 2}]}', "no")
    assert refusals.get("a", "pay", {"y": [{"a": 2, "b": 1}], "x": 1}) == "no"
    for other in (("b", "pay", {"x": 1}), ("a", "read", {"x": 1}), ("a", "pay", {"x": 2})):
        assert refusals.get(*other) is None
    refusals.record("a", "pay", RIGHT, None)
    assert refusals.get("a", "pay", '{"y":[{"b":1,"a":2}],"x":1}') == "no"
    refusals.record(None, "pay", "", "no")
    assert refusals.get("", "pay", {}) == "no"
    refusals.record("c", "pay", "[" * 9999, "no")
    assert refusals.get("c", "pay", "[" * 9999) == "no"
    for number in range(1000):
        refusals.record(str(number), "pay", {}, "no")
    assert refusals.get("c", "pay", "[" * 9999) is None


def test_listed_tool_takes_a_name_before_a_tool_of_the_history() -> None:
    given = [{"type": "function", "function": {"name": "files.read", "parameters": EMPTY}}]
    turn = Adapter({"dialect": "moonshot"}).turn(given, called=[("files_read", {}), ("old.tool", "")])
    assert turn.own_name("files_read") == turn.call("a", "files_read", "{}").name == "files.read"
    assert turn.sent_name("old.tool").startswith("old_tool")


@pytest.mark.parametrize("dialect", ["moonshot", "xai", "mistral"])
def test_sent_names_avoid_names_of_hosted_tools(dialect: Any) -> None:
    given = [None, {"type": "function", "function": {"name": "web.search", "parameters": EMPTY}}]
    turn = Adapter({"dialect": dialect, "on_set_aside": "error"}).turn(given, hosted=["web_search"])
    (sent,) = turn.sent.tools
    assert sent["name"].startswith("web_search_")
    assert turn.call("a", sent["name"], "{}").name == "web.search"


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("any", "any"),
        ("none", "none"),
        (True, True),
        ("files.read", "files_read"),
        ({"type": "function", "function": {"name": "files.read"}}, "files_read"),
        ({"type": "any"}, {"type": "any"}),
        ("web_search", "web_search"),
    ],
)
def test_tool_choice_changes_only_if_its_tool_is_renamed(given: Any, sent: Any) -> None:
    tools = [{"type": "function", "function": {"name": "files.read", "parameters": EMPTY}}]
    assert Adapter({"dialect": "moonshot"}).turn(tools, choice=given).chosen(given) == sent


class Scripted(BaseChatModel):
    """A LangChain model that returns one message for each request, and records the requests."""

    replies: list[AIMessage]
    got: list[Any]
    options: Any = None
    name: str | None = "planner"
    model_name: str = "kimi-k2"

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:
        """Record the tools and options."""
        self.options = (list(tools), options)
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.got.append((messages, *(self.options or ([], {}))))
        message = self.replies.pop(0) if self.replies else AIMessage("done")
        return ChatResult(generations=[ChatGeneration(message=message)])


def scripted(*replies: AIMessage) -> Scripted:
    """Make a LangChain model."""
    return Scripted(replies=list(replies), got=[])


def calling(*calls: tuple[str, Any], call_id: str = ID) -> AIMessage:
    """Make a message whose calls all have the same id."""
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": call_id} for name, args in calls])


def tool(name: str, schema: Any, runs: list[Any] | None = None, **more: Any) -> StructuredTool:
    """Make a LangChain tool that appends the arguments of each call to `runs`."""

    def run(**given: Any) -> str:
        (runs if runs is not None else []).append(given)
        return "ok"

    return StructuredTool.from_function(run, name=name, description="d", args_schema=schema, **more)


@BOTH
def test_langchain_separates_conversations_with_the_same_call_id(slow: Any, fast: Any) -> None:
    middleware = ToolwireMiddleware(dialect="moonshot", repair=True)
    gate, waits = asyncio.Event(), asyncio.Event()

    class Waiting(AgentMiddleware):
        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            if request.tool_call["args"] == slow:
                waits.set()
                await gate.wait()
            return await handler(request)

    async def ask(args: Any, runs: list[Any]) -> None:
        agent = create_agent(
            scripted(calling(("pay", args))), [tool("pay", PAY, runs)], middleware=[Waiting(), middleware]
        )
        await agent.ainvoke({"messages": [HumanMessage("Pay.")]})

    assert asyncio.run(interleaved(ask, slow, fast, waits, gate)) == [RIGHT]


@pytest.mark.parametrize("call_id", [ID, ""])
def test_langchain_validates_each_call_with_the_same_id(call_id: str) -> None:
    runs: list[Any] = []
    model = scripted(calling(("pay", WRONG), ("pay", RIGHT), call_id=call_id))
    middleware = ToolwireMiddleware(dialect="moonshot", repair=True)
    agent = create_agent(model, [tool("pay", PAY, runs)], middleware=[middleware])
    result = agent.invoke({"messages": [HumanMessage("Pay.")]})
    texts = [str(one.content) for one in result["messages"] if isinstance(one, ToolMessage)]
    assert runs == [RIGHT]
    assert texts[0].startswith(RETRY)
    assert texts[1] == "ok"


def test_langchain_runs_a_call_that_a_person_has_edited() -> None:
    runs: list[Any] = []

    class Person(AgentMiddleware):
        def after_model(self, state: Any, runtime: Any) -> Any:  # noqa: ARG002
            # Like `HumanInTheLoopMiddleware`, but without a pause: the call keeps its id.
            message = state["messages"][-1]
            message.tool_calls = [{**call, "args": RIGHT} for call in message.tool_calls]
            return {"messages": [message]}

    middleware = [Person(), ToolwireMiddleware(dialect="moonshot", repair=True)]
    agent = create_agent(scripted(calling(("pay", WRONG))), [tool("pay", PAY, runs)], middleware=middleware)
    agent.invoke({"messages": [HumanMessage("Pay.")]})
    assert runs == [RIGHT]


def test_langchain_renames_a_call_and_its_copy_in_the_content() -> None:
    block: Any = {"type": "tool_call", "id": "a", "name": "files_read", "args": {"dollar_ref_": "x"}}
    message = AIMessage(
        [{"type": "text", "text": "I read."}, block], response_metadata={"output_version": "v1"}, id="i"
    )
    message.tool_calls = [dict(block)]  # type: ignore[list-item]
    before = message.model_dump()
    model = scripted(message)
    runs: list[Any] = []
    reports: list[str] = []
    middleware = ToolwireMiddleware(dialect="moonshot", on_report=lambda _, sent: reports.append(sent.model))
    agent = create_agent(model, [tool("files.read", REF, runs)], middleware=[middleware])
    result = agent.invoke({"messages": [HumanMessage("Read.")]})["messages"]
    own = {"name": "files.read", "args": {"$ref": "x"}, "id": "a", "type": "tool_call"}
    assert result[1].tool_calls == [own]
    assert result[1].content[1] == own
    assert message.model_dump() == before
    history = model.got[1][0]
    assert [history[1].content[1]["name"], history[1].tool_calls[0]["name"], history[2].name] == ["files_read"] * 3
    assert runs == [{"$ref": "x"}]
    # Reports have the API's model name (`kimi-k2`), not the name in traces (`planner`).
    assert reports == ["kimi-k2"] * 2


def sent_by_langchain(*tools: Any) -> list[Any]:
    """Return the tools that a model receives."""
    model = scripted()
    middleware = ToolwireMiddleware(dialect="moonshot", on_set_aside="error")
    create_agent(model, list(tools), middleware=[middleware]).invoke({"messages": [HumanMessage("Go.")]})
    sent: list[Any] = model.got[0][1]
    return sent


def test_langchain_adapts_tools_in_the_forms_of_other_apis() -> None:
    more = {"cache_control": {"type": "ephemeral"}}
    sent = sent_by_langchain(
        {"type": "function", "name": "a.a", "description": "d", "parameters": REF},
        {"name": "b.b", "description": "d", "input_schema": REF, **more},
        {"type": "custom", "name": "c.c", "input_schema": REF},
        {"type": "function", "function": {"name": "d.d", "parameters": REF}},
        {"type": "web_search_20250305", "name": "web_search"},
        tool("web.search", EMPTY),
    )
    # LangChain puts its own tools first.
    assert sent[0]["function"]["name"].startswith("web_search_")
    assert sent[1:] == [
        {"type": "function", "name": "a_a", "description": "d", "parameters": SENT_REF, "strict": True},
        {"name": "b_b", "description": "d", "input_schema": SENT_REF, "strict": True, **more},
        {"type": "custom", "name": "c_c", "input_schema": SENT_REF, "strict": True},
        {"type": "function", "function": {"name": "d_d", "parameters": SENT_REF, "strict": True}},
        {"type": "web_search_20250305", "name": "web_search"},
    ]


def test_langchain_does_not_change_tools_other_than_functions() -> None:
    @custom_tool
    def run_code(code: str) -> str:
        """Run code."""
        return code

    search: dict[str, Any] = {"google_search": {}}
    assert sent_by_langchain(run_code, search) == [run_code, search]


def test_langchain_keeps_provider_specific_extras() -> None:
    (sent,) = sent_by_langchain(tool("files.read", REF, extras={"defer_loading": True}))
    assert (sent.name, sent.extras, sent.tool_call_schema["properties"]) == (
        "files_read",
        {"defer_loading": True},
        SENT_REF["properties"],
    )


class Streaming(Scripted):
    """The same model, streamed: LangChain builds the calls from the chunks and discards the chunks."""

    member: str
    reason: str
    text: str
    streaming: bool

    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        if len(messages) > 1:
            yield ChatGenerationChunk(message=AIMessageChunk(content="done"))
            return
        for name, piece in (("pay", self.text[:3]), (None, self.text[3:])):
            chunk = tool_call_chunk(name=name, args=piece, id=ID if name else None, index=0)
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[chunk]))
        yield ChatGenerationChunk(message=AIMessageChunk(content="", response_metadata={self.member: self.reason}))


@pytest.mark.parametrize("repair", [False, True, {"truncated": "close"}])
@pytest.mark.parametrize(
    ("member", "reason", "ran"),
    [
        ("finish_reason", "length", []),
        ("finish_reason", "model_length", []),
        ("done_reason", "length", []),
        ("finish_reason", "tool_calls", [{"ids": ["a"]}]),
    ],
)
def test_langchain_does_not_run_truncated_calls(member: str, reason: str, ran: list[Any], repair: Any) -> None:
    runs: list[Any] = []
    text = '{"ids": ["a"' + ("]}" if ran else "")
    model = Streaming(replies=[], got=[], member=member, reason=reason, text=text, streaming=True)
    middleware = ToolwireMiddleware(dialect="moonshot", repair=repair)
    agent = create_agent(model, [tool("pay", LIST, runs)], middleware=[middleware])
    state = agent.invoke({"messages": [HumanMessage("Pay.")]})
    assert runs == ran
    assert (("truncated text" if repair else "is truncated") in str(state)) == (not ran)


@pytest.mark.parametrize("repair", [False, True])
def test_langchain_does_not_run_a_truncated_call_after_an_unreadable_one(repair: bool) -> None:
    runs: list[Any] = []
    texts = ('{"ids": nope}', '{"ids": ["a"')
    pieces = [tool_call_chunk(name="pay", args=text, id=str(at), index=at) for at, text in enumerate(texts)]
    reply = AIMessageChunk(content="", tool_call_chunks=pieces, response_metadata={"finish_reason": "length"})
    middleware = ToolwireMiddleware(dialect="moonshot", repair=repair)
    whole: Any = message_chunk_to_message(reply)
    agent = create_agent(scripted(whole), [tool("pay", LIST, runs)], middleware=[middleware])
    agent.invoke({"messages": [HumanMessage("Pay.")]})
    assert runs == []


def test_langchain_keeps_complete_arguments_of_a_refused_call() -> None:
    runs: list[Any] = []
    message = calling(("pay", RIGHT))
    message.response_metadata = {"finish_reason": "length"}
    middleware = ToolwireMiddleware(dialect="moonshot", repair=True)
    agent = create_agent(scripted(message), [tool("pay", PAY, runs)], middleware=[middleware])
    state = agent.invoke({"messages": [HumanMessage("Pay.")]})
    assert runs == []
    assert state["messages"][1].tool_calls[0]["args"] == RIGHT


def test_langchain_sends_past_arguments_as_objects_and_only_valid_examples() -> None:
    unread: Any = {"type": "invalid_tool_call", "name": "files.read", "args": '{"$ref": "y"', "id": "b", "error": "e"}
    past = AIMessage(
        "", tool_calls=[{"name": "files.read", "args": {"$ref": "x"}, "id": "a"}], invalid_tool_calls=[unread]
    )
    model = scripted()
    tools: Any = [
        {"name": "files.read", "input_schema": REF, "input_examples": [{"$ref": "x"}]},
        {"name": "pay", "input_schema": PAY, "input_examples": [RIGHT, WRONG]},
        tool("pay.more", PAY, extras={"input_examples": [WRONG, RIGHT]}),
    ]
    messages: list[Any] = [
        past,
        ToolMessage("x", tool_call_id="a"),
        ToolMessage("x", tool_call_id="b"),
        HumanMessage("Go."),
    ]
    create_agent(model, tools, middleware=[ToolwireMiddleware(dialect="moonshot")]).invoke({"messages": messages})
    (sent, *_), (own, read, pay), _ = model.got[0]
    calls = [*sent.tool_calls, *sent.invalid_tool_calls]
    assert [(call["name"], call["args"]) for call in calls] == [
        ("files_read", {"$ref": "x"}),
        ("files_read", '{"$ref":"y"}'),
    ]
    assert own.extras == {"input_examples": [RIGHT]}
    assert "input_examples" not in read
    assert pay["input_examples"] == [RIGHT]


def pay_agent(model: Any, runs: list[Any], *capabilities: Any) -> Agent[None, str]:
    """Make a pydantic-ai agent with the tool `pay`."""
    described = {"name": "pay", "description": "d", "inputSchema": PAY}

    def run(_: str, given: Any) -> str:
        runs.append(given)
        return "ok"

    return Agent(model, toolsets=[toolset_of([described], run)], capabilities=list(capabilities), retries=3)


def paying(*calls: Any) -> FunctionModel:
    """Make a pydantic-ai model that makes calls with numbered ids, and then reports that it is done."""

    def reply(messages: Any, _: AgentInfo) -> ModelResponse:
        ids = [f"functions.pay:{at}" for at in range(len(calls))]
        parts = [ToolCallPart("pay", json.dumps(args), tool_call_id=id_) for id_, args in zip(ids, calls, strict=True)]
        return ModelResponse([TextPart("done")] if len(messages) > 1 else parts)

    return FunctionModel(reply)


@BOTH
def test_pydantic_ai_separates_conversations_with_the_same_call_id(slow: Any, fast: Any) -> None:
    adapter = Toolwire(dialect="moonshot", repair=True)
    gate, waits = asyncio.Event(), asyncio.Event()

    class Waiting(AbstractCapability[Any]):
        async def before_tool_validate(self, ctx: Any, *, call: Any, tool_def: Any, args: Any) -> Any:  # noqa: ARG002
            if json.loads(call.args) == slow:
                waits.set()
                await gate.wait()
            return args

    async def both() -> list[Any]:
        runs: list[Any] = []
        first = asyncio.create_task(pay_agent(paying(slow), runs, Waiting(), adapter).run("Pay."))
        await waits.wait()
        await pay_agent(paying(fast), runs, adapter).run("Pay.")
        gate.set()
        await first
        return runs

    assert asyncio.run(both()) == [RIGHT]


def test_pydantic_ai_validates_each_call_of_a_reply() -> None:
    # pydantic-ai itself does not accept two calls with the same id.
    runs: list[Any] = []
    result = pay_agent(paying(WRONG, RIGHT), runs, Toolwire(dialect="moonshot", repair=True)).run_sync("Pay.")
    assert runs == [RIGHT]
    assert RETRY in str(result.all_messages())


def test_pydantic_ai_adapts_every_request_of_a_model() -> None:
    got: list[Any] = []

    class Counting(FunctionModel):
        async def count_tokens(self, messages: Any, settings: Any, parameters: Any) -> RequestUsage:
            got.append((messages, settings, parameters))
            return RequestUsage()

        async def compact_messages(self, request_context: Any, *, instructions: str | None = None) -> ModelResponse:
            got.append((request_context.messages, instructions, request_context.model_request_parameters))
            return ModelResponse([ToolCallPart("files_read", "{}", tool_call_id="a")])

    model = Toolwire(dialect="moonshot").get_wrapper_model(Counting(lambda *_: ModelResponse([TextPart("done")])))
    messages: list[Any] = [ModelRequest([UserPromptPart("Go."), ToolAvailabilityDeltaPart(tools_added=["files.read"])])]
    tools = [ToolDefinition(name="files.read", parameters_json_schema=EMPTY)]
    parameters = ModelRequestParameters(function_tools=tools)

    async def run() -> ModelResponse:
        await model.count_tokens(messages, None, parameters)
        context = ModelRequestContext(
            model=model, messages=messages, model_settings=None, model_request_parameters=parameters
        )
        return await model.compact_messages(context)

    compacted = asyncio.run(run())
    for sent, _, given in got:
        assert [one.name for one in given.function_tools] == ["files_read"]
        assert sent[0].parts[1].tools_added == ["files_read"]
    assert [part.tool_name for part in compacted.parts if isinstance(part, ToolCallPart)] == ["files.read"]
    assert len(got) == 2


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("text", "valid"), [('{"ids": ["a"', False), ("", False), ('{"ids": ["a"]}', True)])
def test_pydantic_ai_does_not_close_truncated_calls(text: str, valid: bool, streams: bool) -> None:
    judged: list[Any] = []
    adapter = Toolwire(
        dialect="moonshot",
        repair={"truncated": "close"},
        on_repair=lambda calls, _: judged.extend(call.valid for call in calls),
    )
    model = adapter.get_wrapper_model(cut_off(text))
    parameters = ModelRequestParameters(function_tools=[ToolDefinition(name="pay", parameters_json_schema=LIST)])

    async def run() -> ModelResponse:
        if not streams:
            return await model.request([], None, parameters)
        async with model.request_stream([], None, parameters) as stream:
            async for _ in stream:
                pass
            return stream.get()

    (part,) = asyncio.run(run()).parts
    assert isinstance(part, ToolCallPart)
    # pydantic-ai itself does not run a call with truncated arguments in such a reply.
    assert (judged, part.args) == ([valid], text)


def cut_off(text: str) -> FunctionModel:
    """Make a pydantic-ai model whose reply ends at a length limit, after these arguments."""

    async def pieces(_: Any, __: AgentInfo) -> AsyncIterator[Any]:
        yield {0: DeltaToolCall(name="pay", json_args=text, tool_call_id=ID)}

    class Cut(FunctionModel):
        @asynccontextmanager
        async def request_stream(self, *args: Any) -> AsyncIterator[Any]:
            async with super().request_stream(*args) as stream:
                stream.finish_reason = "length"
                yield stream

    reply = ModelResponse([ToolCallPart("pay", text, tool_call_id=ID)], finish_reason="length")
    return Cut(lambda *_: reply, stream_function=pieces)


def test_pydantic_ai_sends_objects_as_past_arguments() -> None:
    got: list[Any] = []

    def reply(messages: Any, _: AgentInfo) -> ModelResponse:
        got.extend(messages)
        return ModelResponse([TextPart("done")])

    model = Toolwire(dialect="moonshot").get_wrapper_model(FunctionModel(reply))
    given: list[Any] = [{"$ref": "x"}, '{"$ref": "y"', "pwd", None]
    past: list[Any] = [ModelResponse([ToolCallPart("files.read", args, tool_call_id=ID) for args in given])]
    tools = [ToolDefinition(name="files.read", parameters_json_schema=REF)]
    asyncio.run(model.request(past, None, ModelRequestParameters(function_tools=tools)))
    assert [part.args for part in got[0].parts] == [{"$ref": "x"}, '{"$ref":"y"}', "{}", None]
    assert {part.tool_name for part in got[0].parts} == {"files_read"}


@pytest.mark.parametrize("choice", [["count"], ["count", "amount"], "required"])
def test_pydantic_ai_does_not_force_a_tool_that_was_set_aside(choice: Any) -> None:
    adapter = Toolwire(dialect="moonshot", on_set_aside=lambda *_: None)
    model = adapter.get_wrapper_model(FunctionModel(lambda *_: ModelResponse([TextPart("done")])))
    tools = [ToolDefinition(name=name, parameters_json_schema={"type": "integer"}) for name in ("count", "amount")]
    request = model.request([], {"tool_choice": choice}, ModelRequestParameters(function_tools=tools))
    with pytest.raises(toolwire.ToolwireError) as caught:
        asyncio.run(request)
    assert caught.value.code == "invalid-request"


class Agents(Model):
    """A model of the Agents SDK that returns one output for each request, and records the requests."""

    model = "kimi-k2"

    def __init__(self, *replies: list[Any]) -> None:
        """Store the replies."""
        self.replies = list(replies)
        self.got: list[dict[str, Any]] = []

    def _reply(self, names: tuple[Any, ...], given: dict[str, Any]) -> list[Any]:
        order = ("system_instructions", "input", "model_settings", "tools", "output_schema", "handoffs", "tracing")
        self.got.append({**dict(zip(order, names, strict=False)), **given})
        text = responses.ResponseOutputText(type="output_text", text="done", annotations=[])
        done = responses.ResponseOutputMessage(
            id="m", type="message", role="assistant", status="completed", content=[text]
        )
        return self.replies.pop(0) if self.replies else [done]

    async def get_response(self, *args: Any, **given: Any) -> agents.ModelResponse:
        """Return the next reply."""
        return agents.ModelResponse(output=self._reply(args, given), usage=agents.Usage(), response_id=None)

    async def stream_response(self, *args: Any, **given: Any) -> AsyncIterator[Any]:
        """Yield the next reply like a server that omits optional members."""
        output = self._reply(args, given)
        for at, item in enumerate(output):
            yield responses.ResponseOutputItemDoneEvent.construct(
                type="response.output_item.done", output_index=at, item=item
            )
        response = responses.Response.construct(id="r", object="response", created_at=0, output=output)
        yield responses.ResponseCompletedEvent.construct(type="response.completed", response=response)


def function_call(name: str, args: Any, call_id: str = ID, **more: Any) -> Any:
    """Make a function call as the Agents SDK represents it."""
    return responses.ResponseFunctionToolCall(
        type="function_call", call_id=call_id, name=name, arguments=json.dumps(args), **more
    )


def agents_tool(name: str, schema: Any, runs: list[Any] | None = None, *guards: Any, **more: Any) -> Any:
    """Make an Agents SDK tool."""

    async def invoke(_: Any, text: str) -> str:
        (runs if runs is not None else []).append(json.loads(text))
        return "ok"

    return agents.FunctionTool(
        name=name,
        description=more.pop("description", "d"),
        params_json_schema=schema,
        on_invoke_tool=invoke,
        strict_json_schema=False,
        tool_input_guardrails=list(guards),
        **more,
    )


async def run_agent(model: ToolwireModel, *tools: Any, streams: bool = False, **more: Any) -> str:
    """Run an Agents SDK agent, and return the results of its calls."""
    agent = agents.Agent(name="a", tools=list(tools), model=model, **more)
    result: Any
    if streams:
        result = agents.Runner.run_streamed(agent, "Go.")
        async for _ in result.stream_events():
            pass
    else:
        result = await agents.Runner.run(agent, "Go.")
    return str([item.output for item in result.new_items if item.type == "tool_call_output_item"])


STREAMS = pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])


@STREAMS
@BOTH
def test_openai_agents_separates_conversations_with_the_same_call_id(slow: Any, fast: Any, streams: bool) -> None:
    inner = Agents()
    model = ToolwireModel(inner, dialect="moonshot", repair=True)
    gate, waits = asyncio.Event(), asyncio.Event()

    async def wait(data: Any) -> agents.ToolGuardrailFunctionOutput:
        if json.loads(data.context.tool_arguments) == slow:
            waits.set()
            await gate.wait()
        return agents.ToolGuardrailFunctionOutput.allow()

    waiting: Any = agents.ToolInputGuardrail(wait, name="waits")

    async def ask(args: Any, runs: list[Any]) -> str:
        inner.replies = [[function_call("pay", args)]]
        return await run_agent(model, agents_tool("pay", PAY, runs, waiting, model.guardrail), streams=streams)

    assert asyncio.run(interleaved(ask, slow, fast, waits, gate)) == [RIGHT]


@STREAMS
def test_openai_agents_validates_each_call_of_a_reply(streams: bool) -> None:
    # The SDK itself does not accept two calls with the same id.
    runs: list[Any] = []
    inner = Agents([function_call("pay", WRONG, "a"), function_call("pay", RIGHT, "b")])
    model = ToolwireModel(inner, dialect="moonshot", repair=True)
    results = asyncio.run(run_agent(model, agents_tool("pay", PAY, runs, model.guardrail), streams=streams))
    assert runs == [RIGHT]
    assert RETRY in results


def test_openai_agents_refuses_a_call_to_a_tool_in_a_namespace() -> None:
    runs: list[Any] = []
    inner = Agents([function_call("pay", WRONG, namespace="bank")])
    model = ToolwireModel(inner, dialect="moonshot", repair=True)
    tools = agents.tool_namespace(name="bank", description="b", tools=[agents_tool("pay", PAY, runs, model.guardrail)])
    assert RETRY in asyncio.run(run_agent(model, *tools))
    assert runs == []


def test_openai_agents_does_not_close_truncated_calls() -> None:
    judged: list[Any] = []
    call = function_call("pay", {}, status="incomplete").model_copy(update={"arguments": '{"ids": ["a"'})
    model = ToolwireModel(
        Agents([call]),
        dialect="moonshot",
        repair={"truncated": "close"},
        on_repair=lambda calls, _: judged.extend(call.valid for call in calls),
    )
    tools = [agents_tool("pay", LIST)]
    asyncio.run(model.get_response(None, "Go.", agents.ModelSettings(), tools, None, [], None))
    assert judged == [False]


def test_openai_agents_sends_objects_as_past_arguments() -> None:
    inner = Agents()
    texts = ['{"$ref": "x"}', '{"$ref": "y"', "pwd", ""]
    past: Any = [{"type": "function_call", "call_id": ID, "name": "files.read", "arguments": text} for text in texts]
    model = ToolwireModel(inner, dialect="moonshot")
    tools = [agents_tool("files.read", REF)]
    asyncio.run(model.get_response(None, past, agents.ModelSettings(), tools, None, [], None))
    sent = inner.got[0]["input"]
    assert [one["arguments"] for one in sent] == ['{"$ref": "x"}', '{"$ref":"y"}', "{}", "{}"]
    assert {one["name"] for one in sent} == {"files_read"}


def test_openai_agents_reads_events_as_the_sdk_does() -> None:
    runs: list[Any] = []
    inner = Agents([function_call("files_read", {"dollar_ref_": "x"})])
    asyncio.run(run_agent(ToolwireModel(inner, dialect="moonshot"), agents_tool("files.read", REF, runs), streams=True))
    assert runs == [{"$ref": "x"}]


def test_openai_agents_sends_each_tool_with_its_own_definition() -> None:
    city = {"type": "object", "properties": {"city": {"type": "string"}}}
    user = {"type": "object", "properties": {"user": {"type": "string"}}}
    aside: list[Any] = []
    tools = [
        *agents.tool_namespace(name="weather", description="w", tools=[agents_tool("look.up", city)]),
        *agents.tool_namespace(name="crm", description="c", tools=[agents_tool("look.up", user)]),
        agents_tool("b.b", REF),
    ]
    inner = Agents()
    model = ToolwireModel(inner, dialect="moonshot", on_set_aside=lambda found, _: aside.extend(found))
    asyncio.run(model.get_response(None, "Go.", agents.ModelSettings(), tools, None, [], None))
    sent = [(one.name, list(one.params_json_schema["properties"])) for one in inner.got[0]["tools"]]
    assert sent == [("look_up", ["city"]), ("b_b", ["dollar_ref_"])]
    assert [one.rule for one in aside] == ["duplicate-name"]


def test_openai_agents_does_not_change_hosted_tools_or_their_choice() -> None:
    inner = Agents()
    choice = MCPToolChoice(server_label="s", name="n")
    settings = agents.ModelSettings(tool_choice=choice)
    tools = [agents.WebSearchTool(), agents_tool("web.search", EMPTY)]
    asyncio.run(run_agent(ToolwireModel(inner, dialect="moonshot"), *tools, model_settings=settings))
    assert inner.got[0]["model_settings"].tool_choice == choice
    hosted, sent = inner.got[0]["tools"]
    assert hosted.name == "web_search"
    assert sent.name.startswith("web_search_")
