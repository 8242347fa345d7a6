"""An MCP server in this process, whose tools have ordinary JSON Schema that no model API accepts unchanged.

It refuses arguments that do not fit the published schema, and records the calls.
"""

from __future__ import annotations

from typing import Any

from mcp import types
from mcp.server.lowlevel import Server

# A name with a dot, a property named like a keyword, a constant without a type.
TOOLS: list[dict[str, Any]] = [
    {
        "name": "files.read",
        "description": "Reads a file of a commit",
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "$ref": {"type": "string", "description": "A Git reference"},
                "encoding": {"const": "utf-8"},
            },
            "required": ["path"],
            "additionalProperties": False,
        },
    }
]


def served(calls: list[Any], name: str, given: dict[str, Any]) -> str:
    """Accept a call if it fits the published schema."""
    properties = next(tool["inputSchema"]["properties"] for tool in TOOLS if tool["name"] == name)
    strange = [key for key in given if key not in properties]
    assert not strange, f"no such argument: {strange[0]}"
    calls.append((name, given))
    return "Any tool schema, any model."


def server(calls: list[Any]) -> Server[Any]:
    """Make the server; `mcp.Client` connects to it in this process."""

    async def list_tools(*_: object) -> types.ListToolsResult:
        return types.ListToolsResult.model_validate({"tools": TOOLS})

    async def call_tool(_: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        text = served(calls, params.name, params.arguments or {})
        return types.CallToolResult.model_validate({"content": [{"type": "text", "text": text}]})

    return Server("files", on_list_tools=list_tools, on_call_tool=call_tool)
