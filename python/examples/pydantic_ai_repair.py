"""pydantic-ai with repaired arguments: they are repaired before the tool's own validator receives them.

Arguments that cannot be repaired raise `ModelRetry`: the model reads what was expected, and calls again.
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
    """A validator that repairs the model's arguments before the tool's own validator receives them."""

    validator: Any
    name: str
    schema: dict[str, Any]

    def repaired(self, given: Any) -> Any:
        """Repair arguments, or report the remaining errors to the model."""
        try:
            found = repair_arguments(given, self.schema, name=self.name)
        except ToolwireError as unread:
            if unread.code != "invalid-json":
                raise
            message = f"The tool was not run: {unread.message}."
            raise ModelRetry(message) from unread
        # `valid` is None if validity cannot be determined. Then the tool's own validator decides.
        if found.valid is False:
            raise ModelRetry(found.retry_message or "The arguments are not valid.")
        return found.arguments

    def validate_json(self, input: str | bytes | bytearray, **more: Any) -> Any:  # noqa: A002 (pydantic's name)
        """Repair text, then validate it. Text that is still being streamed is incomplete, and is not repaired yet."""
        if more.get("allow_partial", "off") in (False, "off"):
            input = self.repaired(input)  # noqa: A001
        return self.validator.validate_json(input, **more)

    def validate_python(self, input: Any, **more: Any) -> Any:  # noqa: A002 (pydantic's name)
        """Repair a value, then validate it."""
        return self.validator.validate_python(self.repaired(input), **more)


class RepairingToolset(WrapperToolset[None]):
    """Wraps any toolset, for instance that of an MCP server, and repairs arguments."""

    async def get_tools(self, ctx: RunContext[None]) -> dict[str, ToolsetTool[None]]:
        """Wrap each tool's validator in one that repairs arguments."""

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
