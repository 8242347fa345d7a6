"""What the functions give."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypedDict, TypeVar

from ._argument_results import (  # noqa: TC001 - for those who read the hints at run time
    Left,
    Repair,
    RepairedCall,
)
from ._names import (  # noqa: TC001 - for those who read the hints at run time
    ChangeRule,
    Constraint,
    DeferredWarningCode,
    DialectName,
)
from ._record import Late, Record, initialised
from ._restore import Restore
from ._set_aside import Unseen

if TYPE_CHECKING:
    from typing_extensions import NotRequired
elif sys.version_info >= (3, 11):
    # As above; with 3.10 alone nobody can read them.
    from typing import NotRequired

T_co = TypeVar("T_co", covariant=True)


class Reported(Protocol):
    """Makes a report when it is asked for."""

    def report(self) -> dict[str, Any]:
        """Make it."""


class Told:
    """A report that was made."""

    def __init__(self, report: dict[str, Any]) -> None:
        """Take it."""
        self._report = report

    def report(self) -> dict[str, Any]:
        """Give it."""
        return self._report


Accepts: TypeAlias = Literal["same", "closed", "wider", "narrower", "mixed"]
"""What a change does to the set of accepted arguments.

`closed`: none is gained, and those that are lost have, in some object, a property that the schema does not name,
while it never said that others are wanted."""

Guidance: TypeAlias = Literal["same", "moved", "lost"]
"""What a change does to what the model reads."""

ErrorCode: TypeAlias = Literal[
    "invalid-json",
    "invalid-value",
    "too-deep",
    "invalid-schema",
    "invalid-request",
    "unknown-dialect",
    "unknown-option",
    "invalid-option",
    "not-representable",
    "too-lossy",
    "budget-exceeded",
    "limit-exceeded",
    "forced-deferred-tool",
    "empty-query",
    "invalid-pattern",
    "pattern-too-long",
    "internal",
]
"""What kind of error a `ToolwireError` is: a closed list that is the same in every language."""


@dataclass(frozen=True, slots=True)
class Change(Record):
    """One change: where, by which rule, with what effect, and why."""

    pointer: str
    """JSON Pointer into the input: where the cause stands."""
    output_pointer: str | None
    """JSON Pointer into the output: where the effect stands; `None` if nothing is left."""
    rule: ChangeRule
    """The rule's kebab-case name."""
    accepts: Accepts
    """The effect on accepted arguments. With `encoded` it speaks of the arguments after restoring."""
    guidance: Guidance
    """The effect on what the model reads."""
    encoded: bool
    """Arguments look different now, and have to be restored."""
    reason: str
    """The provider fact the rule serves, with its confidence, and the error text it prevents."""
    message: str
    """For people: what was done to what."""


class RestorePlan(TypedDict):
    """What sanitizing a schema leaves for the arguments of its tool: what has to be undone in them, and no more.

    It is JSON, to be kept until the model answers. Nothing but `version` is in it where arguments come back as they
    are.
    """

    version: int
    """The version of this form."""
    encoded: NotRequired[dict[str, Any]]
    """What a strict mode cannot say. What is in these three is nobody's business but toolwire's."""
    json: NotRequired[dict[str, Any]]
    """JSON in strings."""
    names: NotRequired[dict[str, Any]]
    """Property names."""


