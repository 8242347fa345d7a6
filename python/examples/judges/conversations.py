"""Generates conversations in the six formats of requests. A number always gives the same conversation."""

from __future__ import annotations

from plans import FORMATS, HISTORY, Conversation, Writer
from writers import Anthropic, Chat, Converse, Gemini, Interactions, Responses

__all__ = ["FORMATS", "HISTORY", "Conversation", "conversation"]

WRITERS: dict[str, type[Writer]] = {
    "anthropic": Anthropic,
    "openai-chat": Chat,
    "openai-responses": Responses,
    "gemini": Gemini,
    "gemini-interactions": Interactions,
    "bedrock": Converse,
}


def conversation(number: int) -> Conversation:
    """Return the conversation with a number. The formats take turns."""
    made = WRITERS[FORMATS[number % len(FORMATS)]](number)
    planned = made.plan()
    planned.ends = [end + getattr(made, "shift", 0) for end in planned.ends]
    return planned
