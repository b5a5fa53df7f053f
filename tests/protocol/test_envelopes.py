"""Envelopes: what is written is read back the same, and every fault has an error of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.protocol import envelopes
from meshdesk.protocol.envelope_errors import (
    BadBase64,
    BadFrame,
    BadRequestId,
    FrameTooLarge,
    MissingField,
    MistypedField,
    NotJson,
    NotUtf8,
    TwoBodies,
    UnknownType,
)
from meshdesk.protocol.envelopes import (
    MAX_BODY_BYTES,
    MAX_FRAME_BYTES,
    MAX_HEADER_BYTES,
    MAX_HEADERS,
    Body,
    Cancel,
    ErrorFrame,
    Register,
    Registered,
    Request,
    Response,
    emit_cancel,
    emit_error,
    emit_register,
    emit_registered,
    emit_request,
    emit_response,
    parse_from_peer,
    parse_from_requester,
    parse_register,
    parse_to_peer,
    parse_to_requester,
)

ids = st.text("abcdefABCDEF0123456789_-", min_size=1, max_size=128)
texts = st.text(st.characters(exclude_categories=["Cs"]))
bodies = st.one_of(st.just(Body()), st.builds(Body.of, st.binary(min_size=1)), st.builds(Body, text=texts))
headers = st.dictionaries(texts, texts, max_size=5)
requests = st.builds(
    Request,
    ids,
    st.sampled_from(["GET", "POST", "DELETE"]),
    st.text("abc/?=_-", max_size=20).map("/".__add__),
    headers,
    bodies,
    st.booleans(),
)
whole_responses = st.builds(
    Response,
    ids,
    st.integers(100, 599),
    headers,
    bodies,
    st.sampled_from([None, "start"]),
    st.none() | st.just({"code": "peer_gone", "message": "It went."}),
)
streamed_responses = st.builds(Response, ids, body=bodies, stream=st.sampled_from(["chunk", "end"]))

REQUEST: dict[str, Any] = {"request_id": "aa", "method": "POST", "path": "/forward", "headers": {}, "body": "x"}
RESPONSE: dict[str, Any] = {"type": "relay-http-response", "request_id": "aa", "status": 200, "headers": {}}


def frame(base: dict[str, Any], **changes: Any) -> str:
    fields = {**base, **changes}
    return json.dumps({name: value for name, value in fields.items() if value is not ...})


@given(requests)
def test_a_request_reaches_the_peer_as_it_was(request: Request) -> None:
    assert parse_from_requester(emit_request(request)) == request
    assert parse_to_peer(emit_request(request, to_peer=True)) == request


@given(st.one_of(whole_responses, streamed_responses))
def test_an_answer_reaches_the_requester_as_it_was(response: Response) -> None:
    assert parse_from_peer(emit_response(response, to_relay=True)) == response
    assert parse_to_requester(emit_response(response)) == response


@given(st.binary())
def test_octets_come_out_as_they_went_in(octets: bytes) -> None:
    assert Body.of(octets).octets() == octets
    assert Body.of(octets, text=True).octets() == octets


def test_text_travels_as_text_only_where_it_is_text() -> None:
    assert Body.of("é".encode(), text=True) == Body(text="é")
    assert Body.of(b"\xff", text=True).base64 is not None
    assert Body.of(b"") == Body()


def test_registration_frames_are_read_back() -> None:
    register = Register("peer-1", "s" * 16)
    assert parse_register(emit_register(register)) == register
    assert "ssss" not in repr(register)
    assert parse_register(emit_register(Register("peer-1", None))) == Register("peer-1", None)
    assert parse_to_peer(emit_registered(Registered("peer-1", {"peers": 5}))) == Registered("peer-1", {"peers": 5})
    assert parse_to_peer(emit_error(ErrorFrame("taken", "No."))) == ErrorFrame("taken", "No.")
    assert parse_to_peer(emit_cancel(Cancel("aa"))) == Cancel("aa")
    assert parse_from_requester(emit_cancel(Cancel("aa"))) == Cancel("aa")


def test_the_adrs_request_has_no_type_and_no_extras() -> None:
    written = json.loads(emit_request(Request("aa", "POST", "/forward", {"A": "1"}, Body.of(b"\x00"))))
    assert written == {
        "request_id": "aa",
        "method": "POST",
        "path": "/forward",
        "headers": {"A": "1"},
        "body_base64": "AA==",
    }


def test_unknown_fields_are_ignored_and_absent_options_have_defaults() -> None:
    asked = parse_from_requester(frame(REQUEST, headers=..., body=..., later={"x": 1}))
    assert asked == Request("aa", "POST", "/forward", {}, Body(), False)
    assert parse_to_peer(json.dumps({"type": "registered", "peer_id": "p", "limits": 3})) == Registered("p", {})
    assert parse_to_peer(json.dumps({"type": "error"})) == ErrorFrame("error", "The relay gave no reason.")
    assert parse_to_requester(frame(RESPONSE, request_id=None)).request_id is None


REQUEST_FAULTS: list[tuple[type[BadFrame], dict[str, Any]]] = [
    (MissingField, {"request_id": ...}),
    (MissingField, {"method": ...}),
    (MissingField, {"path": None}),
    (MistypedField, {"method": 5}),
    (MistypedField, {"method": "post"}),
    (MistypedField, {"path": "forward"}),
    (MistypedField, {"path": "/a\n"}),
    (MistypedField, {"path": "/" + "a" * 3000}),
    (MistypedField, {"accept_stream": 1}),
    (MistypedField, {"headers": []}),
    (MistypedField, {"headers": {"a": 1}}),
    (FrameTooLarge, {"headers": {str(n): "" for n in range(MAX_HEADERS + 1)}}),
    (FrameTooLarge, {"headers": {"a": "b" * (MAX_HEADER_BYTES + 1)}}),
    (MistypedField, {"body": 5}),
    (MistypedField, {"body": ..., "body_base64": ["AA=="]}),
    (TwoBodies, {"body_base64": "AA=="}),
    (FrameTooLarge, {"body": "b" * (MAX_BODY_BYTES + 1)}),
    (BadRequestId, {"request_id": 7}),
    (BadRequestId, {"request_id": ""}),
    (BadRequestId, {"request_id": "a b"}),
    (BadRequestId, {"request_id": "a" * 129}),
    (UnknownType, {"type": "hello"}),
    (UnknownType, {"type": "hello", "request_id": 5}),
]


@pytest.mark.parametrize(("error", "changes"), REQUEST_FAULTS)
def test_a_faulty_request_has_an_error_of_its_own(error: type[BadFrame], changes: dict[str, Any]) -> None:
    with pytest.raises(error) as caught:
        parse_from_requester(frame(REQUEST, **changes))
    readable = isinstance(changes.get("request_id", "aa"), str) and error is not BadRequestId
    assert caught.value.request_id == ("aa" if readable else None)
    assert caught.value.delivered is False


RESPONSE_FAULTS: list[tuple[type[BadFrame], dict[str, Any]]] = [
    (MissingField, {"status": ...}),
    (MistypedField, {"status": True}),
    (MistypedField, {"status": "200"}),
    (MistypedField, {"status": 700}),
    (MistypedField, {"stream": "middle"}),
    (MistypedField, {"error": "no"}),
    (MissingField, {"request_id": ...}),
    (UnknownType, {"type": "relay-http-request"}),
]


@pytest.mark.parametrize(("error", "changes"), RESPONSE_FAULTS)
def test_a_faulty_answer_has_an_error_of_its_own(error: type[BadFrame], changes: dict[str, Any]) -> None:
    with pytest.raises(error):
        parse_from_peer(frame(RESPONSE, **changes))


@pytest.mark.parametrize(
    ("error", "changes"),
    [
        (UnknownType, {"type": "hello"}),
        (MissingField, {"peer_id": ...}),
        (MistypedField, {"secret": 5}),
        (MistypedField, {"peer_id": "a/b"}),
        (MistypedField, {"secret": "short"}),
        (FrameTooLarge, {"note": "x" * 5000}),
    ],
)
def test_a_faulty_registration_has_an_error_of_its_own(error: type[BadFrame], changes: dict[str, Any]) -> None:
    with pytest.raises(error):
        parse_register(frame({"type": "register", "peer_id": "p", "secret": "s" * 16}, **changes))


def test_the_peer_does_not_take_what_it_does_not_know() -> None:
    with pytest.raises(UnknownType):
        parse_to_peer(frame(REQUEST))


PARSERS: list[Callable[[str | bytes], object]] = [
    parse_register,
    parse_from_peer,
    parse_from_requester,
    parse_to_peer,
    parse_to_requester,
]


@pytest.mark.parametrize("parse", PARSERS)
def test_what_is_no_frame_at_all(parse: Callable[[str | bytes], object], monkeypatch: pytest.MonkeyPatch) -> None:
    for error, octets in ((NotUtf8, b'{"a": "\xff"}'), (NotJson, b"{"), (NotJson, "{"), (NotJson, b"[]")):
        with pytest.raises(error):
            parse(octets)  # type: ignore[arg-type]
    with pytest.raises(FrameTooLarge):
        parse(b" " * (MAX_FRAME_BYTES + 1))


@pytest.mark.parametrize("text", ["A", "AA=", "A A=", "AA==\n", "é", "AA==AA=="])
def test_base64_is_strict(text: str) -> None:
    asked = parse_from_requester(frame(REQUEST, body=..., body_base64=text))
    assert isinstance(asked, Request)
    with pytest.raises(BadBase64) as caught:
        asked.body.octets(asked.request_id)
    assert caught.value.request_id == "aa"


@given(st.binary() | st.recursive(st.none() | st.booleans() | st.floats() | texts, st.lists).map(json.dumps))
def test_garbage_is_always_a_bad_frame(octets: bytes | str) -> None:
    for parse in PARSERS:
        with pytest.raises(BadFrame):
            parse(octets)


@given(
    st.dictionaries(
        st.sampled_from(["type", "request_id", "method", "path", "headers", "body", "body_base64", "status", "stream"]),
        st.none() | st.booleans() | st.integers() | texts | st.lists(texts) | st.dictionaries(texts, texts),
    )
)
def test_any_object_is_read_or_refused_by_a_typed_error(fields: dict[str, Any]) -> None:
    for parse in PARSERS:
        try:
            parse(json.dumps(fields))
        except BadFrame as error:
            assert error.code != "internal_error"


def test_a_body_just_small_enough_is_taken() -> None:
    octets = bytes(MAX_BODY_BYTES)
    asked = parse_from_requester(emit_request(Request("aa", "POST", "/forward", {}, Body.of(octets))))
    assert isinstance(asked, Request)
    assert len(asked.body.octets()) == MAX_BODY_BYTES
    too_large = Request("aa", "POST", "/forward", {}, Body(base64="A" * (envelopes._MAX_BASE64_CHARS + 4)))
    with pytest.raises(FrameTooLarge) as caught:
        parse_from_requester(emit_request(too_large))
    assert caught.value.request_id == "aa"
