"""An answer that follows a schema, from a Claude model without response formats.

Models before Claude 4.5 refuse `output_config.format`. With `formats="ladder"`, the model is forced to call a function
with that schema instead, and the SDK receives the call as a text block.
"""

import json
from typing import Any

import httpx2
from anthropic import Anthropic
from anthropic.types import MessageParam

from toolwire.httpx2 import ToolwireTransport

SCHEMA = {"type": "array", "items": {"type": "string"}}


def cities(base_url: str, streams: bool) -> Any:
    """Ask for a list of cities."""
    http_client = httpx2.Client(transport=ToolwireTransport(dialect="anthropic", formats="ladder"))
    client = Anthropic(base_url=base_url, api_key="none", http_client=http_client)
    messages: list[MessageParam] = [{"role": "user", "content": "The two largest cities of Norway?"}]
    request: dict[str, Any] = {
        "model": "anthropic/claude-3.7-sonnet",
        "max_tokens": 1000,
        "messages": messages,
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    }
    if streams:
        with client.messages.stream(**request) as stream:
            return json.loads("".join(stream.text_stream))
    (block,) = client.messages.create(**request).content
    assert block.type == "text"
    return json.loads(block.text)
