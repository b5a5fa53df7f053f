from __future__ import annotations

import json
from typing import Any

import pytest

from meshdesk.tracker.head_answer import HeadFailed, HeadUnreachable, media_type, plain
from meshdesk.tracker.refusals import HeadRefused, read_refusal, shown_to_client


def refusal(status: int, content_type: str = "application/json", **error: Any) -> HeadRefused:
    return read_refusal(status, content_type, json.dumps({"error": error}).encode())


@pytest.mark.parametrize("status", [400, 413, 422])
def test_the_clients_own_fault_goes_to_it_as_the_head_put_it(status: int) -> None:
    refused = refusal(status, message="Too long. Shorten it.", code="context_length_exceeded", param="messages")
    assert refused.final
    assert shown_to_client(refused) == (
        status,
        {
            "error": {
                "message": "Too long. Shorten it.",
                "type": "invalid_request_error",
                "param": "messages",
                "code": "context_length_exceeded",
            }
        },
    )


def test_a_refusal_without_a_code_is_an_invalid_request() -> None:
    assert shown_to_client(refusal(400, message="No."))[1]["error"]["code"] == "invalid_request"


@pytest.mark.parametrize("code", ["not_a_head", "bad_route", "bad_header"])
def test_what_is_wrong_with_the_route_is_not_the_clients_fault(code: str) -> None:
    refused = refusal(400, message="No.", code=code)
    assert not refused.final
    assert shown_to_client(refused)[0] == 502


@pytest.mark.parametrize("status", [401, 403, 404, 405])
def test_a_quarrel_with_the_head_is_a_bad_gateway_and_another_way_may_help(status: int) -> None:
    refused = refusal(status, message="Who are you?", code="route_not_proven")
    assert (refused.final, refused.other_way) == (False, True)
    status, body = shown_to_client(refused)
    assert (status, body["error"]["type"], body["error"]["code"]) == (502, "server_error", "head_refused")


@pytest.mark.parametrize(
    ("status", "shown", "kind"),
    [
        (429, 429, "rate_limit_error"),
        (503, 503, "server_error"),
        (504, 504, "server_error"),
        (500, 502, "server_error"),
    ],
)
def test_trouble_at_the_head_keeps_its_code(status: int, shown: int, kind: str) -> None:
    refused = refusal(status, message="Later.", code="its_own", hop=2)
    assert (refused.final, refused.other_way, refused.hop) == (False, False, 2)
    code, body = shown_to_client(refused)
    assert (code, body["error"]["type"], body["error"]["code"]) == (shown, kind, "its_own")
    assert shown_to_client(refusal(status, message="Later."))[1]["error"]["code"] == "head_refused"


@pytest.mark.parametrize("hop", [None, -1, "1", True, 1.5])
def test_a_hop_that_is_none(hop: object) -> None:
    assert refusal(502, message="x", hop=hop).hop is None


@pytest.mark.parametrize(
    ("content_type", "body"), [("text/html", b'{"error": {"message": "x"}}'), ("application/json", b"<html>")]
)
def test_what_is_not_our_protocol_is_not_repeated(content_type: str, body: bytes) -> None:
    refused = read_refusal(400, content_type, body)
    assert (refused.message, refused.final, refused.other_way) == (
        "The head answered 400 without saying why.",
        False,
        True,
    )


def test_a_message_of_the_wrong_type_is_replaced() -> None:
    refused = refusal(400, message={"html": "<script>"}, code=7)
    assert (refused.message, refused.head_code) == ("The head answered 400 without saying why.", None)


def test_the_heads_words_become_one_plain_line_of_bounded_length() -> None:
    refused = refusal(400, message="a\r\nb\x1b[31m" + "x" * 5000)
    assert refused.message.startswith("a  b [31mxx")
    assert len(refused.message) == 1000


def test_failures_that_are_no_refusal() -> None:
    assert shown_to_client(HeadUnreachable("Gone."))[1]["error"]["code"] == "head_unreachable"
    assert shown_to_client(HeadFailed("Gone."))[0] == 502


def test_media_types() -> None:
    assert media_type({"content-TYPE": "Text/Event-Stream; charset=utf-8"}) == "text/event-stream"
    assert media_type({"x": "y"}) == ""
    assert plain("a\tb" * 3, 4) == "a ba"
