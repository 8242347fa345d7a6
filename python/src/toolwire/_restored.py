"""Results of `Restore`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypedDict, TypeVar

from ._argument_results import Left, Repair, RepairedCall
from ._names import AnswerChange  # noqa: TC001 - needed when hints are evaluated at run time
from ._record import Record

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from ._dataclass import dataclass

T_co = TypeVar("T_co", covariant=True)


class ClientCall(TypedDict, total=False):
    """A call in the format of the client's own API.

    Anthropic: `type`, `id`, `name`, `input`. Chat Completions: `type`, `id`, and `function` or `custom`. Responses:
    `type`, `call_id`, `name`, `namespace`, and `arguments` or `input`; a `tool_search_call` has `execution` and
    `status` and no name. If the client's API is unknown (`sanitize_tools`, Gemini), a call keeps its format: a Gemini
    call has `functionCall`, a Bedrock call has `toolUse`.
    """

    type: str
    id: str
    call_id: str | None
    name: str
    namespace: str
    arguments: Any
    input: Any
    function: dict[str, str]
    custom: dict[str, str]
    functionCall: dict[str, Any]
    toolUse: dict[str, Any]
    execution: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredCall(Record, Generic[T_co]):
    """A call as the tool's own server expects it."""

    server: str | None = None
    """The tool's server; `None` unless the list is a list of several servers."""
    index: int | None = None
    """The tool's index in the list; `None` unless `duplicate_names="rename"` renamed it because another tool has the
    same name."""
    name: str
    """The tool's own name."""
    namespace: str | None = None
    """The namespace of the tool (OpenAI Responses), if it has one."""
    arguments: T_co
    """The arguments; JSON text if the input was JSON text."""
    valid: bool | None = None
    """True if the tool's own schema accepts the arguments now; `None` if validity cannot be determined, if calls are
    not repaired (`repair`), or if the tool has no schema."""
    repairs: tuple[Repair, ...] | None = None
    """All repairs, in the order in which they were made; `None` if calls are not repaired, or if the tool has no
    schema."""
    left: tuple[Left, ...] = ()
    """The remaining violations, at most 100. Text that cannot be read is unchanged, and is one violation."""
    retry_message: str | None = None
    """The remaining violations as text, to be sent to the model as the result of its call; `None` if there are
    none."""

    _converters: ClassVar = {"repairs": Repair.list_of, "left": Left.list_of}
    _optional: ClassVar = frozenset({"server", "index", "namespace"})

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object that is the same in every language."""
        members = Record.to_dict(self)
        if self.repairs is None:
            for name in ("valid", "repairs", "left", "retryMessage"):
                del members[name]
        return members


@dataclass(frozen=True, slots=True)
class RestoredClientCall(Record):
    """A call in the format of its client's API, with the repairs of its arguments."""

    call: ClientCall
    """The call."""
    repaired: RepairedCall | None
    """The repairs of its arguments; `None` if calls are not repaired, or if the tool has no schema."""

    _converters: ClassVar = {"repaired": RepairedCall.of}


@dataclass(frozen=True, slots=True)
class RestoredContent(Record, Generic[T_co]):
    """Text of the model's answer, in the caller's response format."""

    content: T_co
    """The text, of the same type as the input."""
    complete: bool
    """False if the text is truncated JSON. Then only its complete parts are restored."""
    fenced: bool
    """True if a Markdown fence around the text was removed."""


@dataclass(frozen=True, slots=True)
class RestoredReply(Record, Generic[T_co]):
    """A reply with restored calls, and the repairs of the arguments of each call."""

    reply: T_co
    """The reply; JSON text if the input was JSON text."""
    calls: tuple[RepairedCall, ...]
    """The repairs of each call to a tool that has a schema, in the order of the calls; empty if calls are not
    repaired."""
    answer_changes: tuple[AnswerChange, ...]
    """The changes to the structured output, other than restored values; each kind of change is listed once."""

    _converters: ClassVar = {"calls": RepairedCall.list_of, "answer_changes": tuple}
