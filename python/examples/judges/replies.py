"""Generates replies of each API as a whole and as events, and collects events with the accumulators of SDKs."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias, cast

from sdk_judges import Judge, of_model, of_shape, operation_of_bedrock
from sdk_types import check_of

Reply: TypeAlias = dict[str, Any]
Event: TypeAlias = dict[str, Any]
Said: TypeAlias = list[tuple[Any, ...]]
"""What a reply says: thoughts, texts and calls, in their order."""


def reply(api: str, model: str, said: Said, number: int) -> Reply:
    """Return a reply that says this."""
    calls = any(one[0] == "call" for one in said)
    if api == "anthropic":
        content: list[Any] = []
        for one in said:
            if one[0] == "thought":
                content.append({"type": "thinking", "thinking": one[1], "signature": f"s{number}"})
            elif one[0] == "text":
                content.append({"type": "text", "text": one[1]})
            else:
                content.append({"type": "tool_use", "id": one[1], "name": one[2], "input": one[3]})
        usage = {"input_tokens": 3, "output_tokens": 5}
        head: Reply = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": content,
        }
        return {**head, "stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None, "usage": usage}
    if api == "openai-chat":
        message: dict[str, Any] = {"role": "assistant", "content": None}
        texts = [one[1] for one in said if one[0] == "text"]
        if texts:
            message["content"] = "".join(texts)
        made = [
            {"id": one[1], "type": "function", "function": {"name": one[2], "arguments": json.dumps(one[3])}}
            for one in said
            if one[0] == "call"
        ]
        if made:
            message["tool_calls"] = made
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        head = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1_800_000_000, "model": model}
        return {**head, "choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}}
    if api == "openai-responses":
        return of_responses(model, said, number)
    if api == "gemini":
        parts: list[Any] = []
        for one in said:
            if one[0] == "call":
                parts.append({"functionCall": {"id": one[1], "name": one[2], "args": one[3]}})
            else:
                parts.append({"text": one[1], **({"thought": True} if one[0] == "thought" else {})})
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 3, "candidatesTokenCount": 5, "totalTokenCount": 8}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model, "responseId": f"r{number}"}
    if api == "gemini-interactions":
        steps: list[Any] = []
        for one in said:
            if one[0] == "thought":
                steps.append({"type": "thought", "signature": "c2ln", "summary": [{"type": "text", "text": one[1]}]})
            elif one[0] == "text":
                steps.append({"type": "model_output", "content": [{"type": "text", "text": one[1]}]})
            else:
                steps.append({"type": "function_call", "id": one[1], "name": one[2], "arguments": one[3]})
        head = {"id": f"i{number}", "model": model, "steps": steps}
        return {**head, "status": "requires_action" if calls else "completed"}
    blocks: list[Any] = []
    for one in said:
        if one[0] == "thought":
            blocks.append({"reasoningContent": {"reasoningText": {"text": one[1], "signature": f"s{number}"}}})
        elif one[0] == "text":
            blocks.append({"text": one[1]})
        else:
            blocks.append({"toolUse": {"toolUseId": one[1], "name": one[2], "input": one[3]}})
    usage = {"inputTokens": 3, "outputTokens": 5, "totalTokens": 8}
    output = {"message": {"role": "assistant", "content": blocks}}
    stop = "tool_use" if calls else "end_turn"
    return {"output": output, "stopReason": stop, "usage": usage, "metrics": {"latencyMs": 7}}


def of_responses(model: str, said: Said, number: int) -> Reply:
    output: list[Any] = []
    for at, one in enumerate(said):
        if one[0] == "thought":
            summary = [{"type": "summary_text", "text": one[1]}]
            output.append({"type": "reasoning", "id": f"rs_{number}_{at}", "summary": summary})
        elif one[0] == "text":
            part = {"type": "output_text", "text": one[1], "annotations": [], "logprobs": []}
            item = {"type": "message", "id": f"msg_{number}_{at}", "role": "assistant", "status": "completed"}
            output.append({**item, "content": [part]})
        else:
            item = {"type": "function_call", "id": f"fc_{number}_{at}", "call_id": one[1], "name": one[2]}
            output.append({**item, "arguments": json.dumps(one[3]), "status": "completed"})
    head = {"id": f"resp_{number}", "object": "response", "created_at": 1_800_000_000, "status": "completed"}
    more = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None}
    rest: Reply = {"instructions": None, "metadata": {}, "temperature": 1.0, "top_p": 1.0}
    return {**head, "model": model, "output": output, **more, **rest}


class Splitter:
    """Writes a reply as events, with texts in pieces."""

    def __init__(self, number: int) -> None:
        self.random = random.Random(number)

    def pieces(self, text: str) -> list[str]:
        cuts = sorted(self.random.randint(0, len(text)) for _ in range(self.random.randint(0, 3)))
        ends = [0, *cuts, len(text)]
        return [text[start:end] for start, end in pairwise(ends) if start < end]

    def events(self, api: str, whole: Reply) -> list[Event]:
        made: list[Event] = getattr(self, api.replace("-", "_"))(whole)
        return made

    def anthropic(self, whole: Reply) -> list[Event]:
        start = {**whole, "content": [], "stop_reason": None, "usage": {"input_tokens": 3, "output_tokens": 0}}
        events: list[Event] = [{"type": "message_start", "message": start}]
        for index, block in enumerate(whole["content"]):
            kind = block["type"]
            if kind == "tool_use":
                begun = {**block, "input": {}}
                deltas = [
                    {"type": "input_json_delta", "partial_json": piece}
                    for piece in self.pieces(json.dumps(block["input"]))
                ]
            elif kind == "thinking":
                begun = {**block, "thinking": "", "signature": ""}
                deltas = [{"type": "thinking_delta", "thinking": piece} for piece in self.pieces(block["thinking"])]
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
            else:
                begun = {**block, "text": ""}
                deltas = [{"type": "text_delta", "text": piece} for piece in self.pieces(block["text"])]
            events.append({"type": "content_block_start", "index": index, "content_block": begun})
            events += ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
            events.append({"type": "content_block_stop", "index": index})
        end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        events.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}})
        return [*events, {"type": "message_stop"}]

    def openai_chat(self, whole: Reply) -> list[Event]:
        message, finish = whole["choices"][0]["message"], whole["choices"][0]["finish_reason"]
        head = {
            "id": whole["id"],
            "object": "chat.completion.chunk",
            "created": whole["created"],
            "model": whole["model"],
        }

        def chunk(delta: dict[str, Any], end: str | None = None) -> Event:
            return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}

        events = [chunk({"role": "assistant", "content": "" if message["content"] else None})]
        events += (chunk({"content": piece}) for piece in self.pieces(message["content"] or ""))
        for index, call in enumerate(message.get("tool_calls", ())):
            function = call["function"]
            begun = {"index": index, **call, "function": {**function, "arguments": ""}}
            events.append(chunk({"tool_calls": [begun]}))
            for piece in self.pieces(function["arguments"]):
                events.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
        return [*events, chunk({}, finish), {**head, "choices": [], "usage": whole["usage"]}]

    def openai_responses(self, whole: Reply) -> list[Event]:
        begun = {**whole, "output": [], "status": "in_progress"}
        events: list[Event] = [{"type": "response.created", "response": begun}]
        for index, item in enumerate(whole["output"]):
            at = {"output_index": index}
            inner = {**at, "item_id": item["id"]}
            if item["type"] == "function_call":
                first = {**item, "arguments": "", "status": "in_progress"}
                events.append({"type": "response.output_item.added", **at, "item": first})
                kind = "response.function_call_arguments"
                events += (
                    {"type": f"{kind}.delta", **inner, "delta": piece} for piece in self.pieces(item["arguments"])
                )
                events.append({"type": f"{kind}.done", **inner, "arguments": item["arguments"]})
            elif item["type"] == "message":
                first = {**item, "content": [], "status": "in_progress"}
                events.append({"type": "response.output_item.added", **at, "item": first})
                part = item["content"][0]
                inner["content_index"] = 0
                events.append({"type": "response.content_part.added", **inner, "part": {**part, "text": ""}})
                for piece in self.pieces(part["text"]):
                    events.append({"type": "response.output_text.delta", **inner, "delta": piece, "logprobs": []})
                events.append({"type": "response.output_text.done", **inner, "text": part["text"], "logprobs": []})
                events.append({"type": "response.content_part.done", **inner, "part": part})
            else:
                events.append({"type": "response.output_item.added", **at, "item": {**item, "summary": []}})
                inner["summary_index"] = 0
                part = item["summary"][0]
                kind = "response.reasoning_summary"
                events.append({"type": f"{kind}_part.added", **inner, "part": {**part, "text": ""}})
                events += (
                    {"type": f"{kind}_text.delta", **inner, "delta": piece} for piece in self.pieces(part["text"])
                )
                events.append({"type": f"{kind}_text.done", **inner, "text": part["text"]})
                events.append({"type": f"{kind}_part.done", **inner, "part": part})
            events.append({"type": "response.output_item.done", **at, "item": item})
        events.append({"type": "response.completed", "response": whole})
        return [{**event, "sequence_number": number} for number, event in enumerate(events)]

    def gemini(self, whole: Reply) -> list[Event]:
        candidate = whole["candidates"][0]
        head = {"modelVersion": whole["modelVersion"], "responseId": whole["responseId"]}
        events = []
        for part in candidate["content"]["parts"]:
            pieces = [{**part, "text": piece} for piece in self.pieces(part["text"])] if "text" in part else [part]
            for piece in pieces:
                events.append({"candidates": [{"content": {"role": "model", "parts": [piece]}, "index": 0}], **head})
        end = {"content": {"role": "model", "parts": []}, "finishReason": candidate["finishReason"], "index": 0}
        return [*events, {"candidates": [end], "usageMetadata": whole["usageMetadata"], **head}]

    def gemini_interactions(self, whole: Reply) -> list[Event]:
        begun = {**whole, "steps": [], "status": "in_progress"}
        events: list[Event] = [{"event_type": "interaction.created", "interaction": begun}]
        for index, step in enumerate(whole["steps"]):
            if step["type"] == "function_call":
                first = {**step, "arguments": {}}
                text = json.dumps(step["arguments"])
                deltas = [{"type": "arguments_delta", "arguments": piece} for piece in self.pieces(text)]
            elif step["type"] == "model_output":
                first = {"type": "model_output"}
                deltas = [{"type": "text", "text": piece} for piece in self.pieces(step["content"][0]["text"])]
            else:
                first = {"type": "thought"}
                deltas = [{"type": "thought_summary", "content": step["summary"][0]}]
                deltas.append({"type": "thought_signature", "signature": step["signature"]})
            events.append({"event_type": "step.start", "index": index, "step": first})
            events += ({"event_type": "step.delta", "index": index, "delta": delta} for delta in deltas)
            events.append({"event_type": "step.stop", "index": index})
        return [*events, {"event_type": "interaction.completed", "interaction": whole}]

    def bedrock(self, whole: Reply) -> list[Event]:
        events: list[Event] = [{"messageStart": {"role": "assistant"}}]
        for index, block in enumerate(whole["output"]["message"]["content"]):
            at = {"contentBlockIndex": index}
            if "toolUse" in block:
                call = block["toolUse"]
                first = {key: value for key, value in call.items() if key != "input"}
                events.append({"contentBlockStart": {**at, "start": {"toolUse": first}}})
                deltas: list[Any] = [{"toolUse": {"input": piece}} for piece in self.pieces(json.dumps(call["input"]))]
            elif "text" in block:
                deltas = [{"text": piece} for piece in self.pieces(block["text"])]
            else:
                text = block["reasoningContent"]["reasoningText"]
                deltas = [{"reasoningContent": {"text": piece}} for piece in self.pieces(text["text"])]
                deltas.append({"reasoningContent": {"signature": text["signature"]}})
            events += ({"contentBlockDelta": {**at, "delta": delta}} for delta in deltas)
            events.append({"contentBlockStop": at})
        events.append({"messageStop": {"stopReason": whole["stopReason"]}})
        return [*events, {"metadata": {"usage": whole["usage"], "metrics": whole["metrics"]}}]


def said_in(api: str, whole: Reply) -> Said:
    """Return what a reply says."""
    said: Said = []
    if api == "anthropic":
        for block in whole["content"]:
            if block["type"] == "tool_use":
                said.append(("call", block["id"], block["name"], block["input"]))
            elif block["type"] == "thinking":
                said.append(("thought", block["thinking"]))
            elif block["type"] == "text":
                said.append(("text", block["text"]))
            else:
                said.append(("other", json.dumps(without_nulls(block), sort_keys=True)))
    elif api == "openai-chat":
        message = whole["choices"][0]["message"]
        if message.get("content"):
            said.append(("text", message["content"]))
        for call in message.get("tool_calls") or ():
            function = call["function"]
            said.append(("call", call["id"], function["name"], json.loads(function["arguments"] or "{}")))
    elif api == "openai-responses":
        for item in whole["output"]:
            if item["type"] == "function_call":
                said.append(("call", item["call_id"], item["name"], json.loads(item["arguments"])))
            elif item["type"] == "reasoning":
                said += [("thought", part["text"]) for part in item["summary"]]
            elif item["type"] == "message":
                said += [("text", part["text"]) for part in item["content"]]
            else:
                said.append(
                    ("other", item["type"], item.get("call_id"), json.dumps(item.get("arguments", item.get("input"))))
                )
    elif api == "gemini":
        for part in whole["candidates"][0]["content"].get("parts") or ():
            if "functionCall" in part:
                call = part["functionCall"]
                said.append(("call", call.get("id"), call["name"], call.get("args") or {}))
            elif "text" in part:
                said.append(("thought" if part.get("thought") else "text", part["text"]))
    elif api == "gemini-interactions":
        for step in whole["steps"]:
            if step["type"] == "function_call":
                said.append(("call", step["id"], step["name"], step["arguments"]))
            elif step["type"] == "thought":
                said.append(("thought", step["summary"][0]["text"]))
            elif step["type"] == "model_output":
                said += [("text", part["text"]) for part in step["content"]]
            else:
                said.append(("other", step["type"], step.get("id") or step.get("call_id")))
    else:
        for block in whole["output"]["message"]["content"]:
            if "toolUse" in block:
                call = block["toolUse"]
                said.append(("call", call["toolUseId"], call["name"], call["input"]))
            elif "text" in block:
                said.append(("text", block["text"]))
            else:
                said.append(("thought", block["reasoningContent"]["reasoningText"]["text"]))
    return joined(said)


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(member) for key, member in value.items() if member is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def joined(said: Said) -> Said:
    """Return the parts with adjacent texts as one, and without empty ones."""
    out: Said = []
    for one in said:
        if one[0] in ("text", "thought"):
            if not one[1]:
                continue
            if out and out[-1][0] == one[0]:
                out[-1] = (one[0], out[-1][1] + one[1])
                continue
        out.append(one)
    return out


def accumulated(api: str, events: Iterable[Event]) -> Reply:
    """Return the reply that an SDK's accumulator makes of events; the SDKs of two APIs have none."""
    if api == "anthropic":
        return of_anthropic(events)
    if api == "openai-chat":
        return of_chat(events)
    if api == "openai-responses":
        return of_responses_events(events)
    if api == "gemini":
        parts = [
            part
            for event in events
            for candidate in event.get("candidates", ())
            for part in candidate["content"].get("parts", ())
        ]
        return {"candidates": [{"content": {"parts": parts}}]}
    return of_blocks(api, events)


