"""Every example against a fake of its API: the requests, the calls to the tool's own server, and the final answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anthropic
import anthropic_deferred
import anthropic_formats
import anthropic_tools
import codex_to_chat
import google_formats
import google_genai
import google_genai_interactions
import httpx2
import langchain_tools
import openai
import openai_formats
import openai_mcp
import openai_responses
import pydantic_ai_repair
import pydantic_ai_seams
import pydantic_ai_transport
import pytest
from anthropic import Anthropic
from fake.backend import backend
from fake.server import TOOLS, served, server
from google.genai.errors import ClientError
from mcp import Client
from openai import OpenAI

from toolwire.httpx2 import ToolwireTransport
from toolwire.types import DialectName

GIVEN = {"path": "README.md", "$ref": "main"}
# The model's call to the tool in a dialect that renames `$ref`.
ENCODED = {"name": "files_read", "input": {"path": "README.md", "dollar_ref_": "main"}}
PLAIN = {"name": "files_read", "input": GIVEN}
EXPECTED = [("files.read", GIVEN)]
SHOWN = [("files_read", ["path", "dollar_ref_", "encoding"])]
# Members in which the APIs and Google's SDK have the schema.
KEYS = ("parametersJsonSchema", "parameters_json_schema", "parameters", "input_schema")
DONE = {"text": "It says: any model."}


def tools_of(body: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Return the names of the tools of a request, and of their parameters."""
    shown = []
    for entry in body["tools"]:
        for tool in entry.get("functionDeclarations", [entry.get("function", entry)]):
            schema = next(tool[key] for key in KEYS if key in tool)
            shown.append((tool["name"], list(schema["properties"])))
    return shown


@pytest.mark.parametrize("dialect", ["anthropic", "moonshot", "gemini", "openai-chat"])
def test_published_schemas_are_refused(dialect: DialectName) -> None:
    with backend(dialect) as fake:
        body = {"model": "m", "max_tokens": 1, "messages": [], "tools": TOOLS}
        assert httpx2.post(f"{fake.url}/v1/messages", json=body).status_code == 400
        assert fake.got == []


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_anthropic_deferred(streams: bool) -> None:
    search = {"name": "tool_search", "input": {"query": "meeting room"}}
    calls: list[Any] = []

    def call(name: str, given: object) -> str:
        calls.append((name, given))
        return "booked"

    with backend("moonshot", search, {"name": "book_room", "input": {"room": "Oslo"}}, DONE) as fake:
        messages = anthropic_deferred.book(fake.url, streams, call)
    assert calls == [("book.room", {"room": "Oslo"})]
    # The agent sent two requests, and the backend received three. Found tools remain loaded.
    names = [[name for name, _ in tools_of(body)] for body in fake.got]
    assert names == [["tool_search"], ["tool_search", "book_room"], ["tool_search", "book_room"]]
    kinds = [[block.type for block in message["content"]] for message in messages[1::2]]  # type: ignore[union-attr]
    assert kinds == [["server_tool_use", "tool_search_tool_result", "tool_use"], ["text"]]
    # The messages before the call stay the same after it, so that the prompt cache hits.
    assert fake.got[2]["messages"][: len(fake.got[1]["messages"])] == fake.got[1]["messages"]


def test_anthropic_tools() -> None:
    calls: list[Any] = []
    with backend("anthropic", PLAIN, DONE) as fake:
        assert anthropic_tools.ask(fake.url, TOOLS, lambda *call: served(calls, *call)) == DONE["text"]
    assert calls == EXPECTED
    assert tools_of(fake.got[0])[0][0] == "files_read"


def test_openai_mcp() -> None:
    calls: list[Any] = []

    async def run(url: str) -> str | None:
        async with Client(server(calls)) as client:
            return await openai_mcp.ask(url, client.session, "moonshot")

    with backend("moonshot", ENCODED, DONE) as fake:
        assert asyncio.run(run(fake.url)) == DONE["text"]
    assert calls == EXPECTED
    assert tools_of(fake.got[0]) == SHOWN


