"""What cannot be collected here: `httpx2` is for Python 3.11 and later."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("httpx2") else ["src/toolwire/httpx2.py"]