def of_anthropic(events: Iterable[Event]) -> Reply:
    from anthropic._models import construct_type_unchecked
    from anthropic.lib.streaming._beta_messages import accumulate_event
    from anthropic.types.beta import BetaRawMessageStreamEvent
    from httpx2 import Headers

    snapshot: Any = None
    buffers: dict[int, bytes] = {}
    for event in events:
        if event["type"] == "ping":
            continue
        typed: Any = construct_type_unchecked(type_=cast("Any", BetaRawMessageStreamEvent), value=event)
        snapshot = accumulate_event(
            event=typed, current_snapshot=snapshot, json_bufs=buffers, request_headers=Headers()
        )
    whole: Reply = snapshot.to_dict(warnings=False)
    return whole


def of_chat(events: Iterable[Event]) -> Reply:
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.types.chat import ChatCompletionChunk

    state: Any = ChatCompletionStreamState()
    for event in events:
        list(state.handle_chunk(ChatCompletionChunk.model_validate(event)))
    whole: Reply = state.get_final_completion().to_dict(warnings=False)
    return whole


def of_responses_events(events: Iterable[Event]) -> Reply:
    from openai import omit
    from openai._models import construct_type_unchecked
    from openai.lib.streaming.responses._responses import ResponseStreamState
    from openai.types.responses import ResponseStreamEvent

    state: Any = ResponseStreamState(input_tools=omit, text_format=omit)
    collected = None
    for event in events:
        if event["type"] == "response.completed":
            collected = state._ResponseStreamState__current_snapshot.to_dict(warnings=False)
        state.handle_event(construct_type_unchecked(type_=cast("Any", ResponseStreamEvent), value=event))
    whole: Reply = state._completed_response.to_dict(warnings=False)
    assert collected is not None
    # The accumulator collects neither summaries nor the input of `custom` tools and searches.
    kept = [
        [one for one in said_in("openai-responses", one) if one[0] in ("text", "call")] for one in (collected, whole)
    ]
    assert kept[0] == kept[1], "the response at the end is not that of the events"
    return whole


