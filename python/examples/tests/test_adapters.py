"""The adapters of frameworks, each with the framework itself and a fake API."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import agents
import fastmcp
import langchain_middleware
import openai
import openai_agents_model
import pydantic_ai_capability
import pytest
from fake.backend import backend
from fake.server import TOOLS, served
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools.base import Tool, ToolResult
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, ToolCallPart, ToolCallPartDelta
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.toolsets import FunctionToolset
from pydantic_ai_seams import toolset_of

import toolwire
from toolwire._framework import Adapter
from toolwire.fastmcp import ToolwireMiddleware as FastMcpMiddleware
from toolwire.langchain import ToolwireMiddleware
from toolwire.pydantic_ai import Toolwire

# Traces would be sent to OpenAI.
agents.set_tracing_disabled(True)

# The model's call to the tool in a dialect that renames `$ref`, and the call that the tool's server expects.
ENCODED = {"name": "files_read", "input": {"path": "README.md", "dollar_ref_": "main"}}
EXPECTED = [("files.read", {"path": "README.md", "$ref": "main"})]
DONE = {"text": "It says: any model."}
BROKEN = "path=README.md"
CROOKED = '{"path": 7, "dollar_ref_": "main",}'

HOW = pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])


def result_of(body: dict[str, Any]) -> str:
    """Return the first result of a call in a request."""
    return next(str(message["content"]) for message in body["messages"] if message["role"] == "tool")


@HOW
def test_langchain_calls_are_restored(streams: bool) -> None:
    calls: list[Any] = []
    reports: list[Any] = []

    def report(report: Any, sent: Any) -> None:
        reports.append((report.dialect, sent.model, [tool["name"] for tool in sent.tools]))

    with backend("moonshot", ENCODED, DONE) as fake:
        options = {"model": {"streaming": streams}, "on_report": report}
        answer = langchain_middleware.ask(fake.url, TOOLS, lambda *call: served(calls, *call), **options)
    assert answer == DONE["text"]
    assert calls == EXPECTED
    assert [bool(body.get("stream")) for body in fake.got] == [streams] * 2
    assert fake.got[1]["messages"][1]["tool_calls"][0]["function"]["name"] == "files_read"
    assert reports == [("moonshot", "kimi-k2", ["files_read"])] * 2


@HOW
def test_langchain_repairs_or_returns_the_violations(streams: bool) -> None:
    calls: list[Any] = []
    repaired: list[Any] = []
    script = [{"name": "files_read", "input": text} for text in (BROKEN, '{"dollar_ref_": "main"}', CROOKED)]
    with backend("moonshot", *script, DONE) as fake:
        answer = langchain_middleware.ask(
            fake.url,
            TOOLS,
            lambda *call: served(calls, *call),
            model={"streaming": streams},
            on_repair=lambda found, _: repaired.extend((call.name, call.valid) for call in found),
        )
    assert answer == DONE["text"]
    assert calls == [("files.read", {"path": "7", "$ref": "main"})]
    assert [valid for _, valid in repaired] == [False, False, True]
    assert "The arguments of `files_read`" in result_of(fake.got[1])
    assert "expected the member `path`" in str(fake.got[2]["messages"][-1]["content"])


def tool(name: str, schema: Any) -> StructuredTool:
    """Make a LangChain tool."""
    return StructuredTool.from_function(lambda **_: "x", name=name, description="d", args_schema=schema)


def test_langchain_tools_are_refused_without_toolwire() -> None:
    with backend("moonshot", ENCODED, DONE) as fake:
        model = ChatOpenAI(model="kimi-k2", base_url=fake.url, api_key=SecretStr("none"))
        agent = create_agent(model, [tool("files.read", {"type": "object", "properties": {}})])
        with pytest.raises(openai.BadRequestError, match=r"files\.read"):
            agent.invoke({"messages": [HumanMessage("Read.")]})


@pytest.mark.anyio
async def test_langchain_renames_past_calls_and_sets_aside_a_tool_asynchronously() -> None:
    aside: list[Any] = []
    messages: list[Any] = [
        HumanMessage("Go."),
        AIMessage("", tool_calls=[{"name": "old.tool", "args": {}, "id": "a"}]),
        ToolMessage("x", tool_call_id="a", name="old.tool"),
    ]
    tools = [tool(one["name"], one["inputSchema"]) for one in TOOLS]
    never = {"type": "integer"}
    with backend("moonshot", DONE) as fake:
        model = ChatOpenAI(model="kimi-k2", base_url=fake.url, api_key=SecretStr("none"))
        middleware = ToolwireMiddleware(
            dialect="moonshot", on_set_aside=lambda found, _: aside.extend(one.name for one in found)
        )
        agent = create_agent(model, [*tools, tool("never", never)], middleware=[middleware])
        await agent.ainvoke({"messages": messages})
    assert fake.got[0]["messages"][1]["tool_calls"][0]["function"]["name"].startswith("old_tool")
    assert [one["function"]["name"] for one in fake.got[0]["tools"]] == ["files_read"]
    assert aside == ["never"]


def run(agent: Agent[None, str], streams: bool) -> str:
    """Run a pydantic-ai agent."""
    if not streams:
        return agent.run_sync("Read README.md of main.").output

    async def streamed() -> str:
        async with agent.run_stream("Read README.md of main.") as result:
            return await result.get_output()

    return asyncio.run(streamed())


@HOW
def test_pydantic_ai_calls_are_restored(streams: bool) -> None:
    calls: list[Any] = []
    reports: list[Any] = []

    def report(report: Any, sent: Any) -> None:
        reports.append((report.dialect, sent.model, [tool["name"] for tool in sent.tools]))

    tools = toolset_of(TOOLS, lambda *call: served(calls, *call))
    with backend("moonshot", ENCODED, DONE) as fake:
        assert run(pydantic_ai_capability.agent(fake.url, tools, on_report=report), streams) == DONE["text"]
    assert calls == EXPECTED
    assert [bool(body.get("stream")) for body in fake.got] == [streams] * 2
    assert fake.got[1]["messages"][1]["tool_calls"][0]["function"]["name"] == "files_read"
    assert reports == [("moonshot", "kimi-k2", ["files_read"])] * 2


@HOW
def test_pydantic_ai_repairs_or_returns_the_violations(streams: bool) -> None:
    calls: list[Any] = []
    repaired: list[Any] = []
    tools = FunctionToolset[None](list(toolset_of(TOOLS, lambda *call: served(calls, *call)).tools.values()))
    tools.max_retries = 3
    script = [{"name": "files_read", "input": text} for text in (BROKEN, CROOKED)]
    with backend("moonshot", *script, DONE) as fake:
        agent = pydantic_ai_capability.agent(
            fake.url, tools, on_repair=lambda found, _: repaired.extend((call.name, call.valid) for call in found)
        )
        assert run(agent, streams) == DONE["text"]
    assert calls == [("files.read", {"path": "7", "$ref": "main"})]
    assert repaired == [("files.read", False), ("files.read", True)]
    assert "The arguments of `files_read`" in result_of(fake.got[1])


@HOW
def test_pydantic_ai_tools_are_refused_without_toolwire(streams: bool) -> None:
    with backend("moonshot", ENCODED, DONE) as fake:
        model = OpenAIChatModel("kimi-k2", provider=OpenAIProvider(base_url=fake.url, api_key="none"))
        dotted = {"name": "files.read", "description": "d", "inputSchema": {"type": "object", "properties": {}}}
        agent = Agent(model, toolsets=[toolset_of([dotted], lambda *_: "")])
        with pytest.raises(ModelHTTPError, match=r"files\.read"):
            run(agent, streams)


def test_pydantic_ai_streams_interleaved_calls() -> None:
    """Pieces that need no restoring pass at once; other arguments are sent when they are complete."""
    both = [{**ENCODED, "id": "a"}, {"name": "look_up", "input": {"word": "oslo"}, "id": "b"}]
    look = {
        "name": "look.up",
        "description": "d",
        "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}},
    }
    calls: list[Any] = []

    def call(name: str, given: Any) -> str:
        calls.append((name, given))
        return "x"

    tools = toolset_of([*TOOLS, look], call)
    names: list[str] = []
    written = ["", ""]

    async def watch(_: Any, events: Any) -> None:
        async for event in events:
            if isinstance(event, PartStartEvent) and isinstance(event.part, ToolCallPart):
                names.append(event.part.tool_name)
            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, ToolCallPartDelta):
                written[event.index] += str(event.delta.args_delta)

    with backend("moonshot", {"calls": both}, DONE) as fake:
        model = OpenAIChatModel("kimi-k2", provider=OpenAIProvider(base_url=fake.url, api_key="none"))
        agent = Agent(model, toolsets=[tools], capabilities=[Toolwire(dialect="moonshot")])
        agent.run_sync("Go.", event_stream_handler=watch)
    given = {"path": "README.md", "$ref": "main"}
    assert sorted(calls) == [("files.read", given), ("look.up", {"word": "oslo"})]
    assert names == ["files.read", "look.up"]
    assert json.loads(written[0]) == given
    assert written[1] == '{"word": "oslo"}'


def test_tool_is_forced_for_a_thinking_model_unless_its_settings_forbid_it() -> None:
    function = {"name": "files.read", "parameters": {"type": "object", "properties": {}}}
    forced = [{"type": "function", "function": function}]
    turn = Adapter({"dialect": "moonshot"}).turn(forced, choice="files.read", model="kimi-k2.6")
    assert turn.sent_choice("files.read") == "files_read"
    assert turn.sent.model == "kimi-k2.6"


def test_wrong_options_are_errors() -> None:
    with pytest.raises(toolwire.ToolwireError, match="repairs"):
        ToolwireMiddleware(dialect="moonshot", repairs=True)  # type: ignore[call-arg]
    with pytest.raises(toolwire.ToolwireError, match="on_report"):
        ToolwireMiddleware(dialect="moonshot", on_report=3)  # type: ignore[arg-type]
    with pytest.raises(toolwire.ToolwireError, match="on_set_aside"):
        ToolwireMiddleware(dialect="moonshot", on_set_aside=3)  # type: ignore[arg-type]
    with pytest.raises(toolwire.ToolwireError, match="format"):
        ToolwireMiddleware(dialect="moonshot", format="gemini")  # type: ignore[call-arg]


def fastmcp_server(calls: list[Any], *middleware: Any) -> FastMCP[Any]:
    """Make a FastMCP server whose tools have ordinary JSON Schema."""

    class Published(Tool):
        async def run(self, arguments: dict[str, Any]) -> ToolResult:
            return ToolResult(served(calls, self.name, arguments))

    server = FastMCP[Any]("files", middleware=list(middleware))
    for one in TOOLS:
        server.add_tool(
            Published(name=one["name"], description=one["description"], parameters=one["inputSchema"], title="Files")
        )
    return server


def test_fastmcp_calls_are_restored_and_repaired() -> None:
    calls: list[Any] = []
    reports: list[Any] = []
    repaired: list[Any] = []
    middleware = FastMcpMiddleware(
        dialect="moonshot",
        repair=True,
        on_report=lambda report, sent: reports.append((report.dialect, [tool["name"] for tool in sent.tools])),
        on_repair=lambda found, _: repaired.extend((call.name, call.valid) for call in found),
    )

    async def run(server: FastMCP[Any]) -> list[Any]:
        async with fastmcp.Client(server) as client:
            # A client that already knows the list.
            await client.call_tool("files_read", ENCODED["input"])
            listed = await client.list_tools()
            await client.call_tool("files_read", {"path": 7, "dollar_ref_": "main"})
            with pytest.raises(ToolError, match="expected the member `path`"):
                await client.call_tool("files_read", {"dollar_ref_": "main"})
            return [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed]

    listed = asyncio.run(run(fastmcp_server(calls, middleware)))
    assert calls == [*EXPECTED, ("files.read", {"path": "7", "$ref": "main"})]
    assert [valid for _, valid in repaired] == [True, True, False]
    assert toolwire.check_tools(listed, dialects=["moonshot"]) == ()
    assert listed[0]["title"] == "Files"
    assert reports == [("moonshot", ["files_read"])]


def test_fastmcp_lists_the_newest_version_of_a_tool() -> None:
    server = FastMCP[Any]("files", middleware=[FastMcpMiddleware(dialect="moonshot", on_set_aside="error")])
    server.tool(name="look.up", version="1")(lambda word: f"1: {word}")
    server.tool(name="look.up", version="2")(lambda word, case=True: f"2: {word} {case}")

    async def run() -> tuple[list[Any], str]:
        async with fastmcp.Client(server) as client:
            (listed,) = await client.list_tools()
            result = await client.call_tool("look_up", {"word": "oslo"})
            return list(listed.input_schema["properties"]), result.content[0].text

    assert asyncio.run(run()) == (["word", "case"], "2: oslo True")


def test_fastmcp_tools_are_refused_without_toolwire() -> None:
    async def listed(server: FastMCP[Any]) -> list[Any]:
        async with fastmcp.Client(server) as client:
            return [tool.model_dump(by_alias=True, exclude_none=True) for tool in await client.list_tools()]

    tools = asyncio.run(listed(fastmcp_server([])))
    with backend("moonshot", DONE) as fake:
        functions = [{"name": one["name"], "parameters": one["inputSchema"]} for one in tools]
        client = openai.OpenAI(base_url=fake.url, api_key="none")
        entries: Any = [{"type": "function", "function": function} for function in functions]
        with pytest.raises(openai.BadRequestError, match=r"files\.read"):
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}], tools=entries)


def run_agents(agent: Any, streams: bool) -> str:
    """Run an agent of OpenAI's Agents SDK."""

    async def run() -> str:
        if not streams:
            return str((await agents.Runner.run(agent, "Read README.md of main.")).final_output)
        result = agents.Runner.run_streamed(agent, "Read README.md of main.")
        async for _ in result.stream_events():
            pass
        return str(result.final_output)

    return asyncio.run(run())


