"""Nothing secret survives on its way into a log."""

from __future__ import annotations

import io
import json
import logging
import time
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.volunteer.log_redaction import (
    REMOVED,
    SHORTEST_SECRET,
    forget_secrets,
    is_secret_name,
    keep_secret,
    redacted,
    redacted_fields,
    the_filter,
)

SECRET = "q7Zt-vW3x_Kp9"


@pytest.fixture(autouse=True)
def no_secrets_left() -> Iterator[None]:
    yield
    forget_secrets()


@pytest.mark.parametrize(
    "text",
    [
        f"Authorization: Bearer {SECRET}",
        f"Authorization: Basic {SECRET}==",
        f'Authorization: Digest username="a", response="{SECRET}"',
        f"got a Bearer {SECRET} from",
        f"Set-Cookie: session={SECRET}; Path=/; x={SECRET}",
        f'{{"secret": "{SECRET}", "n": 1}}',
        f'{{"secret": "a\\"{SECRET}", "n": 1}}',
        f'{{\\"hf_token\\": \\"{SECRET}\\"}}',
        f"{{'password': '{SECRET}'}}",
        f"{{b'authorization': b'Bearer {SECRET}'}}",
        f"('Authorization', 'Bearer {SECRET}')",
        f"['--token', '{SECRET}']",
        f"--hf-token {SECRET} --port 7",
        f"api_key={SECRET}&x=1",
        f"X-Api-Key: {SECRET}",
        f"HF_TOKEN={SECRET} meshdesk",
        f"secret = [{SECRET}, 2]",
        f"password: '{SECRET} without an end",
        f"wss://user:{SECRET}@relay.example/ws",
        f"wss://{SECRET}@relay.example/ws",
        f"https://x.example/a?access_token={SECRET}#top",
        f"https://x.example/a?next=%3Ftoken%3D{SECRET}",
        f"client_secret={SECRET}",
        f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_what_looks_like_a_credential_is_taken_out(text: str) -> None:
    clean = redacted(text)
    assert SECRET not in clean and REMOVED in clean
    assert redacted(clean) == clean


def test_a_token_of_the_hub_is_known_by_its_shape() -> None:
    assert redacted("got hf_" + "aB3" * 11) == f"got {REMOVED}"


@pytest.mark.parametrize(
    "text",
    [
        "18.4 tokens/s, 12 tokens: fine",
        "token_id=15 max_tokens=256 tokens=7",
        "hf_hub_download of model.safetensors",
        "user@example is no address",
        "wss://relay.example:7000/ws?peer=n01",
        '{"token": null}',
        "a task-oriented-and-rather-long-word",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redacted(text) == text


def test_what_stands_beside_a_secret_stays() -> None:
    assert redacted(f"wss://a:{SECRET}@relay.example/ws?token={SECRET}&x=1 refused") == (
        f"wss://{REMOVED}@relay.example/ws?token={REMOVED}&x=1 refused"
    )
    assert json.loads(redacted(json.dumps({"secret": SECRET, "port": 7}))) == {"secret": REMOVED, "port": 7}


@pytest.mark.parametrize("name", ["hf_token", "X-Api-Key", "Authorization", "secret", "clientSecret", "passwd"])
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)
    assert not is_secret_name(name + "_count")


def test_fields_lose_their_secrets_and_keep_their_form() -> None:
    fields = {
        "a": [{"token": SECRET}, f"wss://u:{SECRET}@h/"],
        "n": 3,
        "off": None,
        "secret": "",
        "x": (1, "b"),
        "s": {"b", "a"},
    }
    assert redacted_fields(fields) == {
        "a": [{"token": REMOVED}, f"wss://{REMOVED}@h/"],
        "n": 3,
        "off": None,
        "secret": "",
        "x": [1, "b"],
        "s": ["a", "b"],
    }


@pytest.mark.parametrize("piece", ["token", 'secret="', "://@", "eyJ", "--", "\\", "token ", 'secret="\\', "cookie: "])
def test_a_long_text_costs_no_more_than_its_length(piece: str) -> None:
    started = time.perf_counter()
    redacted(piece * (100_000 // len(piece)) + '"token"')
    assert time.perf_counter() - started < 2


class _Careless(logging.Formatter):
    """Formats whatever it finds: the exception itself, extra attributes, arguments."""

    def format(self, record: logging.LogRecord) -> str:
        rest = {name: value for name, value in record.__dict__.items() if name != "msg"}
        return super().format(record) + repr(rest) + repr(record.exc_info)


secrets = st.text(min_size=SHORTEST_SECRET, max_size=40).filter(lambda value: value not in REMOVED and value.strip())


@given(secret=secrets, before=st.text(max_size=20), after=st.text(max_size=20), way=st.integers(0, 7))
def test_a_kept_secret_never_gets_through_a_handler(secret: str, before: str, after: str, way: int) -> None:
    forget_secrets()
    keep_secret(secret)
    text = before + secret + after
    if REMOVED in text or secret in before + REMOVED + after:
        return
    log, stream = logging.Logger("x"), io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_Careless())
    handler.addFilter(the_filter())
    log.addHandler(handler)
    if way == 0:
        log.warning(text.replace("%", "%%"))
    elif way == 1:
        log.warning("%s is %r", text, text)
    elif way == 2:
        log.warning("x", extra={"url": text, "more": {"list": [text]}})
    elif way == 3:
        log.warning("%s %s", text)
    elif way == 4:
        log.warning("%s", json.dumps({"a": text}) + quote(text, safe=""))
    elif way == 5:
        log.handle(logging.makeLogRecord({"name": text, "levelno": 30, "msg": "x", "stack_info": text}))
    else:
        try:
            try:
                raise KeyError(text)
            except KeyError as error:
                raise ValueError(text) from (error if way == 6 else None)
        except ValueError:
            log.exception("failed")
    written = stream.getvalue()
    assert written
    for form in (secret, repr(secret)[1:-1], json.dumps(secret)[1:-1]):
        assert form not in written


def test_a_short_value_is_not_taken_for_a_secret() -> None:
    keep_secret("node")
    keep_secret("")
    assert redacted("the node") == "the node"


def test_a_value_that_is_several_secrets_goes_whole() -> None:
    keep_secret("abcdef")
    keep_secret("abcdefghi")
    assert redacted("xabcdefghix") == f"x{REMOVED}x"


def test_an_exception_whose_text_cannot_be_had_is_still_told() -> None:
    class Rude(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    log, stream = logging.Logger("x"), io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(the_filter())
    log.addHandler(handler)
    log.error("failed", exc_info=Rude())
    assert "Rude" in stream.getvalue()