def of_blocks(api: str, events: Iterable[Event]) -> Reply:
    """Collect the blocks of APIs whose SDKs have no accumulator, by their indices."""
    blocks: dict[int, dict[str, Any]] = {}
    for event in events:
        if api == "bedrock":
            if "contentBlockStart" in event:
                start = event["contentBlockStart"]
                blocks[start["contentBlockIndex"]] = {"toolUse": {**start["start"]["toolUse"], "text": ""}}
            elif "contentBlockDelta" in event:
                delta = event["contentBlockDelta"]
                block = blocks.setdefault(delta["contentBlockIndex"], {})
                for key, value in delta["delta"].items():
                    if key == "toolUse":
                        block["toolUse"]["text"] += value["input"]
                    elif key == "text":
                        block["text"] = block.get("text", "") + value
                    else:
                        inner = block.setdefault("reasoningContent", {"reasoningText": {"text": ""}})["reasoningText"]
                        inner["text"] += value.get("text", "")
        elif event["event_type"] == "step.start":
            blocks[event["index"]] = {**event["step"], "pieces": ""}
        elif event["event_type"] == "step.delta":
            delta, block = event["delta"], blocks[event["index"]]
            if delta["type"] == "arguments_delta":
                block["pieces"] += delta["arguments"]
            elif delta["type"] == "text":
                parts = block.setdefault("content", [])
                parts.append({"type": "text", "text": delta["text"]})
            elif delta["type"] == "thought_summary":
                block["summary"] = [delta["content"]]
    made = [blocks[index] for index in sorted(blocks)]
    for block in made:
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"].pop("text") or "{}")
        if block.get("type") == "function_call" and block["pieces"]:
            block["arguments"] = json.loads(block["pieces"])
    return {"steps": made} if api != "bedrock" else {"output": {"message": {"content": made}}}


