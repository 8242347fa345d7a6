"""Checks that AWS's SDK accepts our requests for Bedrock Converse: botocore validates and sends them unchanged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

session = pytest.importorskip("botocore.session", reason="botocore is not installed")
serialize = pytest.importorskip("botocore.serialize")
validate = pytest.importorskip("botocore.validate")

FIXTURES = Path(__file__).parents[2] / "tests" / "fixtures"


def bodies() -> list[Any]:
    """Return the Converse requests that the fixtures expect."""
    found = []
    for function in ("adaptRequest", "applyDeferredLoading"):
        for file in sorted((FIXTURES / function).glob("converse*.json")):
            cases = [case for case in json.loads(file.read_text()) if "expected" in case]
            found += [pytest.param(case["expected"], id=f"{function}-{case['name']}") for case in cases]
    return found


@pytest.fixture(scope="module")
def converse() -> Any:
    """Return the SDK's model of the operation."""
    return session.Session().get_service_model("bedrock-runtime").operation_model("Converse")


@pytest.mark.parametrize("body", bodies())
def test_sdk_accepts_the_output(body: dict[str, Any], converse: Any) -> None:
    given = {"modelId": "m", **body}
    report = validate.ParamValidator().validate(given, converse.input_shape)
    assert not report.has_errors(), report.generate_report()
    sent = serialize.create_serializer("rest-json").serialize_to_request(given, converse)
    # The SDK puts the model into the URL.
    assert json.loads(sent["body"]) == {name: value for name, value in body.items() if name != "modelId"}
