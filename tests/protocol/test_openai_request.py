from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.protocol.openai_request import (
    MAX_MESSAGES,
    MAX_STOPS,
    BadChatRequest,
    ChatRequest,
    openai_error,
    parse_chat_request,
)
from meshdesk.protocol.routes import RouteNotProven
from meshdesk.protocol.sampling import Sampling

HELLO = {"role": "user", "content": "Hello"}


def chat(**fields: Any) -> ChatRequest:
    return parse_chat_request(json.dumps({"messages": [HELLO], **fields}).encode(), chat=True)


def completion(**fields: Any) -> ChatRequest:
    return parse_chat_request(json.dumps({"prompt": "Once", **fields}).encode(), chat=False)


def test_the_smallest_chat_has_the_defaults_openai_users_know() -> None:
    request = chat()
    assert request.is_chat and request.messages == (HELLO,) and request.prompt is None
    assert (request.stream, request.max_tokens, request.stop, request.seed) == (False, None, (), None)
    assert request.sampling == Sampling(temperature=1.0)
    assert not request.wants_hops


def test_every_field_is_read() -> None:
    request = chat(
        model="m",
        stream=True,
        stream_options={"include_usage": True},
        max_completion_tokens=7,
        max_tokens=9,
        stop=["a", "b"],
        seed=-1,
        temperature=0,
        top_p=0.5,
        top_k=40,
        repetition_penalty=1.1,
        frequency_penalty=0.2,
        presence_penalty=-0.2,
        meshdesk={"hops": True},
        n=1,
        logprobs=False,
        tools=[],
        tool_choice="auto",
        response_format={"type": "text"},
        user="somebody",
    )
    assert (request.model, request.stream, request.include_usage, request.max_tokens) == ("m", True, True, 7)
    assert request.stop == ("a", "b") and request.seed == 2**63 - 1 and request.wants_hops
    assert request.sampling == Sampling(
        temperature=0.0,
        top_p=0.5,
        top_k=40,
        repetition_penalty=1.1,
        frequency_penalty=0.2,
        presence_penalty=-0.2,
    )


def test_text_parts_and_the_developer_role_are_understood() -> None:
    parts = [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}]
    request = chat(messages=[{"role": "developer", "content": "Be kind"}, {"role": "user", "content": parts}])
    assert request.messages == ({"role": "system", "content": "Be kind"}, HELLO)


@pytest.mark.parametrize(("prompt", "read"), [("a", "a"), (["a"], "a"), ([1, 2], (1, 2)), ([[1, 2]], (1, 2))])
def test_prompts(prompt: object, read: object) -> None:
    request = completion(prompt=prompt, echo=True)
    assert request.prompt == read and request.echo and not request.is_chat


@pytest.mark.parametrize("prompt", [None, [], ["a", "b"], [1, "a"], [-1], [True], [2**31], 7, {}])
def test_bad_prompts_are_refused(prompt: object) -> None:
    with pytest.raises(BadChatRequest) as caught:
        completion(prompt=prompt)
    assert caught.value.param == "prompt"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": []}, "messages"),
        ({"messages": "hi"}, "messages"),
        ({"messages": [HELLO] * (MAX_MESSAGES + 1)}, "messages"),
        ({"messages": ["hi"]}, "messages[0]"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": [], "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": []}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": ["x"]}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": 7}]}]}, "messages[0].content"),
        ({"tools": [{"type": "function"}]}, "tools"),
        ({"n": 2}, "n"),
        ({"best_of": 2}, "best_of"),
        ({"logprobs": True}, "logprobs"),
        ({"top_logprobs": 3}, "logprobs"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"stream": "yes"}, "stream"),
        ({"stream_options": []}, "stream_options"),
        ({"meshdesk": 1}, "meshdesk"),
        ({"model": ""}, "model"),
        ({"model": 7}, "model"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 1.5}, "max_tokens"),
        ({"max_tokens": True}, "max_tokens"),
        ({"stop": [""]}, "stop"),
        ({"stop": 7}, "stop"),
        ({"stop": ["x"] * (MAX_STOPS + 1)}, "stop"),
        ({"stop": "x" * 501}, "stop"),
        ({"seed": "7"}, "seed"),
        ({"temperature": 2.1}, "temperature"),
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"top_p": -0.1}, "top_p"),
        ({"top_k": -1}, "top_k"),
    ],
)
def test_what_cannot_be_served_is_refused_by_name(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(BadChatRequest) as caught:
        chat(**fields)
    assert caught.value.param == param
    assert openai_error(caught.value)["error"]["param"] == param


@pytest.mark.parametrize("body", [b"", b"\xff", b"[]", b"{", b"[" * 100_000, b'{"messages": [{}], "temperature": NaN}'])
def test_what_is_no_request_is_refused(body: bytes) -> None:
    for is_chat in (True, False):
        with pytest.raises(BadChatRequest):
            parse_chat_request(body, chat=is_chat)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=10,
)
FIELDS = [
    "messages",
    "prompt",
    "model",
    "stop",
    "seed",
    "n",
    "stream",
    "temperature",
    "max_tokens",
    "tools",
    "meshdesk",
]


@given(st.dictionaries(st.sampled_from(FIELDS), json_values), st.booleans())
def test_any_json_is_read_or_refused_with_a_typed_error(fields: dict[str, Any], is_chat: bool) -> None:
    try:
        parse_chat_request(json.dumps(fields).encode(), chat=is_chat)
    except MeshdeskError as error:
        assert error.status == 400


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (413, "invalid_request_error"),
        (429, "rate_limit_error"),
        (503, "server_error"),
    ],
)
def test_errors_have_the_type_openai_clients_look_at(status: int, kind: str) -> None:
    class Failure(MeshdeskError):
        code = "it_broke"

    Failure.status = status
    assert openai_error(Failure("It broke.", hint="Mend it.")) == {
        "error": {"message": "It broke. Mend it.", "type": kind, "param": None, "code": "it_broke"}
    }
    assert openai_error(RouteNotProven("No."))["error"]["message"] == "No."


@pytest.mark.parametrize(
    "body", [b'{"messages": [{"role": "user", "content": "\\ud800"}]}', b'{"prompt": "\xff"}', b"{"]
)
@pytest.mark.parametrize("chat", [True, False])
def test_half_characters_and_what_is_no_json_are_refused(body: bytes, chat: bool) -> None:
    with pytest.raises(BadChatRequest):
        parse_chat_request(body, chat=chat)
