"""Results of `sanitize_tools` and `ToolSet` have the types that the SDKs accept, without a cast.

This file is checked by mypy and pyright, and never run.
"""

from anthropic.types import ToolUnionParam
from google.genai.types import GenerateContentConfig
from openai.types.chat import ChatCompletionToolUnionParam
from openai.types.responses import ToolParam

from toolwire import ToolSet, sanitize_tools

listed = [{"name": "a", "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}}}]
tool_set = ToolSet(listed)

anthropic_tools: list[ToolUnionParam] = sanitize_tools(listed, dialect="anthropic").tools
chat_tools: list[ChatCompletionToolUnionParam] = sanitize_tools(listed, dialect="openai-chat").tools
responses_tools: list[ToolParam] = sanitize_tools(listed, dialect="openai-responses").tools
google = GenerateContentConfig(tools=sanitize_tools(listed, dialect="gemini").tools)

anthropic_set: list[ToolUnionParam] = tool_set.sanitize(dialect="anthropic").tools
chat_set: list[ChatCompletionToolUnionParam] = tool_set.sanitize(dialect="openai-chat").tools
responses_set: list[ToolParam] = tool_set.sanitize(dialect="openai-responses").tools
google_set = GenerateContentConfig(tools=tool_set.sanitize(dialect="gemini").tools)
