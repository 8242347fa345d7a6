"""One tool of your own for OpenAI Responses, strict.

`sanitize` writes the schema, and leaves the plan by which `restore_arguments` takes out what the strict
mode made the model write.
"""

import json
from typing import Any

from openai import OpenAI
from openai.types.responses import FunctionToolParam

from toolwire import restore_arguments, sanitize

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["city"],
}
REWRITTEN = sanitize(SCHEMA, dialect="openai-strict")


def forecast(base_url: str) -> Any:
    """Give the arguments of the model's call, as the tool's own schema has them."""
    client = OpenAI(base_url=base_url, api_key="none")
    tool: FunctionToolParam = {
        "type": "function",
        "name": "forecast",
        "description": "What the weather will be",
        "parameters": REWRITTEN.schema,
        "strict": True,
    }
    reply = client.responses.create(model="gpt-5", input="The weather in Oslo?", tools=[tool])
    for item in reply.output:
        if item.type == "function_call":
            # Strict schemas require everything, so the model says null for what it leaves out.
            return restore_arguments(json.loads(item.arguments), REWRITTEN.restore_plan)
    return None
