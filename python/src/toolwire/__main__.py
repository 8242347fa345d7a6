"""`python -m toolwire`: the command line."""

import os
import sys
from contextlib import suppress

# `-m` looks for modules in the folder that the command is run in first, which may be somebody else's repository: the
# SDK is not imported from there. (A folder `toolwire` there is imported before this line runs, unless by `python -I`.)
if not getattr(sys.flags, "safe_path", False):
    with suppress(OSError):
        here = os.path.realpath(os.getcwd())
        sys.path[:] = [path for path in sys.path if os.path.realpath(path or here) != here]

from toolwire._command import run

if __name__ == "__main__":
    run()
