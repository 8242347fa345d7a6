"""Reference data: a sample in this repository, and the whole data if it is next to the checkout."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Source:
    """A folder with reference data. Both folders have files of the same names."""

    name: str
    folder: Path

    def rows(self, file: str) -> list[Any]:
        """Read a file of JSON lines, or a JSON list."""
        text = (self.folder / file).read_text(encoding="utf-8")
        rows: list[Any] = (
            [json.loads(line) for line in text.splitlines()] if file.endswith(".jsonl") else json.loads(text)
        )
        return rows

    def count(self, *, whole: int, sample: int) -> int:
        """Return the count that applies to this source."""
        return sample if self.name == "sample" else whole


def sources() -> list[Source]:
    """Return the sample, and the whole data if it is available."""
    whole = Source("whole", ROOT.parent / "shared" / "data")
    return [Source("sample", ROOT / "tests" / "sample"), *([whole] if whole.folder.is_dir() else [])]
