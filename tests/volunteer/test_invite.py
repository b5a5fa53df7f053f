"""Invites: whatever a person pastes is an invite, or a sentence about why it is none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.volunteer.invite import Invite, NotAnInvite, make_invite, parse_invite


@pytest.mark.parametrize(
    ("pasted", "tracker"),
    [
        ("203.0.113.5:7000", "http://203.0.113.5:7000"),
        ("  http://203.0.113.5:7000/\n", "http://203.0.113.5:7000"),
        ("“https://mesh.example”", "https://mesh.example"),
        ("<http://anna-pc:7000/v1>", "http://anna-pc:7000"),
        ("`mesh.example:7000`,", "http://mesh.example:7000"),
        ("http://[2001:db8::5]:7000", "http://[2001:db8::5]:7000"),
        ("[2001:db8::5]:7000", "http://[2001:db8::5]:7000"),
        ("http://mesh.exam\r\n  ple:7000".replace("  ", ""), "http://mesh.example:7000"),
        ("bücher.example", "http://bücher.example"),
        ("https://mesh.example/team-a/", "https://mesh.example/team-a"),
    ],
)
def test_an_address_in_any_wrapping(pasted: str, tracker: str) -> None:
    assert parse_invite(pasted) == Invite(tracker)


def test_an_invite_broken_by_a_mail() -> None:
    line = "meshdesk://join?tracker=http%3A%2F%2F203.0.113.5%3A7000&relay=wss://relay.example&name=Anna%27s%20mesh"
    broken = f'> "{line[:40]}\r\n {line[40:]}"\n'
    assert parse_invite(broken) == Invite("http://203.0.113.5:7000", "wss://relay.example", "Anna's mesh")


def test_what_an_invite_does_not_need_to_say() -> None:
    assert parse_invite("MESHDESK://join?tracker=mesh.example:7000") == Invite("http://mesh.example:7000")
    assert parse_invite("meshdesk://join/?tracker=h&future=1") == Invite("http://h")


def test_a_strangers_name_is_one_line_that_shows() -> None:
    line = make_invite(Invite("http://h", name="a\u202eb\n  c\x07" + "d" * 100))
    assert parse_invite(line).name == "ab c" + "d" * 60


@pytest.mark.parametrize(
    ("pasted", "said"),
    [
        ("", "Nothing is pasted yet."),
        (" \n", "Nothing is pasted yet."),
        ("join my mesh please", "is not an address"),
        ("http://", "is not an address"),
        ("http://user:secret@mesh.example", "holds no user name or password"),
        ("http://mesh.example:99999", "is not an address"),
        ("http://mesh.example/?x=<script>", "is not an address"),
        ("wss://relay.example", "a relay's address"),
        ("ftp://mesh.example", "begins with ftp://"),
        ("web+meshdesk://join?tracker=h", "begins with web+meshdesk://"),
        ("file:///etc/passwd", "begins with file://"),
        ("meshdesk://leave?tracker=h", "not an invite"),
        ("meshdesk://join", "names no tracker"),
        ("meshdesk://join?relay=wss://r", "names no tracker"),
        ("meshdesk://join?tracker=a b c&", "damaged"),
        ("meshdesk://join?tracker=%ff", "damaged"),
        ("meshdesk://join?tracker=h&tracker=i", "twice"),
        ("meshdesk://join?tracker=h&relay=ftp://r", "relay in this invite"),
        ("x" * 3000, "too long"),
    ],
)
def test_anything_else_is_a_sentence_with_a_hint(pasted: str, said: str) -> None:
    with pytest.raises(NotAnInvite) as caught:
        parse_invite(pasted)
    assert said in caught.value.message
    assert caught.value.message.endswith(".")
    assert caught.value.hint or pasted.strip() == ""


_hosts = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?(\.[a-z]{2,5}){0,2}", fullmatch=True)
_ports = st.one_of(st.just(""), st.integers(1, 65535).map(lambda port: f":{port}"))


def _urls(*schemes: str) -> Any:
    return st.builds("{}://{}{}".format, st.sampled_from(schemes), _hosts, _ports)


_names = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), max_size=64)


@given(_urls("http", "https"), st.one_of(st.just(""), _urls("ws", "wss")), _names)
def test_an_invite_comes_back_as_it_was_made(tracker: str, relay: str, name: str) -> None:
    invite = Invite(tracker, relay, name)
    assert parse_invite(make_invite(invite)) == invite
    assert parse_invite(f"  “{make_invite(invite)}”\n") == invite


@given(st.text(max_size=200))
def test_nothing_pasted_raises_anything_else(pasted: str) -> None:
    for text in (pasted, f"meshdesk://join?{pasted}", f"http://{pasted}"):
        try:
            invite = parse_invite(text)
        except NotAnInvite as error:
            assert error.message.isprintable()
        else:
            assert invite.tracker.startswith(("http://", "https://"))
            assert invite.tracker.isprintable() and invite.name.isprintable()
