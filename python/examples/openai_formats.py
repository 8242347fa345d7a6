"""An answer that follows a schema, from an API that does not support schemas for answers.

DeepSeek's Chat Completions refuses `response_format` with a schema. With `formats="ladder"`, the model is forced to
call a function with that schema instead, and the SDK receives the call as the answer's text.
"""

import json
from typing import Any

import httpx2
from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam
from openai.types.shared_params import ResponseFormatJSONSchema

from toolwire.httpx2 import ToolwireTransport

FORMAT: ResponseFormatJSONSchema = {
    "type": "json_schema",
    "json_schema": {
        "name": "cities",
        "schema": {"type": "array", "items": {"type": "string"}},
    },
}


def cities(base_url: str, streams: bool) -> Any:
    """Ask for a list of cities."""
    http_client = httpx2.Client(transport=ToolwireTransport(dialect="deepseek", formats="ladder"))
    client = OpenAI(base_url=base_url, api_key="none", http_client=http_client)
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": "The two largest cities of Norway?"}]
    if not streams:
        reply = client.chat.completions.create(model="deepseek-chat", messages=messages, response_format=FORMAT)
        return json.loads(reply.choices[0].message.content or "")
    text = ""
    for chunk in client.chat.completions.create(
        model="deepseek-chat", messages=messages, response_format=FORMAT, stream=True
    ):
        for choice in chunk.choices:
            text += choice.delta.content or ""
    return json.loads(text)