@cache
def judge_of_reply(api: str, dialect: str) -> Judge:
    """Return the judge of a whole reply."""
    if api == "gemini":
        return of_gemini()
    return of_aws("Converse") if api == "bedrock" else judge(whole_type(api, dialect))


@cache
def judge_of_event(api: str, dialect: str) -> Judge:
    """Return the judge of an event."""
    if api == "gemini":
        return of_gemini()
    return of_aws("ConverseStream") if api == "bedrock" else judge(event_type(api, dialect))


def of_gemini() -> Judge:
    from google.genai.types import GenerateContentResponse

    return of_model(GenerateContentResponse)


def of_aws(operation: str) -> Judge:
    shape = operation_of_bedrock(operation).output_shape
    return of_shape(shape if operation == "Converse" else shape.members["stream"])


def judge(hint: Any) -> Judge:
    check = check_of(hint)
    return lambda value: check(value, None)


def whole_type(api: str, dialect: str) -> Any:
    own = dialect.removesuffix("-strict")
    if api == "anthropic":
        from anthropic.types.beta import BetaMessage

        return BetaMessage
    if api == "openai-responses":
        from openai.types.responses import Response

        return Response
    if api == "openai-chat" and own == "groq":
        from groq.types.chat import ChatCompletion as OfGroq

        return OfGroq
    if api == "openai-chat" and own == "mistral":
        from mistralai.client.models import ChatCompletionResponse

        return ChatCompletionResponse
    if api == "openai-chat":
        from openai.types.chat import ChatCompletion

        return ChatCompletion
    from google.genai.interactions import Interaction

    return Interaction


def event_type(api: str, dialect: str) -> Any:
    own = dialect.removesuffix("-strict")
    if api == "anthropic":
        from anthropic.types.beta import BetaRawMessageStreamEvent

        return BetaRawMessageStreamEvent
    if api == "openai-responses":
        from openai.types.responses import ResponseStreamEvent

        return ResponseStreamEvent
    if api == "openai-chat" and own == "groq":
        from groq.types.chat import ChatCompletionChunk as OfGroq

        return OfGroq
    if api == "openai-chat" and own == "mistral":
        from mistralai.client.models import CompletionChunk

        return CompletionChunk
    if api == "openai-chat":
        from openai.types.chat import ChatCompletionChunk

        return ChatCompletionChunk
    from google.genai.interactions import InteractionSSEEvent

    return InteractionSSEEvent
