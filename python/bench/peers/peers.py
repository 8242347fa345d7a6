"""Other Python packages that adapt tool schemas to an API, with what each does, and our dialect for the same task.

Some of the interfaces are private, because these packages have no public ones.
"""

from __future__ import annotations

import copy
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Schema: TypeAlias = "dict[str, Any]"


@dataclass(frozen=True)
class Peer:
    """A package to compare with."""

    package: str
    description: str
    """Description of its task."""
    dialect: str
    """Our dialect for the same task."""
    load: Callable[[], Callable[[Schema], object]]
    """Imports the package. The function that it returns must not change its input, because ours does not."""
    spelled: Callable[[Any], Any] = lambda answer: answer
    """Converts spellings that the API accepts in two forms to ours, so that only real violations count as refused."""


def _openai() -> Callable[[Schema], object]:
    from openai.lib._pydantic import _ensure_strict_json_schema as convert

    def strict(schema: Schema) -> object:
        mine = copy.deepcopy(schema)
        return convert(mine, path=(), root=mine)

    return strict


def _anthropic() -> Callable[[Schema], object]:
    from anthropic.lib._parse._transform import transform_schema

    return lambda schema: transform_schema(copy.deepcopy(schema))


def _pydantic_ai_openai() -> Callable[[Schema], object]:
    from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer as Transformer

    return lambda schema: Transformer(schema, strict=True).walk()


def _pydantic_ai_anthropic() -> Callable[[Schema], object]:
    from pydantic_ai.providers.anthropic import AnthropicJsonSchemaTransformer as Transformer

    return lambda schema: Transformer(schema, strict=True).walk()


def _pydantic_ai_google() -> Callable[[Schema], object]:
    from pydantic_ai.profiles.google import GoogleJsonSchemaTransformer as Transformer

    return lambda schema: Transformer(schema).walk()


def _pydantic_ai_google_open_api() -> Callable[[Schema], object]:
    from pydantic_ai.profiles.google import GoogleOpenAPISchemaTransformer as Transformer

    return lambda schema: Transformer(schema).walk()


def _google_genai() -> Callable[[Schema], object]:
    from google.genai._transformers import process_schema

    def processed(schema: Schema) -> object:
        mine = copy.deepcopy(schema)
        process_schema(mine, client=None)
        return mine

    return processed


def _langchain_google() -> Callable[[Schema], object]:
    from langchain_core.utils.json_schema import dereference_refs
    from langchain_google_genai._function_utils import _format_json_schema_to_gapic as convert

    # The package warns of every keyword that it drops.
    logging.getLogger("langchain_google_genai").setLevel(logging.CRITICAL)
    return lambda schema: convert(dereference_refs(schema))


# Spellings that the API accepts in two forms, and our dialect writes in one.
_CAMEL = {"any_of": "anyOf", "max_items": "maxItems", "min_items": "minItems", "property_ordering": "propertyOrdering"}


def _camel_case(answer: Any) -> Any:
    """Convert `type: "OBJECT"` and `any_of` to `type: "object"` and `anyOf`."""
    if isinstance(answer, list):
        return [_camel_case(item) for item in answer]
    if not isinstance(answer, dict):
        return answer
    types = {"type": answer["type"].lower()} if isinstance(answer.get("type"), str) else {}
    return {_CAMEL.get(key, key): _camel_case(value) for key, value in (answer | types).items()}


PEERS = [
    Peer("openai", "strict JSON schema: closes objects, requires everything; copied first", "openai-strict", _openai),
    Peer("pydantic-ai-slim", "OpenAIJsonSchemaTransformer, strict", "openai-strict", _pydantic_ai_openai),
    Peer("anthropic", "transform_schema: describes dropped keywords; copied first", "anthropic-strict", _anthropic),
    Peer("pydantic-ai-slim", "AnthropicJsonSchemaTransformer, strict", "anthropic-strict", _pydantic_ai_anthropic),
    Peer("google-genai", "process_schema: inlines references; copied first", "gemini", _google_genai, _camel_case),
    Peer("pydantic-ai-slim", "GoogleOpenAPISchemaTransformer", "gemini", _pydantic_ai_google_open_api),
    Peer("pydantic-ai-slim", "GoogleJsonSchemaTransformer", "gemini-json-schema", _pydantic_ai_google),
    Peer(
        "langchain-google-genai",
        "gapic schema, references inlined; drops much",
        "gemini",
        _langchain_google,
        _camel_case,
    ),
]
