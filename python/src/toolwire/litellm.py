"""A callback for LiteLLM, its SDK and its proxy: `pip install toolwire[litellm]`.

Tools are sent in a dialect, and calls are restored to the names and arguments that the tools expect:

    litellm.callbacks = [ToolwireLogger(dialect="moonshot", repair=True)]
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakValueDictionary

try:
    import litellm
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

    from ._argument_results import RepairedCall
    from ._framework import Reply
    from .types import FrameworkOptions

__all__ = ["ToolwireLogger"]

_ADAPTED_MEMBERS = ("messages", "tools", "tool_choice", "parallel_tool_calls", "thinking", "reasoning_effort")
"""Members of a request that are adapted."""

_RETRY_ARGUMENTS = ("num_retries", "retry_policy", "context_window_fallback_dict")
"""Arguments of `acompletion` that make LiteLLM retry without calling its callbacks."""

_NO_RETRIES = {**dict.fromkeys(_RETRY_ARGUMENTS), "num_retries": 0}
"""Values of these arguments that disable such retries."""

_LOG = logging.getLogger("LiteLLM")
"""LiteLLM's own logger."""


class ToolwireLogger(CustomLogger):
    """Sends the tools of asynchronous chat completions in a dialect and restores the calls.

    Restores whole replies, and streams of LiteLLM's proxy. LiteLLM's SDK passes only the end of a stream to callbacks:
    with the SDK, iterate over `stream(response)`.
    """

    def __init__(self, *, models: Callable[[str], bool] | None = None, **options: Unpack[FrameworkOptions]) -> None:
        """Accept the options of `sanitize_tools`, `on_report` and `on_repair`.

        `models` accepts LiteLLM's name of a model (`moonshot/kimi-k2`), and returns true if its requests are adapted.
        By default, all requests are adapted.

        Raises `ToolwireError`: `unknown-option`, `invalid-option`, `unknown-dialect`.
        """
        super().__init__()
        self._adapter = Adapter(options)
        self._models = models
        # The requests by call id, which a client may have chosen.
        self._ids: WeakValueDictionary[Any, _AdaptedRequest] = WeakValueDictionary()

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: CallTypes | None) -> Any:
        """Adapt the request."""
        body = {name: kwargs[name] for name in _ADAPTED_MEMBERS if kwargs.get(name) is not None}
        log = kwargs.get("litellm_logging_obj")
        if log is None:
            return None
        if call_type is not CallTypes.acompletion or not (body.keys() & {"messages", "tools"} or "functions" in kwargs):
            _ADAPTED_REQUESTS.pop(log, None)
            return None
        model = str(kwargs.get("model") or getattr(log, "model", ""))
        provider = kwargs.get("custom_llm_provider")
        # LiteLLM has already split the name if it converted the request from another API.
        if provider and not model.startswith(f"{provider}/"):
            model = f"{provider}/{model}"
        messages = body.get("messages")
        if messages is not None:
            body["messages"] = [_to_dict(message) for message in messages]
        # All attempts share one logging object, but may use different models.
        if (
            (previous := _ADAPTED_REQUESTS.get(log)) is not None
            and previous.model == model
            and previous.request == body
        ):
            if previous.owner is self:
                self._ids[kwargs.get("litellm_call_id")] = previous
            return None
        # True within a call to another API. LiteLLM retries that outer call, not this one.
        is_nested = getattr(log, "call_type", "acompletion") not in ("acompletion", "completion")
        original_body = body if previous is None else previous.original_of(body)
        if self._models is not None and not self._models(model):
            if previous is None or previous.model == model:
                return None
            _ADAPTED_REQUESTS.pop(log, None)
            return None if original_body == body else _with_body(kwargs, original_body)
        try:
            _require_adaptable(kwargs, is_nested)
            request, reply = self._adapter.chat({**original_body, "model": model.split("/")[-1]})
        except ToolwireError as error:
            _ADAPTED_REQUESTS.pop(log, None)
            # LiteLLM would retry after other errors.
            refusal = BadRequestError(f"toolwire: {error}", model, model.split("/")[0])
            if _retry_argument(kwargs) is None:
                raise refusal from error
            # After an error of a callback, LiteLLM's own retries would send the original request.
            return {**kwargs, **_NO_RETRIES, "fallbacks": None, "mock_response": refusal}
        request = {name: value for name, value in request.items() if name != "model"}
        _ADAPTED_REQUESTS[log] = self._ids[kwargs.get("litellm_call_id")] = _AdaptedRequest(
            self, model, original_body, request, reply
        )
        return _with_body({**kwargs, **(_NO_RETRIES if is_nested else {})}, request)

    async def async_post_call_success_deployment_hook(
        self,
        request_data: dict[str, Any],
        response: Any,
        call_type: CallTypes | None,  # noqa: ARG002
    ) -> Any:
        """Restore the calls of a whole reply."""
        sent = self._adapted_request_of(request_data.get("litellm_logging_obj"))
        if sent is None or not isinstance(response, ModelResponse):
            return None
        # With `fallbacks`, one call of the SDK runs within another, and both call this hook.
        _ADAPTED_REQUESTS.pop(request_data["litellm_logging_obj"], None)
        repaired: list[list[RepairedCall]] = []
        # If this raised an error, LiteLLM would return the reply unchanged.
        try:
            choices = [_restore_choice(sent.reply, choice, repaired) for choice in response.choices]
        except Exception:
            _LOG.exception("toolwire: the calls of a reply could not be restored: the reply is returned without calls")
            choices = [_with_calls(choice, None) for choice in response.choices]
        try:
            for calls in repaired:
                sent.reply.report_calls(calls)
        except Exception:
            _LOG.exception("toolwire: error in `on_repair`")
        return response.model_copy(update={"choices": choices})

    async def async_post_call_streaming_deployment_hook(
        self,
        request_data: dict[str, Any],
        response_chunk: Any,  # noqa: ARG002
        call_type: CallTypes | None,
    ) -> Any:
        """Warn about a stream of the SDK that is not restored."""
        sent = self._ids.get(request_data.get("litellm_call_id"))
        if sent is not None and not sent.is_read:
            is_messages = call_type is CallTypes.anthropic_messages
            advice = "use `acompletion`" if is_messages else "iterate over `stream(response)` of the callback"
            message = f"the calls of this stream are not restored and have the names that were sent: {advice}"
            warnings.warn(message, ToolwireWarning, stacklevel=2)

    async def async_post_call_streaming_iterator_hook(
        self,
        user_api_key_dict: Any,  # noqa: ARG002
        response: Any,
        request_data: dict[str, Any],
    ) -> AsyncGenerator[Any, None]:
        """Restore the calls of a stream of LiteLLM's proxy."""
        async for restored in self._restore_stream(response, request_data.get("litellm_logging_obj")):
            yield restored

    def stream(self, response: Any) -> AsyncIterator[Any]:
        """Restore the calls of a stream of LiteLLM's SDK.

        `response` is the result of `acompletion(…, stream=True)`, or of `aresponses` for a model that LiteLLM calls
        through Chat Completions. For any other value, raises `ToolwireError`: `invalid-request`.
        """
        for found in (response, getattr(response, "litellm_custom_stream_wrapper", None)):
            if (log := getattr(found, "logging_obj", None)) is not None:
                return self._restore_stream(response, log)
        message = (
            f"expected a stream of `acompletion` or `aresponses`, found a value of type `{type(response).__name__}`"
        )
        raise ToolwireError("invalid-request", "", message)

    def _adapted_request_of(self, log: Any) -> _AdaptedRequest | None:
        sent = None if log is None else _ADAPTED_REQUESTS.get(log)
        return sent if sent is not None and sent.owner is self else None

    async def _restore_stream(self, response: Any, log: Any) -> AsyncGenerator[Any, None]:
        try:
            async for restored in self._restore_events(response, log):
                yield restored
        finally:
            # The caller may stop before the end.
            if (close := getattr(response, "aclose", None)) is not None:
                await close()

    async def _restore_events(self, response: Any, log: Any) -> AsyncGenerator[Any, None]:
        sent = self._adapted_request_of(log)
        if sent is None:
            async for chunk in response:
                yield chunk
            return
        sent.is_read = True
        stream = sent.reply.stream()
        classes: dict[Any, type[Any]] = {}
        last: Any = None

        def to_object(event: dict[str, Any]) -> Any:
            """Return a restored event as an object of LiteLLM."""
            event_object = classes[event.get("type")](**event)
            if (hidden := getattr(last, "_hidden_params", None)) is not None:
                event_object._hidden_params = hidden
            return event_object

        async for chunk in response:
            last = chunk
            restored: list[Any] = [chunk]
            if isinstance(chunk, str | bytes):
                # LiteLLM's proxy writes events of Anthropic Messages as text.
                restored = [text for text in [stream.feed_text(chunk)] if text]
            elif isinstance(chunk, BaseModel | dict):
                chunk_json = chunk if isinstance(chunk, dict) else chunk.model_dump(mode="json")
                classes[chunk_json.get("type")] = type(chunk)
                restored = [chunk if event == chunk_json else to_object(event) for event in stream.feed(chunk_json)]
            sent.reply.report_calls(stream.take_repaired_calls())
            for event in restored:
                yield event
        if isinstance(last, str | bytes):
            text = stream.finish_text()
            restored = [text.encode() if isinstance(last, bytes) else text] if text else []
        else:
            restored = [to_object(event) for event in stream.finish()]
        sent.reply.report_calls(stream.take_repaired_calls())
        for event in restored:
            yield event


