"""What cannot be collected here: `httpx2` is for Python 3.11 and later, frameworks are beside the examples."""

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
