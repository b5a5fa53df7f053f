"""Stop strings: the answer ends before one, and not even its beginning is shown."""

from __future__ import annotations

from collections.abc import Sequence


class StopStrings:
    """Holds back text that may be the beginning of a stop string until that is decided."""

    def __init__(self, stops: Sequence[str]):
        self._stops = tuple(stop for stop in stops if stop)
        self._held = ""

    def push(self, text: str) -> tuple[str, bool]:
        """Add text; what may be shown now, and whether a stop string was met (then nothing more comes)."""
        self._held += text
        found = [at for at in (self._held.find(stop) for stop in self._stops) if at >= 0]
        if found:
            shown, self._held = self._held[: min(found)], ""
            return shown, True
        keep = max((self._overlap(stop) for stop in self._stops), default=0)
        cut = len(self._held) - keep
        shown, self._held = self._held[:cut], self._held[cut:]
        return shown, False

    def flush(self) -> str:
        """What was held back when the answer ended for another reason."""
        shown, self._held = self._held, ""
        return shown

    def _overlap(self, stop: str) -> int:
        """How many of the last characters held are a beginning of ``stop``."""
        for length in range(min(len(stop) - 1, len(self._held)), 0, -1):
            if self._held.endswith(stop[:length]):
                return length
        return 0
