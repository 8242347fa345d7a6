"""What the functions give."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypedDict, TypeVar, cast

from ._names import (  # noqa: TC001 - for those who read the hints at run time
    ChangeRule,
    Constraint,
    DeferredWarningCode,
    DialectName,
    RequestConstraint,
)
from ._record import Late, Record, initialised
from ._restore import Restore
from ._set_aside import Unseen

if TYPE_CHECKING:
    from collections.abc import Callable

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
    """The effect on accepted arguments. With `encoded`, it is the effect after restoring."""
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

    _late: Reported | None
    _report: dict[str, Any] | None

    def __init__(self, schema: T_co, late: Reported, /) -> None:
        """Take what a function gave."""
        # One by one: `initialised` takes half a microsecond more, a tenth of a short call.
        put = object.__setattr__
        put(self, "schema", schema)
        put(self, "_late", late)
        put(self, "_report", None)

    def _whole(self) -> dict[str, Any]:
        report, late = self._report, self._late
        if report is None and late is not None:
            given = late.report()
            # Copies share what was given, so it stays as it is.
            report = {**given, "changes": Change.list_of(given["changes"])}
            initialised(self, _report=report, _late=None)
        # Another thread may have made it meanwhile.
        return cast("dict[str, Any]", self._report) if report is None else report

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


@dataclass(frozen=True, slots=True)
class DeferredWarning(Record):
    """Something odd about a request that did not stop it."""

    code: DeferredWarningCode
    """Its kebab-case code."""
    name: str | None = None
    """The tool or key it is about, where there is one."""

    _optional: ClassVar = frozenset({"name"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientTool(Record):
    """A tool as the client knows it."""

    namespace: str | None = None
    """Its namespace (OpenAI Responses), if it stands in one. A tool that a search or `additional_tools` has brought
    stands in one of its own name."""
    name: str
    """Its name there."""
    kind: Literal["function", "custom", "search"]
    """What a call of it is: of a function, of a `custom` tool, or a search for tools that the client runs."""

    _optional: ClassVar = frozenset({"namespace"})


def _client_tools(tools: dict[str, Any]) -> dict[str, ClientTool]:
    return {name: ClientTool.of(tool) for name, tool in tools.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredReport(Record):
    """What was decided about a request. Names stand in order of first appearance."""

    loaded: tuple[str, ...]
    """Deferred tools that are in the request now."""
    hidden: tuple[str, ...]
    """Deferred tools that are not."""
    warnings: tuple[DeferredWarning, ...]
    """What was odd about the request."""
    name_map: dict[str, ClientTool] = field(default_factory=dict)
    """What a call comes back as, by the name that the model calls (`Restore.client_call` does it). A tool that is not
    in here is a function of that name, in no namespace."""
    betas: tuple[str, ...] = ()
    """The betas that the `anthropic-beta` header has to name for what the request holds."""
    tool_search_name: str | None = None
    """The name of the function that replaces a tool search, if one does: the option `tool_search_name`, unless a
    tool is called so. It is the `tool_search_name` for `answer_tool_search`."""
    unreachable: bool
    """Tools are hidden, no search tool is visible, and nothing announces them: the model cannot reach them."""
    saved_bytes: int
    """What the hidden tools would have cost, in bytes of compact JSON."""

    _made: ClassVar = {
        "loaded": tuple,
        "hidden": tuple,
        "warnings": DeferredWarning.list_of,
        "name_map": _client_tools,
        "betas": tuple,
    }
    _optional: ClassVar = frozenset({"name_map", "betas", "tool_search_name"})


class Deferred(Late, Generic[T_co]):
    """A rewritten request.

    What was decided is determined when it is first read, for the request as it was at the time of the call.
    """

    __slots__ = ("_late", "_told", "request")

    _names = ("request", "report", "restore")

    request: T_co
    """The request: text if text was given."""

    _late: Reported | None
    _told: tuple[DeferredReport, Restore] | None

    def __init__(self, request: T_co, late: Reported, /) -> None:
        """Take what a function gave."""
        initialised(self, request=request, _late=late, _told=None)

    def _whole(self) -> tuple[DeferredReport, Restore]:
        told, late = self._told, self._late
        if told is None and late is not None:
            made = late.report()
            told = (DeferredReport.of(made["report"]), Restore(made["restore"]))
            initialised(self, _told=told, _late=None)
        # Another thread may have made it meanwhile.
        return told or cast("tuple[DeferredReport, Restore]", self._told)

    @property
    def report(self) -> DeferredReport:
        """Which tools were loaded and hidden, and what was odd."""
        return self._whole()[0]

    @property
    def restore(self) -> Restore:
        """Turns the backend's calls into the client's own: their names, and what kinds of calls they are."""
        return self._whole()[1]

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle all members."""
        members = self.to_dict()
        return type(self), (members.pop("request"), Told(members))


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
    """The tool's name at its server; `None` if it has none."""
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
    server: str | None = None
    """Its server; `None` unless the list was one of several servers."""

    _optional: ClassVar = frozenset({"server"})


