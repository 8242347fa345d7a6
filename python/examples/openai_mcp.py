"""The tools of an MCP server for OpenAI Chat Completions, or any API with that protocol.

The steps are `tools/list`, `sanitize_tools`, the call, `restore`, `tools/call`.
"""

import json

from mcp import ClientSession
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessageFunctionToolCall, ChatCompletionMessageParam

from toolwire import sanitize_tools
from toolwire.types import DialectName


async def ask(base_url: str, server: ClientSession, dialect: DialectName) -> str | None:
    """Ask the model until it makes no more calls."""
    client = AsyncOpenAI(base_url=base_url, api_key="none")
    sanitized = sanitize_tools(await server.list_tools(), dialect=dialect)
    for aside in sanitized.quarantined:
        print(f"without {aside.name}: {aside.message}")
    tools, restore = sanitized.tools, sanitized.restore

    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Read README.md of main."}]
    while True:
        reply = await client.chat.completions.create(model="kimi-k2", messages=messages, tools=tools)
        message = reply.choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message.model_dump(exclude_none=True))  # type: ignore[arg-type]
        for call in message.tool_calls:
            assert isinstance(call, ChatCompletionMessageFunctionToolCall)
            restored = restore.call(call.function.name, call.function.arguments)
            result = await server.call_tool(restored.name, json.loads(restored.arguments))
            text = json.dumps(result.model_dump(mode="json", exclude_none=True)["content"])
            messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
