"""A callback for LiteLLM, its SDK and its proxy: `pip install toolwire[litellm]`.

Tools are sent in a dialect, calls come back with the names and arguments that the tools expect:

    litellm.callbacks = [ToolwireLogger(dialect="moonshot", repair=True)]
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakValueDictionary

try:
    from litellm.exceptions import BadRequestError
    from litellm.integrations.custom_logger import CustomLogger
    from litellm.types.utils import CallTypes, ModelResponse
    from pydantic import BaseModel
except ImportError as missing:
    message = f"expected the package litellm 1.110 or later: run `pip install 'toolwire[litellm]'` ({missing})"
    raise ImportError(message) from missing

from ._error import ToolwireError, ToolwireWarning
from ._framework import Adapter, is_cut

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from typing_extensions import Unpack

    from ._framework import Reply
    from .types import FrameworkOptions

__all__ = ["ToolwireLogger"]

_MEMBERS = ("messages", "tools", "tool_choice", "parallel_tool_calls", "thinking", "reasoning_effort")
"""The members of a request that are adapted."""


class ToolwireLogger(CustomLogger):
    """Sends the tools of asynchronous chat completions in a dialect and restores the calls.

    Whole replies are restored, and streams behind LiteLLM's proxy. LiteLLM's SDK shows a callback only the end of a
    stream: iterate `stream(response)` there.
    """

    def __init__(self, *, models: Callable[[str], bool] | None = None, **options: Unpack[FrameworkOptions]) -> None:
        """Take the options of `sanitize_tools`, and `on_report` and `on_repair`.

        `models` says whether the requests to a model are adapted, by LiteLLM's name of it (`moonshot/kimi-k2`). By
        default, all are.

        Raises `ToolwireError`: `unknown-option`, `invalid-option`, `unknown-dialect`.
        """
        super().__init__()
        self._adapter = Adapter(options)
        self._models = models
        # By LiteLLM's own object of a request, which its reply has, too.
        self._sent: WeakKeyDictionary[Any, _Sent] = WeakKeyDictionary()
        # By what a client may have chosen.
        self._ids: WeakValueDictionary[Any, _Sent] = WeakValueDictionary()

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: CallTypes | None) -> Any:
        """Adapt the request."""
        body = {name: kwargs[name] for name in _MEMBERS if kwargs.get(name) is not None}
        if call_type is not CallTypes.acompletion or not body.keys() & {"messages", "tools"}:
            return None
        log = kwargs["litellm_logging_obj"]
        model = str(kwargs.get("model") or getattr(log, "model", ""))
        provider = kwargs.get("custom_llm_provider")
        # LiteLLM has split the name where it turns one API's request into another's.
        if provider and not model.startswith(f"{provider}/"):
            model = f"{provider}/{model}"
        if self._models is not None and not self._models(model):
            return None
        try:
            if "messages" not in body:
                # LiteLLM shows a callback only what has a name.
                message = "expected `messages` as a keyword argument of `acompletion`, found none"
                raise ToolwireError("invalid-request", "/messages", message)
            body["messages"] = [_plain(message) for message in body["messages"]]
            # LiteLLM's own retries send what was adapted before.
            if (before := self._sent.get(log)) is not None and before.request == body:
                return None
            request, reply = self._adapter.chat({**body, "model": model.split("/")[-1]})
        except ToolwireError as error:
            # LiteLLM tries again after other errors.
            raise BadRequestError(f"toolwire: {error}", model, model.split("/")[0]) from error
        request = {name: value for name, value in request.items() if name != "model"}
        self._sent[log] = self._ids[kwargs.get("litellm_call_id")] = _Sent(request, reply)
        return {**{name: value for name, value in kwargs.items() if name not in _MEMBERS}, **request}

    async def async_post_call_success_deployment_hook(
        self,
        request_data: dict[str, Any],
        response: Any,
        call_type: CallTypes | None,  # noqa: ARG002
    ) -> Any:
        """Restore the calls of a whole reply."""
        sent = self._found(request_data.get("litellm_logging_obj"))
        if sent is None or not isinstance(response, ModelResponse):
            return None
        return response.model_copy(update={"choices": [_choice(sent.reply, choice) for choice in response.choices]})

    async def async_post_call_streaming_deployment_hook(
        self,
        request_data: dict[str, Any],
        response_chunk: Any,  # noqa: ARG002
        call_type: CallTypes | None,  # noqa: ARG002
    ) -> Any:
        """Warn of a stream of the SDK that nothing restores."""
        sent = self._ids.get(request_data.get("litellm_call_id"))
        if sent is not None and not sent.is_read:
            message = "calls of a stream have the names that were sent: iterate `stream(response)` of the callback"
            warnings.warn(message, ToolwireWarning, stacklevel=2)

    async def async_post_call_streaming_iterator_hook(
        self,
        user_api_key_dict: Any,  # noqa: ARG002
        response: Any,
        request_data: dict[str, Any],
    ) -> AsyncGenerator[Any, None]:
        """Restore the calls of a stream behind LiteLLM's proxy."""
        async for restored in self._restored(response, request_data.get("litellm_logging_obj")):
            yield restored

    def stream(self, response: Any) -> AsyncIterator[Any]:
        """Restore the calls of a stream of LiteLLM's SDK: what `acompletion(…, stream=True)` returns."""
        return self._restored(response, response.logging_obj)

    def _found(self, log: Any) -> _Sent | None:
        return None if log is None else self._sent.get(log)

    async def _restored(self, response: Any, log: Any) -> AsyncGenerator[Any, None]:
        sent = self._found(log)
        if sent is None:
            async for chunk in response:
                yield chunk
            return
        sent.is_read = True
        stream = sent.reply.stream()
        classes: dict[Any, type[Any]] = {}
        last: Any = None

        def made(event: dict[str, Any]) -> Any:
            """Return a restored event as LiteLLM has it."""
            found = classes[event.get("type")](**event)
            if (hidden := getattr(last, "_hidden_params", None)) is not None:
                found._hidden_params = hidden
            return found

        async for chunk in response:
            last = chunk
            restored: list[Any] = [chunk]
            if isinstance(chunk, str | bytes):
                # Events of Anthropic Messages, as LiteLLM's proxy writes them.
                restored = [text for text in [stream.feed_text(chunk)] if text]
            elif isinstance(chunk, BaseModel):
                given = chunk.model_dump(mode="json")
                classes[given.get("type")] = type(chunk)
                restored = [chunk if one == given else made(one) for one in stream.feed(given)]
            sent.reply.report_calls(stream.take_repaired_calls())
            for one in restored:
                yield one
        if isinstance(last, str | bytes):
            text = stream.finish_text()
            restored = [text.encode() if isinstance(last, bytes) else text] if text else []
        else:
            restored = [made(one) for one in stream.finish()]
        sent.reply.report_calls(stream.take_repaired_calls())
        for one in restored:
            yield one


class _Sent:
    """A request as it is sent, and what restores the calls of its reply."""

    def __init__(self, request: dict[str, Any], reply: Reply) -> None:
        self.request = request
        self.reply = reply
        self.is_read = False


def _plain(message: Any) -> Any:
    """Return a message of the history as a `dict`: it may be one of LiteLLM's replies."""
    return message if isinstance(message, dict) else message.model_dump(exclude_none=True)


def _choice(reply: Reply, choice: Any) -> Any:
    def own(call: Any) -> Any:
        found = reply.call(
            call.id, call.function.name or "", call.function.arguments, is_cut=is_cut(choice.finish_reason)
        )
        function = call.function.model_copy(update={"name": found.name, "arguments": found.arguments})
        return call.model_copy(update={"function": function})

    calls = [own(call) if getattr(call, "function", None) else call for call in choice.message.tool_calls or ()]
    return choice.model_copy(update={"message": choice.message.model_copy(update={"tool_calls": calls or None})})
