"""Generated conversations before the request types of the SDKs, and what happens to their parts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from sdk_judges import JUDGES
from tables import is_stricter, unexplained

if TYPE_CHECKING:
    from findings import Findings

PROPERTIES = {
    "lost": "every text, id and signature is sent or reported",
    "repeated": "no part of a history is sent twice",
    "order": "no part of a history changes its place without an entry of the report",
    "prefix": "the request of a turn begins with that of the turn before it",
    "unreported": "the report names each change",
    "unfounded": "each entry of the report names a change",
}


def test_types_accept_the_generated_conversations(findings: Findings) -> None:
    assert findings.counts["conversations that the types of their own format refuse"] == 0


def test_types_accept_what_is_sent(findings: Findings, count: int, is_whole: bool) -> None:
    for name, number in sorted(findings.counts.items()):
        print(f"{number:6} {name}")
    explained: Counter[str] = Counter()
    found = []
    for finding in findings.all:
        if finding.what != "type":
            continue
        judge, _, text = finding.text.partition(": ")
        kind = text[text.index("/") :].partition(" with ")[0]
        if is_stricter(judge, kind):
            explained[f"{judge} {kind}"] += 1
        else:
            found.append((finding.text, finding.example))
    for kind, number in sorted(explained.items()):
        print(f"{number:6} stricter than the API: {kind}")
    left = unexplained("type", found, is_whole)
    assert not left, "\n".join(left[:12])
    few = [judge for judge in JUDGES if findings.counts[f"judged by {judge}"] < count // 20]
    assert not (few and is_whole), f"too few requests for {few}"
    assert sum(number for name, number in findings.counts.items() if name.startswith("not sent")) <= count // 10


@pytest.mark.parametrize("what", PROPERTIES, ids=list(PROPERTIES.values()))
def test_parts_of_conversations(what: str, findings: Findings, is_whole: bool) -> None:
    found = [(finding.text, finding.example) for finding in findings.all if finding.what == what]
    left = unexplained(what, found, is_whole)
    assert not left, "\n".join(left[:12])
