"""The status in sentences, state by state."""

from __future__ import annotations

import dataclasses
import time

import pytest

from meshdesk.desktop.sentences import headline, pause_text, progress_text, subline, tray_line
from meshdesk.volunteer.status import Pause, PauseCause, Phase, Problem, Progress, Reach, ShardFacts, Status

NOW = time.mktime((2026, 11, 30, 14, 0, 0, 0, 0, -1))
NEW_YEAR = time.mktime((2027, 1, 1, 0, 0, 0, 0, 0, -1))
SHARD = ShardFacts("HuggingFaceTB/SmolLM2-135M-Instruct", 15, 30, 30)
SERVING = Status(
    phase=Phase.SERVING, reach=Reach.RELAY, shard=SHARD, chats_now=2, tokens_per_s=18.42, joined_at=NOW - 3 * 3600 - 720
)


def test_serving_says_what_how_and_how_much() -> None:
    assert headline(SERVING) == "Serving layers 15–29 of SmolLM2-135M by relay"
    assert subline(SERVING, NOW) == "2 chat(s) now · 18.4 tokens/s · in the mesh for 3 h 12 min"
    assert tray_line(SERVING) == "Serving layers 15–29 by relay · 2 chat(s) now"
    direct = dataclasses.replace(SERVING, reach=Reach.DIRECT, chats_now=0, tokens_per_s=None)
    assert headline(direct) == "Serving layers 15–29 of SmolLM2-135M directly"
    assert subline(direct, NOW) == "No chats just now · in the mesh for 3 h 12 min"
    assert tray_line(direct) == "Serving layers 15–29 directly"


def test_an_outage_is_said_before_all_else() -> None:
    lost = dataclasses.replace(SERVING, reconnecting_since=NOW - 1)
    assert headline(lost) == tray_line(lost) == "Reconnecting to the mesh"


@pytest.mark.parametrize(
    ("progress", "said"),
    [
        (None, "Connecting …"),
        (Progress("finding"), "Looking for the model …"),
        (
            Progress("downloading", "", 84_000_000, 141_000_000, 6_200_000.0, 9.2),
            "Getting layers 15–29: 84 of 141 MB · 6.2 MB/s · 9 s left",
        ),
        (Progress("downloading"), "Getting layers 15–29 …"),
        (Progress("loading", "", 10_000_000, 100_000_000), "Loading layers 15–29: 10 of 100 MB"),
        (Progress("connecting", "practice"), "Starting a small mesh on this computer …"),
    ],
)
def test_progress(progress: Progress | None, said: str) -> None:
    assert progress_text(progress, SHARD) == said


@pytest.mark.parametrize(
    ("pause", "said"),
    [
        (Pause(PauseCause.PERSON), "Paused until you resume"),
        (Pause(PauseCause.PERSON, NOW + 900), "Paused until 14:15"),
        (Pause(PauseCause.PERSON, NOW + 12 * 3600), "Paused until Tuesday, 02:00"),
        (
            Pause(PauseCause.BATTERY, None, "pause_on_battery"),
            "Paused to spare the battery (setting “Pause on battery”)",
        ),
        (
            Pause(PauseCause.SCHEDULE, NOW + 8 * 3600, "schedule"),
            "Paused until 22:00 by your schedule (setting “Only at set times”)",
        ),
        (
            Pause(PauseCause.QUOTA, None, "monthly_quota_gb"),
            "Paused: this month's transfer is used up (setting “Monthly transfer”)",
        ),
        (
            Pause(PauseCause.QUOTA, NEW_YEAR, "monthly_quota_gb"),
            "Paused until 1 January: this month's transfer is used up (setting “Monthly transfer”)",
        ),
    ],
)
def test_a_pause_says_why_and_until_when(pause: Pause, said: str) -> None:
    assert pause_text(pause, NOW) == said
    assert headline(Status(phase=Phase.PAUSED, since=NOW, pause=pause)) == said


def test_a_problem_says_what_to_do() -> None:
    status = Status(phase=Phase.ERROR, problem=Problem("The disk is full.", "Make room."))
    assert headline(status) == "meshdesk needs your attention"
    assert subline(status, NOW) == "The disk is full. Make room."


@pytest.mark.parametrize("phase", list(Phase))
def test_every_phase_has_its_words(phase: Phase) -> None:
    status = Status(phase=phase)
    assert headline(status) and tray_line(status)
    assert subline(status, NOW) or phase is Phase.ERROR
