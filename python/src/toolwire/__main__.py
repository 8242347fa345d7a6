"""`python -m toolwire`: runs the program that the wheel has installed."""

from __future__ import annotations

import importlib.metadata
import os
import signal
import subprocess
import sys
from pathlib import Path

NAMES = ("toolwire", "toolwire.exe")
ADVICE = "install a wheel of toolwire, or compile the program with `cargo install toolwire-cli`"


def find() -> Path | None:
    """Return the path of the program. Packages that were built from source contain none."""
    try:
        files = importlib.metadata.files("toolwire") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    found = (Path(str(file.locate())) for file in files if file.name in NAMES)
    return next((path for path in found if path.is_file()), None)


def run() -> int:
    """Run the program, in the place of Python if possible, and return its exit code."""
    program = find()
    if program is None:
        print(f"toolwire: expected the program of the package, found none: {ADVICE}", file=sys.stderr)
        return 2
    command = [str(program), *sys.argv[1:]]
    if sys.platform == "win32":
        # The console sends Ctrl-C to both, and the program ends its servers first. A handler is not inherited.
        for number in (signal.SIGINT, signal.SIGBREAK):
            signal.signal(number, lambda *_: None)
        return subprocess.run(command, check=False).returncode
    return os.execv(program, command)


if __name__ == "__main__":
    sys.exit(run())
