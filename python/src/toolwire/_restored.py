"""What the way back gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypedDict, TypeVar

from ._argument_results import Left, Repair, RepairedCall
from ._names import AnswerChange  # noqa: TC001 - for those who read the hints at run time
from ._record import Record

T_co = TypeVar("T_co", covariant=True)


class ClientCall(TypedDict, total=False):
    """A call in the form of the client's own API.

    Anthropic: `type`, `id`, `name`, `input`. Chat Completions: `type`, `id`, and `function` or `custom`. Responses:
    `type`, `call_id`, `name`, `namespace`, and `arguments` or `input`; a `tool_search_call` has `execution` and
    `status` and no name. Where the client is not known (`sanitize_tools`, Gemini), a call keeps its form: Gemini's has
    `functionCall`, Bedrock's `toolUse`.
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
    """The tool's server; `None` unless the list was one of several servers."""
    index: int | None = None
    """The tool's index in the list; `None` unless `duplicate_names="rename"` renamed it because another one has its
    name."""
    name: str
    """The tool's name."""
    namespace: str | None = None
    """The namespace of the tool (OpenAI Responses), if it stood in one."""
    arguments: T_co
    """The arguments: text if text was given."""
    valid: bool | None = None
    """Whether the tool's own schema takes them now; `None` where that cannot be told, or calls are not repaired
    (`repair`), or the tool has no schema."""
    repairs: tuple[Repair, ...] | None = None
    """Every repair, in the order in which they were made; `None` where calls are not repaired, or the tool has no
    schema."""
    left: tuple[Left, ...] = ()
    """What is still wrong, at most 100. Text that cannot be read stays as it was answered, and is wrong as a whole."""
    retry_message: str | None = None
    """What is still wrong as one text, to be sent back to the model as the result of its call; `None` if nothing is."""

    _made: ClassVar = {"repairs": Repair.list_of, "left": Left.list_of}
    _optional: ClassVar = frozenset({"server", "index", "namespace"})

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object that every language shares."""
        members = Record.to_dict(self)
        if self.repairs is None:
            for name in ("valid", "repairs", "left", "retryMessage"):
                del members[name]
        return members


@dataclass(frozen=True, slots=True)
class RestoredClientCall(Record):
    """A call in its client's own form, and what became of its arguments."""

    call: ClientCall
    """The call."""
    repaired: RepairedCall | None
    """What became of its arguments; `None` where calls are not repaired, or the tool has no schema."""

    _made: ClassVar = {"repaired": RepairedCall.of}


@dataclass(frozen=True, slots=True)
class RestoredContent(Record, Generic[T_co]):
    """A text of the model's answer, as the caller's response format describes it."""

    content: T_co
    """The text: of the type that was given."""
    complete: bool
    """False if the text is JSON that breaks off. Then only what is whole of it is restored."""
    fenced: bool
    """True if the text stood in a Markdown fence, which is removed."""


@dataclass(frozen=True, slots=True)
class RestoredReply(Record, Generic[T_co]):
    """A reply whose calls are restored, and what became of the arguments of each."""

    reply: T_co
    """The reply: text if text was given."""
    calls: tuple[RepairedCall, ...]
    """What became of each call of a tool that has a schema, in their order; empty where calls are not repaired."""
    answer_changes: tuple[AnswerChange, ...]
    """What was changed of the answer to a response format, beside its values; each change once."""

    _made: ClassVar = {"calls": RepairedCall.list_of, "answer_changes": tuple}
