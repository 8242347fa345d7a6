"""Deferred loading in an agent: the conversations of tests/deferred-conversations, which all languages run.

The Anthropic conversation also runs over HTTP, against a fake backend for each translation target.
"""

from __future__ import annotations

import json
import re
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

import toolwire
from backend import Backend, backend
from cases import snake
from refuse import validate

CONVERSATIONS = Path(__file__).resolve().parents[2] / "tests" / "deferred-conversations"
TARGETS = ("openai-responses", "openai-chat")
OURS = re.compile('tool_reference|tool_search_tool|defer_loading|"type":"tool_search"')


def read(name: str) -> Any:
    return json.loads((CONVERSATIONS / f"{name}.json").read_text(encoding="utf-8"))


def written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def name_of(tool: dict[str, Any]) -> Any:
    return tool.get("function", tool).get("name")


class Agent:
    """An agent within a conversation: its state from turn to turn."""

    def __init__(self, script: dict[str, Any], target: str | None = None) -> None:
        """Begin with the script's tools and no history."""
        self.script, self.target = script, target
        self.tools: list[Any] = script["tools"]
        self.history: list[Any] = []
        self.loaded: list[str] = []
        self.search = {snake(name): value for name, value in script["searchOptions"].items()}

    def request(self, turn: dict[str, Any]) -> dict[str, Any]:
        """Return the rewritten request of a turn, after comparing it with the script."""
        what = turn["what"]
        self.tools = [tool for tool in self.tools if name_of(tool) not in turn.get("without", ())]
        self.history = ([] if turn.get("compacts") else self.history) + turn["add"]
        if "loadedTools" in turn:
            assert turn["loadedTools"] == self.loaded, f"{what}: the report"
        options: Any = {snake(name): value for name, value in self.script["options"].items()}
        options |= {"loaded_tools": turn.get("loadedTools"), "target": self.target}
        request = {"model": "m", self.script["history"]: self.history, "tools": self.tools}
        answer = toolwire.apply_deferred_loading(request, **options)
        body: dict[str, Any] = answer.request
        report = answer.report.to_dict()
        assert not OURS.search(written(body)), what
        assert toolwire.apply_deferred_loading(written(request), **options).request == written(body), what
        if self.target is None:
            assert toolwire.apply_deferred_loading(body, **options).request == body, f"{what}: not idempotent"

        sent = turn["sent"]
        expected = {**sent, **sent.get("translated", {}).get(self.target, {})}
        assert [name_of(tool) for tool in body["tools"]] == expected["tools"], what
        assert (body.get("input") or body["messages"])[-1] == expected["last"], what
        wanted = {**sent["report"], "warnings": expected.get("warnings", sent["report"]["warnings"])}
        assert {name: report[name] for name in wanted} == wanted, what
        # A compaction two turns later needs the tools that were loaded before it.
        if not turn.get("compacts"):
            self.loaded = report["loaded"]
        return body

    def answer(self, turn: dict[str, Any], model_message: Any) -> None:
        """Add the model's message, and answer its searches."""
        if model_message is not None:
            self.history = [*self.history, model_message]
        if "call" in turn:
            options: Any = self.search
            assert toolwire.answer_tool_search(turn["call"], self.tools, **options) == turn["answer"], turn["what"]
            index = toolwire.ToolIndex(self.tools)
            assert index.answer(turn["call"], **options) == turn["answer"], f"{turn['what']}: from an index"


@pytest.mark.parametrize("name", ["anthropic", *TARGETS])
def test_the_whole_conversation_is_rewritten(name: str) -> None:
    script = read(name)
    agent = Agent(script)
    for turn in script["turns"]:
        body = agent.request(turn)
        if name in TARGETS:
            validate(name, body)
        agent.answer(turn, turn.get("said"))


@pytest.mark.parametrize("api", TARGETS)
def test_the_whole_conversation_works_over_http(api: str) -> None:
    script = read("anthropic")
    # Every turn is a request; the model does not reply if the script contains no message.
    answers = [turn["model"] for turn in script["turns"] if "model" in turn]
    agent = Agent(script, api)
    with backend(api, answers) as server:
        for turn in script["turns"]:
            body = agent.request(turn)
            if "model" not in turn:
                continue
            status, answer = post(server, body, "advanced-tool-use-2025-11-20,tool-search-tool-2025-10-19")
            assert status == 200, f"{turn['what']}: {answer}"
            assert model_message(api, answer) == turn["said"], turn["what"]
            agent.answer(turn, model_message(api, answer))
        assert len(server.requests) == len(answers)


@pytest.mark.parametrize("api", TARGETS)
def test_fake_refuses_invalid_requests(api: str) -> None:
    refused = [one for one in read("refused") if one["api"] == api]
    assert len(refused) > 10
    with backend(api, [{"text": "hi"}]) as server:
        for one in refused:
            status, answer = post(server, one["body"])
            assert status == 400, f"{one['why']}: {answer}"
        # The backend refuses the agent's original request, so the rewriting is necessary.
        script = read("anthropic")
        raw = {"model": "m", "messages": script["turns"][0]["add"], "tools": script["tools"]}
        assert post(server, raw)[0] == 400
        options: Any = {"target": api}
        body = toolwire.apply_deferred_loading(raw, **options).request
        assert sent(server, body, {"anthropic-beta": "tool-search-tool-2025-10-19"})[0] == 400
        assert post(server, body)[0] == 200


def model_message(api: str, answer: dict[str, Any]) -> dict[str, Any]:
    """Convert a backend's answer to Anthropic's format, which is the agent's own."""
    if api == "openai-responses":
        content = [
            tool_use(item["call_id"], item)
            if item["type"] == "function_call"
            else {"type": "text", "text": item["content"][0]["text"]}
            for item in answer["output"]
        ]
    else:
        message = answer["choices"][0]["message"]
        content = [tool_use(call["id"], call["function"]) for call in message.get("tool_calls", ())]
        content = content or [{"type": "text", "text": message["content"]}]
    return {"role": "assistant", "content": content}


def tool_use(identifier: str, function: dict[str, Any]) -> dict[str, Any]:
    arguments = json.loads(function["arguments"])
    return {"type": "tool_use", "id": identifier, "name": function["name"], "input": arguments}


def post(server: Backend, body: object, beta: str | None = None) -> tuple[int, Any]:
    """Send a request, like a gateway."""
    left = toolwire.strip_deferral_betas(beta)
    return sent(server, body, {} if left is None else {"anthropic-beta": left})


def sent(server: Backend, body: object, headers: dict[str, str]) -> tuple[int, Any]:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    try:
        connection.request("POST", "/", written(body).encode(), headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()
