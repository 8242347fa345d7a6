"""The Google SDK's Interactions: the transport adapts requests, and restores replies, whole and streamed."""

from typing import Any

from google import genai
from google.genai import types

from toolwire.httpx2 import ToolwireTransport


def ask(base_url: str, tools: list[Any], *, streams: bool) -> list[tuple[str, Any]]:
    """Return the names of the called functions, and their arguments as the SDK represents them."""
    # For Google's own host the dialect is known, and `deferred={"native": "auto"}` keeps deferred functions.
    transport = ToolwireTransport(dialect="gemini-interactions")
    options = types.HttpOptions(base_url=base_url, client_args={"transport": transport})
    client: Any = genai.Client(api_key="none", http_options=options)
    question = "Read README.md of main."
    answer = client.interactions.create(model="gemini-3-pro", input=question, tools=tools, stream=streams)
    if not streams:
        return [(step.name, step.arguments) for step in answer.steps if step.type == "function_call"]
    calls: list[tuple[str, Any]] = []
    for event in answer:
        if event.event_type == "step.start" and event.step.type == "function_call":
            calls.append((event.step.name, ""))
        elif event.event_type == "step.delta" and event.delta.type == "arguments_delta":
            name, pieces = calls[-1]
            calls[-1] = (name, pieces + event.delta.arguments)
    return calls
