"""HTTP requests to APIs. Only this file inserts the key, and it removes the key from the answer."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, ProxyHandler, Request, build_opener

from toolwire._hidden import hide_secrets

if TYPE_CHECKING:
    from collections.abc import Callable
    from http.client import HTTPConnection

    from typing_extensions import Self

# Maximum size of an answer in bytes, larger than any real one.
MAX_BYTES = 1_000_000


class _NoRedirect(HTTPRedirectHandler):
    """A handler that follows no redirect, because the key is meant for one address only."""

    def redirect_request(self, *_: object) -> None:
        return None


def answer_of(request: dict[str, Any], waiting: Callable[[int], None]) -> dict[str, Any]:
    """Send a request that the core describes, and return the answer.

    `waiting` is called once a second with the elapsed seconds, and with 0 at the end.
    """
    key = request["key"]
    secret = os.environ.get(key["variable"], "").strip() if key else ""
    if key and not (secret.isascii() and secret.isprintable() and " " not in secret):
        # The HTTP library refuses such a key with an error that contains it.
        raise RuntimeError("EKEY")
    placeholder = f"({key['variable']})" if key else ""

    def without_secret(text: str) -> str:
        return hide_secrets(text, [secret], placeholder)

    with _Watch(waiting) as watch:
        watch.wait(request["wait"])
        try:
            headers = request["headers"] | ({key["header"]: key["before"] + secret} if key else {})
            sent = Request(request["url"], request["body"].encode(), headers, method="POST")
            status, retry, body = _Exchange(sent, float(request["timeout"])).result(watch)
        except Exception as error:
            # The text of an error may contain what was sent.
            raise RuntimeError(without_secret(_describe_error(error))) from None
    return {"status": status, "retryAfter": retry, "body": without_secret(body)}


class _Exchange(threading.Thread):
    """A thread for a request and its answer, because no timeout of `urllib` covers a whole exchange."""

    def __init__(self, request: Request, timeout: float) -> None:
        super().__init__(daemon=True)
        self._request, self._timeout = request, timeout
        self._connections = _Connections()
        self._ended = threading.Event()
        self._answer: tuple[int, str | None, str] | None = None
        self._error: BaseException | None = None

    def result(self, watch: _Watch) -> tuple[int, str | None, str]:
        """Wait for the answer until the timeout."""
        self.start()
        if not watch.wait(self._timeout, self._ended):
            self._connections.shut_down()
            raise TimeoutError
        if self._answer is None:
            raise self._error or TimeoutError
        return self._answer

    def run(self) -> None:
        try:
            self._answer = self._send()
        except BaseException as error:
            self._error = error
        finally:
            self._ended.set()

    def _send(self) -> tuple[int, str | None, str]:
        # Without TLS, a proxy from the environment could read the key.
        direct = [ProxyHandler({})] if self._request.type == "http" else []
        opener = build_opener(_NoRedirect, self._connections, *direct)
        try:
            answer = opener.open(self._request, timeout=self._timeout)
        except HTTPError as error:
            answer = error
        with answer:
            body = _read(answer)
            return answer.status or 0, answer.headers.get("retry-after"), body.decode("utf-8", "replace")


class _Connections(HTTPHandler, HTTPSHandler):
    """Keeps the sockets of an exchange, so that they can be shut down."""

    def __init__(self) -> None:
        HTTPHandler.__init__(self)
        HTTPSHandler.__init__(self)
        self._sockets: list[socket.socket] = []
        self._is_shut = False

    def do_open(self, http_class: Any, req: Request, **http_conn_args: Any) -> Any:
        def open_connection(host: str, **settings: Any) -> HTTPConnection:
            connection: HTTPConnection = http_class(host, **settings)
            connect = connection.connect

            def connect_and_keep() -> None:
                connect()
                self._sockets.append(connection.sock)
                if self._is_shut:
                    self.shut_down()

            connection.connect = connect_and_keep  # type: ignore[method-assign]
            return connection

        return super().do_open(open_connection, req, **http_conn_args)

    def shut_down(self) -> None:
        """Shut down the sockets, and all that are opened later."""
        self._is_shut = True
        for socket_ in self._sockets:
            with contextlib.suppress(OSError):
                # Bypasses the `shutdown` of `ssl`, whose sockets must not be used by two threads at once.
                socket.socket.shutdown(socket_, socket.SHUT_RDWR)


def _read(answer: Any) -> bytes:
    """Read the beginning of a body, which may be endless."""
    body = b""
    while len(body) < MAX_BYTES and (piece := answer.read1(65_536)):
        body += piece
    return body[:MAX_BYTES]


def _describe_error(error: BaseException) -> str:
    while isinstance(error, URLError) and isinstance(error.reason, BaseException):
        error = error.reason
    if isinstance(error, TimeoutError):
        return "ETIMEDOUT"
    code = errno.errorcode.get(getattr(error, "errno", None) or 0)
    return code or str(getattr(error, "verify_message", "") or error) or type(error).__name__


class _Watch:
    """Waits, and reports the elapsed seconds."""

    def __init__(self, waiting: Callable[[int], None]) -> None:
        self._waiting, self._start, self._seconds = waiting, time.monotonic(), 0

    def wait(self, seconds: float, event: threading.Event | None = None) -> bool:
        """Wait for an event until a timeout. Return true if the event was set."""
        event = event or threading.Event()
        end = time.monotonic() + seconds
        while True:
            now = time.monotonic()
            tick = self._start + self._seconds + 1
            if event.wait(max(0, min(end, tick) - now)):
                return True
            if time.monotonic() >= end:
                return False
            if time.monotonic() >= tick:
                self._seconds += 1
                self._waiting(self._seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._seconds:
            self._waiting(0)
