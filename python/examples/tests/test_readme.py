"""The first program of each README, run unchanged with a local server and a local API."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fake.backend import backend

EXAMPLES = Path(__file__).parents[1]
ROOT = EXAMPLES.parents[1]

# A substitute for `npx -y @modelcontextprotocol/server-everything`, with one of its tools.
SERVER = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("everything")


@server.tool(name="get-sum")
def get_sum(a: float, b: float, unit: str = "none") -> str:
    assert unit == "none", "the server does not receive the null that the model had to send"
    return f"get-sum: {a + b}"


server.run()
"""


def program(page: str) -> str:
    found = re.search(r"^```python agent\.py\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)
    assert found, f"expected a program `agent.py` in {page}"
    return found[1]


MCP_1 = ROOT / "python" / ".venv" / "mcp-1"
"""Folder in which `python/dev` installs mcp 1, for LangChain's adapters and pydantic-ai. This process has mcp 2."""


@pytest.mark.parametrize("major", ["1", "2"])
@pytest.mark.parametrize("page", ["README.md", "python/README.md"])
def test_first_program_of_a_page_runs(page: str, major: str, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(program(page), encoding="utf-8")
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    npx = tmp_path / "npx"
    # Servers do not inherit PYTHONPATH, so this one uses mcp 2.
    npx.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{tmp_path / "server.py"}"\n', encoding="utf-8")
    npx.chmod(0o755)
    with backend("openai-strict", {"name": "get-sum", "input": {"a": 2, "b": 3, "unit": None}}) as fake:
        path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
        env = {**os.environ, "PATH": path, "OPENAI_BASE_URL": f"{fake.url}/v1", "OPENAI_API_KEY": "none"}
        if major == "1":
            env["PYTHONPATH"] = str(MCP_1)
        script = "import mcp, importlib.metadata; print(importlib.metadata.version('mcp'))"
        completed = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
        assert completed.stdout.split(".")[0] == major
        done = subprocess.run(
            [sys.executable, "agent.py"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False
        )
    assert done.returncode == 0, done.stderr
    assert "get-sum: 5" in done.stdout
    assert fake.got[0]["tools"][0]["function"]["strict"] is True


@pytest.mark.parametrize("page", ["README.md", "python/README.md"])
def test_programs_have_correct_types(page: str, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(program(page), encoding="utf-8")
    (tmp_path / "tool_types.py").write_text((EXAMPLES / "tool_types.py").read_text(encoding="utf-8"), encoding="utf-8")
    settings = {"include": ["agent.py", "tool_types.py"], "typeCheckingMode": "strict"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    mypy = ["mypy", "--strict", "--config-file", os.devnull, "--cache-dir", str(EXAMPLES / ".mypy_cache"), "agent.py"]
    for checker in (mypy, ["pyright", "--pythonpath", sys.executable]):
        done = subprocess.run(
            [sys.executable, "-m", *checker], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_pyright_reports_a_wrong_type(tmp_path: Path) -> None:
    text = (EXAMPLES / "tool_types.py").read_text(encoding="utf-8")
    wrong = text.replace("anthropic_tools: list[ToolUnionParam]", "anthropic_tools: ToolUnionParam")
    assert wrong != text
    (tmp_path / "tool_types.py").write_text(wrong, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "tool_types.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 error" in done.stdout


PAGES = ["README.md", "docs/deferred-loading.md"]
PAGES += [f"docs/{page}.md" for page in ("sdks/langchain", "sdks/pydantic-ai", "sdks/litellm", "servers/frameworks")]


@pytest.mark.parametrize("page", PAGES)
def test_every_other_program_runs(page: str, tmp_path: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    programs = [
        found for found in re.findall(r"^```python (\S+)\n(.*?)^```$", text, re.M | re.S) if found[0] != "agent.py"
    ]
    assert programs, f"expected programs in {page}"
    for name, program in programs:
        (tmp_path / name).write_text(program, encoding="utf-8")
        keys = {"ANTHROPIC_API_KEY": "none", "OPENAI_API_KEY": "none"}
        # Otherwise LiteLLM asks the network for prices.
        env = {**os.environ, **keys, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        done = subprocess.run(
            [sys.executable, name], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, f"{page}: {name}: {done.stderr}"
