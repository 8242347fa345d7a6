"""The findings about generated conversations, which several tests read."""

from __future__ import annotations

import os

import pytest
from findings import Findings, find

FEWEST = 3_000
"""The number of conversations in which every row of the tables occurs."""
COUNT = int(os.environ.get("CONVERSATIONS", FEWEST))


@pytest.fixture(scope="session")
def count() -> int:
    """Return the number of conversations."""
    return COUNT


@pytest.fixture(scope="session")
def is_whole() -> bool:
    """Return true if every row of the tables must fit something."""
    return COUNT >= FEWEST


@pytest.fixture(scope="session")
def findings() -> Findings:
    """Adapt the conversations, and compare them with what is sent."""
    return find(COUNT)
