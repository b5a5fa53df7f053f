"""What a person sees of the demo: live in a terminal, as plain text elsewhere, or only its steps beside JSON."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any, Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.status import Status
from rich.table import Table
from rich.text import Text

from meshdesk.commands.hop_table import HopTable
from meshdesk.volunteer.chat_client import printable

REFRESHES_PER_S = 8
BESIDE_COLUMNS = 110
"""A terminal at least this wide has the table beside the answer, a narrower one below it."""


class View(Protocol):
    """Takes what happens, one call each; none may wait."""

    def step(self, sentence: str) -> None: ...
    def hop(self, fields: dict[str, Any]) -> None: ...
    def answering(self, prompt: str) -> contextlib.AbstractContextManager[None]: ...
    def text(self, piece: str) -> None: ...
    def warn(self, sentence: str) -> None: ...
    def summary(self, sentence: str) -> None: ...
    def close(self) -> None: ...


class LiveView:
    """For a terminal: the answer grows beside the table of hops."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, emoji=False)
        self._status: Status | None = None
        self._table = HopTable()
        self._lock = threading.Lock()
        self._prompt = ""
        self._answer: list[str] = []
        self._warnings: list[str] = []

    def step(self, sentence: str) -> None:
        if self._status is None:
            self._status = self._console.status("")
            self._status.start()
        self._status.update(Text(sentence + " …"))

    def hop(self, fields: dict[str, Any]) -> None:
        self._table.add(fields)

    @contextlib.contextmanager
    def answering(self, prompt: str) -> Iterator[None]:
        self.close()
        self._prompt = prompt
        try:
            # Transient: what is drawn meanwhile is cut to the screen, and the whole of it is printed at the end.
            with Live(
                get_renderable=lambda: self._draw(cut=True),
                console=self._console,
                refresh_per_second=REFRESHES_PER_S,
                transient=True,
            ):
                yield
        finally:
            self._console.print(self._draw(cut=False))

    def text(self, piece: str) -> None:
        with self._lock:
            self._answer.append(printable(piece))

    def warn(self, sentence: str) -> None:
        with self._lock:
            self._warnings.append(printable(sentence))

    def summary(self, sentence: str) -> None:
        self._console.print(sentence, style="bold green", markup=False)

    def close(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _draw(self, *, cut: bool) -> RenderableType:
        with self._lock:
            answer, warnings = "".join(self._answer), list(self._warnings)
        beside = self._console.width >= BESIDE_COLUMNS
        text = Text(answer or "…")
        if cut:
            # Only the end of a long answer fits; the beginning has been read.
            width = self._console.width - (64 if beside else 4)
            room = max(3, self._console.height - (6 if beside else 16))
            text = Text("\n").join(text.wrap(self._console, width)[-room:])
        panel = Panel(text, title=Text(self._prompt[:60]), title_align="left", border_style="cyan")
        table = self._table.draw()
        notes = [Text(f"! {warning}", style="yellow") for warning in warnings]
        if not beside:
            return Group(panel, table, *notes)
        grid = Table.grid(expand=True, padding=(0, 1))
        grid.add_column(ratio=1)
        grid.add_column()
        grid.add_row(panel, table)
        return Group(grid, *notes)


class PlainView:
    """For a file or a pipe: the answer on standard output as it comes, everything else on stderr."""

    def __init__(self) -> None:
        self._out = Console(highlight=False, emoji=False, soft_wrap=True)
        self._err = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)
        self._table = HopTable()

    def step(self, sentence: str) -> None:
        self._err.print(sentence, markup=False)

    def hop(self, fields: dict[str, Any]) -> None:
        self._table.add(fields)

    @contextlib.contextmanager
    def answering(self, prompt: str) -> Iterator[None]:
        self._out.print(f"> {prompt}\n", markup=False)
        try:
            yield
        finally:
            self._out.print("\n")
        self._out.print(self._table.draw())

    def text(self, piece: str) -> None:
        self._out.file.write(printable(piece))
        self._out.file.flush()

    def warn(self, sentence: str) -> None:
        self._err.print(f"! {printable(sentence)}", markup=False)

    def summary(self, sentence: str) -> None:
        self._out.print(sentence, markup=False)

    def close(self) -> None:
        pass


class StepsView(PlainView):
    """Beside ``--json``: only the steps and warnings, on stderr, so that standard output is one object."""

    @contextlib.contextmanager
    def answering(self, prompt: str) -> Iterator[None]:
        yield

    def text(self, piece: str) -> None:
        pass

    def summary(self, sentence: str) -> None:
        self._err.print(sentence, markup=False)


def choose_view(json_object: bool) -> View:
    """The view that suits where standard output goes."""
    if json_object:
        return StepsView()
    return LiveView() if Console().is_terminal else PlainView()
