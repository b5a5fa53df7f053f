"""Loading speaks often enough for a progress bar and no oftener."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from meshdesk.shard.load_reports import LoadReports
from meshdesk.shard.shard_events import Phase, ShardLoading

PHASES: tuple[Phase, ...] = ("importing", "reading", "warming")


@given(st.lists(st.floats(0.0, 0.3), min_size=1, max_size=300))
def test_at_most_five_a_second_besides_first_and_last(steps: list[float]) -> None:
    now = 0.0
    sent: list[tuple[float, ShardLoading]] = []
    reports = LoadReports(lambda loading: sent.append((now, loading)), clock=lambda: now)
    for done, step in enumerate(steps):
        reports(ShardLoading("reading", done, len(steps)))
        now += step
    reports(ShardLoading("reading", len(steps), len(steps)))
    assert sent[0][1].bytes_done == 0
    assert sent[-1][1].bytes_done == len(steps)
    between = [at for at, _ in sent[1:-1]]
    for at in between:
        assert sum(at <= other < at + 1.0 for other in between) <= 5
    gaps = [high - low for (low, _), (high, _) in itertools.pairwise(sent)]
    assert max(gaps) <= 0.2 + 0.3, "silence while there was news"


def test_every_phase_shows_even_if_it_is_short() -> None:
    sent: list[ShardLoading] = []
    reports = LoadReports(sent.append, clock=lambda: 0.0)
    for phase in PHASES:
        for done in range(3):
            reports(ShardLoading(phase, done, 2))
    assert [(loading.phase, loading.bytes_done) for loading in sent] == [
        (phase, done) for phase in PHASES for done in (0, 2)
    ]
