"""From the ring into the table: ten times a second while somebody looks, and never one signal a line."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from meshdesk.desktop.logs.log_model import LogModel
from meshdesk.volunteer.log_records import LogRing

TICK_MS = 100
LINES_A_TICK = 500


class LogFeed(QObject):
    """Moves new lines into the model between ``start`` and ``stop``, unless it is paused.

    A tick takes LINES_A_TICK lines, or a quarter of what waits if that is more: a flood is caught up with
    in a second, and then costs no more than what comes.
    """

    ticked = Signal()
    """The model is up to date with the ring, as far as a tick goes."""

    def __init__(self, ring: LogRing, model: LogModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ring = ring
        self._model = model
        self._last = 0
        self._cleared = 0
        self._paused = False
        self._timer = QTimer(self)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self.drain)

    @property
    def running(self) -> bool:
        return self._timer.isActive()

    @property
    def paused(self) -> bool:
        return self._paused

    @property
    def waiting(self) -> int:
        """How many lines have come since the last one taken."""
        return self._ring.last - self._last

    @property
    def dropped(self) -> int:
        """How many lines the ring had to drop in all."""
        return self._ring.dropped

    def start(self) -> None:
        """Show everything the ring has since the view was cleared, then what comes."""
        if self._timer.isActive():
            return
        lines = self._ring.since(self._cleared)
        self._last = lines[-1].number if lines else self._cleared
        self._model.load(lines, self._cleared)
        self._timer.start()

    def stop(self) -> None:
        """Rest, and hold no line that the ring lets go."""
        self._timer.stop()
        self._model.load([])

    def set_paused(self, paused: bool) -> None:
        """Leave the view as it is; what comes meanwhile is taken later."""
        self._paused = paused
        if not paused:
            self.drain()

    def clear(self) -> None:
        """Empty the view; ring and files keep what they have."""
        self._cleared = self._last = self._ring.last
        self._model.load([], self._cleared)

    def drain(self) -> None:
        """One tick."""
        if not self._timer.isActive():
            return
        if not self._paused and self.waiting:
            lines = self._ring.since(self._last, max(LINES_A_TICK, self.waiting // 4))
            if lines:
                self._last = lines[-1].number
                self._model.extend(lines)
        self._model.fold_some()
        self.ticked.emit()
