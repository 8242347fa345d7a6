"""Exclude tests from collection: `httpx2` needs Python 3.11, and frameworks are installed for the examples only."""

from importlib.util import find_spec

NEEDS = {
    "httpx2": "httpx2",
    "fastmcp": "fastmcp",
    "langchain": "langchain",
    "litellm": "litellm",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
}

collect_ignore = [f"src/toolwire/{module}.py" for module, needed in NEEDS.items() if not find_spec(needed)]
