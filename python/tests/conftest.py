"""The HTTP libraries for tests, and a summary of the shared fixtures at the end of the run."""

from __future__ import annotations

import signal

import pytest

import wire


def pytest_configure() -> None:
    """Restore signals that `nohup` or a background job ignores: the servers under test would ignore them as well."""
    for name, handler in (
        ("SIGHUP", signal.SIG_DFL),
        ("SIGQUIT", signal.SIG_DFL),
        ("SIGINT", signal.default_int_handler),
    ):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.fixture(params=wire.LIBRARIES, ids=lambda library: library[0].__name__)
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the test with each HTTP library."""
    theirs, ours = request.param
    monkeypatch.setattr(wire, "httpx", theirs)
    for name in ("ToolwireTransport", "AsyncToolwireTransport"):
        monkeypatch.setattr(wire, name, getattr(ours, name))
    stream = type("Stream", (wire.Pieces, theirs.SyncByteStream, theirs.AsyncByteStream), {})
    monkeypatch.setattr(wire, "Stream", stream)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    from cases import RAN, RUNS

    if RAN:
        functions = ", ".join(f"{name} {count}" for name, count in sorted(RAN.items()))
        paths = ", ".join(f"{name} {count}" for name, count in sorted(RUNS.items()))
        terminalreporter.write_line(f"fixtures: {sum(RAN.values())} cases ({functions}) on {len(RUNS)} paths ({paths})")