class _AdaptedRequest:
    """An adapted request, and the object that restores the calls of its reply."""

    def __init__(
        self, owner: ToolwireLogger, model: str, original: dict[str, Any], request: dict[str, Any], reply: Reply
    ) -> None:
        self.owner = owner
        self.model = model
        self.original = original
        self.request = request
        self.reply = reply
        self.is_read = False

    def original_of(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the original form of a body: with `fallbacks`, the SDK passes the adapted body to the next model."""
        dropped = {name: value for name, value in self.original.items() if name not in self.request}
        own = {
            name: self.original.get(name) if self.request.get(name) == value else value for name, value in body.items()
        }
        return {name: value for name, value in {**dropped, **own}.items() if value is not None}


_ADAPTED_REQUESTS: WeakKeyDictionary[Any, _AdaptedRequest] = WeakKeyDictionary()
"""The last adapted request for each of LiteLLM's logging objects, which a request and its reply share. All callbacks
use this dictionary: with `fallbacks`, a callback may get a request that another callback has adapted."""


def _require_adaptable(kwargs: dict[str, Any], is_nested: bool) -> None:
    """Raise an error if the request cannot be adapted, or its reply cannot be restored."""
    if kwargs.get("functions"):
        raise ToolwireError("invalid-request", "/functions", "expected `tools`, found `functions`")
    if kwargs.get("messages") is None:
        # LiteLLM passes only keyword arguments to callbacks.
        message = "expected `messages` as a keyword argument of `acompletion`, found none"
        raise ToolwireError("invalid-request", "/messages", message)
    if not is_nested and (argument := _retry_argument(kwargs)) is not None:
        message = (
            f"expected no `{argument}`, because LiteLLM calls no callback for the reply of such a retry: use"
            " `litellm.Router` or, for the retries of the HTTP client, `max_retries`"
        )
        raise ToolwireError("invalid-request", f"/{argument}", message)


def _retry_argument(kwargs: dict[str, Any]) -> str | None:
    """Return the argument that makes LiteLLM retry without its callbacks. Retries of `Router` do call them."""
    if any(isinstance(metadata := kwargs.get(name), Mapping) and "model_group" in metadata for name in _METADATA):
        return None
    retry_values = {name: kwargs.get(name) for name in _RETRY_ARGUMENTS}
    if retry_values["num_retries"] is None:
        retry_values["num_retries"] = litellm.num_retries
    return next((name for name, value in retry_values.items() if value), None)


_METADATA = ("metadata", "litellm_metadata")
"""Arguments in which `Router` names the group of the model."""


def _with_body(kwargs: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call with a different body."""
    return {**{name: value for name, value in kwargs.items() if name not in _ADAPTED_MEMBERS}, **body}


def _to_dict(message: Any) -> Any:
    """Return a message of the history as a `dict`. It may be a reply object of LiteLLM."""
    return message if isinstance(message, dict) else message.model_dump(exclude_none=True)


def _restore_choice(reply: Reply, choice: Any, all_repaired: list[list[RepairedCall]]) -> Any:
    def restore_call(call: Any) -> Any:
        function, cut = call.function, is_cut(choice.finish_reason)
        restored, repaired = reply.restore_call(call.id, function.name or "", function.arguments, is_cut=cut)
        all_repaired.append(repaired)
        function = function.model_copy(update={"name": restored.name, "arguments": restored.arguments})
        return call.model_copy(update={"function": function})

    calls = [
        restore_call(call) if getattr(call, "function", None) else call for call in choice.message.tool_calls or ()
    ]
    return _with_calls(choice, calls or None)


def _with_calls(choice: Any, calls: list[Any] | None) -> Any:
    return choice.model_copy(update={"message": choice.message.model_copy(update={"tool_calls": calls})})
