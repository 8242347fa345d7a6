"""Reference data: a sample that is a part of this repository, and all of it where it lies beside the checkout."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Source:
    """A folder with reference data, every file of which the other one has under the same name."""

    name: str
    folder: Path

    def rows(self, file: str) -> list[Any]:
        """Read a file of JSON lines, or a list."""
        text = (self.folder / file).read_text(encoding="utf-8")
        rows: list[Any] = (
            [json.loads(line) for line in text.splitlines()] if file.endswith(".jsonl") else json.loads(text)
        )
        return rows

    def count(self, *, whole: int, sample: int) -> int:
        """Give the one of two counts that is meant."""
        return sample if self.name == "sample" else whole


def sources() -> list[Source]:
    """Give the sample, and all the data where it is."""
    whole = Source("whole", ROOT.parent / "shared" / "data")
    return [Source("sample", ROOT / "tests" / "sample"), *([whole] if whole.folder.is_dir() else [])]
