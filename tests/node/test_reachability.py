from __future__ import annotations

from meshdesk.node.reachability import MAX_ADDRESSES, UnreachableAddresses


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_failed_address_is_left_alone_for_a_while() -> None:
    clock = Clock()
    unreachable = UnreachableAddresses(60, clock)
    assert unreachable.why("http://172.29.1.2:7002") is None
    unreachable.failed("http://172.29.1.2:7002", "it timed out")
    clock.now += 59
    assert unreachable.why("http://172.29.1.2:7002") == "it timed out"
    assert unreachable.why("http://172.29.1.3:7002") is None
    clock.now += 1
    assert unreachable.why("http://172.29.1.2:7002") is None


def test_an_answer_clears_it() -> None:
    unreachable = UnreachableAddresses()
    unreachable.failed("a", "x")
    unreachable.answered("a")
    unreachable.answered("b")
    assert unreachable.why("a") is None


def test_it_remembers_a_bounded_number() -> None:
    unreachable = UnreachableAddresses()
    for number in range(MAX_ADDRESSES + 5):
        unreachable.failed(str(number), "x")
    assert unreachable.why("4") is None and unreachable.why("5") == "x"
