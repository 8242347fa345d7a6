"""The HTTP libraries for tests, and a summary of the shared fixtures at the end of the run."""

from __future__ import annotations

import pytest

import wire


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
