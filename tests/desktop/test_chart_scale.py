"""The chart's arithmetic: everything inside, in order, steady, and no extreme lost by thinning."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.desktop.dashboard.chart_lines import COLUMN_S, ChartLines, Line, pause_s, runs
from meshdesk.desktop.dashboard.chart_scale import SHRINK_AFTER_S, WINDOW_S, Scale, ValueAxis, nice_top, spread_out
from meshdesk.node.events import HopTimed, Way
from meshdesk.volunteer.hop_history import HopHistory, HopRecord

NOW = 1_700_000_000.0


def record(at: float, ms: float = 20.0, way: Way | None = Way.RELAY, tokens: int = 1) -> HopRecord:
    return HopRecord(at, "s", round(at * 1000), 1, 15, 30, way, ms, ms / 4, 0.1, tokens, 1500, 1500)


def event(at: float, ms: float = 20.0, tokens: int = 1, layer: int = 15) -> HopTimed:
    return HopTimed(
        at=at,
        session="s",
        token_index=round(at * 1000),
        hop=1,
        start_layer=layer,
        end_layer=30,
        way=Way.RELAY,
        total_ms=ms,
        compute_ms=ms / 4,
        queue_ms=0.0,
        bytes_out=1,
        bytes_in=1,
        tokens=tokens,
    )


@given(st.floats(min_value=0, max_value=1e7))
def test_a_nice_top_is_round_and_no_more_than_needed(value: float) -> None:
    top = nice_top(value)
    assert top >= value
    assert f"{top:e}"[0] in "125"
    assert top <= max(1.0, 2.5 * value + 1e-9)


@given(st.lists(st.floats(min_value=0, max_value=1e5), min_size=1))
def test_ticks_cut_the_axis_evenly(values: list[float]) -> None:
    axis = ValueAxis()
    for number, value in enumerate(values):
        axis.follow(value, float(number))
        assert axis.top >= value
        ticks = axis.ticks()
        assert ticks[0] == 0
        assert ticks[-1] == pytest.approx(axis.top)
        assert 5 <= len(ticks) <= 6


def test_the_axis_grows_at_once_and_shrinks_late() -> None:
    axis = ValueAxis()
    assert axis.follow(45, 0)
    assert axis.top == 50
    assert not axis.follow(12, 1)
    assert not axis.follow(44, 3), "needed again: the time starts anew"
    assert not axis.follow(12, 4)
    assert not axis.follow(12, 4 + SHRINK_AFTER_S - 0.1)
    assert axis.follow(12, 4 + SHRINK_AFTER_S)
    assert axis.top == 20


@given(
    st.lists(st.tuples(st.floats(min_value=0, max_value=WINDOW_S), st.floats(min_value=0, max_value=1e6)), min_size=2),
    st.integers(min_value=50, max_value=3000),
)
def test_points_lie_inside_and_in_order(points: list[tuple[float, float]], width: int) -> None:
    scale = Scale(40, 10, width, 200, 0, 50).at(NOW)
    xs = [scale.x(scale.start + ago) for ago, _ in sorted(points)]
    assert xs == sorted(xs)
    assert all(scale.left - 1e-3 <= x <= scale.right + 1e-3 for x in xs)
    ys = [scale.clipped_y(value) for _, value in sorted(points, key=lambda point: point[1])]
    assert ys == sorted(ys, reverse=True)
    assert all(scale.top <= y <= scale.bottom for y in ys)
    assert all(abs(scale.moment(scale.x(NOW - ago)) - (NOW - ago)) < 1e-3 for ago, _ in points)


@given(st.floats(min_value=0, max_value=100), st.integers(min_value=50, max_value=3000))
def test_time_moves_by_whole_pixels(later: float, width: int) -> None:
    first, second = (Scale(0, 0, width, 1, 0, 1).at(NOW + wait) for wait in (0, later))
    moved = first.x(NOW) - second.x(NOW)
    assert abs(moved - round(moved)) < 0.01
    assert first.shows(NOW)
    assert second.shows(NOW + later)


@given(st.lists(st.floats(min_value=-50, max_value=300), max_size=8))
def test_labels_are_spread_in_order(wanted: list[float]) -> None:
    placed = spread_out(sorted(wanted), 14, 0, 200)
    assert all(later - earlier >= 14 - 1e-6 for earlier, later in itertools.pairwise(placed))
    assert all(-1e-6 <= position <= 200 + 1e-6 for position in placed)


@given(
    st.lists(
        st.tuples(st.floats(min_value=0, max_value=30), st.floats(min_value=0.1, max_value=1e4)),
        min_size=1,
        max_size=200,
    )
)
def test_thinning_keeps_the_extremes_and_the_order(points: list[tuple[float, float]]) -> None:
    line = Line((15, 30))
    for ago, ms in points:
        line.add(record(NOW - ago, ms))
    kept = list(line.points())
    columns: dict[int, list[float]] = {}
    for ago, ms in points:
        columns.setdefault(math.floor((NOW - ago) / COLUMN_S), []).append(ms)
    for values in columns.values():
        kept_values = [point.total_ms for point in kept]
        assert min(values) in kept_values
        assert max(values) in kept_values
    assert len(kept) <= 2 * len(columns)
    times = [point.at for point in kept]
    assert times == sorted(times)


def cut(times: list[float], way: Way | None = Way.RELAY) -> list[int]:
    line = Line((15, 30))
    for at in times:
        line.add(record(NOW + at, way=way))
    found: list[int] = []
    before = None
    for cell in line.cells:
        joined = None if before is None else before.columns[-1].points()[-1]
        found += [len(run.points) for run in runs(cell.points(), joined, pause_s(before, cell))]
        before = cell
    return found


def test_a_pause_breaks_the_line() -> None:
    assert cut([0, 0.2, 0.4, 2.5, 2.7]) == [3, 2], "more than a second"
    assert cut([0, 0.2, 0.4, 1.3, 1.5]) == [5], "less than a second"


def test_a_slow_line_is_not_broken_by_its_own_pace() -> None:
    assert cut([0, 1.5, 3.0, 4.5]) == [4]
    assert cut([0, 1.5, 3.0, 4.5, 9.8]) == [4, 1], "more than three of its intervals"


def test_a_change_of_way_joins_up_with_what_was_before() -> None:
    points = [
        record(NOW),
        record(NOW + 0.1),
        record(NOW + 0.2, way=Way.DIRECT_AFTER_RELAY),
        record(NOW + 0.3, way=Way.DIRECT_AFTER_RELAY),
    ]
    relay, direct = runs(points, None, 1.0)
    assert (relay.way, direct.way) == (Way.RELAY, Way.DIRECT_AFTER_RELAY)
    assert relay.points == points[:2]
    assert direct.points == points[1:]


def test_lines_follow_a_history_without_losing_or_doubling() -> None:
    history, lines = HopHistory(), ChartLines()
    assert lines.follow(history, NOW)
    assert not lines.follow(history, NOW)
    for number in range(40):
        history.apply(event(NOW + number / 2))
        if number % 7 == 0:
            lines.follow(history, NOW + number / 2)
    assert lines.follow(history, NOW + 20)
    assert [point.at for point in lines.lines[15, 30].points()] == [NOW + number / 2 for number in range(40)]
    assert lines.newest_at() == NOW + 19.5
    history.clear()
    history.apply(event(NOW + 21))
    lines.follow(history, NOW + 21)
    assert [point.at for point in lines.lines[15, 30].points()] == [NOW + 21], "cleared: the chart is too"


def test_what_is_older_than_the_window_goes() -> None:
    history, lines = HopHistory(), ChartLines()
    history.apply(event(NOW))
    lines.follow(history, NOW)
    history.apply(event(NOW + WINDOW_S + 10, layer=0))
    lines.follow(history, NOW + WINDOW_S + 10)
    assert set(lines.lines) == {(0, 30)}


def test_prompts_are_kept_apart_and_stretch_no_axis() -> None:
    history, lines = HopHistory(), ChartLines()
    history.apply(event(NOW, 900.0, tokens=37))
    for number in range(20):
        history.apply(event(NOW + 1 + number / 10, 20.0))
    lines.follow(history, NOW + 4)
    assert [prefill.tokens for prefill in lines.prefills] == [37]
    assert lines.wanted_top(NOW - 60) == 20.0


def test_one_outlier_does_not_flatten_the_others() -> None:
    history, lines = HopHistory(), ChartLines()
    for number in range(50):
        history.apply(event(NOW + number / 5, 2000.0 if number == 30 else 20.0))
    lines.follow(history, NOW + 10)
    assert lines.wanted_top(NOW) == 80.0
