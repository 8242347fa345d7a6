"""The Google SDK: sends MCP tools as function declarations, and restores the model's call."""

from typing import Any

from google import genai
from google.genai import types

from toolwire import sanitize_tools


def ask(base_url: str, published: list[Any]) -> list[dict[str, Any]]:
    """Return the model's calls in the form that the tools' own servers expect."""
    client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=base_url))
    sanitized = sanitize_tools(published, dialect="gemini-json-schema")
    reply = client.models.generate_content(
        model="gemini-3-pro",
        contents="Read README.md of main.",
        config=types.GenerateContentConfig(tools=sanitized.tools),
    )
    restore = sanitized.restore.call
    return [restore(call.name or "", call.args or {}).to_dict() for call in reply.function_calls or []]
