"""The callback for LiteLLM, before the fake of an API."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator
from typing import Any

# Otherwise it asks the network for prices.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
import pytest
from fake.backend import Backend, backend
from fake.server import TOOLS
from litellm.exceptions import BadRequestError
from litellm.types.llms import openai as events
from litellm.types.utils import CallTypes, Message

import toolwire
from toolwire.litellm import ToolwireLogger

# LiteLLM's own types.
pytestmark = pytest.mark.filterwarnings("ignore:Items? '")

# How the model calls the tool in a dialect that renames `$ref`, and what its server expects.
ENCODED = {"name": "files_read", "input": {"path": "README.md", "dollar_ref_": "main"}}
EXPECTED = [("files.read", {"path": "README.md", "$ref": "main"})]
DONE = {"text": "It says: any model."}
ASKED = [{"role": "user", "content": "Read README.md of main."}]
TOOL_LIST = [
    {
        "type": "function",
        "function": {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]},
    }
    for tool in TOOLS
]
COUNT = {"type": "function", "function": {"name": "count", "parameters": {"type": "integer"}}}


@pytest.fixture(autouse=True)
def _callbacks() -> Iterator[None]:
    """Leave no callback behind."""
    yield
    litellm.callbacks = []


def logger(**options: Any) -> ToolwireLogger:
    """Make the callback, and give it to LiteLLM."""
    made = ToolwireLogger(dialect="moonshot", repair=True, **options)
    litellm.callbacks = [made]
    return made


async def ask(fake: Backend, messages: Any = ASKED, tools: Any = TOOL_LIST, **more: Any) -> Any:
    """Ask the model."""
    given = {"messages": messages, "tools": tools, "api_base": fake.url, "api_key": "none", **more}
    return await litellm.acompletion("openai/kimi-k2", **given)


def calls_of(message: Any) -> list[Any]:
    """Give the names and arguments of the calls of a message."""
    return [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or ()]


async def read(chunks: AsyncIterator[Any]) -> list[Any]:
    """Give the calls of a stream of LiteLLM's SDK."""
    pieces: dict[int, list[str]] = {}
    async for chunk in chunks:
        for call in chunk.choices[0].delta.tool_calls or ():
            texts = pieces.setdefault(call.index, ["", ""])
            texts[0] += call.function.name or ""
            texts[1] += call.function.arguments or ""
    return [(name, json.loads(text)) for name, text in pieces.values()]


def test_a_conversation_with_tools() -> None:
    reports: list[Any] = []

    def report(report: Any, sent: Any) -> None:
        reports.append((report.dialect, sent.model, [tool["name"] for tool in sent.tools]))

    async def converse(fake: Backend) -> None:
        choice = {"type": "function", "function": {"name": "files.read"}}
        first = (await ask(fake, tool_choice=choice)).choices[0].message
        assert calls_of(first) == EXPECTED
        result = {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "any model"}
        # The message as LiteLLM has it.
        assert isinstance(first, Message)
        second = (await ask(fake, [*ASKED, first, result])).choices[0].message
        assert second.content == DONE["text"]

    with backend("moonshot", ENCODED, DONE) as fake:
        logger(on_report=report)
        asyncio.run(converse(fake))
    assert fake.got[0]["tool_choice"] == {"type": "function", "function": {"name": "files_read"}}
    assert fake.got[1]["messages"][1]["tool_calls"][0]["function"]["name"] == "files_read"
    assert reports == [("moonshot", "kimi-k2", ["files_read"])] * 2


def test_the_api_refuses_the_tools_without_it() -> None:
    with backend("moonshot", ENCODED) as fake, pytest.raises(BadRequestError, match=r"files\.read"):
        asyncio.run(ask(fake))


@pytest.mark.parametrize("is_behind_the_proxy", [True, False])
def test_a_stream(is_behind_the_proxy: bool, recwarn: pytest.WarningsRecorder) -> None:
    repaired: list[Any] = []
    ours = logger(on_repair=lambda calls, _: repaired.extend(call.valid for call in calls))

    async def asked(fake: Backend) -> list[Any]:
        response = await ask(fake, stream=True)
        if is_behind_the_proxy:
            # As LiteLLM's proxy calls it.
            data = {"litellm_logging_obj": response.logging_obj}
            return await read(ours.async_post_call_streaming_iterator_hook(None, response, data))
        return await read(ours.stream(response))

    with backend("moonshot", ENCODED) as fake:
        assert asyncio.run(asked(fake)) == EXPECTED
    assert repaired == [True]
    assert not [one for one in recwarn if one.category is toolwire.ToolwireWarning]


def test_a_stream_of_the_sdk_that_nothing_restores_is_a_warning() -> None:
    logger()

    async def asked(fake: Backend) -> list[Any]:
        return await read(await ask(fake, stream=True))

    with backend("moonshot", ENCODED) as fake, pytest.warns(toolwire.ToolwireWarning, match=r"stream\(response\)"):
        assert asyncio.run(asked(fake))[0][0] == "files_read"


class Log:
    """Stands for what LiteLLM keeps of a request."""


async def restored(*chunks: Any) -> list[Any]:
    """Give what a client of LiteLLM's proxy gets for these chunks."""
    ours, log = logger(), Log()
    kwargs = {"messages": ASKED, "tools": TOOL_LIST, "litellm_logging_obj": log}
    await ours.async_pre_call_deployment_hook(kwargs, CallTypes.acompletion)

    async def said() -> AsyncIterator[Any]:
        for chunk in chunks:
            yield chunk

    hook = ours.async_post_call_streaming_iterator_hook
    return [chunk async for chunk in hook(None, said(), {"litellm_logging_obj": log})]


