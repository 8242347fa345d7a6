"""pydantic-ai through two of its extension points: the profile's schema transformer, and the tools' validators.

The transformer replaces that of the provider's profile, so that a schema is rewritten only once. Do not combine this
with `pydantic_ai_transport.py`, which does the same and also restores names.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pydantic_ai import Agent, RunContext, Tool
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles import JsonSchemaTransformer, ModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset, WrapperToolset
from pydantic_ai.toolsets.abstract import SchemaValidatorProt, ToolsetTool

from toolwire import ToolwireError, restore_arguments, sanitize
from toolwire.types import DialectName, RestorePlan

DIALECT: DialectName = "moonshot"


class Sanitizing(JsonSchemaTransformer):
    """The first extension point: rewrites the schema that the API receives."""

    def walk(self) -> dict[str, Any]:
        """Rewrite the whole schema at once."""
        schema: dict[str, Any] = sanitize(self.schema, dialect=DIALECT).schema
        return schema

    def transform(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema unchanged, because `walk` does not visit subschemas."""
        return schema


@dataclass
class Restoring:
    """The second extension point: restores arguments before the tool's own validator receives them."""

    validator: Any
    plan: RestorePlan

    def restored(self, text: str) -> str:
        """Restore JSON text. For other text, the tool's own validator reports an error to the model."""
        try:
            return restore_arguments(text, self.plan)
        except ToolwireError:
            return text

    def validate_json(self, input: str | bytes | bytearray, **more: Any) -> Any:  # noqa: A002 (pydantic's name)
        """Restore text, then validate it."""
        text = input if isinstance(input, str) else input.decode()
        return self.validator.validate_json(self.restored(text), **more)

    def validate_python(self, input: Any, **more: Any) -> Any:  # noqa: A002 (pydantic's name)
        """Restore a value, then validate it."""
        return self.validator.validate_python(restore_arguments(input, self.plan), **more)


class RestoringToolset(WrapperToolset[None]):
    """Wraps any toolset, for instance that of an MCP server, and restores arguments."""

    async def get_tools(self, ctx: RunContext[None]) -> dict[str, ToolsetTool[None]]:
        """Wrap each tool's validator in one that restores arguments."""

        def restoring(tool: ToolsetTool[None]) -> ToolsetTool[None]:
            plan = sanitize(tool.tool_def.parameters_json_schema, dialect=DIALECT).restore_plan
            validator: SchemaValidatorProt = Restoring(tool.args_validator, plan)
            return replace(tool, args_validator=validator)

        return {name: restoring(tool) for name, tool in (await super().get_tools(ctx)).items()}


def ask(base_url: str, toolset: AbstractToolset[None]) -> str:
    """Run an agent with tools that are sent in the dialect and called with restored arguments."""
    provider = OpenAIProvider(base_url=base_url, api_key="none")
    profile = ModelProfile(json_schema_transformer=Sanitizing)
    agent = Agent(OpenAIChatModel("kimi-k2", provider=provider, profile=profile), toolsets=[RestoringToolset(toolset)])
    return agent.run_sync("Read README.md of main.").output


def toolset_of(published: list[Any], call: Callable[[str, Any], str]) -> FunctionToolset[None]:
    """Convert published tools to pydantic-ai's tools."""

    def tool(one: dict[str, Any]) -> Tool[None]:
        name = one["name"]
        return Tool.from_schema(
            lambda **given: call(name, given),
            name=name,
            description=one["description"],
            json_schema=one["inputSchema"],
        )

    return FunctionToolset([tool(one) for one in published])
