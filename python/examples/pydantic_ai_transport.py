"""pydantic-ai with the transport: names, schemas, arguments and deferred tools in one line, regardless of the toolset.

Do not combine this with a schema transformer of toolwire, which would rewrite the schemas twice.
"""

import httpx2
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.toolsets import AbstractToolset

from toolwire.httpx2 import AsyncToolwireTransport


def ask(base_url: str, toolset: AbstractToolset[None]) -> str:
    """Run an agent whose tools need no change."""
    http_client = httpx2.AsyncClient(transport=AsyncToolwireTransport(dialect="moonshot"))
    provider = OpenAIProvider(base_url=base_url, api_key="none", http_client=http_client)
    # The provider's own transformer would run first, and its changes could not be undone.
    profile = ModelProfile(json_schema_transformer=None)
    agent = Agent(OpenAIChatModel("kimi-k2", provider=provider, profile=profile), toolsets=[toolset])
    return agent.run_sync("Read README.md of main.").output
