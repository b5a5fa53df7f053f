"""The lines of the control socket: whatever comes in, only well-formed requests and answers come out."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.volunteer.control_protocol import (
    MAX_ANSWER_BYTES,
    MAX_REQUEST_BYTES,
    BadControl,
    Command,
    ControlError,
    NotPossible,
    Request,
    encode_end,
    encode_error,
    encode_item,
    encode_request,
    encode_result,
    parse_answer,
    parse_request,
)


def line(**fields: Any) -> bytes:
    return orjson.dumps({"version": 1, **fields}) + b"\n"


@pytest.mark.parametrize(
    ("command", "args"),
    [
        (Command.STATUS, {}),
        (Command.PAUSE, {"seconds": 900.0}),
        (Command.PAUSE, {"seconds": None}),
        (Command.LOGS, {"follow": True}),
        (Command.SHOW, {"window": "logs"}),
    ],
)
def test_a_request_comes_back_as_it_was(command: Command, args: dict[str, Any]) -> None:
    assert parse_request(encode_request(Request(command, args, "t"))) == Request(command, args, "t")


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (b"{}\n", "different versions"),
        (line(version=2, command="status"), "different versions"),
        (line(command="explode"), "no command 'explode'"),
        (line(command=["status"]), "no command"),
        (line(command="status", args=[]), "malformed"),
        (line(command="status", token=3), "malformed"),
        (line(command="pause", args={"seconds": "long"}), "no number"),
        (line(command="pause", args={"seconds": True}), "no number"),
        (line(command="pause", args={"seconds": -1}), "more than nothing"),
        (line(command="pause", args={"seconds": 1e300}), "a year at most"),
        (line(command="show", args={"window": "w" * 65}), "malformed"),
        (b"[]\n", "no JSON object"),
        (b"{\n", "no JSON"),
        (b"{}", "cut short"),
        (b'"' + b"x" * MAX_REQUEST_BYTES + b'"\n', "too long"),
    ],
)
def test_what_is_no_request_is_refused_in_a_sentence(bad: bytes, says: str) -> None:
    with pytest.raises(BadControl, match=says):
        parse_request(bad)


def test_arguments_that_a_command_does_not_have_are_left_out() -> None:
    assert parse_request(line(command="join", args={"seconds": 3})).args == {}


@given(st.binary(max_size=200))
def test_any_octets_are_a_request_or_are_refused(octets: bytes) -> None:
    for parse in (parse_request, parse_answer):
        try:
            parse(octets + b"\n")
        except MeshdeskError:
            continue


def test_answers_come_back_as_they_were() -> None:
    assert parse_answer(encode_result({"a": 1})).value == {"a": 1}
    item = parse_answer(encode_item({"b": 2}))
    assert item.value == {"b": 2} and not item.last
    assert parse_answer(encode_end()).end
    with pytest.raises(NotPossible, match="Not now") as refused:
        parse_answer(encode_error(NotPossible("Not now.", hint="Wait.")))
    assert refused.value.hint == "Wait." and refused.value.exit_code == 4


def test_an_answer_too_long_becomes_an_error_that_says_so() -> None:
    answer = encode_result("x" * MAX_ANSWER_BYTES)
    assert len(answer) < 1000
    with pytest.raises(ControlError, match="too long"):
        parse_answer(answer)
