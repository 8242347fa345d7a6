"""The extension module: the core's functions by their JavaScript names."""

from collections.abc import Mapping
from typing import Any

__all__ = ["__version__", "call", "call_text"]

__version__: str

def call(function: str, inputs: tuple[object, ...], options: Mapping[str, object], with_report: bool, /) -> Any: ...
def call_text(
    function: str, inputs: tuple[object, ...], options: Mapping[str, object], with_report: bool, /
) -> Any: ...
