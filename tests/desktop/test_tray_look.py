"""What the tray shows, state by state, and that it shows nothing else whatever happened before."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication

from meshdesk.desktop.amounts import clock_text
from meshdesk.desktop.icons import TrayState, tray_icon
from meshdesk.desktop.sentences import pause_text, tray_line
from meshdesk.desktop.tray_look import TOOLTIP_MAX, Choice, MenuEntry, TrayLook, cut_on_word, tray_look
from meshdesk.volunteer.settings import info_of
from meshdesk.volunteer.status import Pause, PauseCause, Phase, Problem, Progress, Reach, Remedy, Status
from tests.desktop import sample_status as sample
from tests.desktop.fake_tray import FakeDesk, lines_of, lines_of_entries
from tests.desktop.sample_status import NOW

PAUSES = (Choice.PAUSE_15_MIN, Choice.PAUSE_1_HOUR, Choice.PAUSE)
HELPS = (Choice.CONNECTION, Choice.DIAGNOSTICS, Choice.ABOUT)
WINDOWS = (Choice.DASHBOARD, Choice.CHAT, Choice.LOGS, Choice.SETTINGS)


def look(status: Status) -> TrayLook:
    return tray_look(status, NOW)


def choices(entries: tuple[MenuEntry, ...]) -> list[Choice]:
    """All that can be chosen, from top to bottom."""
    found: list[Choice] = []
    for entry in entries:
        if entry.enabled:
            found += [entry.choice] if entry.choice is not None else choices(entry.entries)
    return found


@pytest.mark.parametrize(
    ("status", "icon", "first"),
    [
        (sample.off(), TrayState.OFF, [Choice.JOIN]),
        (sample.finding(), TrayState.STARTING, [Choice.LEAVE, *PAUSES]),
        (sample.starting(), TrayState.STARTING, [Choice.LEAVE, *PAUSES]),
        (sample.serving_direct(), TrayState.DIRECT, [Choice.LEAVE, *PAUSES]),
        (sample.serving_by_relay(), TrayState.RELAY, [Choice.LEAVE, *PAUSES]),
        (sample.falling_back(), TrayState.DIRECT, [Choice.LEAVE, *PAUSES]),
        (sample.reconnecting(), TrayState.STARTING, [Choice.LEAVE, *PAUSES]),
        (sample.leaving(), TrayState.RELAY, [Choice.LEAVE]),
        (dataclasses.replace(sample.leaving(), reach=Reach.NOT_YET), TrayState.OFF, [Choice.LEAVE]),
        (sample.paused_by_person(), TrayState.PAUSED, [Choice.RESUME, Choice.LEAVE, *PAUSES]),
        (sample.paused_on_battery(), TrayState.PAUSED, [Choice.CHANGE_SETTING, Choice.LEAVE, *PAUSES]),
        (sample.error(), TrayState.ERROR, [Choice.SETTINGS, Choice.JOIN, Choice.LEAVE]),
        (Status(phase=Phase.ERROR), TrayState.ERROR, [Choice.JOIN, Choice.LEAVE]),
    ],
)
def test_each_state_has_its_icon_and_what_can_be_done(status: Status, icon: TrayState, first: list[Choice]) -> None:
    shown = look(status)
    assert shown.icon is icon
    assert choices(shown.entries) == [*first, *WINDOWS, *HELPS, Choice.QUIT]
    assert shown.entries[0] == MenuEntry(shown.status_line, enabled=False)


def test_the_menu_in_full() -> None:
    def lines(entries: tuple[MenuEntry, ...]) -> list[object]:
        return [(entry.text, lines(entry.entries)) if entry.entries else entry.text for entry in entries]

    assert lines(look(sample.off()).entries) == [
        "Not in the mesh",
        "",
        "Join mesh",
        ("Pause", ["15 minutes", "1 hour", "Until I resume"]),
        "",
        "Dashboard",
        "Try a chat",
        "Logs",
        "Settings",
        ("Help", ["Check my connection", "Export diagnostics…", "About"]),
        "",
        "Quit",
    ]


def test_a_start_shows_how_far_it_is() -> None:
    shown = look(sample.starting())
    assert shown.tooltip == "meshdesk: Getting layers 15–29: 84 of 141 MB · 6.2 MB/s · 9 s left"
    assert shown.progress == pytest.approx(84 / 141, abs=1 / 24)
    assert look(sample.finding()).progress is None


def test_the_icon_is_not_drawn_anew_for_every_few_bytes() -> None:
    arcs = {
        look(dataclasses.replace(sample.starting(), progress=Progress("loading", done=done, total=10_000))).progress
        for done in range(0, 10_001, 40)
    }
    assert len(arcs) == 25 and min(arcs) == 0 and max(arcs) == 1  # type: ignore[type-var]


def test_serving_says_how_it_is_reached() -> None:
    status = sample.serving_by_relay()
    assert look(status).status_line == tray_line(status)
    assert look(status).tooltip.startswith("meshdesk: Serving layers 15–29 of SmolLM2-135M by relay\n2 ")
    assert look(sample.falling_back()).tooltip.endswith("directly\nThe relay does not answer")


def test_an_outage_says_what_is_lost_since_when_and_why() -> None:
    shown = look(sample.reconnecting())
    assert shown.status_line == "Reconnecting to the mesh"
    said = f"relay.example was lost at {clock_text(NOW - 12)}: no answer"
    assert shown.tooltip == f"meshdesk: Reconnecting to the mesh\n{said}"


def test_an_error_says_what_happened_and_what_to_do() -> None:
    status = Status(phase=Phase.ERROR, problem=Problem("The disk is full.", "Make room, then try again.", "disk"))
    assert look(status).tooltip == "meshdesk: The disk is full. Make room, then try again."
    assert look(status).status_line == "The disk is full."
    to_log = dataclasses.replace(status, problem=Problem("A fault.", remedy=Remedy.LOGS))
    assert choices(look(to_log).entries)[:2] == [Choice.LOGS, Choice.JOIN]


@pytest.mark.parametrize("pause", [Pause(PauseCause.PERSON), Pause(PauseCause.PERSON, NOW + 900)])
def test_a_pause_says_until_when(pause: Pause) -> None:
    shown = look(Status(phase=Phase.PAUSED, pause=pause))
    assert shown.status_line == pause_text(pause, NOW)
    assert shown.tooltip == f"meshdesk: {pause_text(pause, NOW)}"


@pytest.mark.parametrize(
    ("cause", "setting"),
    [
        (PauseCause.BATTERY, "pause_below_percent"),
        (PauseCause.BUSY, "pause_when_busy_percent"),
        (PauseCause.SCHEDULE, "schedule"),
        (PauseCause.QUOTA, "monthly_quota_gb"),
    ],
)
def test_a_rule_names_its_setting_and_leads_to_it(cause: PauseCause, setting: str) -> None:
    shown = look(Status(phase=Phase.PAUSED, pause=Pause(cause, None, setting)))
    assert info_of(setting).label in shown.tooltip
    assert info_of(setting).label in shown.status_line
    assert [entry.about for entry in shown.entries if entry.choice is Choice.CHANGE_SETTING] == [setting]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("short", "short"),
        ("exactly as long as ten", "exactly as long as ten"),
        ("exactly as long as one twenty", "exactly as long as one…"),
        ("Some words, and what follows", "Some words, and what…"),
        ("Some words · 12 · another", "Some words · 12…"),
        ("thewordthatfillsallofthisline", "thewordthatfillsalloft…"),
        ("first line\nsecond-line-that-is-long", "first line…"),
    ],
)
def test_long_texts_are_cut_between_words(text: str, cut: str) -> None:
    assert cut_on_word(text, 23) == cut


@given(text=st.text(st.sampled_from("ab \n·,"), max_size=60), most=st.integers(5, 40))
def test_a_cut_text_fits_and_begins_like_the_whole(text: str, most: int) -> None:
    cut = cut_on_word(text, most)
    assert len(cut) <= most
    assert cut == text or text.startswith(cut.removesuffix("…"))


@pytest.mark.parametrize("make", sample.STATES.values(), ids=sample.STATES.keys())
def test_a_tooltip_fits_where_it_is_shown(make: object) -> None:
    assert callable(make)
    assert 0 < len(look(make()).tooltip) <= TOOLTIP_MAX


def with_progress(done: int) -> Status:
    return dataclasses.replace(sample.starting(), progress=Progress("loading", done=done, total=1000))


def with_chats(chats: int) -> Status:
    return dataclasses.replace(sample.serving_by_relay(), chats_now=chats)


STATUSES = st.one_of(
    st.sampled_from([make() for make in sample.STATES.values()]),
    st.builds(with_progress, st.integers(0, 1000)),
    st.builds(with_chats, st.integers(0, 4)),
)


@settings(max_examples=50)
@given(changes=st.lists(st.tuples(STATUSES, st.sampled_from([0.0, 0.01, 0.4, 2.0, 90_000.0])), min_size=1, max_size=12))
def test_icon_tooltip_and_menu_never_lag(qapp: QApplication, changes: list[tuple[Status, float]]) -> None:
    desk = FakeDesk(sample.off(), NOW)
    desk.tray.start()
    for status, later in changes:
        desk.change(status, after_s=later)
        # Figures may wait for the timer; what the state is may not.
        shown, wanted = lines_of(desk.icon.menu), lines_of_entries(tray_look(desk.status, desk.now).entries)  # type: ignore[arg-type]
        assert shown[1:] == wanted[1:]
    if desk.tray.waits_to_redraw:
        desk.tray.refresh()
    wanted_look = tray_look(desk.status, desk.now)
    icon = desk.icon
    assert icon.menu is not None
    assert lines_of(icon.menu) == lines_of_entries(wanted_look.entries)
    assert icon.tooltip == wanted_look.tooltip
    drawn, expected = (
        each.pixmap(32, 32).toImage() for each in (icon.icon, tray_icon(wanted_look.icon, wanted_look.progress))
    )
    assert drawn == expected
    desk.tray.remove()
