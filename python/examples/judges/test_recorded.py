"""Recorded requests that live APIs accepted, before the request types of the SDKs and after `Exchange`."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
from sdk_judges import JUDGES, judge_of, kind
from tables import SHARED, STRICTER, is_stricter, recordings

import toolwire

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the recorded requests are not next to the checkout")

OWN = {"api.groq.com": "groq", "api.mistral.ai": "mistral", "api.cerebras.ai": "cerebras"}
"""Hosts whose SDKs have types of their own."""
FORMATS = {"anthropic-messages": "anthropic"}


@pytest.mark.parametrize("row", STRICTER, ids=lambda row: row["why"])
def test_type_refuses_what_the_api_accepted(row: dict[str, str]) -> None:
    file, _, source = row["recording"].partition(" ")
    named = [one for one in recordings(file) if source in (one.get("source"), one.get("name"))]
    requests = [one.get("input") or one["request"] for one in named if one.get("kind", "request") == "request"]
    assert all(one.get("status", one.get("expect")) == 200 for one in named), "the API refused the request"
    found = [kind(fault) for request in requests for fault in JUDGES[row["judge"]]()(request)]
    assert any(re.search(row["match"], one) for one in found), f"the type accepts the request, remove the row: {found}"


def accepted() -> list[tuple[str, str, str, str, Any]]:
    """Return the judge, the URL, the model, the source and the body of each request."""
    found = []
    for row in recordings("answered_4.jsonl"):
        if row["kind"] == "request" and row["status"] == 200 and row["api"] in JUDGES:
            judge = judge_of(row["api"], OWN.get(row["host"], ""))
            found.append((judge, url_of(row), row["model"], row["source"], row["input"]))
    for row in recordings("deferred_requests.jsonl"):
        judge = FORMATS.get(row["format"], row["format"])
        host = "api.anthropic.com" if judge == "anthropic" else "api.openai.com"
        url = url_of({"api": judge, "host": host, "model": ""})
        found.append((judge, url, "", row["source"], row["request"]))
    return found


def url_of(row: dict[str, str]) -> str:
    paths = {
        "anthropic": "v1/messages",
        "openai-chat": "v1/chat/completions",
        "openai-responses": "v1/responses",
        "gemini": f"v1beta/models/{row['model']}:generateContent",
        "bedrock": f"model/{row['model']}/converse",
    }
    return f"https://{row['host'].replace('*', 'recorded')}/{paths[row['api']]}"


def test_types_accept_recorded_requests_before_and_after() -> None:
    counts: Counter[str] = Counter()
    faults = []
    for judge, url, _, source, request in accepted():
        before = {kind(fault) for fault in JUDGES[judge]()(request)}
        counts[f"{judge}: requests"] += 1
        counts[f"{judge}: refused before"] += bool(before)
        faults += [f"{judge} refuses {one}: {source}" for one in before if not is_stricter(judge, one)]
        exchange = toolwire.Exchange.open(url, json.dumps(request), on_set_aside=lambda *_: None)
        if exchange is None:
            counts[f"{judge}: never with tools"] += 1
            continue
        sent = json.loads(exchange.request)
        after = {kind(fault) for fault in JUDGES[judge]()(sent)} - before
        counts[f"{judge}: changed"] += sent != request
        faults += [f"{judge} refuses {one} after: {source}" for one in after if not is_stricter(judge, one)]
    for name, number in sorted(counts.items()):
        print(f"{number:6} {name}")
    assert not faults, "\n".join(faults[:12])
