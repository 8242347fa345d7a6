"""xgrammar without torch, transformers and numpy, which it imports but does not need for compiling grammars.

xgrammar passes token masks to them, and reads tokenizers from them; a judge of schemas needs neither. If they are
missing, modules with only the required names replace them while xgrammar is imported.
"""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any

STANDING_IN: dict[str, dict[str, object]] = {
    "torch": {
        "Tensor": object,
        "LongTensor": object,
        "FloatTensor": object,
        "int32": "int32",
        "tensor": lambda *_args, **_options: None,
    },
    "transformers": {
        "PreTrainedTokenizerBase": object,
        "PreTrainedTokenizerFast": object,
        "LogitsProcessor": object,
    },
    "numpy": {},
    "numpy.typing": {"ArrayLike": object},
}


def load() -> Any:
    """Import xgrammar; an `ImportError` names it, or the binding package, if it is missing."""
    # The binding also searches for torch, and works without it; the replacement would mislead it.
    importlib.import_module("tvm_ffi")
    missing = [name for name in STANDING_IN if name not in sys.modules and find_spec(name.partition(".")[0]) is None]
    for name in missing:
        module = ModuleType(name)
        module.__dict__.update(STANDING_IN[name])
        sys.modules[name] = module
    try:
        return importlib.import_module("xgrammar")
    finally:
        for name in missing:
            del sys.modules[name]
