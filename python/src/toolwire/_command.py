"""The program `toolwire`.

What it does is in the core; here is input and output: files, standard input, an MCP server's tools, what is a terminal,
and the exit code.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn, TextIO

from toolwire import _toolwire

VARIABLES = ("NO_COLOR", "FORCE_COLOR", "TERM")
INTERRUPTED = 130


def _facts(arguments: list[str]) -> str:
    """What the core wants to know, as JSON."""
    return json.dumps(
        {
            "arguments": arguments,
            "stdin": sys.stdin is not None and sys.stdin.isatty(),
            "stdout": sys.stdout.isatty(),
            "stderr": sys.stderr.isatty(),
            "columns": shutil.get_terminal_size().columns if sys.stdout.isatty() else 0,
            "environment": {name: os.environ[name] for name in VARIABLES if name in os.environ},
        }
    )


def _got(kind: str, words: list[str]) -> bytes:
    """What is needed, as bytes."""
    if kind == "server":
        # Only here: it brings the MCP SDK along.
        from toolwire._server import tools_of

        return json.dumps({"tools": tools_of(words)}, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return Path(words[0]).read_bytes() if kind == "file" else sys.stdin.buffer.read()


def _say(stream: TextIO, text: str) -> None:
    """Write text as it is: UTF-8 and these line ends, whatever the platform's are."""
    stream.flush()
    stream.buffer.write(text.encode("utf-8", "surrogatepass"))
    stream.buffer.flush()


def main(arguments: list[str] | None = None) -> int:
    """Carry out a command line; gives the exit code."""
    command = _toolwire.Command(_facts(sys.argv[1:] if arguments is None else arguments))
    while (need := command.need()) is not None:
        kind, *words = need
        try:
            command.give(_got(kind, words))
        except OSError as error:
            command.fail(errno.errorcode.get(error.errno or 0, str(error)))
        except (RuntimeError, ValueError) as error:
            command.fail(str(error))
    while (shown := command.step()) is not None:
        if shown:
            _say(sys.stderr, shown)
    stdout, stderr, code = command.finish()
    try:
        _say(sys.stdout, stdout)
        _say(sys.stderr, stderr)
    except BrokenPipeError:
        # Whoever reads the output has had enough, `head` for instance: that is no error, and there is nobody to tell.
        # Python would try once more at its end, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def run() -> NoReturn:
    """Be the program."""
    try:
        code = main()
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)
