"""xgrammar without torch, transformers and numpy, which it imports, and which compile no grammar.

They are what it hands masks of tokens to, and what it reads tokenizers of; a judge of schemas needs neither. Where they
are missing, modules that hold nothing but the names asked for stand in for them while xgrammar is imported, no longer.
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
    """Import xgrammar; an `ImportError` says that it, or what it is bound with, is missing."""
    # Its binding looks for torch, too, and does without: a stand-in would mislead it.
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
