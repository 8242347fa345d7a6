"""Removes a server's secrets from text about the server, such as error messages, which may repeat them."""

from __future__ import annotations

import os
import re
from typing import Any

from toolwire._hidden import hidden

# Minimum length of a secret. Shorter values are not redacted, because they occur in ordinary words.
MIN_LENGTH = 6
HIDDEN = "…"
# Maximum number of characters in an error for each character of a secret, if escapes are escaped again.
MAX_ESCAPE = 16


def without_secrets(text: str, server: dict[str, Any]) -> str:
    """Return the text without the values of headers and variables, and the query, fragment and user of the address."""
    return hidden(text, _secrets(server), HIDDEN)


def end_without_secrets(text: str, server: dict[str, Any]) -> str:
    """Return the end of a longer text without secrets.

    Its first `longest_secret` characters, which may be the rest of a secret, are removed.
    """
    return hidden(text, _secrets(server), HIDDEN, longest_secret(server))


def longest_secret(server: dict[str, Any]) -> int:
    """Return the maximum number of characters of a server's secret in text."""
    return MAX_ESCAPE * max(map(len, _secrets(server)), default=0)


def _secrets(server: dict[str, Any]) -> set[str]:
    """Return the secrets of a server. Its member `secrets` lists the values of variables that it contains."""
    secrets: set[str] = set()

    def add(value: str) -> None:
        if len(value) >= MIN_LENGTH:
            secrets.add(value)

    for value in server.get("secrets", ()):
        add(value)
    if "command" in server:
        for value in server["environment"].values():
            add(value)
        for name in server["inherited"]:
            add(os.environ.get(name, ""))
    else:
        for value in server["headers"].values():
            add(value)
            # The part after the scheme, as in `Bearer …`.
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
    return secrets - {"", "?", "#"}