def test_openai_responses() -> None:
    with backend("openai-strict", {"name": "forecast", "input": {"city": "Oslo", "days": None}}) as fake:
        assert openai_responses.forecast(fake.url) == {"city": "Oslo"}
    assert fake.got[0]["tools"][0]["parameters"]["required"] == ["city", "days"]


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_openai_formats(streams: bool) -> None:
    with backend("deepseek", {"name": "give_answer", "input": {"response": ["Oslo", "Bergen"]}}) as fake:
        with pytest.raises(openai.BadRequestError, match="This response_format type is unavailable now"):
            OpenAI(base_url=fake.url, api_key="none").chat.completions.create(
                model="deepseek-chat",
                messages=[{"role": "user", "content": "The two largest cities of Norway?"}],
                response_format=openai_formats.FORMAT,
            )
        assert openai_formats.cities(fake.url, streams) == ["Oslo", "Bergen"]
    assert fake.got[0]["tool_choice"] == {"type": "function", "function": {"name": "give_answer"}}


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_anthropic_formats(streams: bool) -> None:
    with backend("anthropic", {"name": "give_answer", "input": {"response": ["Oslo", "Bergen"]}}) as fake:
        assert anthropic_formats.cities(fake.url, streams) == ["Oslo", "Bergen"]
    assert "output_config" not in fake.got[0]
    choice = {"type": "tool", "name": "give_answer", "disable_parallel_tool_use": True}
    assert fake.got[0]["tool_choice"] == choice


def test_google_formats() -> None:
    with backend("gemini-json-schema", {"name": "give_answer", "input": {"city": "Rome"}}) as fake:
        with pytest.raises(ClientError, match="Function calling with a response mime type"):
            google_formats.place(fake.url, None)
        assert google_formats.place(fake.url, google_formats.ladder()) == {"city": "Rome"}
    assert fake.got[0]["toolConfig"] == {"functionCallingConfig": {"mode": "ANY"}}


def test_codex_to_chat() -> None:
    script = [
        {"name": "exec", "input": {"input": "text(1)"}},
        {"name": "crew__spawn_agent", "input": {"task": "tests"}},
    ]
    parameters = {"type": "object", "properties": {"task": {"type": "string"}}, "required": ["task"]}
    exec_ = {"type": "custom", "name": "exec", "description": "Runs JavaScript"}
    spawn = {"type": "function", "name": "spawn_agent", "strict": False, "parameters": parameters}
    spaces = {"functions": [exec_], "crew": [spawn]}
    tools = [{"type": "namespace", "name": name, "tools": inner} for name, inner in spaces.items()]
    history: list[Any] = [{"type": "additional_tools", "role": "developer", "tools": tools}]
    history.append({"role": "user", "content": "Run the tests."})
    turns = []
    with backend("openai-chat", *script, DONE) as fake:

        def answer(request: httpx2.Request) -> httpx2.Response:
            return httpx2.Response(200, json=codex_to_chat.answered(fake.url, json.loads(request.content)))

        gateway = httpx2.Client(transport=httpx2.MockTransport(answer))
        codex = OpenAI(base_url="http://gateway.test", api_key="none", http_client=gateway)
        for _ in range(3):
            reply = codex.responses.create(model="m", input=history, parallel_tool_calls=False, store=False)
            (item,) = [output.model_dump(exclude_none=True) for output in reply.output]
            turns.append(item)
            history.append(item)
            if item["type"] != "message":
                history.append({"type": f"{item['type']}_output", "call_id": item["call_id"], "output": "done"})
    assert [(turn["type"], turn.get("name"), turn.get("namespace")) for turn in turns] == [
        ("custom_tool_call", "exec", None),
        ("function_call", "spawn_agent", "crew"),
        ("message", None, None),
    ]
    assert turns[0]["input"] == "text(1)"
    # The backend never receives a namespace, and each request starts with the messages of the previous one.
    assert [[name for name, _ in tools_of(body)] for body in fake.got] == [["exec", "crew__spawn_agent"]] * 3
    assert fake.got[2]["messages"][: len(fake.got[1]["messages"])] == fake.got[1]["messages"]


def test_google_genai() -> None:
    with backend("gemini-json-schema", {**PLAIN, "name": "files.read"}) as fake:
        assert google_genai.ask(fake.url, TOOLS) == [{"name": "files.read", "arguments": GIVEN}]
    assert tools_of(fake.got[0]) == [("files.read", ["path", "$ref", "encoding"])]


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_google_genai_interactions(streams: bool) -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    tools = [
        {"type": "tool_search"},
        {"type": "function", "name": "files/read", "description": "Reads", "defer_loading": True, "parameters": schema},
    ]
    given = {"path": "README.md"}
    with backend("gemini-interactions", {"name": "files_read", "input": given}) as fake:
        called = google_genai_interactions.ask(fake.url, tools, streams=streams)
    assert called == [("files/read", json.dumps(given) if streams else given)]
    # The backend is not known to support deferred functions, so all are loaded, under names that the API accepts.
    assert tools_of(fake.got[0]) == [("files_read", ["path"])]


