"""OpenAI's Agents SDK with a wrapped model, if the model accepts no HTTP client or is created elsewhere."""

from collections.abc import Callable
from typing import Any

from agents import Agent, FunctionTool, OpenAIChatCompletionsModel
from agents.tool_context import ToolContext
from openai import AsyncOpenAI
from pydantic_core import from_json

from toolwire.openai_agents import ToolwireModel


def agent(base_url: str, published: list[Any], call: Callable[[str, Any], str], **options: Any) -> Agent[None]:
    """Make an agent whose tools are sent in a dialect and called with restored arguments."""
    client = AsyncOpenAI(base_url=base_url, api_key="none")
    inner = OpenAIChatCompletionsModel(model="kimi-k2", openai_client=client)
    model = ToolwireModel(inner, dialect="moonshot", repair=True, **options)

    def tool(one: dict[str, Any]) -> FunctionTool:
        async def invoke(_: ToolContext[Any], text: str) -> str:
            return call(one["name"], from_json(text))

        return FunctionTool(
            name=one["name"],
            description=one["description"],
            params_json_schema=one["inputSchema"],
            on_invoke_tool=invoke,
            strict_json_schema=False,
            # A call that could not be repaired does not run. Instead, the model receives a message that states what was
            # expected.
            tool_input_guardrails=[model.guardrail],
        )

    return Agent(name="files", tools=[tool(one) for one in published], model=model)
