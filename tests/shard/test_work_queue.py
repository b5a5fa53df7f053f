"""What waits for the compute thread: in order, bounded, closings first."""

from __future__ import annotations

import threading

from meshdesk.shard.spec import ForwardWork
from meshdesk.shard.work_queue import Closing, Waiting, WorkQueue


def waiting(number: int, session: str = "a") -> Waiting:
    return Waiting(number, ForwardWork(session, 0, token_ids=(1,)))


def taken(queue: WorkQueue) -> list[int]:
    numbers = []
    while (order := queue.take(0.0)) is not None:
        numbers.append(order.number)
    return numbers


def test_forwards_come_out_in_order() -> None:
    queue = WorkQueue()
    assert all(queue.put(waiting(number)) for number in range(5))
    assert len(queue) == 5
    assert taken(queue) == [0, 1, 2, 3, 4]


def test_a_full_queue_takes_nothing() -> None:
    queue = WorkQueue(capacity=2)
    assert [queue.put(waiting(number)) for number in range(3)] == [True, True, False]
    assert taken(queue) == [0, 1]


def test_a_forward_can_be_taken_back_once_and_only_while_it_waits() -> None:
    queue = WorkQueue()
    for number in range(3):
        queue.put(waiting(number))
    assert queue.cancel(1) is True
    assert queue.cancel(1) is False
    assert taken(queue) == [0, 2]
    assert queue.cancel(0) is False


def test_a_closing_goes_ahead_and_takes_the_sessions_forwards_along() -> None:
    queue = WorkQueue()
    for number, session in enumerate("abab"):
        queue.put(waiting(number, session))
    assert queue.close(Closing(9, "b")) == [1, 3]
    assert taken(queue) == [9, 0, 2]


def test_one_who_waits_is_woken() -> None:
    queue = WorkQueue()
    got: list[Waiting | Closing | None] = []
    for put in (lambda: queue.put(waiting(1)), lambda: queue.close(Closing(2, "a"))):
        thread = threading.Thread(target=lambda: got.append(queue.take(30.0)))
        thread.start()
        put()
        thread.join(30.0)
        assert not thread.is_alive()
    assert [order.number for order in got if order is not None] == [1, 2]
