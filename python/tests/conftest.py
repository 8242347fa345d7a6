"""What the test run says at its end: how much of the shared fixtures ran, on how many paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    from cases import RAN, RUNS

    if RAN:
        functions = ", ".join(f"{name} {count}" for name, count in sorted(RAN.items()))
        paths = ", ".join(f"{name} {count}" for name, count in sorted(RUNS.items()))
        terminalreporter.write_line(f"fixtures: {sum(RAN.values())} cases ({functions}) on {len(RUNS)} paths ({paths})")
