"""The chart: gaps as gaps, marks with time and reason, prompts apart, and no work that nobody sees."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from meshdesk.desktop.dashboard import latency_chart
from meshdesk.desktop.dashboard.chart_cells import dashes, draw_cell
from meshdesk.desktop.dashboard.chart_lines import ChartLines
from meshdesk.desktop.dashboard.hop_words import mark_label, mark_text, record_text
from meshdesk.desktop.dashboard.latency_chart import LatencyChart
from meshdesk.desktop.theme import Token, theme
from meshdesk.node.events import HopWayChanged, Way
from meshdesk.volunteer.hop_history import HopHistory, HopRecord
from tests.desktop.sample_status import NOW, served_hops, timed


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def shown(qtbot: QtBot, hops: HopHistory, clock: Clock) -> LatencyChart:
    chart = LatencyChart(hops, clock)
    qtbot.addWidget(chart)
    chart.resize(660, 236)
    chart.tick()
    picture(chart)  # the first painting finds out how wide the labels are
    return chart


def picture(chart: LatencyChart) -> QImage:
    return chart.grab().toImage()


def coloured(image: QImage, token: Token, columns: range, rows: range) -> int:
    """How many pixels have the colour of ``token``, or nearly."""
    wanted = theme().color(token)
    return sum(_near(image.pixelColor(x, y), wanted) for x in columns for y in rows)


def _near(one: QColor, other: QColor) -> bool:
    return abs(one.red() - other.red()) + abs(one.green() - other.green()) + abs(one.blue() - other.blue()) < 90


def test_a_pause_is_a_gap_and_never_a_zero(qtbot: QtBot, clock: Clock) -> None:
    hops = HopHistory()
    for number, ago in enumerate([*(30 - n / 5 for n in range(50)), *(10 - n / 5 for n in range(40))]):
        hops.apply(timed(NOW - ago, number))
    chart = shown(qtbot, hops, clock)
    image = picture(chart)
    scale = chart._scale(NOW)
    within = range(round(scale.x(NOW - 18)), round(scale.x(NOW - 12)))
    before = range(round(scale.x(NOW - 28)), round(scale.x(NOW - 22)))
    rows = range(round(scale.top), round(scale.bottom) - 2)
    assert coloured(image, Token.RELAY, before, rows) > 20
    assert coloured(image, Token.RELAY, within, rows) == 0


def test_each_way_has_a_form_besides_its_colour() -> None:
    drawn = {}
    for way in Way:
        history, lines = HopHistory(), ChartLines()
        for number in range(30):
            history.apply(timed(NOW + number / 10, number, way=way))
        lines.follow(history, NOW + 3)
        strokes = draw_cell(None, lines.lines[15, 30].cells[0], NOW).strokes
        drawn[way] = {(bool(stroke.dashes), stroke.style.marker) for stroke in strokes}
    forms = [drawn[way] for way in (Way.DIRECT, Way.RELAY, Way.DIRECT_AFTER_RELAY)]
    assert all(one != other for one, other in itertools.combinations(forms, 2))


def test_dashes_stand_still_and_stay_on_the_line() -> None:
    line = [QPointF(0.0, 10.0), QPointF(0.3, 16.0), QPointF(4.0, 12.0)]
    whole = dashes(line)
    assert len(whole) >= 4
    assert all(0.0 <= dash.x1() <= dash.x2() <= 4.0 and 10.0 <= dash.y1() <= 16.0 for dash in whole)
    later = dashes([QPointF(1.0, 16.0 - 4.0 * 0.7 / 3.7), line[-1]])
    assert {round(dash.x1(), 6) for dash in later} - {1.0} <= {round(dash.x1(), 6) for dash in whole}


def test_a_lost_relay_is_marked_with_time_and_reason(qtbot: QtBot, clock: Clock) -> None:
    hops = HopHistory()
    hops.apply(timed(NOW - 40, 1))
    hops.apply(HopWayChanged(at=NOW - 30, session="s", hop=1, way=Way.DIRECT_AFTER_RELAY, reason="It did not answer."))
    hops.apply(HopWayChanged(at=NOW - 10, session="s", hop=1, way=Way.RELAY, reason="It answers again."))
    chart = shown(qtbot, hops, clock)
    lost, back = hops.marks
    assert mark_label(lost).startswith("▲ relay lost ")
    assert mark_label(lost).endswith(", direct")
    assert mark_label(back).startswith("● relay back ")
    scale = chart._scale(NOW)
    assert chart.mark_at(scale.x(NOW - 30)) is lost
    assert chart.mark_at(scale.x(NOW - 20)) is None
    assert mark_text(lost).endswith("\nIt did not answer.")
    image = picture(chart)
    x = round(scale.x(NOW - 30))
    plot = range(round(scale.top), round(scale.bottom))
    assert coloured(image, Token.FALLBACK, range(x - 1, x + 2), plot) > 40, "a line at the time"
    assert coloured(image, Token.FALLBACK, range(x - 60, x + 200), range(17)) > 40, "its words above"


def test_a_prompt_is_no_point_of_the_line_and_does_not_stretch_the_axis(qtbot: QtBot, clock: Clock) -> None:
    hops = HopHistory()
    hops.apply(timed(NOW - 20, 0, total=900.0, tokens=37))
    for number in range(1, 60):
        hops.apply(timed(NOW - 20 + number / 5, number))
    chart = shown(qtbot, hops, clock)
    scale = chart._scale(NOW)
    assert scale.value_top == 50
    found = chart.record_at(scale.x(NOW - 20), scale.top)
    assert found is not None
    assert found.tokens == 37
    assert "A prompt of 37 tokens" in record_text(found)
    x = round(scale.x(NOW - 20))
    arrow = range(round(scale.top), round(scale.top) + 12)
    assert coloured(picture(chart), Token.RELAY, range(x - 6, x + 6), arrow) > 5, "an arrow at the upper edge"


def test_the_record_under_the_pointer_tells_its_figures(qtbot: QtBot, clock: Clock) -> None:
    hops = HopHistory()
    hops.apply(timed(NOW - 30, 7, total=21.3, compute=4.2))
    chart = shown(qtbot, hops, clock)
    scale = chart._scale(NOW)
    record = chart.record_at(scale.x(NOW - 30) + 3, scale.y(21.3))
    assert isinstance(record, HopRecord)
    text = record_text(record)
    assert "21.3 ms: 16.9 ms network, 4.2 ms compute, 0.2 ms queue" in text
    assert "Token 7" in text
    assert chart.record_at(scale.x(NOW - 50), scale.y(21.3)) is None


def test_what_is_served_for_others_says_that_it_knows_no_network(qtbot: QtBot, clock: Clock) -> None:
    chart = shown(qtbot, served_hops(), clock)
    assert "served" in chart.describe()
    record = chart.record_at(chart._scale(NOW).x(NOW - 20), 0)
    assert record is not None
    assert "network" not in record_text(record)


def test_hidden_it_neither_ticks_nor_paints(qtbot: QtBot, clock: Clock) -> None:
    hops = HopHistory()
    hops.apply(timed(NOW - 1, 1))
    chart = LatencyChart(hops, clock)
    qtbot.addWidget(chart)
    assert not chart.running
    with qtbot.waitExposed(chart):
        chart.show()
    assert chart.running
    qtbot.waitUntil(lambda: chart.paints > 0)  # the paint event comes after the exposure
    chart.hide()
    assert not chart.running
    before = chart.paints
    for number in range(20):
        hops.apply(timed(NOW, number))
        clock.now += 0.1
        chart.update()
    qtbot.wait(2 * latency_chart.FRAME_MS)
    assert chart.paints == before


def test_it_repaints_only_for_what_is_new_or_has_moved(
    qtbot: QtBot, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    hops = HopHistory()
    chart = shown(qtbot, hops, clock)
    asked: list[Any] = []
    monkeypatch.setattr(chart, "update", lambda: asked.append(1))

    def ticked(later: float) -> int:
        asked.clear()
        clock.now += later
        chart.tick()
        count = len(asked)
        picture(chart)
        return count

    assert ticked(1.0) == 0, "there is nothing that could move"
    hops.apply(timed(clock.now, 1))
    assert ticked(0.0) == 1, "a new record"
    assert ticked(0.0) == 0
    assert ticked(0.001) in (0, 1)
    assert ticked(1.0) == 1, "it has moved"
    assert ticked(70.0) == 1, "it has left"
    assert ticked(1.0) == 0


def test_the_axis_does_not_jump_while_values_wander(qtbot: QtBot, clock: Clock) -> None:
    hops = HopHistory()
    chart = shown(qtbot, hops, clock)
    tops = []
    for number in range(200):
        clock.now += 0.1
        hops.apply(timed(clock.now, number, total=30.0 + 12.0 * (number % 2)))
        chart.tick()
        tops.append(chart._axis.top)
    assert len(set(tops)) <= 2


def test_names_stand_at_the_lines_ends(qtbot: QtBot, clock: Clock) -> None:
    hops = HopHistory()
    hops.apply(timed(NOW - 1, 1))
    chart = shown(qtbot, hops, clock)
    picture(chart)
    narrow = chart._scale(NOW).width
    chart.set_names({(15, 30): "a-rather-long-name"})
    picture(chart)
    assert chart._scale(NOW).width < narrow - 40, "the plot makes room"
