"""Backends and options with which a conversation is adapted."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from conversations import Conversation

BACKENDS: dict[str, tuple[tuple[str, str, str | None], ...]] = {
    "anthropic": (
        ("anthropic", "claude-sonnet-4-6", "api.anthropic.com"),
        ("anthropic", "claude-sonnet-4-6", None),
        ("anthropic-strict", "claude-sonnet-4-6", "api.anthropic.com"),
        ("anthropic", "claude-sonnet-4-6", "us-east5-aiplatform.googleapis.com"),
        ("anthropic", "anthropic.claude-sonnet-4-6", "bedrock-runtime.us-east-1.amazonaws.com"),
        ("portable", "some-model", None),
        ("moonshot", "kimi-k2.6", "api.moonshot.ai"),
        ("deepseek", "deepseek-chat", "api.deepseek.com"),
        ("ollama", "qwen3", "localhost:11434"),
        ("vllm", "qwen3-8b", None),
    ),
    "openai-chat": (
        ("openai-chat", "gpt-5.5", "api.openai.com"),
        ("openai-strict", "gpt-5.5", "api.openai.com"),
        ("azure-strict", "gpt-5.5", "x.openai.azure.com"),
        ("mistral", "mistral-large-latest", "api.mistral.ai"),
        ("mistral", "magistral-medium-latest", None),
        ("groq", "llama-3.3-70b-versatile", "api.groq.com"),
        ("groq-strict", "openai/gpt-oss-120b", None),
        ("cerebras", "gpt-oss-120b", "api.cerebras.ai"),
        ("cerebras-strict", "qwen-3-235b", None),
        ("deepseek", "deepseek-chat", "api.deepseek.com"),
        ("moonshot", "kimi-k3", "api.moonshot.ai"),
        ("xai", "grok-4.3", "api.x.ai"),
        ("fireworks", "accounts/fireworks/models/qwen3", "api.fireworks.ai"),
        ("ollama", "qwen3", None),
        ("vllm", "qwen3-8b", None),
        ("sglang", "qwen3-8b", None),
        ("llama-cpp", "qwen3", None),
        ("cohere", "command-a", "api.cohere.com"),
        ("portable", "some-model", None),
    ),
    "openai-responses": (
        ("openai-responses", "gpt-5.5", "api.openai.com"),
        ("openai-responses", "gpt-5.5", None),
        ("openai-strict", "gpt-5.5", None),
        ("xai", "grok-4.3", "api.x.ai"),
        ("deepseek", "deepseek-chat", None),
        ("vllm", "gpt-oss-120b", None),
        ("ollama", "qwen3", None),
    ),
    "gemini": (
        ("gemini", "gemini-3-pro", "generativelanguage.googleapis.com"),
        ("gemini-json-schema", "gemini-2.5-flash", None),
        ("vertex", "gemini-3-pro", "us-central1-aiplatform.googleapis.com"),
        ("vertex-json-schema", "gemini-2.5-flash", None),
    ),
    "gemini-interactions": (("gemini-interactions", "gemini-3-pro", "generativelanguage.googleapis.com"),),
    "bedrock": (
        ("bedrock", "amazon.nova-pro-v1:0", "bedrock-runtime.us-east-1.amazonaws.com"),
        ("bedrock-anthropic", "anthropic.claude-sonnet-4-6", "bedrock-runtime.us-east-1.amazonaws.com"),
        ("bedrock-strict", "anthropic.claude-sonnet-4-6", None),
    ),
}
"""By format: dialect, model and host. Without a host, facts about hosts do not apply."""

OWN_SDK = ("mistral", "groq", "cerebras")
"""Backends of Chat Completions whose SDKs have types of their own: half of the requests are for them."""

TRANSLATED = ("anthropic", "openai-chat", "openai-responses", "gemini-interactions")
"""The formats that are translated into one another."""

NATIVE = {
    "anthropic": ("references", "changes", "inline"),
    "openai-chat": (),
    "kimi": ("kimi",),
    "openai-responses": ("additional-tools", "tool-search"),
    "gemini-interactions": ("interactions",),
    "bedrock": ("converse",),
    "gemini": (),
}

DEFERRED: dict[str, tuple[Any, ...]] = {
    "announce": ("names",),
    "mode": ("load-all",),
    "order": ("append",),
    "reasoning": ("content",),
    "removals": ("notice",),
    "unavailable_calls": ("text",),
    "server_history": ("split",),
    "server_tool_search": ("drop", "emulate"),
    "custom_tools": ("function", "keep"),
    "unknown_reference": ("unavailable", "drop"),
    "load_used_tools": (True,),
    "tool_changes": ("ignore",),
    "loaded_tools": (["late_one"],),
}
OPTIONS: dict[str, tuple[Any, ...]] = {
    "formats": ("tool", "prompt", "ladder"),
    "history_pairs": ("complete", "keep"),
    "history_arguments": ("keep",),
    "output_schemas": ("send",),
    "fallback": ("portable",),
    "overflow": ("defer", "quarantine"),
    "max_tools": (2, 4),
    "refs": ("inline", "keep"),
    "untyped": ("any", "string"),
    "hints": ("drop",),
    "allow": ("closed",),
    "repair": (True,),
    "betas": ([], ["advanced-tool-use-2025-11-20"]),
}


@dataclass(frozen=True)
class Way:
    """How a conversation is adapted."""

    api: str
    """The format that is sent."""
    dialect: str
    model: str
    options: dict[str, Any]
    deferred: dict[str, Any] | bool

    def request(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return a request that names the backend's model."""
        key = "modelId" if "modelId" in request else "model"
        return {**request, key: self.model} if key in request else request

    @property
    def keywords(self) -> Any:
        """The arguments of `adapt_request`."""
        return {"dialect": self.dialect, "model": self.model, "deferred": self.deferred, **self.options}

    def __str__(self) -> str:
        """Return a text for messages."""
        return f"{self.keywords}"


def ways(conversation: Conversation, count: int) -> list[Way]:
    """Return different ways for a conversation: the first keeps its format, and has no options."""
    return [way(conversation, random.Random(conversation.number * 16 + number), number) for number in range(count)]


def way(conversation: Conversation, numbers: random.Random, number: int) -> Way:
    source = conversation.api
    targets = TRANSLATED if source in TRANSLATED and number > 0 else (source,)
    api = numbers.choice(targets)
    backends = BACKENDS[api]
    if api == "openai-chat" and numbers.random() < 0.5:
        backends = tuple(backend for backend in backends if backend[0].removesuffix("-strict") in OWN_SDK)
    dialect, model, host = numbers.choice(backends)
    options: dict[str, Any] = {"format": source}
    if host is not None:
        options["host"] = host
    deferred: dict[str, Any] = {} if api == source else {"target": api}
    if number > 0:
        for name, values in DEFERRED.items():
            if numbers.random() < 0.12:
                deferred[name] = numbers.choice(values)
        for name, values in OPTIONS.items():
            if numbers.random() < 0.12:
                options[name] = numbers.choice(values)
        natives = NATIVE["kimi" if dialect == "moonshot" and api == "openai-chat" else api]
        if natives and numbers.random() < 0.4:
            deferred["native"] = numbers.choice(natives)
    return Way(api, dialect, model, options, deferred or True)
