"""pydantic-ai with a capability, if the model accepts no HTTP client or is created elsewhere."""

from typing import Any

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.toolsets import AbstractToolset

from toolwire.pydantic_ai import Toolwire


def agent(base_url: str, toolset: AbstractToolset[None], **options: Any) -> Agent[None, str]:
    """Make an agent whose tools are sent in a dialect and called with restored arguments."""
    provider = OpenAIProvider(base_url=base_url, api_key="none")
    # Otherwise pydantic-ai would rewrite the schemas again, for OpenAI.
    model = OpenAIChatModel("kimi-k2", provider=provider, profile=ModelProfile(json_schema_transformer=None))
    return Agent(model, toolsets=[toolset], capabilities=[Toolwire(dialect="moonshot", repair=True, **options)])
