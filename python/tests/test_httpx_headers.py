"""The headers that `toolwire.httpx` and `toolwire.httpx2` pass on, drop and return."""

from __future__ import annotations

import json

import pytest

import wire
from wire import ASKED, BASE, CALLS, JSON_TYPE, LOADED, SEARCHES, Backend, Post, both, whole

pytestmark = pytest.mark.usefixtures("library")

OF_BODY = {
    "content-digest": "sha-256=:AAAA:",
    "repr-digest": "sha-256=:AAAA:",
    "digest": "sha-256=AAAA",
    "content-md5": "AAAA",
}
KEYS = {"idempotency-key": "k", "x-idempotency-key": "k"}


@both
def test_headers_of_rewritten_bodies_are_removed(post: Post) -> None:
    headers = {**JSON_TYPE, **OF_BODY, "etag": '"1"'}
    responses = [wire.httpx.Response(200, headers=headers, content=json.dumps(body)) for body in (SEARCHES, CALLS)]
    backend = Backend(*responses)
    response = post(backend, json=ASKED, headers={**OF_BODY, **KEYS, "x-own": "stays"}, dialect="anthropic")
    assert len(response.json()["content"]) == 3
    for name in (*OF_BODY, "etag", "transfer-encoding"):
        assert name not in response.headers
        assert all(name not in request.headers for request in backend.got)
    for name in KEYS:
        # The second round is another request.
        assert [request.headers.get(name) for request in backend.got] == ["k", None]
    assert all(request.headers["x-own"] == "stays" for request in backend.got)


@both
def test_headers_of_unchanged_bodies_are_kept(post: Post) -> None:
    backend = Backend(wire.httpx.Response(200, headers={**JSON_TYPE, "etag": '"1"'}, content=json.dumps(CALLS)))
    response = post(backend, json=BASE, headers={**OF_BODY, **KEYS}, dialect="anthropic")
    assert response.headers["etag"] == '"1"'
    assert all(backend.got[0].headers[name] == value for name, value in (OF_BODY | KEYS).items())


@both
def test_headers_that_are_not_ascii_are_kept_and_invalid_bytes_are_replaced(post: Post) -> None:
    odd = [(b"Content-Type", b"application/json"), (b"X-Region", "Z\u00fcrich".encode("latin-1")), (b"x-a", b"1")]
    odd.append((b"x-a", b"2"))
    body = json.dumps(CALLS).encode().replace(b'"id": "t2"', b'"id": "t\xff"')
    backend = Backend(wire.httpx.Response(200, headers=odd, content=b"\xef\xbb\xbf" + body))
    response = post(backend, content=json.dumps(LOADED).encode(), headers=odd, dialect="anthropic")
    for headers in (response.headers, backend.got[0].headers):
        assert headers.get_list("x-a") == ["1", "2"]
        assert (b"x-region", "Z\u00fcrich".encode("latin-1")) in [(name.lower(), value) for name, value in headers.raw]
    assert [response.json()["content"][0][key] for key in ("id", "name")] == ["t\ufffd", "book.room"]


@both
def test_only_betas_of_deferred_loading_are_removed(post: Post) -> None:
    left = "files-api-2025-04-14"
    headers = {**JSON_TYPE, "anthropic-beta": f"tool-search-tool-2025-10-19,{left}", "x-api-key": "k"}
    plain = {"model": "m", "messages": [], "tools": []}
    for body, deferred, expected in [
        (LOADED, True, left),
        (plain, True, left),
        (plain, False, headers["anthropic-beta"]),
    ]:
        backend = Backend(whole(CALLS))
        post(backend, json=body, headers=headers, dialect="anthropic", deferred=deferred)
        assert backend.got[0].headers["anthropic-beta"] == expected
        assert backend.got[0].headers["x-api-key"] == "k"


@both
def test_backend_with_a_native_construct_receives_its_betas(post: Post) -> None:
    added = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": {**wire.ROOM, "name": "late"}}}
    late = {**LOADED, "messages": [*LOADED["messages"], {"role": "system", "content": [added]}]}
    backend = Backend(*[whole(CALLS) for _ in range(3)])
    transport = {"dialect": "anthropic", "deferred": {"native": "inline"}}
    beta = {"anthropic-beta": "files-api-2025-04-14"}
    for body, headers in ((late, beta), (late, {}), (LOADED, beta)):
        post(backend, json=body, headers=headers, transport=transport)
    sent = [request.headers.get("anthropic-beta") for request in backend.got]
    assert sent == [
        "files-api-2025-04-14,inline-tools-2026-09-15",
        "inline-tools-2026-09-15",
        "files-api-2025-04-14",
    ]


@both
def test_native_construct_is_determined_by_url_and_model(post: Post) -> None:
    added = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": {**wire.ROOM, "name": "late"}}}
    messages = [*LOADED["messages"], {"role": "system", "content": [added]}]
    late = {**LOADED, "model": "claude-opus-5", "messages": messages}
    backend = Backend(whole(CALLS), whole(CALLS))
    for host in ("api.anthropic.com", "backend.test"):
        transport = {"dialect": "anthropic", "deferred": {"native": "auto"}}
        post(backend, url=f"https://{host}/v1/messages", json=late, transport=transport)
    assert [request.headers.get("anthropic-beta") for request in backend.got] == ["inline-tools-2026-09-15", None]
    assert ["tool_addition" in request.content.decode() for request in backend.got] == [True, False]


@both
def test_betas_of_the_header_keep_deferred_tools_on_google_cloud(post: Post) -> None:
    found = {"type": "tool_reference", "tool_name": "late"}
    body = {
        "anthropic_version": "vertex-2023-10-16",
        "max_tokens": 1,
        "messages": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "find", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [found]}]},
        ],
        "tools": [{**wire.ROOM, "name": "find"}, {**wire.ROOM, "name": "late", "defer_loading": True}],
    }
    host = "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5"
    url = f"{host}/publishers/anthropic/models/claude-sonnet-4-5:rawPredict"
    beta = "tool-search-tool-2025-10-19"
    backend = Backend(whole(CALLS), whole(CALLS))
    transport = {"dialect": "anthropic", "deferred": {"native": "auto"}}
    post(backend, url=url, json=body, headers={"anthropic-beta": beta}, transport=transport)
    post(backend, url=url, json=body, transport=transport)
    assert [request.headers.get("anthropic-beta") for request in backend.got] == [beta, None]
    assert ["tool_reference" in request.content.decode() for request in backend.got] == [True, False]
