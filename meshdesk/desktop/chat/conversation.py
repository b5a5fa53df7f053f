"""What was said in one chat: the context that goes to the mesh with every new question. Knows nothing of windows."""

from __future__ import annotations

from dataclasses import dataclass

MAX_TURNS = 60
"""Older ones are forgotten; most models hold less than that anyway."""


@dataclass(slots=True)
class Turn:
    """A question and what came of it; "" while nothing has."""

    question: str
    answer: str = ""


class Conversation:
    """The turns of a chat, oldest first. A question without any answer is left out of the context."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []

    def ask(self, question: str) -> Turn:
        """Begin a turn; the oldest one goes if there are too many."""
        turn = Turn(question)
        self.turns.append(turn)
        del self.turns[:-MAX_TURNS]
        return turn

    def clear(self) -> None:
        self.turns.clear()

    def messages_for(self, turn: Turn) -> list[dict[str, str]]:
        """The chat up to ``turn``'s question, as the mesh takes it."""
        messages = []
        for earlier in self.turns:
            if earlier is turn:
                break
            if earlier.answer:
                messages.append({"role": "user", "content": earlier.question})
                messages.append({"role": "assistant", "content": earlier.answer})
        return [*messages, {"role": "user", "content": turn.question}]
