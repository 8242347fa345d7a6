"""The Python SDK 1.x: ``python1.py server``, or ``python1.py client VERSION COMMAND…``."""

from __future__ import annotations

import sys
from typing import Any

import anyio
from features import SCENARIO, say, use
from mcp import ClientSession, StdioServerParameters, stdio_client, types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import McpError
from pydantic import AnyUrl

server: Server[Any] = Server("python1", version="1")
server.experimental.enable_tasks()
cancelled = 0


def result(said: str, **more: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=said)], **more)


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    return [types.Tool.model_validate(tool) for tool in SCENARIO["tools"]]


@server.call_tool(validate_input=False)
async def call_tool(name: str, arguments: dict[str, Any]) -> Any:
    global cancelled  # noqa: PLW0603
    context = server.request_context
    session = context.session
    match name:
        case "math.add":
            total = arguments["a"] + (arguments.get("b") or 0)
            return result(str(total), structuredContent={"sum": total})
        case "broken":
            return result("out of paper", isError=True)
        case "count":
            assert context.meta is not None
            for done in (1, 2, 3):
                await session.send_progress_notification(context.meta.progressToken or 0, done, 3)
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
            message = SCENARIO["sampling"]["messages"][0]
            answer = await session.create_message([types.SamplingMessage.model_validate(message)], max_tokens=10)
            assert isinstance(answer.content, types.TextContent)
            return result(answer.content.text)
        case "ask":
            asked = SCENARIO["elicitation"]
            answer = await session.elicit_form(asked["message"], asked["requestedSchema"])
            return result(f"{answer.action} {(answer.content or {}).get('name')}")
        case "later":
            if not context.experimental.is_task:
                return result("done now")

            async def work(_: Any) -> types.CallToolResult:
                await anyio.sleep(0.2)
                return result("done later")

            return await context.experimental.run_task(work)
        case "view":
            return result("shown")
    return result("no such tool", isError=True)


@server.list_resources()
async def list_resources() -> list[types.Resource]:
    return [types.Resource.model_validate(one) for one in SCENARIO["resources"]]


@server.list_resource_templates()
async def list_resource_templates() -> list[types.ResourceTemplate]:
    return [types.ResourceTemplate.model_validate(one) for one in SCENARIO["resourceTemplates"]]


async def read_resource(request: types.ReadResourceRequest) -> types.ServerResult:
    found = SCENARIO["contents"].get(str(request.params.uri))
    if found is None:
        raise McpError(types.ErrorData(code=-32002, message="Resource not found"))
    contents = [types.TextResourceContents.model_validate(found)]
    return types.ServerResult(types.ReadResourceResult(contents=contents))


server.request_handlers[types.ReadResourceRequest] = read_resource


@server.list_prompts()
async def list_prompts() -> list[types.Prompt]:
    return [types.Prompt.model_validate(one) for one in SCENARIO["prompts"]]


@server.get_prompt()
async def get_prompt(_: str, arguments: dict[str, str] | None) -> types.GetPromptResult:
    content = types.TextContent(type="text", text=f"Hello, {(arguments or {}).get('who')}")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


async def serve() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


class Client:
    """The session, with the methods whose names or arguments differ between the SDKs."""

    def __init__(self, session: ClientSession) -> None:
        self.session = session

    def __getattr__(self, name: str) -> Any:
        return getattr(self.session, name)

    async def read_resource(self, uri: str) -> types.ReadResourceResult:
        return await self.session.read_resource(AnyUrl(uri))

    def structured(self, found: types.CallToolResult) -> Any:
        return found.structuredContent

    def is_error(self, found: types.CallToolResult) -> bool:
        return found.isError

    def mime(self, page: types.TextResourceContents) -> str | None:
        return page.mimeType

    def template(self, found: types.ListResourceTemplatesResult) -> str:
        return found.resourceTemplates[0].uriTemplate

    async def cancelled_call(self, name: str) -> None:
        # This SDK does not cancel requests itself.
        number = self.session._request_id  # noqa: SLF001
        async with anyio.create_task_group() as group:
            group.start_soon(self.session.call_tool, name, {})
            await anyio.sleep(0.3)
            params = types.CancelledNotificationParams(requestId=number, reason="no longer needed")
            notification = types.CancelledNotification(params=params)
            await self.session.send_notification(types.ClientNotification(notification))
            group.cancel_scope.cancel()

    async def task(self, name: str) -> types.CallToolResult:
        created = await self.session.experimental.call_tool_as_task(name, {}, ttl=60_000)
        async for status in self.session.experimental.poll_task(created.task.taskId):
            assert status.status in ("working", "completed"), status
        return await self.session.experimental.get_task_result(created.task.taskId, types.CallToolResult)


async def sampled(_: Any, __: types.CreateMessageRequestParams) -> types.CreateMessageResult:
    return types.CreateMessageResult(
        role="assistant", content=types.TextContent(type="text", text="Rome"), model="none"
    )


async def asked(_: Any, __: types.ElicitRequestParams) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def connect(command: str, *line: str) -> None:
    parameters = StdioServerParameters(command=command, args=list(line))
    async with stdio_client(parameters) as (read, write):
        async with ClientSession(read, write, sampling_callback=sampled, elicitation_callback=asked) as session:
            try:
                await session.initialize()
            except Exception as found:
                say("connect", "fails", str(found))
                return
            await use(Client(session))


if sys.argv[1] == "server":
    anyio.run(serve)
else:
    anyio.run(connect, *sys.argv[3:])