class Rewritten(Late, Generic[T_co]):
    """A rewritten schema.

    What was changed is determined when it is first read, for the schema as it was at the time of the call.
    """

    __slots__ = ("_late", "_report", "schema")

    _names = ("schema", "changes", "lossless", "restore_plan")

    schema: T_co
    """The schema: text if text was given."""

    _late: Reported
    _report: dict[str, Any] | None

    def __init__(self, schema: T_co, late: Reported, /) -> None:
        """Take what a function gave."""
        initialised(self, schema=schema, _late=late, _report=None)

    def _whole(self) -> dict[str, Any]:
        report = self._report
        if report is None:
            report = self._late.report()
            report["changes"] = Change.list_of(report["changes"])
            initialised(self, _report=report, _late=None)
        return report

    @property
    def changes(self) -> tuple[Change, ...]:
        """Every change, in document order."""
        changes: tuple[Change, ...] = self._whole()["changes"]
        return changes

    @property
    def lossless(self) -> bool:
        """Whether the same arguments are accepted and no guidance is lost."""
        lossless: bool = self._whole()["lossless"]
        return lossless

    @property
    def restore_plan(self) -> RestorePlan:
        """Brings the model's arguments back: `restore_arguments` takes it, and `json.dumps` keeps it."""
        plan: RestorePlan = self._whole()["restorePlan"]
        return plan

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle all members."""
        report = self._whole()
        return type(self), (
            self.schema,
            Told({**report, "changes": [change.to_dict() for change in report["changes"]]}),
        )


class Warning(TypedDict):  # noqa: A001 - its name in every language; reached as `toolwire.types.Warning` only
    """Something odd about a request that did not stop it."""

    code: DeferredWarningCode
    """Its kebab-case code."""
    name: NotRequired[str]
    """The tool or key it is about, where there is one."""


class ClientTool(TypedDict):
    """A tool as the client knows it."""

    namespace: NotRequired[str]
    """Its namespace (OpenAI Responses), if it stands in one. A tool that a search or `additional_tools` has brought
    stands in one of its own name."""
    name: str
    """Its name there."""
    kind: Literal["function", "custom", "search"]
    """What a call of it is: of a function, of a `custom` tool, or a search for tools that the client runs."""


class DeferredReport(TypedDict):
    """What was decided about a request. Names stand in order of first appearance."""

    loaded: list[str]
    """Deferred tools that are in the request now."""
    hidden: list[str]
    """Deferred tools that are not."""
    warnings: list[Warning]
    """What was odd about the request."""
    nameMap: NotRequired[dict[str, ClientTool]]
    """What a call comes back as, by the name that the model calls (`Restore.call` does it). A tool that is not in here
    is a function of that name, in no namespace."""
    betas: NotRequired[list[str]]
    """The betas that the `anthropic-beta` header has to name for what the request holds."""
    toolSearchName: NotRequired[str]
    """The name of the function that stands for a tool search, if one does: the option `tool_search_name`, unless a
    tool is called so. It is the `tool_search_name` for `answer_tool_search`."""
    unreachable: bool
    """Tools are hidden, no search tool is visible, and nothing announces them: the model cannot reach them."""
    savedBytes: int
    """What the hidden tools would have cost, in bytes of compact JSON."""


class Deferred(TypedDict):
    """A rewritten request and what was decided."""

    request: Any
    report: DeferredReport
    restore: Restore


class DeferredText(TypedDict):
    """The text of a rewritten request and what was decided."""

    request: str
    report: DeferredReport
    restore: Restore


class DeferredBytes(TypedDict):
    """The UTF-8 text of a rewritten request and what was decided."""

    request: bytes
    report: DeferredReport
    restore: Restore


Severity: TypeAlias = Literal["refused", "reinterpreted", "ignored"]
"""What an API does with what goes against one of its facts.

`refused`: it answers with an error, or the client drops the tool. `reinterpreted`: it answers, and holds the model to
other arguments than the schema says. `ignored`: it answers, and what is written has no effect.
"""


@dataclass(frozen=True, slots=True)
class Violation(Record):
    """One thing that a dialect does not take as it is meant."""

    constraint: Constraint
    """The kebab-case name of the API's constraint."""
    severity: Severity
    """What the API does with it."""
    pointer: str
    """JSON Pointer to what is at fault."""
    message: str
    """For people: what was expected, then what was found."""


@dataclass(frozen=True, slots=True)
class ToolViolation(Record):
    """Something about a tool list that the API behind a dialect does not take as it is meant."""

    tool: str | None
    """The tool's name; `None` if it has none."""
    dialect: DialectName
    """The dialect whose API does so."""
    constraint: Constraint
    """The kebab-case name of the API's constraint."""
    severity: Severity
    """What the API does with it."""
    pointer: str
    """JSON Pointer to what is at fault."""
    message: str
    """For people: what was expected, then what was found."""
    confidence: Literal["A", "B", "C"]
    """How sure we are, as in `Fact`."""
    source: str
    """Where the fact behind the constraint was read."""


@dataclass(frozen=True, slots=True)
class ToolChange(Record):
    """A change, and which tool it is about. Its pointers are pointers into the lists."""

    tool: str
    """The name that the tool's server knows."""
    dialect: DialectName
    """The dialect the tool is written in."""
    pointer: str
    """JSON Pointer into the input: where the cause stands."""
    output_pointer: str | None
    """JSON Pointer into the output: where the effect stands; `None` if nothing is left."""
    rule: ChangeRule
    """The rule's kebab-case name."""
    accepts: Accepts
    """The effect on accepted arguments. With `encoded` it speaks of the arguments after restoring."""
    guidance: Guidance
    """The effect on what the model reads."""
    encoded: bool
    """Arguments look different now, and have to be restored."""
    reason: str
    """The provider fact the rule serves, with its confidence, and the error text it prevents."""
    message: str
    """For people: what was done to what."""


