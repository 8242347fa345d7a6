"""Objects of the MCP SDK and other pydantic models are read in their wire format."""

from __future__ import annotations

from typing import Any, Literal
from unittest.mock import MagicMock

import pytest
from mcp import types as mcp
from pydantic import BaseModel, Field, RootModel

import toolwire

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"unit": {"enum": ["c", None], "default": None}}}


def test_the_result_of_list_tools_is_a_tool_list() -> None:
    listed = mcp.ListToolsResult(tools=[mcp.Tool(name="weather", description="Tells it", input_schema=SCHEMA)])
    from_model = toolwire.sanitize_tools(listed, dialect="openai-strict")
    from_dict = toolwire.sanitize_tools(
        listed.model_dump(mode="json", by_alias=True, exclude_none=True), dialect="openai-strict"
    )
    assert from_model.tools == from_dict.tools
    assert from_model.tools[0]["function"]["name"] == "weather"
    # A list of the SDK's tools is accepted, too.
    assert toolwire.sanitize_tools(listed.tools, dialect="openai-strict").tools == from_dict.tools
    assert toolwire.check_tools(listed, dialects=["openai-chat"]) == ()
    assert toolwire.search_tools(listed, "weather") == ["weather"]


class Function(BaseModel):
    type: Literal["function"] = "function"
    name: str
    parameters: dict[str, Any] = Field(alias="inputSchema")
    strict: bool | None = None


def test_models_are_read_at_any_position() -> None:
    tools = {"tools": (Function(name="a", inputSchema=SCHEMA),)}
    assert toolwire.sanitize_tools(tools, dialect="openai-chat").tools[0]["function"]["name"] == "a"
    # Null means absent in a member of a model, and null in a schema.
    schema = toolwire.sanitize(Function(name="a", inputSchema=SCHEMA).parameters, dialect="openai-chat").schema
    assert schema["properties"]["unit"] == SCHEMA["properties"]["unit"]


def test_root_model_is_read_as_its_root() -> None:
    tools = RootModel[list[mcp.Tool]]([mcp.Tool(name="a", input_schema=SCHEMA)])
    assert [tool["function"]["name"] for tool in toolwire.sanitize_tools(tools, dialect="openai-chat").tools] == ["a"]


def test_arguments_may_be_a_model() -> None:
    class Arguments(BaseModel):
        dollar_ref_: str

    tools = [{"name": "show", "inputSchema": {"type": "object", "properties": {"$ref": {"type": "string"}}}}]
    restore = toolwire.sanitize_tools(tools, dialect="moonshot").restore
    call = restore.call("show", Arguments(dollar_ref_="main"))
    assert call.to_dict() == {"name": "show", "arguments": {"$ref": "main"}}


class Odd:
    def __init__(self, dump: object) -> None:
        self.dump = dump

    def model_dump(self, **_: object) -> object:
        if isinstance(self.dump, Exception):
            raise self.dump
        return self.dump


def test_wrong_model_dump_is_refused() -> None:
    for dump, found in ((3, "int"), (None, "None"), (Odd({}), "Odd")):
        with pytest.raises(
            toolwire.ToolwireError, match=rf"expected `model_dump\(\)` of .*Odd.* to return a dict .*{found}"
        ):
            toolwire.sanitize({"properties": {"a": Odd(dump)}}, dialect="codex")
    with pytest.raises(ZeroDivisionError):
        toolwire.sanitize(Odd(ZeroDivisionError()), dialect="codex")
    # An object that has every attribute, but is not a model.
    with pytest.raises(toolwire.ToolwireError, match="a pydantic model, found"):
        toolwire.sanitize(MagicMock(), dialect="codex")
    around: dict[str, Any] = {}
    around["properties"] = {"a": Odd(around)}
    with pytest.raises(toolwire.ToolwireError, match="inside itself"):
        toolwire.sanitize(around, dialect="codex")
