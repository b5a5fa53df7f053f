"""A shard's engine: positions, rewinding, refusals, and what is left after a failure inside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.shard.lab import Lab

Tiny = Callable[..., Path]
PROMPT = list(range(3, 16))
VOCAB, MAX_POSITIONS, WINDOW = 96, 256, 16


def run(lab: Lab, path: Path, steps: list[tuple[int, list[int]]], end: int = 3) -> list[Any]:
    answers: list[Any] = lab("lab_engine.run", path=path, start=0, end=end, dtype="bfloat16", steps=steps)
    return answers


def test_what_a_shard_says_of_itself(lab: Lab, tiny: Tiny) -> None:
    path = tiny("llama", tie_word_embeddings=False)
    info = lab("lab_engine.load", path=path, start=2, end=6, dtype="float32")
    reports = info.pop("reports")
    assert info["model_id"] == path.name
    assert (info["family"], info["num_layers"], info["start_layer"], info["end_layer"]) == ("llama", 6, 2, 6)
    assert (info["hidden_size"], info["vocab_size"], info["max_positions"]) == (32, VOCAB, MAX_POSITIONS)
    assert (info["compute_dtype"], info["wire_dtype"], info["eos_token_ids"]) == ("float32", "float32", [2])
    assert info["kv_bytes_per_token"] == 4 * 2 * 2 * 8 * 4, "layers, keys and values, heads, width, octets"
    assert [phase for phase, *_ in reports][:1] == ["reading"]
    assert reports[-1][0] == "warming"
    assert reports[-2][1] == reports[-2][2] > 0


def test_auto_computes_in_bfloat16_or_float32_and_sends_bfloat16(lab: Lab, tiny: Tiny) -> None:
    info = lab("lab_engine.load", path=tiny("llama"), start=0, end=3, dtype="auto")
    assert info["wire_dtype"] == "bfloat16"
    assert info["compute_dtype"] in ("bfloat16", "float32")


@pytest.mark.parametrize("family", ["llama", "gemma3_text"])
def test_a_forward_sent_again_gives_the_same_bits(lab: Lab, tiny: Tiny, family: str) -> None:
    steps: list[tuple[int, list[int]]] = [(0, PROMPT)]
    for position in range(len(PROMPT), len(PROMPT) + 8):
        steps += [(position, [position]), (position, [position])]
    for end in (3, 6):
        answers = run(lab, tiny(family), steps, end)[1:]
        assert answers[0::2] == answers[1::2]
        assert len(set(map(str, answers))) > 1


def test_rewound_anywhere_it_goes_on_as_if_nothing_had_been(lab: Lab, tiny: Tiny) -> None:
    path = tiny("llama")
    straight = run(lab, path, [(0, PROMPT), (13, [7]), (14, [8])])
    detour = run(lab, path, [(0, PROMPT), (13, [9]), (14, [10, 11, 12]), (13, [7]), (14, [8])])
    assert detour[3:] == straight[1:]


def test_a_full_window_undoes_the_last_forward_and_asks_for_the_rest(lab: Lab, tiny: Tiny) -> None:
    path = tiny("gemma3_text")
    long = [3 + step % 90 for step in range(WINDOW + 8)]
    straight = run(lab, path, [(0, long), (len(long), [7])])
    answers = run(lab, path, [(0, long), (len(long), [9, 9, 9]), (len(long), [7]), (5, [7])])
    assert answers[2] == straight[1]
    assert answers[3] == {"code": "session_behind", "have": 0}


def test_refused_before_anything_changes(lab: Lab, tiny: Tiny) -> None:
    steps: list[tuple[int, list[int]]] = [
        (0, PROMPT),
        (14, [5]),
        (13, []),
        (13, [VOCAB]),
        (13, [-1]),
        (-1, [5]),
        (13, [5] * (MAX_POSITIONS - 12)),
        (13, [5]),
    ]
    answers = run(lab, tiny("llama"), steps)
    assert answers[1] == {"code": "session_behind", "have": 13}
    assert answers[2:7] == [{"code": "bad_forward"}] * 5
    assert answers[7] == run(lab, tiny("llama"), [(0, PROMPT), (13, [5])])[1], "the session is as it was"


def test_the_last_position_of_the_model_can_be_used(lab: Lab, tiny: Tiny) -> None:
    answers = run(lab, tiny("llama"), [(0, [5] * (MAX_POSITIONS - 1)), (MAX_POSITIONS - 1, [5]), (MAX_POSITIONS, [5])])
    assert [type(answer) for answer in answers] == [str, str, dict]


def test_activations_are_checked_and_nan_gives_no_token(lab: Lab, tiny: Tiny) -> None:
    assert lab("lab_engine.takes_activations", path=tiny("llama")) == [
        "TokenResult",
        "not_finite",
        "bad_forward",
        "bad_forward",
        "bad_forward",
        "bad_tensor",
        "bad_forward",
    ]


@pytest.mark.parametrize(
    ("kind", "code"),
    [("memory", "out_of_memory"), ("torch", "out_of_memory"), ("system", "out_of_memory"), ("other", "shard_error")],
)
def test_a_failure_in_the_middle_drops_the_session_and_nothing_else(lab: Lab, tiny: Tiny, kind: str, code: str) -> None:
    found = lab("lab_engine.failure_inside", path=tiny("llama"), kind=kind)
    assert found["error"] == {"code": code}
    assert found["then"] == {"code": "session_behind", "have": 0}, "a half-filled cache must not be used again"
    assert found["again"], "the shard goes on"


def test_memory_that_ends_while_loading_is_named(lab: Lab, tiny: Tiny) -> None:
    assert lab("lab_engine.out_of_memory_at_load", path=tiny("llama")) == "out_of_memory"


@pytest.mark.parametrize("family", ["llama", "gemma3_text", "qwen2"])
def test_a_session_never_holds_more_than_it_is_counted_for(lab: Lab, tiny: Tiny, family: str) -> None:
    # Wide heads, so that the floor of a session does not hide the sum.
    path = tiny(family, head_dim=512, seed=1) if family != "qwen2" else tiny(family)
    for tokens in (5, WINDOW, 3 * WINDOW):
        found = lab("lab_engine.true_cost", path=path, tokens=tokens)
        assert found["held"] <= found["used"]
        assert found["used"] <= max(found["floor"], found["held"] + found["held"] // 2)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(st.integers(0, 0xFFFF), min_size=1, max_size=64))
@example(values=[0x8000, 0x7FC1, 0xFFC1, 0x7F81, 0xFF81, 0x7FFF, 0xFFFF, 0x0001, 0x8001])
def test_bfloat16_octets_come_out_as_they_went_in(lab: Lab, values: list[int]) -> None:
    assert lab("lab_engine.octets_round_trip", values=values) == values
