"""The small table under the chart: each line's way, last, p50, p95, network and compute of the last minute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from meshdesk.desktop.amounts import ms_text
from meshdesk.desktop.dashboard.card import set_text
from meshdesk.desktop.dashboard.way_style import way_style, way_text
from meshdesk.desktop.theme import GRID, theme
from meshdesk.volunteer.hop_history import HopStats
from meshdesk.volunteer.layers import show_layers

translate = QCoreApplication.translate
NAME, WAY, FIRST_FIGURE = 0, 1, 2
FIGURE_PX = 62
MAX_LINES = 8
"""More seams than this are in the table; here they would push the chart out of the window."""


class SeamFigures(QWidget):
    """A grid of labels of fixed width, so that nothing jumps when a figure changes."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(translate("SeamFigures", "Figures of each hop over the last 60 seconds, in ms"))
        self._heads: list[QLabel] = []
        self._rows: list[list[QLabel]] = []
        self._ways: list[str] = []
        self._shown: tuple[HopStats, ...] = ()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(GRID)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(NAME, 2)
        self._grid.setColumnStretch(WAY, 1)
        for column, text in enumerate(
            (
                translate("SeamFigures", "hop"),
                translate("SeamFigures", "way"),
                translate("SeamFigures", "last ms"),
                translate("SeamFigures", "p50"),
                translate("SeamFigures", "p95"),
                translate("SeamFigures", "network"),
                translate("SeamFigures", "compute"),
            )
        ):
            head = QLabel(text)
            head.setProperty("role", "caption")
            self._place(head, 0, column)
            self._heads.append(head)
        self._none = QLabel(translate("SeamFigures", "No tokens in the last 60 seconds"))
        self._none.setProperty("role", "caption")
        self._grid.addWidget(self._none, 0, NAME, 1, -1)
        theme().changed.connect(self._colour)

    def show_stats(self, stats: Sequence[HopStats], names: Mapping[tuple[int, int], str]) -> None:
        """Show these figures; ``names`` are the nodes' by their layers."""
        self._shown = tuple(stats[:MAX_LINES])
        while len(self._rows) < len(self._shown):
            self._add_row()
        for head in self._heads:
            head.setVisible(bool(self._shown))
        self._none.setVisible(not self._shown)
        self._ways = [way_text(each.way, served=each.way is None) for each in self._shown]
        for index, row in enumerate(self._rows):
            for label in row:
                label.setVisible(index < len(self._shown))
        for row, way, each in zip(self._rows, self._ways, self._shown, strict=False):
            layers = show_layers(each.start_layer, each.end_layer)
            name = names.get((each.start_layer, each.end_layer))
            texts = (
                f"{name} {layers}" if name else translate("SeamFigures", "layers {layers}").format(layers=layers),
                way,
                *(
                    ms_text(figure, unit=False)
                    for figure in (each.last_ms, each.p50_ms, each.p95_ms, each.network_p50_ms, each.compute_p50_ms)
                ),
            )
            for label, text in zip(row, texts, strict=True):
                set_text(label, text)
        self._colour()
        self.setAccessibleDescription(self.description())

    def ways(self) -> list[str]:
        """The way column, line by line."""
        return list(self._ways)

    def description(self) -> str:
        """The table in words."""
        return "; ".join(
            translate("SeamFigures", "layers {layers}, {way}, median {p50}, 95 percent within {p95}").format(
                layers=show_layers(each.start_layer, each.end_layer),
                way=way,
                p50=ms_text(each.p50_ms),
                p95=ms_text(each.p95_ms),
            )
            for each, way in zip(self._shown, self._ways, strict=True)
        )

    def _add_row(self) -> None:
        row = [QLabel() for _ in range(FIRST_FIGURE + 5)]
        for column, label in enumerate(row):
            self._place(label, len(self._rows) + 1, column)
        self._rows.append(row)

    def _place(self, label: QLabel, row: int, column: int) -> None:
        if column >= FIRST_FIGURE:
            label.setFixedWidth(FIGURE_PX)
            label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._grid.addWidget(label, row, column)

    def _colour(self) -> None:
        for row, each in zip(self._rows, self._shown, strict=False):
            colour = theme().color(way_style(each.way, served=each.way is None).token).name()
            sheet = f"color: {colour};"
            if row[WAY].styleSheet() != sheet:
                row[WAY].setStyleSheet(sheet)
