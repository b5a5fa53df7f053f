from __future__ import annotations

import pytest

from meshdesk.tracker.config import TrackerConfig
from meshdesk.tracker.registry import Registry
from meshdesk.tracker.tracker_errors import TrackerFull, UnknownNode, WrongSecret
from tests.tracker.records import SECRET, Clock, record

OTHER = "another-secret-of-16"


def ids(registry: Registry) -> list[str]:
    return [node.record.node_id for node in registry.live()]


def test_a_node_lives_as_long_as_it_says_so() -> None:
    clock = Clock()
    registry = Registry(TrackerConfig(expire_after_s=45), clock=clock)
    registry.register(record("a", 0, 15), SECRET)
    registry.register(record("b", 15, 30), SECRET)
    clock.now += 44
    node = registry.heartbeat("a", SECRET, load=3)
    assert (node.load, registry.silent_s(node), registry.age_s(node)) == (3, 0, 44)
    assert ids(registry) == ["b", "a"], "the longest silent first"
    clock.now += 1
    assert ids(registry) == ["a"]
    clock.now += 44
    assert registry.get("a") is None
    assert (registry.registrations, registry.expired, registry.left) == (2, 2, 0)
    with pytest.raises(UnknownNode):
        registry.heartbeat("a", SECRET)


def test_a_node_registers_again_and_keeps_its_route_key() -> None:
    keys = iter((b"1" * 32, b"2" * 32))
    registry = Registry(clock=Clock(), make_key=lambda: next(keys))
    first = registry.register(record("a", 0, 15), SECRET).route_key
    again = registry.register(record("a", 0, 20), SECRET)
    assert again.route_key == first == b"1" * 32
    assert [(node.record.start_layer, node.record.end_layer) for node in registry.live()] == [(0, 20)]
    registry.leave("a", SECRET)
    assert registry.register(record("a", 0, 15), SECRET).route_key == b"2" * 32


def test_keys_are_random_and_secrets_are_not_kept() -> None:
    registry = Registry(clock=Clock())
    one, two = (registry.register(record(node_id, 0, 30), SECRET) for node_id in "ab")
    assert one.route_key != two.route_key
    assert len(one.route_key) == 32
    assert SECRET not in repr(one) + str(vars(registry))
    assert SECRET.encode() not in one.secret_hash


def test_an_id_belongs_to_whoever_holds_its_secret() -> None:
    registry = Registry(clock=Clock())
    registry.register(record("a", 0, 15), SECRET)
    for act in (
        lambda: registry.register(record("a", 15, 30), OTHER),
        lambda: registry.heartbeat("a", OTHER),
        lambda: registry.leave("a", OTHER),
    ):
        with pytest.raises(WrongSecret):
            act()
    assert registry.live()[0].record == record("a", 0, 15)


def test_an_id_stays_its_owners_for_a_while_after_silence() -> None:
    clock = Clock()
    registry = Registry(TrackerConfig(expire_after_s=45, remember_secret_s=100), clock=clock)
    registry.register(record("a", 0, 15), SECRET)
    clock.now += 50
    with pytest.raises(WrongSecret):
        registry.register(record("a", 0, 15), OTHER)
    registry.register(record("a", 0, 15), SECRET)
    clock.now += 50
    assert registry.live() == []
    clock.now += 100
    registry.register(record("a", 0, 15), OTHER)
    assert ids(registry) == ["a"]


def test_a_node_that_leaves_gives_its_id_up() -> None:
    registry = Registry(clock=Clock())
    registry.register(record("a", 0, 15), SECRET)
    registry.leave("a", SECRET)
    assert (ids(registry), registry.left) == ([], 1)
    with pytest.raises(UnknownNode):
        registry.leave("a", SECRET)
    registry.register(record("a", 0, 15), OTHER)


def test_only_so_many_absent_owners_are_remembered() -> None:
    clock = Clock()
    registry = Registry(TrackerConfig(expire_after_s=45, remember_secrets=2), clock=clock)
    for node_id in "abc":
        registry.register(record(node_id, 0, 15), SECRET)
        clock.now += 1
    clock.now += 60
    registry.register(record("a", 0, 15), OTHER)
    with pytest.raises(WrongSecret):
        registry.register(record("c", 0, 15), OTHER)


def test_the_tracker_takes_only_so_many_nodes() -> None:
    clock = Clock()
    registry = Registry(TrackerConfig(max_nodes=2, expire_after_s=45), clock=clock)
    for node_id in "ab":
        registry.register(record(node_id, 0, 15), SECRET)
    with pytest.raises(TrackerFull):
        registry.register(record("c", 0, 15), SECRET)
    registry.register(record("b", 15, 30), SECRET)
    clock.now += 45
    registry.register(record("c", 0, 15), SECRET)


def test_one_address_takes_only_so_many_places() -> None:
    registry = Registry(TrackerConfig(max_nodes_per_address=2), clock=Clock())
    for node_id in "ab":
        registry.register(record(node_id, 0, 15), SECRET, "192.0.2.1")
    registry.register(record("c", 0, 15), SECRET, "192.0.2.2")
    with pytest.raises(TrackerFull):
        registry.register(record("d", 0, 15), SECRET, "192.0.2.1")
    with pytest.raises(TrackerFull):
        registry.register(record("c", 0, 15), SECRET, "192.0.2.1")
    # A node that moves frees its place, as one that leaves does.
    registry.register(record("a", 0, 15), SECRET, "192.0.2.3")
    registry.register(record("d", 0, 15), SECRET, "192.0.2.1")
    registry.leave("b", SECRET)
    registry.register(record("c", 0, 15), SECRET, "192.0.2.1")
