"""The request types of seven SDKs, each as a judge of a request's body."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

from sdk_types import Fault, Members, check_of
from ways import OWN_SDK

Judge: TypeAlias = Callable[[dict[str, Any]], list[Fault]]

STREAMED = {"stream"}
"""Members whose types are those of one method of the SDK: they are booleans."""


def of_type(hint: Any, without: frozenset[str] = frozenset(), more: dict[str, Any] | None = None) -> Judge:
    """Return the judge of a body, without the parameters that the SDK sends as headers."""
    known = check_of(hint)
    assert isinstance(known, Members), hint
    checks = {key: check for key, check in known.checks.items() if key not in without}
    checks |= {key: check_of(bool) for key in STREAMED}
    checks |= {key: check_of(member) for key, member in (more or {}).items()}
    body = Members(checks, known.required - without)
    return lambda request: body(request, None)


@cache
def anthropic() -> Judge:
    from anthropic.types.beta.message_create_params import MessageCreateParamsNonStreaming as Params

    return of_type(Params, frozenset({"betas", "user_profile_id", "workspace_id"}))


@cache
def openai_chat() -> Judge:
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming as Params

    return of_type(Params)


@cache
def openai_responses() -> Judge:
    from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming as Params

    return of_type(Params)


@cache
def groq() -> Judge:
    from groq.types.chat.completion_create_params import CompletionCreateParams as Params

    return of_type(Params)


@cache
def cerebras() -> Judge:
    from cerebras.cloud.sdk.types.chat.completion_create_params import CompletionCreateParams as Params

    return of_type(Params, frozenset({"CF-RAY", "X-Amz-Cf-Id", "X-delay-time"}))


@cache
def mistral() -> Judge:
    from mistralai.client.models import ChatCompletionRequest

    return of_type(ChatCompletionRequest)


@cache
def interactions() -> Judge:
    from google.genai.interactions import CreateModelInteractionParam

    return of_type(CreateModelInteractionParam)


@cache
def gemini() -> Judge:
    """Return the judge of `generateContent`: the SDK's models refuse unknown keys themselves."""
    from google.genai import types
    from pydantic import ConfigDict, create_model
    from pydantic.alias_generators import to_camel

    fields: dict[str, Any] = {
        "model": (str | None, None),
        "contents": (list[types.Content], ...),
        "system_instruction": (types.Content | None, None),
        "tools": (list[types.Tool] | None, None),
        "tool_config": (types.ToolConfig | None, None),
        "generation_config": (types.GenerationConfig | None, None),
        "safety_settings": (list[types.SafetySetting] | None, None),
        "cached_content": (str | None, None),
        "labels": (dict[str, str] | None, None),
        "store": (bool | None, None),
        "service_tier": (str | None, None),
    }
    config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)
    body: Any = create_model("Body", __config__=config, **fields)

    return of_model(body)


def of_model(model: Any) -> Judge:
    """Return the judge of a pydantic model that refuses unknown keys."""
    from pydantic import ValidationError

    def judge(value: dict[str, Any]) -> list[Fault]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", UserWarning)
                model.model_validate(value)
        except ValidationError as error:
            return [("".join(f"/{step}" for step in one["loc"]), one["msg"]) for one in error.errors()]
        except (UserWarning, AttributeError) as refusal:
            # An unknown name of an enum, or a number in place of the name.
            return [("", str(refusal))]
        return []

    return judge


@cache
def converse() -> Judge:
    """Return the judge of Bedrock Converse: the validator of AWS's SDK, with its model of the service."""
    judge = of_shape(operation_of_bedrock("Converse").input_shape)
    # The SDK puts the model into the URL.
    return lambda request: judge({"modelId": "m", **request})


def operation_of_bedrock(name: str) -> Any:
    # Without type stubs.
    session = import_module("botocore.session")
    return session.Session().get_service_model("bedrock-runtime").operation_model(name)


def of_shape(shape: Any) -> Judge:
    """Return the judge of a shape in AWS's model."""
    validator = import_module("botocore.validate").ParamValidator()

    def judge(value: dict[str, Any]) -> list[Fault]:
        faults = []
        for reason, name, details in validator.validate(value, shape)._errors:
            more = details.get("unknown_param", "")
            at = "".join(f"/{step}" for step in (*re.findall(r"[^.\[\]]+", name), *([more] if more else [])))
            faults.append((at, reason))
        return faults

    return judge


JUDGES: dict[str, Callable[[], Judge]] = {
    "anthropic": anthropic,
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "groq": groq,
    "cerebras": cerebras,
    "mistral": mistral,
    "gemini-interactions": interactions,
    "gemini": gemini,
    "bedrock": converse,
}


def judge_of(api: str, dialect: str) -> str:
    """Return the name of the judge of a backend: that of its own SDK, or that of its format's SDK."""
    own = dialect.removesuffix("-strict")
    return own if api == "openai-chat" and own in OWN_SDK else api


def kind(fault: Fault) -> str:
    """Return a fault without indices."""
    pointer, message = fault
    return f"{re.sub(r'/[0-9]+(?=/|$)', '/*', pointer)}: {message}"
