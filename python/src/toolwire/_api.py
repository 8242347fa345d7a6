"""The answers of APIs. The key is put in here, and taken out here: nothing else ever has it."""

from __future__ import annotations

import errno
import os
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

if TYPE_CHECKING:
    from collections.abc import Callable

# More than any API says.
MOST = 1_000_000


class _NoRedirect(HTTPRedirectHandler):
    """What a request carries is for one address."""

    def redirect_request(self, *_: object) -> None:
        return None


def answer_of(request: dict[str, Any], waiting: Callable[[int], None]) -> dict[str, Any]:
    """Send a request, as the core describes it, and give what was answered.

    `waiting` is told once a second how long it takes, and 0 at the end.
    """
    key = request["key"]
    secret = os.environ.get(key["variable"], "").strip() if key else ""
    if key and not (secret.isascii() and secret.isprintable() and " " not in secret):
        # The error of whoever tried to send it would show it.
        raise RuntimeError("EKEY")
    instead = f"({key['variable']})" if key else ""

    def safe(text: str) -> str:
        return text.replace(secret, instead) if secret else text

    with _Watch(waiting):
        time.sleep(request["wait"])
        try:
            headers = request["headers"] | ({key["header"]: key["before"] + secret} if key else {})
            sent = Request(request["url"], request["body"].encode(), headers, method="POST")
            status, retry, body = _sent(sent, float(request["timeout"]))
        except Exception as error:
            # The words of an error may hold what was sent.
            raise RuntimeError(safe(_why(error))) from None
    return {"status": status, "retryAfter": retry, "body": safe(body)}


def _sent(request: Request, timeout: float) -> tuple[int, str | None, str]:
    try:
        # Without TLS, a proxy of the environment could read the key.
        direct = [ProxyHandler({})] if request.type == "http" else []
        answer = build_opener(_NoRedirect, *direct).open(request, timeout=timeout)
    except HTTPError as error:
        answer = error
    with answer:
        body = _read(answer, time.monotonic() + timeout)
        return answer.status or 0, answer.headers.get("retry-after"), body.decode("utf-8", "replace")


def _read(answer: Any, end: float) -> bytes:
    """Read the beginning of what may never end."""
    body = b""
    while len(body) < MOST and (piece := answer.read1(65_536)):
        body += piece
        if time.monotonic() > end:
            raise TimeoutError
    return body[:MOST]


def _why(error: BaseException) -> str:
    while isinstance(error, URLError) and isinstance(error.reason, BaseException):
        error = error.reason
    if isinstance(error, TimeoutError):
        return "ETIMEDOUT"
    code = errno.errorcode.get(getattr(error, "errno", None) or 0)
    return code or str(getattr(error, "verify_message", "") or error) or type(error).__name__


class _Watch:
    """Tells how long something takes."""

    def __init__(self, waiting: Callable[[int], None]) -> None:
        self._waiting, self._done = waiting, threading.Event()
        self._thread = threading.Thread(target=self._tell, daemon=True)

    def _tell(self) -> None:
        seconds = 0
        while not self._done.wait(1):
            seconds += 1
            self._waiting(seconds)
        if seconds:
            self._waiting(0)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
