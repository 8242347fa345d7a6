"""The callback for LiteLLM, with a fake API."""

from __future__ import annotations

import asyncio
import datetime
import json
import os
import re
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Otherwise LiteLLM fetches prices from the network.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
import pytest
import yaml  # type: ignore[import-untyped]
from fake.backend import TAKES, Backend, backend
from fake.server import TOOLS
from litellm.anthropic_interface import messages
from litellm.exceptions import BadRequestError
from litellm.litellm_core_utils.rules import Rules
from litellm.router import Router
from litellm.types.llms import openai as events
from litellm.types.router import RetryPolicy
from litellm.types.utils import CallTypes, Message
from litellm.utils import function_setup

import toolwire
from toolwire.litellm import ToolwireLogger
from toolwire.types import DialectName

# The warnings concern LiteLLM's own types.
pytestmark = pytest.mark.filterwarnings("ignore:Items? '")

# The model's call to the tool in a dialect that renames `$ref`, and the call that the tool's server expects.
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
    """Remove all callbacks after the test."""
    yield
    litellm.callbacks = []


def logger(**options: Any) -> ToolwireLogger:
    """Make the callback, and register it with LiteLLM."""
    made = ToolwireLogger(dialect="moonshot", repair=True, **options)
    litellm.callbacks = [made]
    return made


async def ask(fake: Backend, messages: Any = ASKED, tools: Any = TOOL_LIST, **more: Any) -> Any:
    """Ask the model."""
    given = {"messages": messages, "tools": tools, "api_base": fake.url, "api_key": "none", **more}
    return await litellm.acompletion("openai/kimi-k2", **given)


def calls_of(message: Any) -> list[Any]:
    """Return the names and arguments of the calls of a message."""
    return [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or ()]


async def read(chunks: AsyncIterator[Any]) -> list[Any]:
    """Return the calls of a stream of LiteLLM's SDK."""
    pieces: dict[int, list[str]] = {}
    async for chunk in chunks:
        for call in chunk.choices[0].delta.tool_calls or ():
            texts = pieces.setdefault(call.index, ["", ""])
            texts[0] += call.function.name or ""
            texts[1] += call.function.arguments or ""
    return [(name, json.loads(text)) for name, text in pieces.values()]


def test_calls_of_a_conversation_are_restored() -> None:
    reports: list[Any] = []

    def report(report: Any, sent: Any) -> None:
        reports.append((report.dialect, sent.model, [tool["name"] for tool in sent.tools]))

    async def converse(fake: Backend) -> None:
        choice = {"type": "function", "function": {"name": "files.read"}}
        first = (await ask(fake, tool_choice=choice)).choices[0].message
        assert calls_of(first) == EXPECTED
        result = {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "any model"}
        # The message is an object of LiteLLM.
        assert isinstance(first, Message)
        second = (await ask(fake, [*ASKED, first, result])).choices[0].message
        assert second.content == DONE["text"]

    with backend("moonshot", ENCODED, DONE) as fake:
        logger(on_report=report)
        asyncio.run(converse(fake))
    assert fake.got[0]["tool_choice"] == {"type": "function", "function": {"name": "files_read"}}
    assert fake.got[1]["messages"][1]["tool_calls"][0]["function"]["name"] == "files_read"
    assert reports == [("moonshot", "kimi-k2", ["files_read"])] * 2


def test_api_refuses_the_tools_without_toolwire() -> None:
    with backend("moonshot", ENCODED) as fake, pytest.raises(BadRequestError, match=r"files\.read"):
        asyncio.run(ask(fake))


@pytest.mark.parametrize("is_behind_the_proxy", [True, False])
def test_calls_in_a_stream_are_restored(is_behind_the_proxy: bool, recwarn: pytest.WarningsRecorder) -> None:
    repaired: list[Any] = []
    ours = logger(on_repair=lambda calls, _: repaired.extend(call.valid for call in calls))

    async def run(fake: Backend) -> list[Any]:
        response = await ask(fake, stream=True)
        if is_behind_the_proxy:
            # LiteLLM's proxy calls the hook like this.
            data = {"litellm_logging_obj": response.logging_obj}
            return await read(ours.async_post_call_streaming_iterator_hook(None, response, data))
        return await read(ours.stream(response))

    with backend("moonshot", ENCODED) as fake:
        assert asyncio.run(run(fake)) == EXPECTED
    assert repaired == [True]
    assert not [one for one in recwarn if one.category is toolwire.ToolwireWarning]