def test_langchain_tools() -> None:
    # LangChain itself mistakes a property named `$ref` for a reference, so this tool has none.
    schema = {**TOOLS[0]["inputSchema"], "properties": {"path": {"type": "string"}, "encoding": {"const": "utf-8"}}}
    published = [{**TOOLS[0], "inputSchema": schema}]
    calls: list[Any] = []
    called = {"name": "files_read", "input": {"path": "README.md"}}
    with backend("moonshot", called, DONE) as fake:
        assert langchain_tools.ask(fake.url, published, lambda *call: served(calls, *call)) == DONE["text"]
    assert calls == [("files.read", called["input"])]
    assert tools_of(fake.got[0]) == [("files_read", ["path", "encoding"])]


def test_pydantic_ai_transport() -> None:
    calls: list[Any] = []
    toolset = pydantic_ai_seams.toolset_of(TOOLS, lambda *call: served(calls, *call))
    with backend("moonshot", ENCODED, DONE) as fake:
        assert pydantic_ai_transport.ask(fake.url, toolset) == DONE["text"]
    assert calls == EXPECTED
    assert tools_of(fake.got[0]) == SHOWN


def test_pydantic_ai_seams() -> None:
    calls: list[Any] = []
    # The extension points do not change names, so this name is already legal.
    published = [{**TOOLS[0], "name": "files_read"}]
    toolset = pydantic_ai_seams.toolset_of(published, lambda _, given: served(calls, "files.read", given))
    with backend("moonshot", ENCODED, DONE) as fake:
        assert pydantic_ai_seams.ask(fake.url, toolset) == DONE["text"]
    assert calls == EXPECTED
    assert tools_of(fake.got[0]) == SHOWN


def test_pydantic_ai_repair() -> None:
    answers: list[Any] = [
        # Not JSON; a list in a string and a misspelt name; not repairable; truncated; finally valid.
        "{'paths': ['a.txt',],}",
        {"paths": '["a.txt", "b.txt"]', "dryRun": "true"},
        {"path": "a.txt"},
        '{"paths": ["a.txt", "b.t',
        {"paths": ["b.txt"]},
    ]
    calls: list[Any] = []

    def call(paths: list[str], dry_run: bool) -> str:
        calls.append((paths, dry_run))
        return f"deleted {len(calls)}"

    script = [{"name": "delete_files", "input": answer} for answer in answers]
    with backend("openai-chat", *script, DONE) as fake:
        assert pydantic_ai_repair.clean(f"{fake.url}/v1", call) == DONE["text"]
    assert calls == [(["a.txt"], False), (["a.txt", "b.txt"], True), (["b.txt"], False)]
    results = [message["content"] for message in fake.got[-1]["messages"] if message["role"] == "tool"]
    assert [results[0], results[1], results[4]] == ["deleted 1", "deleted 2", "deleted 3"]
    assert "arguments of `delete_files` do not match" in results[2]
    assert "expected the member `paths`" in results[2]
    assert "The tool was not run: expected JSON, found truncated text (truncated" in results[3]


def test_sdks_treat_an_unadaptable_request_as_a_bad_request_and_do_not_retry() -> None:
    calls: list[str] = []

    class Counted(ToolwireTransport):
        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            calls.append(str(request.url))
            response: httpx2.Response = super().handle_request(request)
            return response

    def backend_is_never_asked(request: httpx2.Request) -> httpx2.Response:
        raise AssertionError(request.url)

    transport = Counted(httpx2.MockTransport(backend_is_never_asked), on_set_aside="error")
    http_client = httpx2.Client(transport=transport)
    schema: Any = {"type": "string"}
    claude = Anthropic(api_key="none", http_client=http_client)
    with pytest.raises(anthropic.BadRequestError, match="`bad` at `/tools/0/input_schema` for `anthropic`"):
        claude.messages.create(
            model="claude",
            max_tokens=1,
            messages=[{"role": "user", "content": "go"}],
            tools=[{"name": "bad", "input_schema": schema}],
        )
    assert len(calls) == 1
    gpt = OpenAI(api_key="none", http_client=http_client)
    with pytest.raises(openai.BadRequestError) as raised:
        gpt.chat.completions.create(
            model="gpt-5",
            messages=[{"role": "user", "content": "go"}],
            tools=[{"type": "function", "function": {"name": "bad", "parameters": schema}}],
        )
    assert (raised.value.code, raised.value.param) == ("not-representable", "/tools/0/function/parameters")
    assert len(calls) == 2
