"""Clients and servers of the MCP SDK in different versions of the protocol, with ``toolwire proxy`` between them."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

ROOT = Path(__file__).parents[3]
PROGRAM = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "toolwire"

MODES = [("legacy", "2025"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")]

SERVER = """
import sys
from typing import Annotated
from mcp.server.mcpserver import MCPServer
from pydantic import Field

server = MCPServer("files")

@server.tool()
def read(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})], lines: list[int]) -> str:
    return f"{region} {lines}"

@server.resource("test://one")
def one() -> str:
    return "first"

server.run(*sys.argv[1:])
"""

LEGACY_SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    info = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "resources": {}},
            "serverInfo": {"name": "s", "version": "1"}}
    schema = {"type": "object", "properties": {"region": {"type": "string"}, "lines": {"type": "array"}}}
    call = message.get("params", {}).get("arguments", {})
    results = {
        "initialize": info,
        "tools/list": {"tools": [{"name": "read", "inputSchema": schema}]},
        "tools/call": {"content": [{"type": "text", "text": f"{call.get('region')} {call.get('lines')}"}]},
        "resources/read": {"contents": [{"uri": "test://one", "text": "first"}]},
    }
    result = results.get(message["method"])
    body = {"result": result} if result else {"error": {"code": -32601, "message": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
"""


@contextmanager
def listening(line: list[str]) -> Iterator[str]:
    """Start a program, and return the address at which it listens."""
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True) as process:
        found = (re.search(r"(?:listening|running) on (\S+)", text) for text in process.stderr or [])
        yield next(match[1] for match in found if match)
        process.kill()


async def used(target: Any, mode: Any) -> tuple[str, str, str]:
    """Use a server as a client of a version, and return the version and what the server has returned."""
    async with Client(target, mode=mode) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["read"]
        result: Any = await client.call_tool("read", {"region": "ä", "lines": "[1]"})
        read: Any = await client.read_resource("test://one")
        return str(client.protocol_version), result.content[0].text, read.contents[0].text


@pytest.fixture(autouse=True)
def _program() -> None:
    assert PROGRAM.is_file(), "the program is not compiled: run scripts/build.sh"


@pytest.mark.parametrize("server", [SERVER, LEGACY_SERVER], ids=["all versions", "before 2026-07-28"])
@pytest.mark.parametrize(("mode", "version"), MODES)
def test_versions_are_translated(server: str, mode: str, version: str) -> None:
    line = ["--", sys.executable, "-c", server]
    stdio = stdio_client(StdioServerParameters(command=str(PROGRAM), args=["proxy", *line]))
    expected = ("ä [1]", "first")
    found, *said = asyncio.run(used(stdio, mode))
    assert (found.startswith(version), tuple(said)) == (True, expected)
    with listening([str(PROGRAM), "proxy", "--listen", "127.0.0.1:0", *line]) as url:
        found, *said = asyncio.run(used(url, mode))
        assert (found.startswith(version), tuple(said)) == (True, expected)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_server_over_http_receives_the_headers_of_its_version(mode: str) -> None:
    http = SERVER.replace("server.run(*sys.argv[1:])", 'server.run("streamable-http", port=0)')
    with listening([sys.executable, "-c", http]) as address:
        line = ["proxy", "--url", f"{address}/mcp"]
        stdio = stdio_client(StdioServerParameters(command=str(PROGRAM), args=line))
        assert asyncio.run(used(stdio, mode))[1:] == ("ä [1]", "first")
