"""One strict tool of your own for OpenAI Responses.

`sanitize` rewrites the schema, and returns the plan with which `restore_arguments` undoes the effects of the
strict mode on the arguments.
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
    """Return the arguments of the model's call, in the form of the tool's own schema."""
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
            # Strict schemas require every property, so the model writes null for those that it omits.
            return restore_arguments(json.loads(item.arguments), REWRITTEN.restore_plan)
    return None