@HOW
def test_openai_agents_calls_are_restored(streams: bool) -> None:
    calls: list[Any] = []
    reports: list[Any] = []

    def report(report: Any, sent: Any) -> None:
        reports.append((report.dialect, sent.model, [tool["name"] for tool in sent.tools]))

    with backend("moonshot", ENCODED, DONE) as fake:
        agent = openai_agents_model.agent(fake.url, TOOLS, lambda *call: served(calls, *call), on_report=report)
        assert run_agents(agent, streams) == DONE["text"]
    assert calls == EXPECTED
    assert [bool(body.get("stream")) for body in fake.got] == [streams] * 2
    assert fake.got[1]["messages"][1]["tool_calls"][0]["function"]["name"] == "files_read"
    assert reports == [("moonshot", "kimi-k2", ["files_read"])] * 2


@HOW
def test_openai_agents_repairs_or_returns_the_violations(streams: bool) -> None:
    calls: list[Any] = []
    repaired: list[Any] = []
    script = [{"name": "files_read", "input": text} for text in (BROKEN, CROOKED)]
    with backend("moonshot", *script, DONE) as fake:
        agent = openai_agents_model.agent(
            fake.url,
            TOOLS,
            lambda *call: served(calls, *call),
            on_repair=lambda found, _: repaired.extend((call.name, call.valid) for call in found),
        )
        assert run_agents(agent, streams) == DONE["text"]
    assert calls == [("files.read", {"path": "7", "$ref": "main"})]
    assert repaired == [("files.read", False), ("files.read", True)]
    assert "The arguments of `files_read`" in result_of(fake.got[1])


@HOW
def test_openai_agents_tools_are_refused_without_toolwire(streams: bool) -> None:
    with backend("moonshot", ENCODED, DONE) as fake:
        agent = openai_agents_model.agent(fake.url, TOOLS, lambda *_: "")
        agent.model = agents.OpenAIChatCompletionsModel(
            model="kimi-k2", openai_client=openai.AsyncOpenAI(base_url=fake.url, api_key="none")
        )
        with pytest.raises(openai.BadRequestError, match=r"files\.read"):
            run_agents(agent, streams)
