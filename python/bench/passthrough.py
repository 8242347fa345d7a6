"""A proxy that forwards requests and replies unchanged, to measure the overhead of any relay."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import aiohttp
from aiohttp import web


async def main() -> None:
    """Serve until the process is stopped."""
    session = aiohttp.ClientSession(auto_decompress=False, connector=aiohttp.TCPConnector(limit=0))

    async def answer(request: Any) -> web.StreamResponse:
        url = f"http://127.0.0.1:{sys.argv[1]}{request.raw_path}"
        headers = {name: value for name, value in request.headers.items() if name != "Host"}
        async with session.request(request.method, url, headers=headers, data=request.content) as reply:
            kept = {name: value for name, value in reply.headers.items() if name != "Transfer-Encoding"}
            response = web.StreamResponse(status=reply.status, headers=kept)
            await response.prepare(request)
            async for piece in reply.content.iter_any():
                await response.write(piece)
            return response

    runner = web.ServerRunner(web.Server(answer, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(f"127.0.0.1:{runner.addresses[0][1]}", file=sys.stderr, flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
