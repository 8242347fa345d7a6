"""LangChain's agents with a middleware, for a model class that accepts no HTTP client."""

from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from toolwire.langchain import ToolwireMiddleware


def ask(base_url: str, published: list[Any], call: Callable[[str, Any], str], **options: Any) -> str:
    """Run an agent whose tools are sent in a dialect and called with restored arguments."""

    def tool(one: dict[str, Any]) -> StructuredTool:
        name, schema = one["name"], one["inputSchema"]
        return StructuredTool.from_function(
            lambda **given: call(name, given), name=name, description=one["description"], args_schema=schema
        )

    model = ChatOpenAI(model="kimi-k2", base_url=base_url, api_key=SecretStr("none"), **options.pop("model", {}))
    middleware = ToolwireMiddleware(dialect="moonshot", repair=True, **options)
    agent = create_agent(model, [tool(one) for one in published], middleware=[middleware])
    result = agent.invoke({"messages": [HumanMessage("Read README.md of main.")]})
    return str(result["messages"][-1].text)
