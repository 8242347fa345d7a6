"""The Python SDK 2.x: ``python2.py server``, or ``python2.py client VERSION COMMAND…``."""

from __future__ import annotations

import sys
from typing import Any

import anyio
import mcp_types as types
from features import SCENARIO, say, use
from mcp import Client as SdkClient
from mcp import MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

MODERN = "2026-07-28"
cancelled = 0


def result(said: str, **more: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=said)], **more)


async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
    return types.ListToolsResult.model_validate({"tools": SCENARIO["tools"]})


async def call_tool(context: Any, params: types.CallToolRequestParams) -> Any:
    global cancelled  # noqa: PLW0603
    arguments = params.arguments or {}
    session = context.session
    answers = params.input_responses or {}
    match params.name:
        case "math.add":
            total = arguments["a"] + (arguments.get("b") or 0)
            return result(str(total), structured_content={"sum": total})
        case "broken":
            return result("out of paper", is_error=True)
        case "count":
            for done in (1, 2, 3):
                await session.report_progress(done, 3)
                await anyio.sleep(0.05)
            return result("counted")
        case "wait":
            try:
                await anyio.sleep(20)
            except anyio.get_cancelled_exc_class():
                cancelled += 1
                raise
        case "cancelled":
            return result(str(cancelled))
        case "sample":
            sampling = types.CreateMessageRequestParams.model_validate(SCENARIO["sampling"])
            if context.protocol_version != MODERN:
                answer = await session.create_message(sampling.messages, max_tokens=10)
            elif "city" in answers:
                answer = answers["city"]
            else:
                return types.InputRequiredResult(input_requests={"city": types.CreateMessageRequest(params=sampling)})
            return result(answer.content.text)
        case "ask":
            asked = types.ElicitRequestFormParams.model_validate(SCENARIO["elicitation"])
            if context.protocol_version != MODERN:
                answer = await session.elicit_form(asked.message, asked.requested_schema)
            elif "name" in answers:
                answer = answers["name"]
            else:
                return types.InputRequiredResult(input_requests={"name": types.ElicitRequest(params=asked)})
            return result(f"{answer.action} {(answer.content or {}).get('name')}")
        case "later":
            return result("done now")
        case "view":
            return result("shown")
    return result("no such tool", is_error=True)


async def list_resources(_: Any, __: Any) -> types.ListResourcesResult:
    return types.ListResourcesResult.model_validate({"resources": SCENARIO["resources"]})


async def list_templates(_: Any, __: Any) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult.model_validate({"resourceTemplates": SCENARIO["resourceTemplates"]})


async def read_resource(_: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    found = SCENARIO["contents"].get(str(params.uri))
    if found is None:
        raise MCPError(-32602, "Resource not found")
    return types.ReadResourceResult.model_validate({"contents": [found]})


async def list_prompts(_: Any, __: Any) -> types.ListPromptsResult:
    return types.ListPromptsResult.model_validate({"prompts": SCENARIO["prompts"]})


async def get_prompt(_: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    content = types.TextContent(text=f"Hello, {(params.arguments or {}).get('who')}")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


async def serve() -> None:
    server = Server(
        "python2",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


class Client:
    """The client, with the methods whose names or arguments differ between the SDKs."""

    def __init__(self, client: SdkClient) -> None:
        self.client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def structured(self, found: types.CallToolResult) -> Any:
        return found.structured_content

    def is_error(self, found: types.CallToolResult) -> bool:
        return bool(found.is_error)

    def mime(self, page: types.TextResourceContents) -> str | None:
        return page.mime_type

    def template(self, found: types.ListResourceTemplatesResult) -> str:
        return found.resource_templates[0].uri_template

    async def cancelled_call(self, name: str) -> None:
        with anyio.move_on_after(0.3):
            await self.client.call_tool(name, {})

    async def task(self, _: str) -> types.CallToolResult:
        raise NotImplementedError("this SDK has no tasks")


async def sampled(_: Any, __: Any) -> types.CreateMessageResult:
    return types.CreateMessageResult(role="assistant", content=types.TextContent(text="Rome"), model="none")


async def asked(_: Any, __: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def connect(version: str, command: str, *line: str) -> None:
    transport = stdio_client(StdioServerParameters(command=command, args=list(line)))
    mode = version if version == MODERN else "legacy"
    try:
        async with SdkClient(transport, mode=mode, sampling_callback=sampled, elicitation_callback=asked) as client:
            await use(Client(client))
    except Exception as found:
        say("connect", "fails", repr(found))


if sys.argv[1] == "server":
    anyio.run(serve)
else:
    anyio.run(connect, *sys.argv[2:])
