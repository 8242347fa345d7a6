"""Fake of the OpenAI APIs' request validation, limited to what deferred loading could violate.

It is based on the API reference: https://platform.openai.com/docs/api-reference.
npm/test/fakes/refuse.js is the same in JavaScript.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

SHARED = {"model", "stream", "temperature", "top_p", "metadata", "tools", "tool_choice", "parallel_tool_calls"}
MEMBERS = {
    "openai-responses": SHARED | {"input", "instructions", "max_output_tokens"},
    "openai-chat": SHARED | {"messages", "max_completion_tokens", "stop"},
}
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ROLES = {"user", "assistant", "system", "developer"}


class RefusedError(Exception):
    """An error that the API would return with status 400."""


def refuse(message: str) -> NoReturn:
    raise RefusedError(message)


def validate(api: str, body: dict[str, Any]) -> None:
    """Raise an error for a body that the API would refuse."""
    only(body, MEMBERS[api], "the request")
    names = tools(api, body)
    choice(body, names)
    if api == "openai-responses":
        items(body.get("input"))
    else:
        messages(body.get("messages"))


def tools(api: str, body: dict[str, Any]) -> list[str]:
    listed = body.get("tools", ())
    if api == "openai-chat" and "tools" in body and not listed:
        refuse("tools: [] is too short")
    names = []
    for tool in listed:
        if tool.get("type") != "function":
            refuse(f"tools: unknown type {tool.get('type')}")
        if api == "openai-chat":
            only(tool, {"type", "function"}, "a tool")
        definition = tool["function"] if api == "openai-chat" else tool
        only(definition, {"type", "name", "description", "parameters", "strict"}, "a function")
        if not NAME.fullmatch(definition["name"]):
            refuse(f"tools: bad name {definition['name']}")
        if definition.get("parameters", {}).get("type") != "object":
            refuse(f"tools: {definition['name']} needs parameters of type object")
        names.append(definition["name"])
    if len(set(names)) < len(names):
        refuse("tools: names are not unique")
    return names


def choice(body: dict[str, Any], names: list[str]) -> None:
    chosen = body.get("tool_choice")
    if "messages" in body and "tools" not in body and body.keys() & {"tool_choice", "parallel_tool_calls"}:
        refuse("tool_choice: only allowed when tools are given")
    if isinstance(chosen, dict):
        if chosen.get("name", chosen.get("function", {}).get("name")) not in names:
            refuse("tool_choice: not found in tools")
    elif chosen not in (None, "auto", "none", "required"):
        refuse(f"tool_choice: unknown {chosen}")


def items(listed: Any) -> None:
    if not isinstance(listed, list) or not listed:
        refuse("input: expected items")
    waiting: set[str] = set()
    seen: set[str] = set()
    for item in listed:
        kind = item.get("type", "message")
        if kind == "message":
            only(item, {"type", "role", "content"}, "a message")
            if item["role"] not in ROLES:
                refuse(f"input: unknown role {item['role']}")
            parts(item["content"], {"output_text"} if item["role"] == "assistant" else {"input_text", "input_image"})
        elif kind == "function_call":
            only(item, {"type", "id", "call_id", "name", "arguments", "status"}, "a call")
            arguments_as_text(item["arguments"])
            waiting.add(item["call_id"])
            seen.add(item["call_id"])
        elif kind == "function_call_output":
            only(item, {"type", "id", "call_id", "output", "status"}, "an output")
            if item["call_id"] not in seen:
                refuse(f"input: no tool call found for function call output {item['call_id']}")
            parts(item["output"], {"input_text", "input_image"})
            waiting.discard(item["call_id"])
        else:
            refuse(f"input: unknown item {kind}")
    if waiting:
        refuse(f"input: no tool output found for function call {waiting}")


def messages(listed: Any) -> None:
    if not isinstance(listed, list) or not listed:
        refuse("messages: expected some")
    waiting: set[str] = set()
    for message in listed:
        role, content, calls = message["role"], message.get("content"), message.get("tool_calls")
        if role not in ROLES | {"tool"}:
            refuse(f"messages: unknown role {role}")
        more = {"assistant": {"tool_calls"}, "tool": {"tool_call_id"}}.get(role, set())
        only(message, {"role", "content"} | more, "a message")
        if role != "tool" and waiting:
            refuse(f"messages: tool_calls {waiting} must be followed by tool messages")
        if content is None and calls is None:
            refuse("messages: content must not be null")
        if content is not None:
            parts(content, {"text", "image_url"} if role == "user" else {"text"})
        if role == "tool":
            if message["tool_call_id"] not in waiting:
                refuse(f"messages: no tool_call {message['tool_call_id']} before this tool message")
            waiting.discard(message["tool_call_id"])
        for call in calls or ():
            arguments_as_text(call["function"]["arguments"])
            waiting.add(call["id"])
    if waiting:
        refuse(f"messages: tool_calls {waiting} must be followed by tool messages")


def parts(content: Any, types: set[str]) -> None:
    if isinstance(content, str):
        return
    if not isinstance(content, list) or not content:
        refuse("content: expected a string or parts")
    for part in content:
        if part.get("type") not in types:
            refuse(f"content: unknown content type {part.get('type')}")


def arguments_as_text(text: Any) -> None:
    if not isinstance(text, str):
        refuse("arguments: expected a string")
    json.loads(text)


def only(members: dict[str, Any], known: set[str], what: str) -> None:
    unknown = members.keys() - known
    if unknown:
        refuse(f"unknown parameter {sorted(unknown)[0]} in {what}")
