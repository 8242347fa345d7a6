"""Limits the size of answers from remote servers, because a small answer may decompress to gigabytes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine

# The separators between events in an event stream.
ENDS = (b"\n\n", b"\r\n\r\n", b"\r\r")
# Requests uncompressed answers: the HTTP libraries decompress a whole piece at once, regardless of its final size.
ENCODING = {"accept-encoding": "identity"}
# The encodings that the HTTP libraries decompress.
UNPACKED = {"gzip", "x-gzip", "deflate", "br", "zstd"}


class Limit:
    """Cancels a task if a server's answer exceeds a limit. The SDK itself would wait, or ask again."""

    def __init__(self, limit: int, *, together: bool) -> None:
        self._limit, self._together = limit, together
        self._total = 0
        self._task: asyncio.Task[Any] | None = None
        self._why = ""

    async def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run the coroutine that asks the server."""
        self._task = asyncio.ensure_future(work)
        try:
            return await self._task
        except BaseException:
            if self._why:
                raise RuntimeError(self._why) from None
            raise

    async def response(self, response: Any) -> None:
        """Check a response: a hook that the HTTP library calls before it reads the body."""
        encoding = response.headers.get("content-encoding", "")
        # Other values, such as `none` in event streams, do not affect reading.
        if UNPACKED & {word.strip() for word in encoding.lower().split(",")}:
            self._end(f"expected an answer that is not compressed, found the content encoding `{encoding}`")
        is_stream = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        given = response.aiter_bytes

        async def counted(chunk_size: int | None = None) -> AsyncIterator[bytes]:
            length, before = 0, b""
            async for piece in given(chunk_size):
                length += len(piece)
                self._total += len(piece)
                if is_stream and not self._together:
                    length = min(length, _behind_events(before + piece, length))
                    before = (before + piece)[-3:]
                if (self._total if self._together else length) > self._limit:
                    self._end(f"expected at most {self._limit >> 20} MiB from the server, found more")
                yield piece

        response.aiter_bytes = counted

    def _end(self, why: str) -> None:
        self._why = why
        if self._task is not None:
            self._task.cancel()
        raise RuntimeError(why)


def _behind_events(text: bytes, otherwise: int) -> int:
    """Return the number of bytes after the last event that ends in the text."""
    return min((len(text) - at - len(end) for end in ENDS if (at := text.rfind(end)) >= 0), default=otherwise)
