"""The rules of the KV sessions: position, budget, idle expiry. The caches only count; elsewhere they are real."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.shard.errors import KvBudgetFull, SessionBehind
from meshdesk.shard.kv_sessions import SESSION_FLOOR_BYTES, KvCost, KvSessions

PER_TOKEN = SESSION_FLOOR_BYTES


@dataclass
class Counting:
    """A cache that knows how many tokens it holds."""

    tokens: int = 0
    layers: tuple[Any, ...] = ()

    def crop(self, tokens_to_remove: int, /) -> None:
        assert tokens_to_remove <= 0
        self.tokens += tokens_to_remove


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Shard:
    """Sessions of a shard that needs PER_TOKEN octets a token."""

    budget_tokens: int = 1000
    idle_seconds: float = 600.0
    cost: KvCost = field(default_factory=lambda: KvCost(PER_TOKEN))
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        budget = self.budget_tokens * PER_TOKEN
        self.sessions = KvSessions(Counting, self.cost, budget, self.idle_seconds, self.clock)

    def run(self, session: str, position: int, tokens: int) -> Counting:
        cache: Counting = self.sessions.begin(session, position, tokens)
        assert cache.tokens == position
        cache.tokens += tokens
        self.sessions.commit(session, tokens)
        return cache


def test_a_session_grows_and_is_rewound() -> None:
    shard = Shard()
    cache = shard.run("a", 0, 10)
    assert shard.run("a", 10, 1) is cache
    assert shard.run("a", 4, 2) is cache
    assert shard.sessions.have("a") == 6


def test_one_that_holds_less_says_what_it_has_and_keeps_it() -> None:
    shard = Shard()
    with pytest.raises(SessionBehind) as unknown:
        shard.sessions.begin("a", 3, 1)
    assert (unknown.value.have, unknown.value.status, unknown.value.details()) == (0, 409, {"have": 0})
    assert len(shard.sessions) == 0
    shard.run("a", 0, 5)
    with pytest.raises(SessionBehind) as behind:
        shard.sessions.begin("a", 6, 1)
    assert behind.value.have == 5
    shard.run("a", 5, 1)


def test_position_zero_starts_over() -> None:
    shard = Shard()
    old = shard.run("a", 0, 5)
    assert shard.run("a", 0, 2) is not old
    assert (len(shard.sessions), shard.sessions.have("a"), shard.sessions.used_bytes) == (1, 2, 2 * PER_TOKEN)


def test_the_budget_holds_for_all_sessions_together() -> None:
    shard = Shard(budget_tokens=10)
    shard.run("a", 0, 6)
    with pytest.raises(KvBudgetFull) as full:
        shard.sessions.begin("b", 0, 5)
    assert full.value.status == 503
    assert full.value.retry_after == 30.0, "the wait for the next expiry, bounded"
    assert (len(shard.sessions), shard.sessions.have("a")) == (1, 6)
    shard.run("b", 0, 4)
    assert shard.sessions.used_bytes == shard.sessions.budget_bytes
    with pytest.raises(KvBudgetFull):
        shard.sessions.begin("a", 6, 1)
    shard.run("a", 5, 1)
    assert shard.sessions.drop("b")
    shard.run("a", 6, 4)


def test_what_can_never_fit_is_not_told_to_wait() -> None:
    shard = Shard(budget_tokens=10)
    with pytest.raises(KvBudgetFull) as full:
        shard.sessions.begin("a", 0, 11)
    assert full.value.retry_after is None
    assert full.value.hint is not None


def test_a_session_costs_a_floor_however_short_it_is() -> None:
    shard = Shard(budget_tokens=2, cost=KvCost(1))
    shard.run("a", 0, 1)
    shard.run("b", 0, 1)
    with pytest.raises(KvBudgetFull):
        shard.sessions.begin("c", 0, 1)


def test_idle_sessions_are_forgotten_and_used_ones_are_not() -> None:
    shard = Shard(idle_seconds=600.0)
    shard.run("a", 0, 1)
    shard.clock.now += 599.0
    shard.run("b", 0, 1)
    assert shard.sessions.next_expiry() == 1.0
    shard.run("a", 1, 1)
    shard.clock.now += 1.0
    assert shard.sessions.expire() == []
    shard.clock.now += 599.0
    assert shard.sessions.expire() == ["a", "b"]
    assert (len(shard.sessions), shard.sessions.used_bytes, shard.sessions.next_expiry()) == (0, 0, None)


def test_asking_about_a_session_that_is_behind_counts_as_use() -> None:
    shard = Shard(idle_seconds=600.0)
    shard.run("a", 0, 1)
    shard.clock.now += 599.0
    with pytest.raises(SessionBehind):
        shard.sessions.begin("a", 5, 1)
    shard.clock.now += 599.0
    shard.run("a", 1, 1)


def test_expiry_makes_room_for_a_new_session() -> None:
    shard = Shard(budget_tokens=10, idle_seconds=600.0)
    shard.run("a", 0, 10)
    shard.clock.now += 600.0
    shard.run("b", 0, 10)
    assert shard.sessions.have("a") == 0


def test_closing_tells_whether_there_was_one() -> None:
    shard = Shard()
    shard.run("a", 0, 1)
    assert shard.sessions.drop("a") is True
    assert shard.sessions.drop("a") is False
    assert shard.sessions.used_bytes == 0


def test_a_full_window_can_undo_one_forward_and_no_more() -> None:
    shard = Shard(cost=KvCost(0, ((PER_TOKEN, 8),)))
    shard.run("a", 0, 20)
    shard.run("a", 20, 3)
    shard.run("a", 20, 1)
    with pytest.raises(SessionBehind) as lost:
        shard.sessions.begin("a", 15, 1)
    assert lost.value.have == 0
    assert shard.sessions.used_bytes == 0


def test_a_window_with_room_can_be_rewound_anywhere() -> None:
    shard = Shard(cost=KvCost(0, ((PER_TOKEN, 8),)))
    for position in range(7):
        shard.run("a", position, 1)
    shard.run("a", 1, 1)


def test_a_window_costs_no_more_than_it_keeps() -> None:
    cost = KvCost(1000, ((100, 8), (10, 16)))
    assert cost.per_token == 1110
    assert cost.nbytes(200, 1) == 200 * 1000 + 8 * 100 + 16 * 10
    assert cost.nbytes(200, 50) == 200 * 1000 + 57 * 100 + 65 * 10


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 12), st.integers(1, 5), st.floats(0.0, 400.0), st.booleans()),
        max_size=40,
    )
)
def test_used_is_always_the_sum_and_never_over_the_budget(
    steps: list[tuple[str, int, int, float, bool]],
) -> None:
    shard = Shard(budget_tokens=12)
    held: dict[str, int] = {}
    for session, position, tokens, wait, fails in steps:
        shard.clock.now += wait
        try:
            cache = shard.sessions.begin(session, position, tokens)
        except SessionBehind as behind:
            assert behind.have < position
        except KvBudgetFull:
            pass
        else:
            assert cache.tokens == position
            if fails:
                shard.sessions.drop(session)
            else:
                cache.tokens += tokens
                shard.sessions.commit(session, tokens)
        held = {name: shard.sessions.have(name) for name in "abc"}
        assert shard.sessions.used_bytes == PER_TOKEN * sum(held.values())
        assert shard.sessions.used_bytes <= shard.sessions.budget_bytes
