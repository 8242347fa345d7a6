"""The features that each client in Python uses of the server of ``scenario.json``, as in ``features.js``."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio

SCENARIO: dict[str, Any] = json.loads((Path(__file__).parent / "scenario.json").read_text())
TIMEOUT = 10
Client = Any


def text(result: Any) -> str:
    return str(result.content[0].text)


async def call(client: Client) -> None:
    tools = (await client.list_tools()).tools
    name = next(tool.name for tool in tools if tool.name.endswith("add"))
    result = await client.call_tool(name, {"a": 2, "b": 3})
    assert text(result) == "5", result
    assert client.structured(result) == {"sum": 5}, result


async def error(client: Client) -> None:
    result = await client.call_tool("broken", {})
    assert client.is_error(result), result
    assert text(result) == "out of paper", result
    try:
        await client.read_resource("test://none")
    except Exception as found:
        assert found.error.code in (-32002, -32602), found
    else:
        raise AssertionError("a resource that does not exist was read")


async def progress(client: Client) -> None:
    found: list[tuple[float, float | None]] = []

    async def on_progress(done: float, total: float | None, _: str | None) -> None:
        found.append((done, total))

    result = await client.call_tool("count", {}, progress_callback=on_progress)
    assert text(result) == "counted", result
    assert found == [(1, 3), (2, 3), (3, 3)], found


async def cancellation(client: Client) -> None:
    await client.cancelled_call("wait")
    for _ in range(20):
        if text(await client.call_tool("cancelled", {})) == "1":
            return
        await anyio.sleep(0.1)
    raise AssertionError("the server was not told")


async def sampling(client: Client) -> None:
    result = await client.call_tool("sample", {})
    assert text(result) == "Rome", result


async def elicitation(client: Client) -> None:
    result = await client.call_tool("ask", {})
    assert text(result) == "accept Ada", result


async def tasks(client: Client) -> None:
    result = await client.task("later")
    assert text(result) == "done later", result


async def resources(client: Client) -> None:
    listed = (await client.list_resources()).resources
    assert [str(one.uri) for one in listed if one.name == "one"] == ["test://one"], listed
    assert (await client.read_resource("test://one")).contents[0].text == "first"
    assert client.template(await client.list_resource_templates()) == "test://items/{id}"
    assert (await client.read_resource("test://items/7")).contents[0].text == "item 7"


async def prompts(client: Client) -> None:
    listed = (await client.list_prompts()).prompts
    assert listed[0].arguments[0].name == "who", listed
    result = await client.get_prompt("greet", {"who": "Ada"})
    assert result.messages[0].content.text == "Hello, Ada", result


async def apps(client: Client) -> None:
    tools = (await client.list_tools()).tools
    uri = next(tool.meta for tool in tools if tool.name == "view")["ui"]["resourceUri"]
    page = (await client.read_resource(uri)).contents[0]
    assert client.mime(page) == "text/html;profile=mcp-app", page
    assert page.text == "<p>page</p>", page
    assert page.meta == {"ui": {"prefersBorder": True}}, page


FEATURES: dict[str, Callable[[Client], Awaitable[None]]] = {
    one.__name__: one
    for one in (call, error, progress, cancellation, sampling, elicitation, tasks, resources, prompts, apps)
}


def say(feature: str, outcome: str, why: str | None = None) -> None:
    sys.stdout.write(json.dumps({"feature": feature, "outcome": outcome, "why": why}) + "\n")
    sys.stdout.flush()


async def use(client: Client) -> None:
    """Use every feature of a server, and print a line of JSON for each."""
    say("connect", "passes")
    for name, run in FEATURES.items():
        try:
            with anyio.fail_after(TIMEOUT):
                await run(client)
            say(name, "passes")
        except Exception as found:
            say(name, "fails", f"{type(found).__name__}: {found}")
