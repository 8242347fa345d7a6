"""What a server was given in confidence, taken out of what is said about it: an error may repeat it."""

from __future__ import annotations

import os
import re
from typing import Any
from urllib.parse import quote, unquote

# What is shorter says nothing, and stands in too many words.
SHORTEST = 6
HIDDEN = "…"


def without_secrets(text: str, server: dict[str, Any]) -> str:
    """Give a text without the values of headers and variables, and without query, fragment and user of the address."""
    secrets: set[str] = set()

    def add(value: str) -> None:
        if len(value) >= SHORTEST:
            secrets.update((value, unquote(value), quote(value, safe="!'()*-._~")))

    for value in server["secrets"]:
        add(value)
    if "command" in server:
        for value in server["environment"].values():
            add(value)
        for name in server["inherited"]:
            add(os.environ.get(name, ""))
    else:
        for value in server["headers"].values():
            add(value)
            # After the scheme, as in `Bearer …`.
            for word in value.split()[1:]:
                add(word)
        found = re.match(r"[^/]*//(?:([^/?#]*)@)?(.*)", server["url"], re.DOTALL)
        user, rest = (found[1] or "", found[2]) if found else ("", "")
        if user:
            secrets.add(f"{user}@")
        for word in (user, *user.split(":")):
            add(word)
        behind = re.search(r"[?#](.*)", rest, re.DOTALL)
        if behind:
            for part in behind[1].split("#"):
                secrets.update((f"?{part}", f"#{part}"))
                add(part)
            for word in re.split(r"[&#]", behind[1]):
                add(word[word.find("=") + 1 :])
    secrets -= {"", "?", "#"}
    # The longest first: it may have others in it.
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text
