"""Which lines are shown and which are found: plain functions over lists, without Qt, fast enough for 100,000 lines.

Texts are compared without regard to case, against one string a line that is made once (``search_text``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from meshdesk.volunteer.log_records import LogLine


def search_text(line: LogLine) -> str:
    """What a search looks at: logger, message and details, without regard to case."""
    text = f"{line.logger}: {line.message}"
    if line.details:
        text = f"{text}\n{line.details}"
    return text.casefold()


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched for; ``problem`` says what is wrong with an expression, which then finds nothing."""

    text: str = ""
    is_regex: bool = False
    problem: str = field(default="", init=False)
    _pattern: re.Pattern[str] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if not self.is_regex or not self.text:
            return
        # Without capitals an expression means the same in folded text, where it is found several times as fast.
        flags = re.MULTILINE | (re.IGNORECASE if self.text != self.text.casefold() else 0)
        try:
            object.__setattr__(self, "_pattern", re.compile(self.text, flags))
        except (re.error, OverflowError, RecursionError) as error:
            object.__setattr__(self, "problem", str(error) or type(error).__name__)

    @property
    def active(self) -> bool:
        """Whether anything is searched for."""
        return bool(self.text)

    def finds(self, folded: str) -> bool:
        """Whether it is in the line with the search text ``folded``."""
        if not self.text or self.problem:
            return not self.text
        return self._pattern.search(folded) is not None if self._pattern else self.text.casefold() in folded

    def scan(self, folded: Sequence[str], indexes: Sequence[int] | None) -> list[int]:
        """Those of ``indexes`` (None: all) at which it is found, in order."""
        if self.problem:
            return []
        if self._pattern is not None:
            found = self._pattern.search
            if indexes is None:
                return [index for index, text in enumerate(folded) if found(text)]
            return [index for index in indexes if found(folded[index])]
        needle = self.text.casefold()
        if indexes is None:
            return [index for index, text in enumerate(folded) if needle in text]
        return [index for index in indexes if needle in folded[index]]

    def spans(self, message: str) -> list[tuple[int, int]]:
        """Where in a message to highlight: from, to; a few at most."""
        if not self.text or self.problem:
            return []
        folded = message.casefold()
        if len(folded) != len(message):
            return []
        pattern = self._pattern or re.compile(re.escape(self.text.casefold()))
        spans = []
        for match in pattern.finditer(folded):
            if match.end() > match.start():
                spans.append(match.span())
            if len(spans) == MAX_SPANS:
                break
        return spans


MAX_SPANS = 20


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which lines are shown: from a level on, of one origin or one logger, and, if ``only`` is set, those it finds."""

    level: int = 0
    origin: str = ""
    logger: str = ""
    only: Search = Search()

    @property
    def passes_all(self) -> bool:
        """Whether it hides nothing."""
        return not (self.level or self.origin or self.logger or self.only.active)

    def passes(self, line: LogLine, folded: str) -> bool:
        """Whether one line is shown."""
        return (
            line.level >= self.level
            and (not self.origin or line.origin == self.origin)
            and (not self.logger or line.logger == self.logger)
            and self.only.finds(folded)
        )

    def scan(self, lines: Sequence[LogLine], folded: Sequence[str]) -> list[int] | None:
        """The indexes of the lines that are shown, in order; None if all are. ``folded`` is what ``only`` looks at."""
        indexes: list[int] | None = None
        if self.level:
            level = self.level
            indexes = [index for index, line in enumerate(lines) if line.level >= level]
        if self.origin:
            origin, rest = self.origin, range(len(lines)) if indexes is None else indexes
            indexes = [index for index in rest if lines[index].origin == origin]
        if self.logger:
            logger, rest = self.logger, range(len(lines)) if indexes is None else indexes
            indexes = [index for index in rest if lines[index].logger == logger]
        if self.only.active:
            indexes = self.only.scan(folded, indexes)
        return indexes
