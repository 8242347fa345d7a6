"""Results of the functions."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypedDict, TypeVar, cast

from ._change import Accepts, Change, Guidance
from ._error import ErrorCode  # noqa: TC001 - needed when hints are evaluated at run time
from ._names import (  # noqa: TC001 - needed when hints are evaluated at run time
    ChangeRule,
    Constraint,
    DeferredWarningCode,
    DialectName,
    RequestConstraint,
)
from ._record import LazyRecord, Record, set_members
from ._restore import Restore
from ._set_aside import PendingWarning

if TYPE_CHECKING:
    from dataclasses import dataclass, field
else:
    from ._dataclass import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import NotRequired
elif sys.version_info >= (3, 11):
    # Needed to evaluate hints at run time. Python 3.10 has no `NotRequired`: `typing_extensions` would be needed there.
    from typing import NotRequired

T_co = TypeVar("T_co", covariant=True)


class ReportSource(Protocol):
    """A source of a report that is made on demand."""

    def report(self) -> dict[str, Any]:
        """Make the report."""


class StoredReport:
    """A report that was made before."""

    def __init__(self, report: dict[str, Any]) -> None:
        """Keep a report."""
        self._report = report

    def report(self) -> dict[str, Any]:
        """Return the report."""
        return self._report


class RestorePlan(TypedDict):
    """A plan for restoring the arguments of a tool whose schema was sanitized.

    It is JSON, to be stored until the model answers. It contains only `version` if arguments need no restoring.
    """

    version: int
    """Version of this format."""
    encoded: NotRequired[dict[str, Any]]
    """Values that a strict mode cannot express. The content of this member and the next two is private to toolwire."""
    json: NotRequired[dict[str, Any]]
    """Values that are sent as JSON in strings."""
    names: NotRequired[dict[str, Any]]
    """Renamed properties."""


class Rewritten(LazyRecord, Generic[T_co]):
    """A rewritten schema.

    The report is made when it is first read, for the schema as it was at the time of the call.
    """

    __slots__ = ("_report", "_source", "schema")

    _names = ("schema", "changes", "lossless", "restore_plan")

    schema: T_co
    """The schema; JSON text if the input was JSON text."""

    _source: ReportSource | None
    _report: dict[str, Any] | None

    def __init__(self, schema: T_co, source: ReportSource, /) -> None:
        """Make the result of a function."""
        # Set one by one: `set_members` needs half a microsecond more, a tenth of a short call.
        set_attribute = object.__setattr__
        set_attribute(self, "schema", schema)
        set_attribute(self, "_source", source)
        set_attribute(self, "_report", None)

    def _full_report(self) -> dict[str, Any]:
        report, source = self._report, self._source
        if report is None and source is not None:
            full_report = source.report()
            # Copies share `full_report`, so it must not change.
            report = {**full_report, "changes": Change.list_of(full_report["changes"])}
            set_members(self, _report=report, _source=None)
        # Another thread may have made the report meanwhile.
        return cast("dict[str, Any]", self._report) if report is None else report

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes, in document order."""
        changes: tuple[Change, ...] = self._full_report()["changes"]
        return changes

    @property
    def lossless(self) -> bool:
        """True if the same arguments are accepted and no guidance is lost."""
        lossless: bool = self._full_report()["lossless"]
        return lossless

    @property
    def restore_plan(self) -> RestorePlan:
        """The plan for `restore_arguments`, which `json.dumps` can store."""
        plan: RestorePlan = self._full_report()["restorePlan"]
        return plan

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle all members."""
        report = self._full_report()
        return type(self), (
            self.schema,
            StoredReport({**report, "changes": [change.to_dict() for change in report["changes"]]}),
        )


@dataclass(frozen=True, slots=True)
class DeferredWarning(Record):
    """An irregularity of a request that did not stop the call."""

    code: DeferredWarningCode
    """The kebab-case code of the warning."""
    name: str | None = None
    """The tool or key that the warning is about, if there is one."""
    pointer: str | None = None
    """The JSON Pointer of the part of the given request that the warning is about, if there is one. A warning about
    every use of a name points to the first one."""

    _optional: ClassVar = frozenset({"name", "pointer"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientTool(Record):
    """A tool as the client knows it."""

    namespace: str | None = None
    """The tool's namespace (OpenAI Responses), if it has one. A tool that was loaded by a search or by
    `additional_tools` is in a namespace with the name of the tool."""
    name: str
    """The tool's name in its namespace."""
    kind: Literal["function", "custom", "search"]
    """The kind of its calls: calls to a function, calls to a `custom` tool, or searches for tools that the client
    runs."""

    _optional: ClassVar = frozenset({"namespace"})


