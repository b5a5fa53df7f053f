"""Where a search was found: the numbers of the lines, so that next and previous need no second look."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from meshdesk.desktop.logs.log_filter import Search
from meshdesk.volunteer.log_records import LogLine


class Matches:
    """The lines that a search finds among those shown, by number, kept up as lines come and go."""

    def __init__(self) -> None:
        self.search = Search()
        self._numbers: list[int] = []

    def __len__(self) -> int:
        return len(self._numbers)

    def begin(self, search: Search, lines: Sequence[LogLine], folded: Sequence[str]) -> None:
        """Look for ``search`` in ``lines``, whose search texts are ``folded``."""
        self.search = search
        found = search.scan(folded, None) if search.active else []
        self._numbers = [lines[index].number for index in found]

    def add(self, line: LogLine, folded: str) -> None:
        """Look at one more line, newer than all before."""
        if self.search.active and self.search.finds(folded):
            self._numbers.append(line.number)

    def forget_before(self, number: int) -> None:
        """Lines before ``number`` are gone."""
        del self._numbers[: bisect_left(self._numbers, number)]

    def after(self, number: int) -> int | None:
        """The next found line after ``number``, from the top again behind the last; None if there is none at all."""
        if not self._numbers:
            return None
        place = bisect_right(self._numbers, number)
        return self._numbers[place if place < len(self._numbers) else 0]

    def before(self, number: int) -> int | None:
        """The found line before ``number``, from the bottom again before the first."""
        return self._numbers[bisect_left(self._numbers, number) - 1] if self._numbers else None

    def place_of(self, number: int) -> int | None:
        """Which of the found lines that is, counted from 1; None if it is none of them."""
        place = bisect_left(self._numbers, number)
        return place + 1 if place < len(self._numbers) and self._numbers[place] == number else None