@dataclass(frozen=True, slots=True)
class Quarantined(Record):
    """A tool that was set aside, and why."""

    name: str | None
    """Its name, if it has one."""
    pointer: str
    """JSON Pointer into the list: what cannot be accepted."""
    rule: ErrorCode | Constraint
    """Why, in kebab-case: the code of an error of `sanitize`, or a rule about tools."""
    message: str
    """For people: what was expected, then what was found."""


class SanitizedTools(Late, Generic[T_co]):
    """A tool list that an API accepts.

    What was changed for that is determined when it is first read, for the list as it was at the time of the call.
    """

    __slots__ = ("_changes", "_late", "_lossless", "_quarantined", "_restore", "_tools", "_unseen")

    _names: ClassVar[tuple[str, ...]] = ("tools", "quarantined", "changes", "lossless", "restore")

    _changes: tuple[ToolChange, ...] | None
    _late: Reported
    _lossless: bool
    _quarantined: tuple[Quarantined, ...]
    _restore: Restore
    _tools: T_co
    _unseen: Unseen

    def __init__(self, tools: T_co, late: Reported, members: dict[str, Any], /) -> None:
        """Take what a function gave."""
        initialised(
            self,
            _tools=tools,
            _late=late,
            _changes=None,
            _quarantined=Quarantined.list_of(members["quarantined"]),
            _lossless=members["lossless"],
            _restore=Restore(members["restore"]),
            _unseen=Unseen(members.get("warning")),
        )

    @property
    def tools(self) -> T_co:
        """The tools, in the API's own shape: text if text was given."""
        self._unseen.warn()
        return self._tools

    @property
    def quarantined(self) -> tuple[Quarantined, ...]:
        """The tools that could not be made acceptable: they are not in the list."""
        self._unseen.look()
        return self._quarantined

    @property
    def changes(self) -> tuple[ToolChange, ...]:
        """Every change, tool by tool. That a tool has another shape is none."""
        changes = self._changes
        if changes is None:
            changes = ToolChange.list_of(self._late.report()["changes"])
            initialised(self, _changes=changes, _late=None)
        return changes

    @property
    def lossless(self) -> bool:
        """Whether the same arguments are accepted, no guidance is lost, and no tool is missing."""
        return self._lossless

    @property
    def restore(self) -> Restore:
        """Brings the model's calls back to what the tools' own servers expect."""
        return self._restore

    def __repr__(self) -> str:
        """Show every member, the missing tools among them."""
        self._unseen.look()
        return super().__repr__()

    def __eq__(self, other: object) -> bool:
        """Whether all members are equal."""
        self._unseen.look()
        return super().__eq__(other)

    __hash__ = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object that every language shares."""
        self._unseen.look()
        return super().to_dict()

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle all members."""
        members = self.to_dict()
        return type(self), (members.pop("tools"), Told(members), members)


class ReadyTools(SanitizedTools[list[Any]]):
    """A tool list that an API accepts, made once: its lists and dicts refuse changes."""

    __slots__ = ("_json",)

    _json: str

    _names = ("tools", "json", "quarantined", "changes", "lossless", "restore")

    def __init__(self, tools: list[Any], late: Reported, members: dict[str, Any], /) -> None:
        """Take what a `ToolSet` made."""
        super().__init__(tools, late, members)
        initialised(self, _json=members["json"])

    @property
    def json(self) -> str:
        """The tools as compact JSON text, to be put into a request as it is."""
        self._unseen.warn()
        return self._json


class ChoiceChange(TypedDict):
    """A choice of tools that was refused beside what else a request says, and what is sent for it."""

    found: str
    """The choice as it was, as JSON."""
    sent: str
    """The choice as it is sent, as JSON."""
    because: str
    """Why: the API's answer, with its source."""


