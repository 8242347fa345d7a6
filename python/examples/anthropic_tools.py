"""The Anthropic SDK with tools from elsewhere: `sanitize_tools` before the request, `restore` after the reply."""

from collections.abc import Callable
from typing import Any

from anthropic import Anthropic
from anthropic.types import MessageParam, ToolResultBlockParam

from toolwire import sanitize_tools


def ask(base_url: str, published: list[Any], call: Callable[[str, Any], str]) -> str:
    """Ask the model until it makes no more calls."""
    client = Anthropic(base_url=base_url, api_key="none")
    sanitized = sanitize_tools(published, dialect="anthropic")
    for aside in sanitized.quarantined:
        print(f"without {aside.name}: {aside.message}")
    tools, restore = sanitized.tools, sanitized.restore

    messages: list[MessageParam] = [{"role": "user", "content": "Read README.md of main."}]
    while True:
        message = client.messages.create(model="claude", max_tokens=1000, messages=messages, tools=tools)
        messages.append({"role": "assistant", "content": message.content})
        results: list[ToolResultBlockParam] = []
        for block in message.content:
            if block.type == "tool_use":
                restored = restore.call(block.name, block.input)
                result = call(restored.name, restored.arguments)
                results.append({"type": "tool_result", "tool_use_id": block.id, "content": result})
        if not results:
            return "".join(block.text for block in message.content if block.type == "text")
        messages.append({"role": "user", "content": results})