def test_streams_of_the_other_protocols_of_the_proxy() -> None:
    call = {"type": "tool_use", "id": "a", "name": "files_read", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": '{"path": "x", "dollar_ref_": "y"}'}
    blocks = [
        {"type": "content_block_start", "index": 0, "content_block": call},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
    ]
    text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in blocks)
    # Cut anywhere.
    got = asyncio.run(restored(text[:150].encode(), text[150:].encode()))
    assert b"files.read" in b"".join(got)
    assert b"dollar_ref_" not in b"".join(got)

    at: dict[str, Any] = {"item_id": "i", "output_index": 0}
    item = {"type": "function_call", "id": "i", "call_id": "a", "name": "files_read", "arguments": ""}
    arguments = '{"path":"x","dollar_ref_":"y"}'
    kind = "response.function_call_arguments."
    given: list[dict[str, Any]] = [
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": kind + "delta", "delta": arguments, **at},
        {"type": kind + "done", "arguments": arguments, **at},
    ]
    classes = (
        events.OutputItemAddedEvent,
        events.FunctionCallArgumentsDeltaEvent,
        events.FunctionCallArgumentsDoneEvent,
    )
    got = asyncio.run(restored(*[made(**event) for made, event in zip(classes, given, strict=True)]))
    assert [type(one) for one in got] == list(classes)
    assert got[0].item.name == "files.read"
    assert {got[1].delta, got[2].arguments} == {'{"path":"x","$ref":"y"}'}


def test_a_retry_of_litellm_is_restored_too() -> None:
    ours, log = logger(), Log()
    kwargs = {"messages": ASKED, "tools": TOOL_LIST, "litellm_logging_obj": log, "temperature": 1}

    async def asked() -> tuple[Any, Any]:
        first = await ours.async_pre_call_deployment_hook(kwargs, CallTypes.acompletion)
        again = await ours.async_pre_call_deployment_hook(first, CallTypes.acompletion)
        call = {"id": "a", "type": "function", "function": {"name": "files_read", "arguments": '{"path":"x"}'}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        response = litellm.ModelResponse(choices=[{"finish_reason": "tool_calls", "message": message}])
        own = await ours.async_post_call_success_deployment_hook(first, response, CallTypes.acompletion)
        # What the model said is its own.
        assert response.choices[0].message.tool_calls[0].function.name == "files_read"
        return (first, again), own

    (first, again), own = asyncio.run(asked())
    assert first["temperature"] == 1
    assert kwargs["tools"] is TOOL_LIST
    assert again is None
    assert calls_of(own.choices[0].message) == [("files.read", {"path": "x"})]


def test_a_request_that_cannot_be_sent_is_a_bad_request() -> None:
    aside: list[Any] = []
    logger(on_set_aside=lambda tools, _: aside.extend(tool.name for tool in tools))
    choice = {"type": "function", "function": {"name": "count"}}
    with backend("moonshot", DONE) as fake:
        with pytest.raises(BadRequestError, match="toolwire: "):
            asyncio.run(ask(fake, tools=[*TOOL_LIST, COUNT], tool_choice=choice))
        assert fake.got == []
        asyncio.run(ask(fake, tools=[*TOOL_LIST, COUNT]))
    assert aside == ["count"]
    assert [tool["function"]["name"] for tool in fake.got[0]["tools"]] == ["files_read"]


@pytest.mark.parametrize(
    ("text", "reason", "valid"), [('{"path": 7,}', "tool_calls", True), ('{"path": "x"', "length", False)]
)
def test_calls_are_repaired_unless_they_were_cut_off(text: str, reason: str, valid: bool) -> None:
    repaired: list[Any] = []
    logger(on_repair=lambda calls, _: repaired.extend((call.valid, call.retry_message) for call in calls))
    with backend("moonshot", {"name": "files_read", "input": text, "finish": reason}) as fake:
        message = asyncio.run(ask(fake)).choices[0].message
    ((found, retry),) = repaired
    assert found is valid
    assert message.tool_calls[0].function.name == "files.read"
    assert (retry is None) == valid


def test_messages_that_litellm_does_not_show_are_a_bad_request() -> None:
    logger()
    with pytest.raises(BadRequestError, match="expected `messages` as a keyword argument"):
        asyncio.run(litellm.acompletion("openai/kimi-k2", ASKED, tools=TOOL_LIST))


def test_only_the_models_that_are_asked_for_are_adapted() -> None:
    asked: list[str] = []

    def is_kimi(model: str) -> bool:
        asked.append(model)
        return "kimi" in model

    ours = logger(models=is_kimi)

    async def adapted(model: str, provider: str | None = None) -> Any:
        kwargs = {
            "model": model,
            "custom_llm_provider": provider,
            "messages": ASKED,
            "tools": TOOL_LIST,
            "litellm_logging_obj": Log(),
        }
        return await ours.async_pre_call_deployment_hook(kwargs, CallTypes.acompletion)

    assert asyncio.run(adapted("openai/gpt-5")) is None
    for named in (("moonshot/kimi-k2", "moonshot"), ("kimi-k2", "moonshot")):
        assert asyncio.run(adapted(*named))["tools"][0]["function"]["name"] == "files_read"
    assert asked == ["openai/gpt-5", "moonshot/kimi-k2", "moonshot/kimi-k2"]


def test_wrong_options_are_errors() -> None:
    with pytest.raises(toolwire.ToolwireError) as caught:
        ToolwireLogger(dialect="moonshine")  # type: ignore[arg-type]
    assert caught.value.code == "unknown-dialect"
