"""LangChain: the model class accepts the SDK's `http_client`, and the tools need no change."""

from collections.abc import Callable
from typing import Any

import httpx2
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from toolwire.httpx2 import ToolwireTransport


def ask(base_url: str, published: list[Any], call: Callable[[str, Any], str]) -> str:
    """Ask the model until it makes no more calls."""
    http_client = httpx2.Client(transport=ToolwireTransport(dialect="moonshot"))
    model = ChatOpenAI(model="kimi-k2", base_url=base_url, api_key=SecretStr("none"), http_client=http_client)

    def tool(published: dict[str, Any]) -> StructuredTool:
        name, schema = published["name"], published["inputSchema"]
        return StructuredTool.from_function(
            lambda **given: call(name, given), name=name, description=published["description"], args_schema=schema
        )

    tools = {one["name"]: tool(one) for one in published}
    asking = model.bind_tools(list(tools.values()))
    messages: list[AnyMessage] = [HumanMessage("Read README.md of main.")]
    while True:
        answer = asking.invoke(messages)
        assert isinstance(answer, AIMessage)
        messages.append(answer)
        if not answer.tool_calls:
            return str(answer.text)
        for one in answer.tool_calls:
            result = tools[one["name"]].invoke(one["args"])
            messages.append(ToolMessage(result, tool_call_id=one["id"]))