@dataclass(frozen=True, slots=True)
class RequestViolation(Record):
    """Something about a request as a whole that the API of a dialect refuses."""

    constraint: RequestConstraint
    """The kebab-case name of the API's constraint."""
    severity: Severity
    """What the API does with it."""
    pointer: str
    """JSON Pointer into the request: what is at fault."""
    message: str
    """For people: what was expected, then what was found. It has no values of the request."""
    confidence: Literal["A", "B", "C"]
    """How sure we are, as in `Fact`."""
    source: str
    """The API's answer, and where it was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChange(Record):
    """A change, and which tool it is about. Its pointers are pointers into the lists."""

    tool: str
    """The name that the tool's server knows."""
    server: str | None = None
    """Its server; `None` unless the list was one of several servers."""
    dialect: DialectName
    """The dialect the tool is written in."""
    pointer: str
    """JSON Pointer into the input: where the cause stands."""
    output_pointer: str | None
    """JSON Pointer into the output: where the effect stands; `None` if nothing is left."""
    rule: ChangeRule
    """The rule's kebab-case name."""
    accepts: Accepts
    """The effect on accepted arguments. With `encoded`, it is the effect after restoring."""
    guidance: Guidance
    """The effect on what the model reads."""
    encoded: bool
    """Arguments look different now, and have to be restored."""
    reason: str
    """The provider fact the rule serves, with its confidence, and the error text it prevents."""
    message: str
    """For people: what was done to what."""

    _optional: ClassVar = frozenset({"server"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined(Record):
    """A tool that was set aside, and why."""

    name: str | None
    """Its name, if it has one."""
    server: str | None = None
    """Its server; `None` unless the list was one of several servers."""
    pointer: str
    """JSON Pointer into the list: what cannot be accepted."""
    rule: ErrorCode | Constraint | Literal["tool-kind"]
    """Why, in kebab-case: the code of an error of `sanitize`, or a rule about tools."""
    message: str
    """For people: what was expected, then what was found."""

    _optional: ClassVar = frozenset({"server"})


class SanitizedTools(Late, Generic[T_co]):
    """A tool list that an API accepts.

    What was changed for that is determined when it is first read, for the list as it was at the time of the call.
    """

    __slots__ = ("_changes", "_late", "_lossless", "_quarantined", "_restore", "_tools", "_unseen")

    _names: ClassVar[tuple[str, ...]] = ("tools", "quarantined", "changes", "lossless", "restore")

    _changes: tuple[ToolChange, ...] | None
    _late: Reported | None
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
        changes, late = self._changes, self._late
        if changes is None and late is not None:
            changes = ToolChange.list_of(late.report()["changes"])
            initialised(self, _changes=changes, _late=None)
        # Another thread may have made them meanwhile.
        return cast("tuple[ToolChange, ...]", self._changes) if changes is None else changes

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


@dataclass(frozen=True, slots=True)
class ChoiceChange(Record):
    """A choice of tools that the API refuses in this request, and what is sent for it."""

    found: str
    """The choice as it was, as JSON."""
    sent: str
    """The choice as it is sent, as JSON: `null` if none is."""
    because: str
    """Why: the API's answer, with its source."""


@dataclass(frozen=True, slots=True)
class RequestChange(Record):
    """A change of a request outside its tools."""

    pointer: str
    """The place in the input."""
    rule: RequestConstraint
    """The rule: the constraint that the change meets."""
    message: str
    """For people: what was done. It has no values of the request."""
    reason: str
    """Why: the fact that the change serves, with its confidence and its source."""


@dataclass(frozen=True, slots=True)
class FormatChange(Record):
    """A change of a response format. Its pointers are pointers into the requests."""

    dialect: DialectName
    """The dialect that the format is written in."""
    pointer: str
    """JSON Pointer into the input: where the cause stands."""
    output_pointer: str | None
    """JSON Pointer into the output: where the effect stands; `None` if nothing is left."""
    rule: ChangeRule
    """The rule's kebab-case name."""
    accepts: Accepts
    """The effect on accepted arguments. With `encoded`, it is the effect after restoring."""
    guidance: Guidance
    """The effect on what the model reads."""
    encoded: bool
    """Arguments look different now, and have to be restored."""
    reason: str
    """The provider fact the rule serves, with its confidence, and the error text it prevents."""
    message: str
    """For people: what was done to what."""


@dataclass(frozen=True, slots=True)
class AdaptReport(Record):
    """What was decided and changed about a request."""

    dialect: DialectName
    """The dialect that the request is written in."""
    deferred: DeferredReport | None
    """What deferred loading decided; `None` if it was not asked."""
    quarantined: tuple[Quarantined, ...]
    """The tools that could not be made acceptable: they are not in the request."""
    changes: tuple[ToolChange, ...]
    """Every change of a tool, in their order."""
    unforced: tuple[str, ...]
    """The tools that `tool_choice` allowed, among others, and that were set aside: it does not allow them now."""
    choice: ChoiceChange | None
    """What became of a `tool_choice` that the API refuses in this request; `None`: it stayed."""
    request_changes: tuple[RequestChange, ...]
    """Every change of the request outside its tools that a rule of the API demands, in their order."""
    format_changes: tuple[FormatChange, ...]
    """Every change of a response format, in their order."""

    _made: ClassVar = {
        "deferred": DeferredReport.of,
        "quarantined": Quarantined.list_of,
        "changes": ToolChange.list_of,
        "unforced": tuple,
        "choice": ChoiceChange.of,
        "request_changes": RequestChange.list_of,
        "format_changes": FormatChange.list_of,
    }


class Adapted(Late, Generic[T_co]):
    """A request that an API accepts. What was done for that is made when it is first read."""

    __slots__ = ("_late", "_report", "_restore", "request")

    _names = ("request", "report", "restore")

    request: T_co
    """The request: text if text was given."""

    _late: Callable[[], dict[str, Any]] | None
    _report: AdaptReport | None
    _restore: Restore | None

    def __init__(self, request: T_co, members: Callable[[], dict[str, Any]], /) -> None:
        """Take what a function gave."""
        initialised(self, request=request, _late=members, _report=None, _restore=None)

    def _whole(self) -> None:
        late = self._late
        if self._report is None and late is not None:
            members = late()
            report, restore = AdaptReport.of(members["report"]), Restore(members["restore"])
            # `_report` comes after `_restore`: another thread that sees it reads both.
            initialised(self, _restore=restore, _report=report, _late=None)

    @property
    def report(self) -> AdaptReport:
        """What was decided and changed."""
        self._whole()
        return cast("AdaptReport", self._report)

    @property
    def restore(self) -> Restore:
        """Brings the reply's calls back to what the tools' own servers expect."""
        self._whole()
        return cast("Restore", self._restore)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle all members."""
        members = self.to_dict()
        return type(self), (members.pop("request"), Told(members).report)


@dataclass(frozen=True, slots=True)
class Fact(Record):
    """One fact about an API, with where it comes from."""

    statement: str
    """The fact in words."""
    confidence: Literal["A", "B", "C"]
    """`A`: documentation, validator or source, or two live reports; `B`: one live report; `C`: inferred."""
    source: str
    """Where it was read."""
    rules: tuple[Constraint, ...]
    """The rules of `check` and `check_tools` that rest on it."""
    severity: Severity
    """What becomes of a schema that goes against it."""
    checked: str
    """The day on which the fact was last checked (ISO 8601)."""

    _made: ClassVar = {"rules": tuple}


@dataclass(frozen=True, slots=True)
class ResponseFormat(Record):
    """What is known about the response formats of an API, beyond what is known about its tools."""

    surface: str
    """Where the schema of the answer stands, in words."""
    documentation: str
    """Where that is documented."""
    as_of: str
    """The day on which the facts were last checked (ISO 8601)."""
    facts: tuple[Fact, ...]
    """What is known, with confidence and source."""

    _made: ClassVar = {"facts": Fact.list_of}


@dataclass(frozen=True, slots=True)
class RequestFact(Record):
    """One fact about what an API refuses of a request as a whole."""

    statement: str
    """The fact in words."""
    confidence: Literal["A", "B", "C"]
    """As in `Fact`."""
    source: str
    """The API's answer, and where it was read."""
    rule: RequestConstraint
    """The rule of `check_request` that rests on it."""
    severity: Severity
    """The API's reaction to a request that violates it."""
    checked: str
    """The day on which the fact was last checked (ISO 8601)."""


@dataclass(frozen=True, slots=True)
class DialectChoice(Record):
    """A dialect, and why it is that one."""

    dialect: DialectName
    """The name that `sanitize` takes."""
    confidence: Literal["A", "B", "C"]
    """How sure that is: `A` documented or proved, `B` one live report, `C` inferred."""
    because: str
    """What it rests on, in a sentence."""


@dataclass(frozen=True, slots=True)
class DeferralChoice(Record):
    """The options of deferred loading that fit a backend, and what that rests on."""

    target: Literal["anthropic", "openai-responses", "openai-chat", "gemini-interactions", "bedrock"] | None
    """The format that the construct belongs to; None where there is none."""
    native: Literal[
        "none", "references", "changes", "inline", "additional-tools", "tool-search", "kimi", "interactions", "converse"
    ]
    """Which construct of its own for deferred tools the backend has."""
    confidence: Literal["A", "B", "C"]
    """How sure that is: `A` documented or recorded, `C` inferred."""
    because: str
    """What that rests on, in a sentence."""
    checked: str
    """The day on which it was looked up or recorded (ISO 8601)."""


@dataclass(frozen=True, slots=True)
class Dialect(Record):
    """What one surface of one API accepts, and how sure we are."""

    name: DialectName
    """The name that `sanitize` takes."""
    surface: str
    """The API surface, in words."""
    documentation: str
    """Where that surface is documented."""
    as_of: str
    """The day on which the facts were last checked (ISO 8601)."""
    revision: int
    """Raised whenever a change of the dialect's table alters outputs."""
    options: tuple[str, ...]
    """The options of `sanitize` that this dialect has, beyond `dialect`, `allow` and `share`."""
    encodes: tuple[str, ...]
    """What restoring may have to undo; empty where arguments are never encoded."""
    limits: dict[str, int]
    """Size limits by name: bytes, levels or counts, as the name says."""
    facts: tuple[Fact, ...]
    """What is known, with confidence and source."""
    requests: tuple[RequestFact, ...]
    """What is known about requests as a whole."""
    response: ResponseFormat | None
    """What is known about its response formats; `None` if it has none."""
    unverified: tuple[str, ...]
    """What nobody has verified: the table lets it through."""

    _made: ClassVar = {
        "options": tuple,
        "encodes": tuple,
        "facts": Fact.list_of,
        "requests": RequestFact.list_of,
        "response": ResponseFormat.of,
        "unverified": tuple,
    }
