"""The route: every node and seam told in words, its time never cut, and it folds where there is no room."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from pytestqt.qtbot import QtBot

from meshdesk.desktop.dashboard.route_strip import HEIGHT, LEAST_SEAM, RouteStrip
from meshdesk.node.events import Way
from meshdesk.volunteer.status import RouteStop, Status
from tests.desktop import sample_status


def strip(qtbot: QtBot, status: Status, width: int = 868) -> RouteStrip:
    found = RouteStrip()
    qtbot.addWidget(found)
    found.resize(width, HEIGHT)
    found.show_status(status)
    return found


def test_the_route_in_words(qtbot: QtBot) -> None:
    found = strip(qtbot, sample_status.serving_by_relay())
    assert found.description() == "anna, layers 0–14; then by relay relay.example in 21.0 ms to you, layers 15–29"
    assert found.accessibleDescription() == found.description()
    assert found.accessibleName()


@pytest.mark.parametrize(
    ("way", "said"), [(Way.DIRECT, "by direct"), (Way.DIRECT_AFTER_RELAY, "relay failed"), (None, "not known")]
)
def test_each_way_is_said(qtbot: QtBot, way: Way | None, said: str) -> None:
    stops = (RouteStop("anna", 0, 15), RouteStop("x", 15, 30, mine=True, way=way, via="relay.example"))
    words = strip(qtbot, Status(route=stops)).description()
    assert said in words
    assert "relay.example" not in words, "only a relayed seam goes over it"
    assert " ms" not in words


@pytest.mark.parametrize("width", [576, 640, 868, 1600])
@pytest.mark.parametrize("state", ["relay", "direct", "long", "quiet"])
def test_everything_is_inside_and_in_order(qtbot: QtBot, width: int, state: str) -> None:
    status = sample_status.STATES[state]()
    found = strip(qtbot, status, width)
    places = found._places()
    assert places[0].pill.left() > 0
    assert places[-1].pill.right() <= width
    for place, following in itertools.pairwise(places):
        assert following.pill.left() - place.pill.right() >= LEAST_SEAM - 0.01
        assert place.stop.end_layer == following.stop.start_layer, "no layer is lost by folding"
    assert places[0].stop.start_layer == status.route[0].start_layer
    assert places[-1].stop.end_layer == status.route[-1].end_layer
    mine = [place.stop for place in places if place.stop.mine]
    assert [(stop.start_layer, stop.end_layer) for stop in mine] == [
        (stop.start_layer, stop.end_layer) for stop in status.route if stop.mine
    ]


def test_a_long_route_folds_far_from_this_computer(qtbot: QtBot) -> None:
    found = strip(qtbot, sample_status.long_words(), 576)
    assert [place.stop.name for place in found._places()] == ["2 nodes", "carla", "this-is-my-own-computer", "dora"]
    assert "annas-old-laptop" in found.description(), "in words it stays whole"


def test_it_repaints_only_for_another_route(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    status = sample_status.serving_by_relay()
    found = strip(qtbot, status)
    asked: list[int] = []
    monkeypatch.setattr(found, "update", lambda: asked.append(1))
    found.show_status(dataclasses.replace(status, chats_now=5))
    assert not asked
    found.show_status(sample_status.falling_back())
    assert len(asked) == 1
