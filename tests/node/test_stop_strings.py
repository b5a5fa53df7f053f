from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from meshdesk.node.stop_strings import StopStrings


def run(stops: list[str], pieces: list[str]) -> tuple[str, bool]:
    matcher, shown = StopStrings(stops), []
    for piece in pieces:
        text, met = matcher.push(piece)
        shown.append(text)
        if met:
            return "".join(shown), True
    return "".join([*shown, matcher.flush()]), False


def test_a_stop_string_split_over_pieces_never_leaks() -> None:
    matcher = StopStrings(["\nUser:"])
    assert matcher.push("Yes.\nUs") == ("Yes.", False)
    assert matcher.push("er: more") == ("", True)


def test_a_beginning_that_comes_to_nothing_is_shown() -> None:
    matcher = StopStrings(["END"])
    assert matcher.push("the EN") == ("the ", False)
    assert matcher.push("TRY") == ("ENTRY", False)
    assert matcher.push("E") == ("", False)
    assert matcher.flush() == "E"


def test_the_first_of_several_stops_wins() -> None:
    assert run(["three", "two"], ["one two three"]) == ("one ", True)


def test_without_stops_everything_is_shown_at_once() -> None:
    assert StopStrings(["", ""]).push("text") == ("text", False)


letters = st.text("ab", max_size=8)


@given(st.lists(st.text("ab", min_size=1, max_size=4), max_size=3), st.lists(letters, max_size=8))
def test_the_shown_text_is_cut_exactly_before_the_first_stop(stops: list[str], pieces: list[str]) -> None:
    whole = "".join(pieces)
    shown, met = run(stops, pieces)
    assert not any(stop in shown for stop in stops)
    assert whole.startswith(shown)
    assert met == any(stop in whole for stop in stops)
    if met:
        assert any(whole[len(shown) :].startswith(stop) for stop in stops)
    else:
        assert shown == whole
