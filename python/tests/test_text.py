"""The text path: types of inputs and results, and the same object if nothing changed."""

from __future__ import annotations

from typing import Any

import pytest

import toolwire

UNCHANGED = ' {\t"type" : "object",\n "properties":{"n\\u00e9":{"default":1.0e0}} } '
CHANGED = '{"default":1.0e0,"title":"\\u00e9/\\/"}'
RESULT = '{"type":"object","properties":{},"default":1.0e0,"title":"\\u00e9/\\/"}'


@pytest.mark.parametrize("form", [str, str.encode], ids=["str", "bytes"])
def test_unchanged_text_is_the_very_same_object(form: Any) -> None:
    text = form(UNCHANGED)
    assert toolwire.normalize_envelope(text).schema is text
    assert toolwire.normalize_envelope(text).schema is text


def test_result_has_the_type_of_the_input() -> None:
    assert toolwire.normalize_envelope(CHANGED).schema == RESULT
    assert toolwire.normalize_envelope(CHANGED.encode()).schema == RESULT.encode()
    assert toolwire.normalize_envelope(CHANGED).schema == RESULT
    assert toolwire.normalize_envelope(CHANGED.encode()).schema == RESULT.encode()


@pytest.mark.parametrize("form", [bytearray, memoryview, lambda text: memoryview(text)[::1]])
def test_bytes_like_input_gives_bytes(form: Any) -> None:
    for text, result in ((CHANGED, RESULT), (UNCHANGED, UNCHANGED)):
        answer = toolwire.normalize_envelope(form(text.encode())).schema
        assert type(answer) is bytes
        assert answer == result.encode()


def test_characters_of_every_width_are_kept() -> None:
    for character in ("a", "\u00e9", "\u20ac", "\U0001f600", "\x00", "\x7f"):
        value = {"title": character * 3, character: [character]}
        assert toolwire.normalize_envelope(value).schema == {"type": "object", "properties": {}} | value
    text = '{"title":"\u00e9\u20ac\U0001f600"}'
    assert toolwire.normalize_envelope(text).schema == '{"type":"object","properties":{},' + text[1:]


def test_check_of_text_gives_values() -> None:
    found = toolwire.check(b'{"type":"array","items":[]}', dialect="codex-wire")
    assert found == toolwire.check({"type": "array", "items": []}, dialect="codex-wire")
    assert found[0].pointer == "/items"


def test_aliases_and_version_exist() -> None:
    assert toolwire.normalizeEnvelope is toolwire.normalize_envelope
    assert toolwire.applyDeferredLoading is toolwire.apply_deferred_loading
    assert toolwire.__version__.count(".") == 2
    for name in toolwire.__all__:
        assert getattr(toolwire, name) is not None
