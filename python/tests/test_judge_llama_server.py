"""llama.cpp's server as a judge of its grammars: a model calls each tool with random text that the grammar allows.

Its arguments are validated against the schema that was sent, and, after restoring, against the tool's own schema.
`check` must report as ignored or reinterpreted what violates the former, and `sanitize` as a loss what violates the
latter.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import time
from functools import cache
from typing import TYPE_CHECKING, Any

import httpx
import pytest

import toolwire
from judging import installed, schemas
from llama_cpp_judge import CHAT_TEMPLATE, MODEL, SERVER
from test_judge_admits import cases

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DIALECT: Any = "llama-cpp"
SEEDS = (1, 2, 3)
MAX_SECONDS = 20.0
"""Timeout for an answer, in seconds. A schema whose bounds admit nothing is never answered."""
MAX_BYTES = 4 << 30
"""Maximum memory of the server's process, which grows without limit for such schemas."""
MAX_TOKENS = 1500
"""Maximum number of tokens of an answer. Longer answers are truncated, and not compared."""
BIASES = [[ord('"'), 4], [ord("}"), 4], [ord("]"), 4], [257, 200], [258, 100]]
"""Biases that end strings, lists and objects early, begin a call immediately, and end the message after it
(model.cpp)."""
CLOSES = "object-openness"
"""The constraint on objects that the server closes, so that it accepts fewer arguments, but never more."""


class Server:
    """The server's process, which is restarted after it ended or hung."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.client = httpx.Client(timeout=MAX_SECONDS)

    def start(self) -> None:
        """Start the server, and wait until it answers."""

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=MAX_SECONDS)
        given = f"--model {MODEL} --chat-template-file {CHAT_TEMPLATE} --host 127.0.0.1 --port {port} --ctx-size 8192"
        flags = "--jinja --parallel 1 --threads 1 --no-warmup --no-webui --log-disable"
        self.process = subprocess.Popen(
            [str(SERVER), *given.split(), *flags.split()],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=limit,
        )
        while self.process.poll() is None:
            try:
                if self.client.get("/health").status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.02)
        raise AssertionError(f"expected a server that starts, found exit status {self.process.returncode}")

    def call(self, schema: str, seed: int) -> str | None:
        """Return the arguments of a call; `None` if the server refuses the tool or the call is truncated."""
        if self.process is None:
            self.start()
        request = {
            "messages": [{"role": "user", "content": "Hello"}],
            "tool_choice": "required",
            "parallel_tool_calls": False,
            "seed": seed,
            "max_tokens": MAX_TOKENS,
            "logit_bias": BIASES,
            # Every token that the grammar allows may be chosen.
            "top_k": 0,
            "top_p": 1,
            "min_p": 0,
        }
        # The schema is sent in its original spelling, because the server's JSON parser distinguishes `1.0` from `1`.
        tool = f'{{"type": "function", "function": {{"name": "f", "description": "d", "parameters": {schema}}}}}'
        try:
            content = f'{json.dumps(request)[:-1]}, "tools": [{tool}]}}'.encode("utf-8", "surrogatepass")
            response = self.client.post("/v1/chat/completions", content=content)
        except httpx.TransportError:
            self.close()
            return None
        if response.status_code != 200:
            return None
        [choice] = response.json()["choices"]
        if choice["finish_reason"] != "tool_calls":
            return None
        [call] = choice["message"]["tool_calls"]
        # An undeclared name in an open object may contain control characters, which are not valid JSON.
        arguments: str = toolwire.repair_arguments(call["function"]["arguments"], {}).arguments
        return arguments

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
        self.client.close()


@cache
def server() -> Server:
    if "TOOLWIRE_JUDGES" not in os.environ:
        pytest.skip("only `make judges` runs llama.cpp's server, because that takes seven minutes")
    if not SERVER.exists():
        pytest.skip("llama.cpp's server is not built: `python tests/llama_cpp_judge.py --server FOLDER`")
    return Server()


@pytest.fixture(autouse=True, scope="module")
def _ended() -> Iterator[None]:
    yield
    if server.cache_info().currsize:
        server().close()


def errors(schema: Any, text: str) -> list[tuple[list[str], str]]:
    """Return the violations of a schema by arguments: the places in the schema that may be the cause, and a message."""
    jsonschema = installed("jsonschema")
    arguments = json.loads(text)
    try:
        validator = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
        validator.check_schema(schema)
        found = list(validator(schema).iter_errors(arguments))
    except Exception:
        # The schema cannot be used: the meta-schema refuses it, a reference does not resolve, or a pattern is invalid
        # in Python.
        return []
    return [
        ([at for leaf in leaves(error) for at in places(schema, leaf.absolute_schema_path)], error.message)
        for error in found
    ]


def leaves(error: Any) -> Iterator[Any]:
    """Yield the errors of a union's branches, which cause the error of the union."""
    if error.context:
        for cause in error.context:
            yield from leaves(cause)
    else:
        yield error


