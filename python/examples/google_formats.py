"""An answer that follows a schema, from a Gemini model that does not support this together with functions.

Models before Gemini 3 refuse JSON as the type of the answer if the request has functions. With `formats="ladder"`, the
answer becomes one more function, and the SDK receives the call to that function as text.
"""

from typing import Any

from google import genai
from google.genai import types

from toolwire.httpx2 import ToolwireTransport

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
LOOK_UP = types.FunctionDeclaration(
    name="look_up",
    description="Looks up a place",
    parameters_json_schema={"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
)


def place(base_url: str, transport: ToolwireTransport | None) -> Any:
    """Ask where something is."""
    options = types.HttpOptions(base_url=base_url, client_args={"transport": transport} if transport else None)
    client = genai.Client(api_key="none", http_options=options)
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[LOOK_UP])],
        response_mime_type="application/json",
        response_json_schema=SCHEMA,
    )
    reply = client.models.generate_content(model="gemini-2.5-flash", contents="Where is the Colosseum?", config=config)
    return reply.parsed


def ladder() -> ToolwireTransport:
    """Make the transport that works around this limitation."""
    return ToolwireTransport(dialect="gemini-json-schema", formats="ladder")
