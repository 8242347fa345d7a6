"""pydantic-ai's own seam for calls that went wrong: the arguments are mended before the tool's own validator sees them.

What cannot be mended is a `ModelRetry`: the model reads what was expected, and calls again.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pydantic_ai import Agent, ModelRetry, RunContext
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset, WrapperToolset
from pydantic_ai.toolsets.abstract import SchemaValidatorProt, ToolsetTool

from toolwire import ToolwireError, repair_arguments


@dataclass
class Repairing:
    """What the model answered, before the tool's own validator sees it."""

    validator: Any
    name: str
    schema: dict[str, Any]

    def repaired(self, given: Any) -> Any:
        """Repair arguments, or tell the model what is wrong with them."""
        try:
            found = repair_arguments(given, self.schema, name=self.name)
        except ToolwireError as unread:
            if unread.code != "invalid-json":
                raise
            message = f"The tool was not run: {unread.message}."
            raise ModelRetry(message) from unread
        # `valid` is None where that cannot be told: the tool's own validator decides then.
        if found.valid is False:
            raise ModelRetry(found.retry_message or "The arguments are not valid.")
        return found.arguments

    def validate_json(self, input: str | bytes | bytearray, **more: Any) -> Any:  # noqa: A002 (pydantic's name)
        """Repair text, then validate it. Text that is still being streamed breaks off, and waits."""
        if more.get("allow_partial", "off") in (False, "off"):
            input = self.repaired(input)  # noqa: A001
        return self.validator.validate_json(input, **more)

    def validate_python(self, input: Any, **more: Any) -> Any:  # noqa: A002 (pydantic's name)
        """Repair a value, then validate it."""
        return self.validator.validate_python(self.repaired(input), **more)


class RepairingToolset(WrapperToolset[None]):
    """Any toolset, an MCP server's for instance, whose arguments are repaired."""

    async def get_tools(self, ctx: RunContext[None]) -> dict[str, ToolsetTool[None]]:
        """Put the repairing validator before each tool's own."""

        def repairing(tool: ToolsetTool[None]) -> ToolsetTool[None]:
            schema = tool.tool_def.parameters_json_schema
            validator: SchemaValidatorProt = Repairing(tool.args_validator, tool.tool_def.name, schema)
            return replace(tool, args_validator=validator)

        return {name: repairing(tool) for name, tool in (await super().get_tools(ctx)).items()}


def clean(base_url: str, call: Callable[[list[str], bool], str]) -> str:
    """Run an agent with a tool that deletes files."""

    def delete_files(paths: list[str], dry_run: bool = False) -> str:
        """Delete files."""
        return call(paths, dry_run)

    tools: AbstractToolset[None] = RepairingToolset(FunctionToolset([delete_files], max_retries=3))
    model = OpenAIChatModel("a-model", provider=OpenAIProvider(base_url=base_url, api_key="none"))
    return Agent(model, toolsets=[tools]).run_sync("Delete a.txt and b.txt.").output