class AdaptReport(TypedDict):
    """What was decided and changed about a request."""

    dialect: DialectName
    """The dialect that the request is written in."""
    deferred: DeferredReport | None
    """What deferred loading decided; `None` if it was not asked."""
    quarantined: list[dict[str, Any]]
    """The tools that could not be made acceptable: they are not in the request."""
    changes: list[dict[str, Any]]
    """Every change of a tool, in their order."""
    unforced: list[str]
    """The tools that `tool_choice` allowed, among others, and that were set aside: it does not allow them now."""
    choice: ChoiceChange | None
    """What became of a `tool_choice` that the API refuses while the model thinks; `None`: it stayed."""


class Adapted(TypedDict):
    """A request that an API accepts, and what was done for that."""

    request: Any
    report: AdaptReport
    restore: Restore


class AdaptedText(TypedDict):
    """The text of a request that an API accepts, and what was done for that."""

    request: str
    report: AdaptReport
    restore: Restore


class AdaptedBytes(TypedDict):
    """The UTF-8 text of a request that an API accepts, and what was done for that."""

    request: bytes
    report: AdaptReport
    restore: Restore


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


class RestoredCall(TypedDict):
    """A call as the tool's own server expects it."""

    name: str
    """The tool's name."""
    namespace: NotRequired[str]
    """The namespace of the tool (OpenAI Responses), if it stood in one."""
    arguments: Any
    """The arguments: text if text was given."""
    valid: NotRequired[bool | None]
    """Whether the tool's own schema takes them now; `None` where that cannot be told. This and what follows is there
    only where calls are repaired (`repair`) and the tool has a schema."""
    repairs: NotRequired[list[Repair]]
    """Every repair, in the order in which they were made."""
    left: NotRequired[list[Left]]
    """What is still wrong, at most 100. Text that cannot be read stays as it was answered, and is wrong as a whole."""
    retryMessage: NotRequired[str | None]
    """What is still wrong as one text, to be sent back to the model as the result of its call; `None` if nothing is."""


class RestoredClientCall(TypedDict):
    """A call in its client's own form, and what became of its arguments."""

    call: ClientCall
    """The call."""
    repaired: RepairedCall | None
    """What became of its arguments; `None` where calls are not repaired, or the tool has no schema."""


class RestoredReply(TypedDict):
    """A reply whose calls are restored, and what became of the arguments of each."""

    reply: Any
    """The reply: text if text was given."""
    calls: list[RepairedCall]
    """What became of each call of a tool that has a schema, in their order; empty where calls are not repaired."""


class Fact(TypedDict):
    """One fact about an API, with where it comes from."""

    statement: str
    """The fact in words."""
    confidence: Literal["A", "B", "C"]
    """`A`: documentation, validator or source, or two live reports; `B`: one live report; `C`: inferred."""
    source: str
    """Where it was read."""
    rules: list[Constraint]
    """The rules of `check` and `check_tools` that rest on it."""
    severity: Severity
    """What becomes of a schema that goes against it."""


class DialectChoice(TypedDict):
    """A dialect, and why it is that one."""

    dialect: DialectName
    """The name that `sanitize` takes."""
    confidence: Literal["A", "B", "C"]
    """How sure that is: `A` documented or proved, `B` one live report, `C` inferred."""
    because: str
    """What it rests on, in a sentence."""


class DeferralChoice(TypedDict):
    """The options of deferred loading that fit a backend, and what that rests on."""

    target: Literal["anthropic", "openai-responses", "openai-chat"] | None
    """The format that the construct belongs to; None where there is none."""
    native: Literal["none", "references", "changes", "inline", "additional-tools", "tool-search", "kimi"]
    """Which construct of its own for deferred tools the backend has."""
    source: str
    """What that rests on, in a sentence."""
    checked: str
    """The day on which it was looked up or recorded (ISO 8601)."""


class Dialect(TypedDict):
    """What one surface of one API accepts, and how sure we are."""

    name: DialectName
    """The name that `sanitize` takes."""
    surface: str
    """The API surface, in words."""
    documentation: str
    """Where that surface is documented."""
    asOf: str
    """The day on which the facts were last checked (ISO 8601)."""
    revision: int
    """Raised whenever a change of the dialect's table alters outputs."""
    options: list[str]
    """The options of `sanitize` that this dialect has, beyond `dialect`, `allow` and `share`."""
    encodes: list[str]
    """What restoring may have to undo; empty where arguments are never encoded."""
    limits: dict[str, int]
    """Size limits by name: bytes, levels or counts, as the name says."""
    facts: list[Fact]
    """What is known, with confidence and source."""
    unverified: list[str]
    """What nobody has verified: the table lets it through."""