def _client_tools(tools: dict[str, Any]) -> dict[str, ClientTool]:
    return {name: ClientTool.of(tool) for name, tool in tools.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredReport(Record):
    """The decisions about the deferred tools of a request. Names are in order of first appearance."""

    loaded: tuple[str, ...]
    """Deferred tools that are in the rewritten request."""
    hidden: tuple[str, ...]
    """Deferred tools that are not in the rewritten request."""
    warnings: tuple[DeferredWarning, ...]
    """The irregularities of the request."""
    name_map: dict[str, ClientTool] = field(default_factory=dict)
    """The client's tool for each name that the model calls (`Restore.client_call` uses it). A name that is not in this
    dict is a function with this name and without a namespace."""
    betas: tuple[str, ...] = ()
    """The betas that the `anthropic-beta` header has to name for this request."""
    tool_search_name: str | None = None
    """Name of the function that replaces a tool search, if any: the option `tool_search_name`, or another name if a
    tool has that name. Pass it to `answer_tool_search` as `tool_search_name`."""
    unreachable: bool
    """True if tools are hidden, no search tool is visible, and nothing announces them: the model cannot reach them."""
    saved_bytes: int
    """Size of the hidden tools, in bytes of compact JSON."""

    _converters: ClassVar = {
        "loaded": tuple,
        "hidden": tuple,
        "warnings": DeferredWarning.list_of,
        "name_map": _client_tools,
        "betas": tuple,
    }
    _optional: ClassVar = frozenset({"name_map", "betas", "tool_search_name"})


class Deferred(LazyRecord, Generic[T_co]):
    """A rewritten request.

    The report is made when it is first read, for the request as it was at the time of the call.
    """

    __slots__ = ("_results", "_source", "request")

    _names = ("request", "report", "restore")

    request: T_co
    """The request; JSON text if the input was JSON text."""

    _source: ReportSource | None
    _results: tuple[DeferredReport, Restore] | None

    def __init__(self, request: T_co, source: ReportSource, /) -> None:
        """Make the result of a function."""
        set_members(self, request=request, _source=source, _results=None)

    def _load_results(self) -> tuple[DeferredReport, Restore]:
        results, source = self._results, self._source
        if results is None and source is not None:
            members = source.report()
            results = (DeferredReport.of(members["report"]), Restore(members["restore"]))
            set_members(self, _results=results, _source=None)
        # Another thread may have made the report meanwhile.
        return results or cast("tuple[DeferredReport, Restore]", self._results)

    @property
    def report(self) -> DeferredReport:
        """Report of the loaded and hidden tools, and of the irregularities of the request."""
        return self._load_results()[0]

    @property
    def restore(self) -> Restore:
        """Restores the backend's calls to the client's own: their names, and their kinds."""
        return self._load_results()[1]

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle all members."""
        members = self.to_dict()
        return type(self), (members.pop("request"), StoredReport(members))


Severity: TypeAlias = Literal["refused", "reinterpreted", "ignored"]
"""The reaction of an API to a schema or request that violates one of its constraints.

`refused`: the API answers with an error, or the client drops the tool. `reinterpreted`: the API answers, but enforces
other arguments than the schema describes. `ignored`: the API answers, and the violating part has no effect.
"""


@dataclass(frozen=True, slots=True)
class Violation(Record):
    """One part of a schema that a dialect refuses, reinterprets or ignores."""

    constraint: Constraint
    """The kebab-case name of the API's constraint."""
    severity: Severity
    """The API's reaction."""
    pointer: str
    """JSON Pointer to the cause."""
    message: str
    """Human-readable message: what was expected, then what was found."""
    more: int = 0
    """Number of further violations of the constraint at this location that are not listed. At most 100 are listed, and
    only the last of them has a number above 0. The location is the last keyword of `pointer`."""

    _optional: ClassVar = frozenset({"more"})


@dataclass(frozen=True, slots=True)
class ToolViolation(Record):
    """One part of a tool list that the API of a dialect refuses, reinterprets or ignores."""

    tool: str | None
    """The tool's name at its server; `None` if it has no name."""
    dialect: DialectName
    """The dialect of that API."""
    constraint: Constraint
    """The kebab-case name of the API's constraint."""
    severity: Severity
    """The API's reaction."""
    pointer: str
    """JSON Pointer to the cause."""
    message: str
    """Human-readable message: what was expected, then what was found."""
    confidence: Literal["A", "B", "C"]
    """The confidence of the fact, as in `Fact`."""
    source: str
    """The source of the fact behind the constraint."""
    server: str | None = None
    """The tool's server; `None` unless the list is a list of several servers."""
    more: int = 0
    """Number of further violations of the constraint at this location that are not listed. At most 100 are listed, and
    only the last of them has a number above 0. The location is the last keyword of `pointer`."""

    _optional: ClassVar = frozenset({"server", "more"})


@dataclass(frozen=True, slots=True)
class RequestViolation(Record):
    """One reason why the API of a dialect refuses a request as a whole."""

    constraint: RequestConstraint
    """The kebab-case name of the API's constraint."""
    severity: Severity
    """The API's reaction."""
    pointer: str
    """JSON Pointer into the request, to the cause."""
    message: str
    """Human-readable message: what was expected, then what was found. It contains no values of the request."""
    confidence: Literal["A", "B", "C"]
    """The confidence of the fact, as in `Fact`."""
    source: str
    """The API's answer, and its source."""
    more: int = 0
    """Number of further violations of the constraint at this location that are not listed. At most 100 are listed, and
    only the last of them has a number above 0. The location is the last keyword of `pointer`."""

    _optional: ClassVar = frozenset({"more"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChange(Record):
    """A change and its tool. `pointer` points into the given list, `output_pointer` into the rewritten one."""

    tool: str
    """The tool's name at its server."""
    server: str | None = None
    """The tool's server; `None` unless the list is a list of several servers."""
    dialect: DialectName
    """The dialect into which the tool was rewritten."""
    pointer: str
    """JSON Pointer into the input, to the cause of the change."""
    output_pointer: str | None
    """JSON Pointer into the output, to the effect of the change; `None` if it no longer exists."""
    rule: ChangeRule
    """The kebab-case name of the rule."""
    accepts: Accepts
    """The effect on the set of accepted arguments; if `encoded` is true, the effect after restoring."""
    guidance: Guidance
    """The effect on what the model reads about the tool."""
    encoded: bool
    """True if the change encodes arguments, so they have to be restored."""
    reason: str
    """The provider fact that the rule serves, with its confidence, and the error text that the rule prevents."""
    message: str
    """Human-readable description of the change."""

    _optional: ClassVar = frozenset({"server"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined(Record):
    """A tool that was set aside, with the reason."""

    name: str | None
    """The tool's name, if it has one."""
    server: str | None = None
    """The tool's server; `None` unless the list is a list of several servers."""
    pointer: str
    """JSON Pointer into the list, to the part that cannot be accepted."""
    rule: ErrorCode | Constraint | Literal["tool-kind"]
    """The reason in kebab-case: the code of an error of `sanitize`, or the name of a constraint on tools."""
    message: str
    """Human-readable message: what was expected, then what was found."""

    _optional: ClassVar = frozenset({"server"})


class SanitizedTools(LazyRecord, Generic[T_co]):
    """A tool list that an API accepts.

    The changes are determined when they are first read, for the list as it was at the time of the call.
    """

    __slots__ = ("_changes", "_lossless", "_quarantined", "_restore", "_source", "_tools", "_warning")

    _names: ClassVar[tuple[str, ...]] = ("tools", "quarantined", "changes", "lossless", "restore")

    _changes: tuple[ToolChange, ...] | None
    _source: ReportSource | None
    _lossless: bool
    _quarantined: tuple[Quarantined, ...]
    _restore: Restore
    _tools: T_co
    _warning: PendingWarning

    def __init__(self, tools: T_co, source: ReportSource, members: dict[str, Any], /) -> None:
        """Make the result of a function."""
        set_members(
            self,
            _tools=tools,
            _source=source,
            _changes=None,
            _quarantined=Quarantined.list_of(members["quarantined"]),
            _lossless=members["lossless"],
            _restore=Restore(members["restore"]),
            _warning=PendingWarning(members.get("warning")),
        )

    @property
    def tools(self) -> T_co:
        """The tools, in the API's own format; JSON text if the input was JSON text."""
        self._warning.warn()
        return self._tools

    @property
    def quarantined(self) -> tuple[Quarantined, ...]:
        """The tools that could not be made acceptable. They are not in the list."""
        self._warning.discard()
        return self._quarantined

    @property
    def changes(self) -> tuple[ToolChange, ...]:
        """All changes, tool by tool. The new format of a tool is not a change."""
        changes, source = self._changes, self._source
        if changes is None and source is not None:
            changes = ToolChange.list_of(source.report()["changes"])
            set_members(self, _changes=changes, _source=None)
        # Another thread may have made the changes meanwhile.
        return cast("tuple[ToolChange, ...]", self._changes) if changes is None else changes

    @property
    def lossless(self) -> bool:
        """True if the same arguments are accepted, no guidance is lost, and no tool is missing."""
        return self._lossless

    @property
    def restore(self) -> Restore:
        """Restores the model's calls to what the tools' own servers expect."""
        return self._restore

    def __repr__(self) -> str:
        """Show every member, including the missing tools."""
        self._warning.discard()
        return super().__repr__()

    def __eq__(self, other: object) -> bool:
        """Return true if all members are equal."""
        self._warning.discard()
        return super().__eq__(other)

    __hash__ = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object that is the same in every language."""
        self._warning.discard()
        return super().to_dict()

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle all members."""
        members = self.to_dict()
        return type(self), (members.pop("tools"), StoredReport(members), members)


class ReadyTools(SanitizedTools[list[Any]]):
    """A tool list that an API accepts, made once. Its lists and dicts refuse changes."""

    __slots__ = ("_json",)

    _json: str

    _names = ("tools", "json", "quarantined", "changes", "lossless", "restore")

    def __init__(self, tools: list[Any], source: ReportSource, members: dict[str, Any], /) -> None:
        """Make the result of a `ToolSet`."""
        super().__init__(tools, source, members)
        set_members(self, _json=members["json"])

    @property
    def json(self) -> str:
        """The tools as compact JSON text, ready to be inserted into a request."""
        self._warning.warn()
        return self._json


@dataclass(frozen=True, slots=True)
class ChoiceChange(Record):
    """A `tool_choice` that the API refuses in this request, and its replacement."""

    found: str
    """The original choice, as JSON."""
    sent: str
    """The choice that is sent, as JSON; `null` if no choice is sent."""
    because: str
    """The reason: the API's answer, with its source."""


@dataclass(frozen=True, slots=True)
class RequestChange(Record):
    """A change of a request outside its tools."""

    pointer: str
    """JSON Pointer into the input."""
    rule: RequestConstraint
    """The constraint that required the change."""
    message: str
    """Human-readable description of the change. It contains no values of the request."""
    reason: str
    """The fact that required the change, with its confidence and source."""


@dataclass(frozen=True, slots=True)
class FormatChange(Record):
    """A change of a response format.

    `pointer` points into the given request, `output_pointer` into the rewritten one.
    """

    dialect: DialectName
    """The dialect into which the response format was rewritten."""
    pointer: str
    """JSON Pointer into the input, to the cause of the change."""
    output_pointer: str | None
    """JSON Pointer into the output, to the effect of the change; `None` if it no longer exists."""
    rule: ChangeRule
    """The kebab-case name of the rule."""
    accepts: Accepts
    """The effect on the set of accepted arguments; if `encoded` is true, the effect after restoring."""
    guidance: Guidance
    """The effect on what the model reads about the answer."""
    encoded: bool
    """True if the change encodes values, so they have to be restored."""
    reason: str
    """The provider fact that the rule serves, with its confidence, and the error text that the rule prevents."""
    message: str
    """Human-readable description of the change."""


@dataclass(frozen=True, slots=True)
class AdaptReport(Record):
    """The decisions about a request, and its changes."""

    dialect: DialectName
    """The dialect into which the request was rewritten."""
    deferred: DeferredReport | None
    """The decisions of deferred loading; `None` if it was not requested."""
    quarantined: tuple[Quarantined, ...]
    """The tools that could not be made acceptable. They are not in the request."""
    changes: tuple[ToolChange, ...]
    """All changes of tools, tool by tool."""
    unforced: tuple[str, ...]
    """Tools that `tool_choice` named and that were set aside. The choice that is sent no longer names them."""
    choice: ChoiceChange | None
    """The change of a `tool_choice` that the API refuses in this request; `None` if it is unchanged."""
    request_changes: tuple[RequestChange, ...]
    """All changes outside the tools that a constraint of the API required, in their order."""
    format_changes: tuple[FormatChange, ...]
    """All changes of response formats, in their order."""
    betas: tuple[str, ...] | None = None
    """The betas that the header `anthropic-beta` has to name; `None` if they equal the option `betas`. Empty:
    the header must not be sent."""

    _optional: ClassVar = frozenset({"betas"})
    _converters: ClassVar = {
        "betas": tuple,
        "deferred": DeferredReport.of,
        "quarantined": Quarantined.list_of,
        "changes": ToolChange.list_of,
        "unforced": tuple,
        "choice": ChoiceChange.of,
        "request_changes": RequestChange.list_of,
        "format_changes": FormatChange.list_of,
    }


class Adapted(LazyRecord, Generic[T_co]):
    """A request that an API accepts. The report is made when it is first read."""

    __slots__ = ("_report", "_restore", "_source", "request")

    _names = ("request", "report", "restore")

    request: T_co
    """The request; JSON text if the input was JSON text."""

    _source: Callable[[], dict[str, Any]] | None
    _report: AdaptReport | None
    _restore: Restore | None

    def __init__(self, request: T_co, members: Callable[[], dict[str, Any]], /) -> None:
        """Make the result of a function."""
        set_members(self, request=request, _source=members, _report=None, _restore=None)

    def _load(self) -> None:
        source = self._source
        if self._report is None and source is not None:
            members = source()
            report, restore = AdaptReport.of(members["report"]), Restore(members["restore"])
            # `_report` is set after `_restore`, so that another thread that sees `_report` can read both.
            set_members(self, _restore=restore, _report=report, _source=None)

    @property
    def report(self) -> AdaptReport:
        """Report of the decisions and changes."""
        self._load()
        return cast("AdaptReport", self._report)

    @property
    def restore(self) -> Restore:
        """Restores the calls of the reply to what the tools' own servers expect."""
        self._load()
        return cast("Restore", self._restore)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle all members."""
        members = self.to_dict()
        return type(self), (members.pop("request"), StoredReport(members).report)


@dataclass(frozen=True, slots=True)
class Fact(Record):
    """One fact about an API, with its source."""

    statement: str
    """The fact in words."""
    confidence: Literal["A", "B", "C"]
    """`A`: documentation, validator or source, or two live reports; `B`: one live report; `C`: inferred."""
    source: str
    """The source of the fact."""
    rules: tuple[Constraint, ...]
    """The constraints of `check` and `check_tools` that rest on the fact."""
    severity: Severity
    """The API's reaction to a schema that violates the fact."""
    checked: str
    """The day on which the fact was last checked (ISO 8601)."""

    _converters: ClassVar = {"rules": tuple}


@dataclass(frozen=True, slots=True)
class ResponseFormat(Record):
    """Facts about the response formats of an API, in addition to the facts about its tools."""

    surface: str
    """Location of the answer's schema in a request, in words."""
    documentation: str
    """URL of the documentation."""
    as_of: str
    """The day on which the facts were last checked (ISO 8601)."""
    facts: tuple[Fact, ...]
    """The facts, with confidence and source."""

    _converters: ClassVar = {"facts": Fact.list_of}


@dataclass(frozen=True, slots=True)
class RequestFact(Record):
    """One fact about requests that an API refuses as a whole."""

    statement: str
    """The fact in words."""
    confidence: Literal["A", "B", "C"]
    """The confidence, as in `Fact`."""
    source: str
    """The API's answer, and its source."""
    rule: RequestConstraint
    """The constraint of `check_request` that rests on the fact."""
    severity: Severity
    """The API's reaction to a request that violates it."""
    checked: str
    """The day on which the fact was last checked (ISO 8601)."""


@dataclass(frozen=True, slots=True)
class DialectChoice(Record):
    """A dialect, with the reason for choosing it."""

    dialect: DialectName
    """The name that `sanitize` accepts as `dialect`."""
    confidence: Literal["A", "B", "C"]
    """Confidence of the choice: `A` documented or proved, `B` one live report, `C` inferred."""
    because: str
    """The reason, in a sentence."""


@dataclass(frozen=True, slots=True)
class DeferralChoice(Record):
    """The options of deferred loading that fit a backend, with the reason for choosing them."""

    target: Literal["anthropic", "openai-responses", "openai-chat", "gemini-interactions", "bedrock"] | None
    """The format to which the construct belongs; `None` if there is no construct."""
    native: Literal[
        "none", "references", "changes", "inline", "additional-tools", "tool-search", "kimi", "interactions", "converse"
    ]
    """The backend's native construct for deferred tools."""
    confidence: Literal["A", "B", "C"]
    """Confidence of the choice: `A` documented or recorded, `C` inferred."""
    because: str
    """The reason, in a sentence."""
    checked: str
    """The day on which the fact was looked up or recorded (ISO 8601)."""


@dataclass(frozen=True, slots=True)
class Dialect(Record):
    """The facts about one surface of one API, with their confidence."""

    name: DialectName
    """The name that `sanitize` accepts as `dialect`."""
    surface: str
    """The API surface, in words."""
    documentation: str
    """URL of the documentation of that surface."""
    as_of: str
    """The day on which the facts were last checked (ISO 8601)."""
    revision: int
    """Number that is raised whenever a change of the dialect's table alters outputs."""
    options: tuple[str, ...]
    """The options of `sanitize` that apply to this dialect, in addition to `dialect`, `allow` and `share`."""
    encodes: tuple[str, ...]
    """The encodings that restoring may have to undo; empty if arguments are never encoded."""
    limits: dict[str, int]
    """Size limits by name. The name states whether the unit is bytes, levels or a count."""
    facts: tuple[Fact, ...]
    """The facts, with confidence and source."""
    requests: tuple[RequestFact, ...]
    """The facts about requests as a whole."""
    response: ResponseFormat | None
    """The facts about its response formats; `None` if there are none."""
    unverified: tuple[str, ...]
    """Unverified behavior, which the table accepts."""

    _converters: ClassVar = {
        "options": tuple,
        "encodes": tuple,
        "facts": Fact.list_of,
        "requests": RequestFact.list_of,
        "response": ResponseFormat.of,
        "unverified": tuple,
    }