def places(schema: Any, path: Iterable[Any]) -> Iterator[str]:
    """Yield pointers to the schemas with the references on a path, and to the schema with the keyword at its end.

    The paths of jsonschema omit references.
    """
    pointer, node = "", schema
    at = pointer
    for step in path:
        while isinstance(node, dict) and step not in node and str(node.get("$ref")).startswith("#"):
            yield pointer
            pointer, node = node["$ref"][1:], target(schema, node["$ref"][1:])
        at = pointer
        pointer += "/" + str(step).replace("~", "~0").replace("/", "~1")
        node = node[step] if isinstance(node, list) or (isinstance(node, dict) and step in node) else None
    yield at


def target(schema: Any, pointer: str) -> Any:
    """Return the value at a pointer."""
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        schema = schema[int(key)] if isinstance(schema, list) else schema[key]
    return schema


def silent(sent: Any, arguments: str) -> list[str]:
    """Return the violations of the sent schema that `check` does not report as ignored or reinterpreted."""
    broken = errors(sent, arguments)
    if not broken:
        return []
    reported = [reach(found) for found in toolwire.check(sent, dialect=DIALECT) if found.constraint != CLOSES]
    return [
        f"{why} at {pointers}"
        for pointers, why in broken
        if not any(one.startswith(at) or at.startswith(one) for one in reported for at in pointers)
    ]


def reach(found: Any) -> str:
    """Return the pointer to the violating part: for a keyword that hides its siblings, the schema that contains it."""
    hides = found.constraint in {"root-keyword", "beside-any-of", "beside-ref"}
    return found.pointer.rpartition("/")[0] if hides else found.pointer


def called(text: str) -> Iterator[tuple[Any, str]]:
    """Yield a schema with the arguments of each call that the server writes for it."""
    try:
        sent = json.loads(text)
        toolwire.check(text, dialect=DIALECT)
    except (ValueError, RecursionError, toolwire.ToolwireError):
        # The text is not JSON, or exceeds a limit that all functions have.
        return
    for seed in SEEDS:
        arguments = server().call(text, seed)
        if arguments is not None:
            yield sent, arguments


def shown(why: str, arguments: str, text: str) -> str:
    """Describe a call that violates a schema."""
    return f"{why}: {arguments!r}: {text}"


def test_check_reports_what_the_server_does_not_enforce() -> None:
    calls, found = 0, []
    for text in [*schemas(), *(json.dumps(schema) for schema, _ in cases())]:
        for sent, arguments in called(text):
            calls += 1
            found += [shown(why, arguments, text) for why in silent(sent, arguments)]
    print(f"{calls} calls to unchanged tools")
    assert calls > 1000
    assert not found


def test_restored_calls_obey_the_tools_original_schema() -> None:
    calls, found = 0, []
    for text in schemas():
        try:
            written = toolwire.sanitize(text, dialect=DIALECT)
        except toolwire.ToolwireError:
            continue
        for sent, arguments in called(written.schema):
            calls += 1
            found += [shown(why, arguments, text) for why in silent(sent, arguments)]
            if written.lossless and not errors(sent, arguments):
                own = toolwire.restore_arguments(arguments, written.restore_plan)
                found += [shown(f"{why} at {at}, restored", own, text) for at, why in errors(json.loads(text), own)]
    print(f"{calls} calls to rewritten tools")
    assert calls > 1000
    assert not found
