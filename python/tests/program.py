"""The installed program, run as in a shell."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from toolwire import _command

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = [sys.executable, "-m", "toolwire"]


def clean(**settings: str) -> dict[str, str]:
    """Return an environment without the variables that control colors."""
    kept = {name: value for name, value in os.environ.items() if name not in _command.VARIABLES}
    return {**kept, **settings}


def run(
    *arguments: str, given: str = "", place: Path | None = None, **settings: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*PROGRAM, *arguments],
        input=given.encode(),
        cwd=place,
        env=clean(**settings),
        capture_output=True,
        timeout=120,
        check=False,
    )
