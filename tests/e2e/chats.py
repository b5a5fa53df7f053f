"""The ten chats whose greedy tokens must be those of ``transformers.generate``."""

from __future__ import annotations

from tests.e2e.reference import Messages

MAX_NEW_TOKENS = 10

_WORDS = "the river runs past seven old mills and a small stone bridge before it meets the sea near the harbour "


def _ask(text: str) -> Messages:
    return [{"role": "user", "content": text}]


CHATS: dict[str, Messages] = {
    "short": _ask("What is the capital of France?"),
    "one-word": _ask("Reply with the single word: yes"),
    "emoji-and-cjk": _ask("Translate into English, please: 我喜歡在海邊散步 🌊🚶‍♀️ そして夕日を見る 👩‍👩‍👧"),
    "long": _ask("Summarise this text in one sentence. " + _WORDS * 75),
    "multi-turn": [
        {"role": "system", "content": "You are a terse assistant."},
        {"role": "user", "content": "My name is Ada. What is two plus three?"},
        {"role": "assistant", "content": "Five."},
        {"role": "user", "content": "And what was my name?"},
    ],
    "code": _ask("Write a Python function that reverses a string.\n\n```python\n"),
    "digits": _ask("Continue: 1, 1, 2, 3, 5, 8, 13,"),
    "accents": _ask("Écris une phrase très courte à propos d'un élève naïf."),
    "spaces": _ask("  Keep   these\n\n\tspaces,   please. "),
    "list": _ask("Name three colours."),
}
