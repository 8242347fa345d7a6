"""Records behave as frozen dataclasses with slots, and `import toolwire` does not import `dataclasses`."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from typing import Any, get_type_hints

import pytest

import toolwire
from toolwire.types import Change, DeferredReport, DeferredWarning, SentRequest

SENT = SentRequest(url="http://localhost", dialect="gemini", body="{}")
WARNING = DeferredWarning("unknown-tool-reference", pointer="/messages/0")


def test_an_import_needs_no_dataclasses() -> None:
    program = "import sys, toolwire; toolwire.sanitize({}, dialect='gemini').changes; print('inspect' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "False\n"


@pytest.mark.parametrize("record", [SENT, WARNING])
def test_records_are_copied_compared_and_printed(record: Any) -> None:
    for copied in (copy.copy(record), copy.deepcopy(record), pickle.loads(pickle.dumps(record))):
        assert copied == record
        assert hash(copied) == hash(record)
    assert record != object()
    assert repr(record).startswith(f"{type(record).__name__}(")
    assert eval(repr(record)) == record
    assert not hasattr(record, "__dict__")
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.body = ""
    with pytest.raises(dataclasses.FrozenInstanceError):
        del record.pointer


def test_dataclasses_reads_records() -> None:
    assert dataclasses.is_dataclass(SentRequest)
    assert [field.name for field in dataclasses.fields(DeferredWarning)] == ["code", "name", "pointer"]
    assert dataclasses.asdict(WARNING) == {"code": "unknown-tool-reference", "name": None, "pointer": "/messages/0"}
    assert dataclasses.replace(WARNING, name="a") == DeferredWarning("unknown-tool-reference", "a", "/messages/0")
    assert list(inspect.signature(Change).parameters)[:2] == ["pointer", "output_pointer"]
    assert get_type_hints(SentRequest)["body"] is str
    match WARNING:
        case DeferredWarning(code, None, pointer):
            assert (code, pointer) == ("unknown-tool-reference", "/messages/0")


def test_members_are_required_named_and_made() -> None:
    make: Any = DeferredWarning
    for positional, named in (((), {}), (("a", "b", "c", "d"), {}), (("a",), {"code": "b"}), (("a",), {"other": 1})):
        with pytest.raises(TypeError):
            make(*positional, **named)
    report: Any = DeferredReport
    given = {"loaded": (), "hidden": (), "warnings": (), "unreachable": False, "saved_bytes": 0}
    one, two = report(**given), report(**given)
    assert one == two
    assert one.name_map is not two.name_map
    with pytest.raises(TypeError):
        report((), **given)
    with pytest.raises(TypeError):
        hash(one)
    assert toolwire.types.Change is Change