def test_unrestored_stream_of_the_sdk_causes_a_warning() -> None:
    logger()

    async def run(fake: Backend) -> list[Any]:
        return await read(await ask(fake, stream=True))

    with backend("moonshot", ENCODED) as fake, pytest.warns(toolwire.ToolwireWarning, match=r"stream\(response\)"):
        assert asyncio.run(run(fake))[0][0] == "files_read"


class Log:
    """A substitute for LiteLLM's logging object of a request."""


async def restored(*chunks: Any) -> list[Any]:
    """Return the chunks that a client of LiteLLM's proxy receives for these chunks."""
    ours, log = logger(), Log()
    kwargs = {"messages": ASKED, "tools": TOOL_LIST, "litellm_logging_obj": log}
    await ours.async_pre_call_deployment_hook(kwargs, CallTypes.acompletion)

    async def stream() -> AsyncIterator[Any]:
        for chunk in chunks:
            yield chunk

    hook = ours.async_post_call_streaming_iterator_hook
    return [chunk async for chunk in hook(None, stream(), {"litellm_logging_obj": log})]


def test_streams_of_messages_and_responses_are_restored() -> None:
    call = {"type": "tool_use", "id": "a", "name": "files_read", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": '{"path": "x", "dollar_ref_": "y"}'}
    blocks = [
        {"type": "content_block_start", "index": 0, "content_block": call},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
    ]
    text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in blocks)
    # The pieces may be cut anywhere.
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

    async def run() -> tuple[Any, Any]:
        first = await ours.async_pre_call_deployment_hook(kwargs, CallTypes.acompletion)
        again = await ours.async_pre_call_deployment_hook(first, CallTypes.acompletion)
        call = {"id": "a", "type": "function", "function": {"name": "files_read", "arguments": '{"path":"x"}'}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        response = litellm.ModelResponse(choices=[{"finish_reason": "tool_calls", "message": message}])
        own = await ours.async_post_call_success_deployment_hook(first, response, CallTypes.acompletion)
        # The original response is not changed.
        assert response.choices[0].message.tool_calls[0].function.name == "files_read"
        return (first, again), own

    (first, again), own = asyncio.run(run())
    assert first["temperature"] == 1
    assert kwargs["tools"] is TOOL_LIST
    assert again is None
    assert calls_of(own.choices[0].message) == [("files.read", {"path": "x"})]


def test_unadaptable_request_is_a_bad_request() -> None:
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
def test_calls_are_repaired_unless_they_are_truncated(text: str, reason: str, valid: bool) -> None:
    repaired: list[Any] = []
    logger(on_repair=lambda calls, _: repaired.extend((call.valid, call.retry_message) for call in calls))
    with backend("moonshot", {"name": "files_read", "input": text, "finish": reason}) as fake:
        message = asyncio.run(ask(fake)).choices[0].message
    ((found, retry),) = repaired
    assert found is valid
    assert message.tool_calls[0].function.name == "files.read"
    assert (retry is None) == valid


def test_positional_messages_are_a_bad_request() -> None:
    logger()
    with pytest.raises(BadRequestError, match="expected `messages` as a keyword argument"):
        asyncio.run(litellm.acompletion("openai/kimi-k2", ASKED, tools=TOOL_LIST))


def test_only_the_selected_models_are_adapted() -> None:
    models: list[str] = []

    def is_kimi(model: str) -> bool:
        models.append(model)
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
    assert models == ["openai/gpt-5", "moonshot/kimi-k2", "moonshot/kimi-k2"]


def test_wrong_options_are_errors() -> None:
    with pytest.raises(toolwire.ToolwireError) as caught:
        ToolwireLogger(dialect="moonshine")  # type: ignore[arg-type]
    assert caught.value.code == "unknown-dialect"


@pytest.mark.parametrize(
    "member", ["num_retries", "context_window_fallback_dict", "retry_policy", "litellm.num_retries"]
)
@pytest.mark.parametrize("streams", [False, True])
def test_retries_that_call_no_callback_are_a_bad_request(
    member: str, streams: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    logger()
    values = {
        "num_retries": 1,
        "context_window_fallback_dict": {"openai/kimi-k2": "openai/kimi-k3"},
        "retry_policy": RetryPolicy(BadRequestErrorRetries=1),
    }
    given = {name: value for name, value in values.items() if name == member}
    if not given:
        monkeypatch.setattr(litellm, "num_retries", 1)
    match = rf"toolwire: .*expected no `{member.removeprefix('litellm.')}`.*Router"
    with backend("moonshot", {"status": 400, "message": "no"}, ENCODED, ENCODED) as fake:
        with pytest.raises(BadRequestError, match=match):
            asyncio.run(ask(fake, tools=[LABEL], stream=streams, **given))
        # The original request is not sent either, although this API would accept it.
        assert fake.got == []


def test_a_retry_of_responses_is_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    logger()
    monkeypatch.setattr(litellm, "num_retries", 1)
    function: Any = TOOL_LIST[0]["function"]
    tool: Any = {"type": "function", **function}

    async def run(fake: Backend) -> Any:
        given: dict[str, Any] = {"model": "moonshot/kimi-k2", "api_base": fake.url, "api_key": "none"}
        return await litellm.aresponses(input="Read.", tools=[tool], **given)

    with backend("moonshot", {"status": 400, "message": "no"}, ENCODED) as fake:
        output = asyncio.run(run(fake)).output
        assert len(fake.got) == 2
    calls = [(item.name, json.loads(item.arguments)) for item in output if item.type == "function_call"]
    assert calls == EXPECTED


def router(*fakes: tuple[str, Backend], **more: Any) -> Any:
    """Make a LiteLLM router for the models `m0`, `m1`, …."""
    models = [
        {
            "model_name": f"m{at}",
            "litellm_params": {"model": f"openai/{name}", "api_base": fake.url, "api_key": "none"},
        }
        for at, (name, fake) in enumerate(fakes)
    ]
    return Router(model_list=models, **more)


def test_a_retry_of_the_router_is_restored() -> None:
    logger()

    async def run(fake: Backend) -> Any:
        asking = router(("kimi-k2", fake), num_retries=1, retry_after=0)
        return await asking.acompletion(model="m0", messages=ASKED, tools=TOOL_LIST)

    with backend("moonshot", {"status": 500, "message": "no"}, ENCODED) as fake:
        assert calls_of(asyncio.run(run(fake)).choices[0].message) == EXPECTED
        assert len(fake.got) == 2


LABELS = {"labels": {"type": "object", "additionalProperties": {"type": "string"}}}
LABEL = {
    "type": "function",
    "function": {
        "name": "label",
        "description": "d",
        "parameters": {"type": "object", "properties": LABELS, "required": ["labels"]},
    },
}
PAIRS = {"name": "label", "input": {"labels": [{"key": "a", "value": "b"}]}}


def two_loggers() -> tuple[ToolwireLogger, ToolwireLogger]:
    """Make callbacks for two dialects."""
    kimi = ToolwireLogger(dialect="moonshot", repair=True, models=lambda name: "kimi" in name)
    return kimi, ToolwireLogger(dialect="openai-strict", repair=True, models=lambda name: "gpt" in name)


@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize("is_second_adapted", [False, True])
@pytest.mark.parametrize("is_routed", [False, True])
def test_fallback_is_restored_for_its_own_model(is_reversed: bool, is_second_adapted: bool, is_routed: bool) -> None:
    loggers: list[Any] = list(two_loggers())[: 1 + is_second_adapted]
    litellm.callbacks = loggers[::-1] if is_reversed else loggers
    call: dict[str, Any] = PAIRS if is_second_adapted else {"name": "label", "input": {"labels": {"key": 7}}}

    async def run(first: Backend, second: Backend) -> Any:
        if is_routed:
            # LiteLLM's proxy uses one logging object for all attempts.
            now = datetime.datetime.now(datetime.timezone.utc)
            log, _ = function_setup("acompletion", Rules(), now, model="m0", messages=ASKED, litellm_call_id="a")
            asking = router(("kimi-k2", first), ("gpt-9", second), fallbacks=[{"m0": ["m1"]}], num_retries=0)
            return await asking.acompletion(model="m0", messages=ASKED, tools=[LABEL], litellm_logging_obj=log)
        fallback = {"model": "openai/gpt-9", "api_base": second.url}
        return await ask(first, tools=[LABEL], fallbacks=[fallback])

    dialect: DialectName = "openai-strict" if is_second_adapted else "openai-chat"
    with backend("moonshot", {"status": 400, "message": "no"}) as first, backend(dialect, call) as second:
        message = asyncio.run(run(first, second)).choices[0].message
    expected = {"labels": {"a": "b"}} if is_second_adapted else call["input"]
    assert calls_of(message) == [("label", expected)]
    # The second backend receives the original request, not the one that was adapted for the first.
    (sent,) = second.got
    assert (sent["tools"] == [LABEL]) != is_second_adapted
    assert first.got[0]["tools"] != sent["tools"]


def test_a_reply_is_restored_whatever_on_repair_raises() -> None:
    def refuse(*_: Any) -> None:
        raise ValueError("no")

    logger(on_repair=refuse)
    with backend("moonshot", ENCODED) as fake:
        assert calls_of(asyncio.run(ask(fake)).choices[0].message) == EXPECTED


def test_the_parameter_functions_is_a_bad_request() -> None:
    logger()
    with backend("moonshot", ENCODED) as fake, pytest.raises(BadRequestError, match="expected `tools`"):
        asyncio.run(ask(fake, tools=None, functions=[TOOL_LIST[0]["function"]]))
    assert fake.got == []


def test_a_stream_of_responses_from_the_sdk_is_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = logger()
    monkeypatch.setitem(TAKES, "/chat/completions", TAKES["/chat/completions"] + " include store service_tier")
    function: Any = TOOL_LIST[0]["function"]

    async def run(fake: Backend) -> Any:
        given: dict[str, Any] = {"model": "moonshot/kimi-k2", "api_base": fake.url, "api_key": "none", "stream": True}
        response = await litellm.aresponses(input="Read.", tools=[{"type": "function", **function}], **given)
        events = [event async for event in ours.stream(response)]
        tool = {"name": function["name"], "input_schema": function["parameters"]}
        other: Any = await messages.acreate(messages=ASKED, max_tokens=9, tools=[tool], **given)
        with pytest.raises(toolwire.ToolwireError, match="expected a stream of `acompletion`"):
            ours.stream(other)
        with pytest.warns(toolwire.ToolwireWarning, match="use `acompletion`"):
            _ = [event async for event in other]
        return events

    with backend("moonshot", ENCODED, ENCODED) as fake:
        events = asyncio.run(run(fake))
    done = [event.item for event in events if event.type == "response.output_item.done"]
    calls = [(item.name, json.loads(item.arguments)) for item in done if item.type == "function_call"]
    assert calls == EXPECTED


def test_partly_read_stream_is_closed() -> None:
    class Stream:
        logging_obj = Log()
        is_closed = False

        def __aiter__(self) -> Stream:
            return self

        async def __anext__(self) -> dict[str, Any]:
            return {"choices": []}

        async def aclose(self) -> None:
            self.is_closed = True

    async def read_one(stream: Stream) -> None:
        restored: Any = logger().stream(stream)
        await anext(restored)
        await restored.aclose()

    stream = Stream()
    asyncio.run(read_one(stream))
    assert stream.is_closed


def test_chunks_may_be_dicts() -> None:
    call = {"index": 0, "id": "a", "type": "function", "function": {"name": "files_read", "arguments": "{}"}}
    (chunk, *_) = asyncio.run(restored({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}))
    assert chunk["choices"][0]["delta"]["tool_calls"][0]["function"]["name"] == "files.read"


ROOT = Path(__file__).parents[3]
PROGRAM = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "toolwire"


@contextmanager
def relay(upstream: str, token: str) -> Iterator[str]:
    """Start the relay for an API, and return its host and port."""
    options = ["--upstream", upstream, "--dialect", "moonshot", "--listen", "127.0.0.1:0", "--token-env", "TOKEN"]
    command = [str(PROGRAM), "relay", *options]
    environment = {**os.environ, "TOKEN": token}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            listening = next(found for line in process.stderr if (found := re.search(r"listening on (\S+)", line)))
            yield listening[1]
        finally:
            process.terminate()


def test_configuration_of_litellms_proxy_uses_the_relay() -> None:
    page = ROOT / "docs" / "deploy" / "litellm.yaml"
    given = {"MOONSHOT_API_KEY": "key", "TOOLWIRE_TOKEN": "token"}
    with backend("moonshot", ENCODED, DONE) as fake, relay(fake.url, given["TOOLWIRE_TOKEN"]) as address:
        text = page.read_text(encoding="utf-8").replace("toolwire-relay:8787", address)
        # The proxy does the same when it loads the file.
        for name, value in given.items():
            text = text.replace(f"os.environ/{name}", value)
        (model,) = yaml.safe_load(text)["model_list"]
        router = Router(model_list=[model])
        reply = asyncio.run(router.acompletion("kimi", messages=ASKED, tools=TOOL_LIST))
    assert calls_of(reply.choices[0].message) == EXPECTED
    assert fake.got[0]["model"] == "kimi-k3"
