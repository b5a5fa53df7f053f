"""The table: figures sort as figures, are copied as a spreadsheet takes them, and exported beside the loop."""

from __future__ import annotations

import asyncio
import csv
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from meshdesk.desktop.background import Background
from meshdesk.desktop.dashboard import hop_table
from meshdesk.desktop.dashboard.hop_table import HopTable
from meshdesk.desktop.dashboard.hop_table_model import COLUMNS, HopTableModel
from meshdesk.node.events import Way
from meshdesk.volunteer.hop_history import MAX_TOKENS, MINUTE_TOKENS, HopHistory
from tests.desktop.conftest import RunInApp
from tests.desktop.sample_status import NOW, served_hops, timed

# The offscreen platform has no hints to pass on.
pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

HEADS = [column.head() for column in COLUMNS]
TOTAL, NETWORK = HEADS.index("Total ms"), HEADS.index("Network")


@pytest.fixture
def hops() -> HopHistory:
    history = HopHistory()
    for number, total in enumerate([9.0, 100.4, 21.3, 21.25]):
        history.apply(timed(NOW + number, number, total=total))
    return history


@pytest.fixture
def table(qtbot: QtBot, hops: HopHistory) -> Iterator[HopTable]:
    found = HopTable(hops, Background())
    qtbot.addWidget(found)
    found.refresh()
    yield found


def column(table: HopTable, number: int) -> list[str]:
    order = table.order
    return [order.index(row, number).data() for row in range(order.rowCount())]


def test_newest_first_until_sorted_otherwise(table: HopTable) -> None:
    assert column(table, HEADS.index("Token")) == ["3", "2", "1", "0"]


def test_figures_sort_as_figures(table: HopTable) -> None:
    table.view.sortByColumn(TOTAL, Qt.SortOrder.AscendingOrder)
    assert [record.total_ms for record in table.selected()] == [9.0, 21.25, 21.3, 100.4]
    table.view.sortByColumn(TOTAL, Qt.SortOrder.DescendingOrder)
    assert column(table, TOTAL)[0] == "100"


def test_what_is_new_takes_its_place_and_the_selection_stays(table: HopTable, hops: HopHistory) -> None:
    table.view.sortByColumn(TOTAL, Qt.SortOrder.AscendingOrder)
    table.view.selectRow(3)
    hops.apply(timed(NOW + 9, 9, total=15.0))
    table.refresh()
    assert column(table, TOTAL)[1] == "15.0"
    assert [record.total_ms for record in table.selected()] == [100.4]


def test_it_holds_the_last_tokens_only(qtbot: QtBot) -> None:
    history = HopHistory(MINUTE_TOKENS)
    found = HopTable(history, Background())
    qtbot.addWidget(found)
    for number in range(MAX_TOKENS + 30):
        history.apply(timed(NOW + number / 10, number))
        if number % 100 == 0:
            found.refresh()
    found.refresh()
    assert found.order.rowCount() == MAX_TOKENS
    assert column(found, HEADS.index("Token"))[0] == str(MAX_TOKENS + 29)
    history.clear()
    found.refresh()
    assert found.order.rowCount() == 0


def test_a_row_that_stays_keeps_its_place_in_the_model(qtbot: QtBot, hops: HopHistory) -> None:
    model = HopTableModel()
    model.take(list(hops.records))
    resets: list[int] = []
    model.modelReset.connect(lambda: resets.append(1))
    hops.apply(timed(NOW + 5, 5))
    model.take(list(hops.records)[1:])
    assert not resets
    assert [record.token_index for record in model.records] == [1, 2, 3, 5]


def test_copied_as_a_spreadsheet_takes_it(table: HopTable) -> None:
    rows = QItemSelectionModel.SelectionFlag.Rows | QItemSelectionModel.SelectionFlag.Select
    for row in (0, 2):
        table.view.selectionModel().select(table.order.index(row, 0), rows)
    table.copy_selection()
    head, *lines = [line.split("\t") for line in QGuiApplication.clipboard().text().split("\n")]
    assert head == HEADS
    assert [line[HEADS.index("Token")] for line in lines] == ["3", "1"]
    assert [line[TOTAL] for line in lines] == ["21.3", "100"]


def test_the_copy_key_copies(qtbot: QtBot, table: HopTable) -> None:
    QGuiApplication.clipboard().clear()
    with qtbot.waitExposed(table):
        table.show()
    table.view.setFocus()
    qtbot.keyClick(table.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().count("\n") == 4, "all rows, as none is chosen"


def test_what_is_served_for_others_has_a_dash_for_the_network(qtbot: QtBot) -> None:
    found = HopTable(served_hops(), Background())
    qtbot.addWidget(found)
    found.refresh()
    assert set(column(found, NETWORK)) == {"–"}
    assert set(column(found, HEADS.index("Way"))) == {"served here"}


def test_exported_beside_the_loop(
    run_in_app: RunInApp[Any], hops: HopHistory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    to_csv = hop_table.to_csv

    def seen(records: Any) -> str:
        threads.append(threading.current_thread())
        return to_csv(records)

    monkeypatch.setattr(hop_table, "to_csv", seen)

    async def body() -> tuple[str, str]:
        background = Background()
        found = HopTable(hops, background)
        said = []
        for path in (tmp_path / "hops.csv", tmp_path / "nowhere" / "hops.csv"):
            found.export_to(path)
            (work,) = background._tasks
            await asyncio.wait([work])
            await asyncio.sleep(0)  # what went wrong is told by the task's own callback
            said.append(found.said.text())
        await background.close()
        return said[0], said[1]

    good, bad = run_in_app(body)
    assert good == "Written to hops.csv"
    assert bad.startswith("It could not be written: No such file")
    assert threads[0] is not threading.main_thread()
    with (tmp_path / "hops.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["way"] for row in rows] == [Way.RELAY.value] * 4
    assert rows[1]["total_ms"] == "100.400"


def test_asking_where_to_export_waits_for_nobody(qtbot: QtBot, table: HopTable) -> None:
    qtbot.mouseClick(table.export, Qt.MouseButton.LeftButton)
    (dialog,) = table.findChildren(QFileDialog)
    assert dialog.isVisible()
    assert dialog.defaultSuffix() == "csv"
    dialog.reject()
