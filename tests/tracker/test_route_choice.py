from __future__ import annotations

from collections import Counter

import pytest

from meshdesk.tracker.config import TrackerConfig
from meshdesk.tracker.registration import ModelKey, NodeRecord
from meshdesk.tracker.registry import Registry
from meshdesk.tracker.route_choice import RouteChooser, Tried
from meshdesk.tracker.tracker_errors import NoRoute, UnknownModel
from tests.tracker.records import KEY, MODEL, REVISION, SECRET, Clock, record

OTHER = ModelKey("Other", "r", "bfloat16", 10)


def mesh(*nodes: NodeRecord) -> tuple[RouteChooser, Registry, Clock]:
    clock = Clock()
    registry = Registry(TrackerConfig(expire_after_s=1000), clock=clock)
    for node in nodes:
        registry.register(node, SECRET)
    return RouteChooser(registry, TrackerConfig(avoid_node_s=30), clock=clock), registry, clock


HEADS = (record("h1", 0, 15), record("h2", 0, 15))
TAILS = (record("t1", 15, 30), record("t2", 15, 30))


@pytest.mark.parametrize("model", [MODEL, f"{MODEL}@{REVISION}", None])
def test_a_model_is_found_by_id_by_revision_or_by_being_the_main_one(model: str | None) -> None:
    chooser, _, _ = mesh(HEADS[0], TAILS[0], record("other", 0, 5, key=OTHER))
    assert chooser.choose(model).node_ids == ("h1", "t1")


def test_the_main_model_is_one_that_can_answer() -> None:
    chooser, _, _ = mesh(HEADS[0], HEADS[1], record("other", 0, 10, key=OTHER))
    assert chooser.choose(None).key == OTHER


def test_without_any_route_the_main_model_is_the_least_incomplete() -> None:
    chooser, _, _ = mesh(HEADS[0], record("other", 0, 9, key=OTHER))
    with pytest.raises(NoRoute, match="No node holds layer 9 of Other") as refused:
        chooser.choose(None)
    assert refused.value.details() == {"missing_layers": [[9, 10]]}


def test_an_empty_mesh_says_so() -> None:
    chooser, _, _ = mesh()
    with pytest.raises(NoRoute, match="No node has joined"):
        chooser.choose(None)
    with pytest.raises(UnknownModel) as refused:
        chooser.choose("gpt-4")
    assert refused.value.hint == "No node has joined it yet."


def test_an_unknown_model_names_the_known_ones() -> None:
    chooser, _, _ = mesh(HEADS[0], record("other", 0, 5, key=OTHER))
    with pytest.raises(UnknownModel, match="gpt-4") as refused:
        chooser.choose("gpt-4")
    assert refused.value.hint == f"It has: Other, {MODEL}."


def test_nobody_elses_layers_fill_a_gap() -> None:
    float32 = ModelKey(MODEL, REVISION, "float32", 30)
    chooser, _, _ = mesh(HEADS[0], record("t", 15, 30, key=float32))
    with pytest.raises(NoRoute, match=r"layers (0–14|15–29)"):
        chooser.choose(MODEL)


def test_equal_nodes_take_turns() -> None:
    chooser, _, _ = mesh(*HEADS, *TAILS)
    chosen: Counter[str] = Counter()
    for _ in range(10):
        chosen.update(chooser.choose(MODEL).node_ids)
    assert chosen == {"h1": 5, "h2": 5, "t1": 5, "t2": 5}


def test_chats_under_way_and_reported_load_push_the_next_one_elsewhere() -> None:
    chooser, registry, _ = mesh(*HEADS, TAILS[0])
    with chooser.hold(chooser.choose(MODEL)):
        assert chooser.chats("h1") == chooser.chats("t1") == 1
        for _ in range(3):
            assert chooser.choose(MODEL).node_ids == ("h2", "t1")
        registry.heartbeat("h2", SECRET, load=5)
        assert chooser.choose(MODEL).node_ids == ("h1", "t1")
    assert chooser.chats("h1") == 0


def test_a_chat_is_taken_off_its_nodes_however_it_ends() -> None:
    chooser, _, _ = mesh(HEADS[0], TAILS[0])
    route = chooser.choose(MODEL)
    with pytest.raises(ZeroDivisionError), chooser.hold(route), chooser.hold(route):
        assert chooser.chats("h1") == 2
        raise ZeroDivisionError
    assert chooser.chats("h1") == 0


def test_an_avoided_node_is_used_only_where_nothing_else_is() -> None:
    chooser, registry, clock = mesh(*HEADS, TAILS[0])
    chooser.avoided.add("h1", "it timed out")
    registry.heartbeat("h2", SECRET, load=50)
    assert chooser.choose(MODEL).node_ids == ("h2", "t1")
    registry.leave("h2", SECRET)
    assert chooser.choose(MODEL).node_ids == ("h1", "t1")
    registry.register(HEADS[1], SECRET)
    registry.heartbeat("h2", SECRET, load=50)
    clock.now += 30
    assert chooser.choose(MODEL).node_ids == ("h1", "t1")


def test_what_a_chat_has_tried_is_not_tried_again() -> None:
    chooser, _, _ = mesh(*HEADS, *TAILS)
    tried = Tried(heads={"h1"})
    seen = set()
    for _ in range(2):
        route = chooser.choose(MODEL, tried)
        seen.add(route.node_ids)
        tried.routes.add(route.node_ids)
    assert seen == {("h2", "t1"), ("h2", "t2")}
    with pytest.raises(NoRoute):
        chooser.choose(MODEL, tried)


def test_a_head_that_cannot_be_reached_may_still_be_a_hop() -> None:
    chooser, _, _ = mesh(record("h", 0, 15), TAILS[0])
    assert chooser.choose(MODEL, Tried(heads={"t1"})).node_ids == ("h", "t1")


def test_blamed_nodes_are_passed_over_where_others_are() -> None:
    chooser, _, _ = mesh(*HEADS, *TAILS)
    assert chooser.choose(MODEL, Tried(blamed={"h1", "t1"})).node_ids == ("h2", "t2")
    assert set(chooser.choose(MODEL, Tried(blamed={"t1"})).node_ids) & {"t2"}
    alone, _, _ = mesh(HEADS[0], TAILS[0])
    assert alone.choose(MODEL, Tried(blamed={"h1", "t1"})).node_ids == ("h1", "t1")


def test_what_was_chosen_is_forgotten_with_its_nodes() -> None:
    chooser, registry, _ = mesh()
    for number in range(300):
        registry.register(record(f"n{number}", 0, 30), SECRET)
        chooser.choose(MODEL)
        registry.leave(f"n{number}", SECRET)
    assert len(chooser._chosen_at) <= 105


def test_the_models_and_what_they_lack() -> None:
    float32 = ModelKey(MODEL, REVISION, "float32", 30)
    chooser, _, clock = mesh(HEADS[0], TAILS[0], record("f", 0, 15, key=float32), record("o", 4, 10, key=OTHER))
    clock.now += 7
    other, main = chooser.models()
    assert (other.name, other.ready, other.nodes, other.missing, other.since_s) == ("Other", False, 1, ((0, 4),), 7)
    assert (main.name, main.ready, main.nodes, main.missing) == (MODEL, True, 3, ())
    assert main.keys == (KEY, float32)
