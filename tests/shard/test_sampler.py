"""The choice of a token: greedy, repeatable, and filtered as transformers filters."""

from __future__ import annotations

import math
import struct
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.shard.lab import Lab

LOGITS = st.lists(st.floats(-30, 30, width=32), min_size=2, max_size=24)
SHORT = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def single(value: float) -> float:
    """The nearest float32."""
    found: float = struct.unpack("<f", struct.pack("<f", value))[0]
    return found


@SHORT
@given(logits=LOGITS, seed=st.integers(0, 2**63 - 1), position=st.integers(0, 10_000))
def test_greedy_takes_the_first_of_the_largest(lab: Lab, logits: list[float], seed: int, position: int) -> None:
    (token,) = lab("lab_sampler.tokens", logits=logits, sampling={"seed": seed}, positions=[position])
    assert token == logits.index(max(logits))


SAMPLED = st.fixed_dictionaries(
    {
        "temperature": st.floats(0.05, 5.0),
        "top_k": st.integers(0, 30),
        "top_p": st.sampled_from([1.0, 0.95, 0.5, 0.1, 0.0]),
        "seed": st.integers(0, 2**63 - 1),
    }
)


@SHORT
@given(logits=LOGITS, sampling=SAMPLED, position=st.integers(0, 10_000))
def test_the_same_seed_and_position_draw_the_same_token(
    lab: Lab, logits: list[float], sampling: dict[str, Any], position: int
) -> None:
    first, second = lab("lab_sampler.tokens", logits=logits, sampling=sampling, positions=[position, position])
    assert first == second
    assert 0 <= first < len(logits)


# Two logits that differ by less than float32 holds after a shift are a tie, in which either may be kept.
APART = st.lists(st.integers(-1920, 1920).map(lambda sixty_fourths: sixty_fourths / 64), min_size=2, max_size=24)


@SHORT
@given(logits=APART, sampling=SAMPLED, repetition=st.floats(0.5, 2.0), data=st.data())
def test_filters_are_those_of_transformers(
    lab: Lab, logits: list[float], sampling: dict[str, Any], repetition: float, data: st.DataObject
) -> None:
    ids = st.lists(st.integers(0, len(logits) - 1), max_size=5)
    fields = {**sampling, "repetition_penalty": repetition}
    fields |= {"prompt_ids": data.draw(ids), "generated_ids": data.draw(ids)}
    assume(fields["prompt_ids"] or fields["generated_ids"])
    ours, theirs = lab("lab_sampler.kept", logits=logits, sampling=fields)
    assert [p > 0 for p in ours] == [p > 0 for p in theirs]
    assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-7)


@SHORT
@given(logits=LOGITS, sampling=SAMPLED, positions=st.lists(st.integers(0, 10_000), min_size=1, max_size=20))
def test_what_is_filtered_out_is_never_drawn(
    lab: Lab, logits: list[float], sampling: dict[str, Any], positions: list[int]
) -> None:
    ours, _ = lab("lab_sampler.kept", logits=logits, sampling=sampling)
    for token in lab("lab_sampler.tokens", logits=logits, sampling=sampling, positions=positions):
        assert ours[token] > 0
    if sampling["top_k"]:
        least = sorted(logits, reverse=True)[: sampling["top_k"]][-1]
        assert all(logit >= least for logit, p in zip(logits, ours, strict=True) if p > 0)


def test_top_k_one_and_top_p_zero_are_greedy(lab: Lab) -> None:
    logits = [0.0, 3.0, 1.0, 2.9]
    for filters in ({"top_k": 1}, {"top_p": 0.0}):
        sampling = {"temperature": 5.0, **filters}
        assert set(lab("lab_sampler.tokens", logits=logits, sampling=sampling, positions=list(range(50)))) == {1}


def test_draws_follow_the_probabilities(lab: Lab) -> None:
    shares = [0.5, 0.3, 0.15, 0.05]
    draws = 4000
    logits = [single(math.log(share)) for share in shares]
    sampling = {"temperature": 1.0, "seed": 5}
    counted = Counter(lab("lab_sampler.tokens", logits=logits, sampling=sampling, positions=list(range(draws))))
    for token, share in enumerate(shares):
        spread = math.sqrt(draws * share * (1 - share))
        assert abs(counted[token] - draws * share) < 5 * spread
    other = lab("lab_sampler.tokens", logits=logits, sampling={**sampling, "seed": 6}, positions=list(range(draws)))
    assert Counter(other) != counted


def test_the_draw_is_the_same_on_every_machine(lab: Lab) -> None:
    # printf 'meshdesk draw 7 3' | sha256sum | cut -c1-16
    octets = bytes.fromhex("d82c793e04104db1")
    (value,) = lab("lab_sampler.uniforms", seed=7, positions=[3])
    assert value == (int.from_bytes(octets, "little") >> 11) / 2**53
    many = lab("lab_sampler.uniforms", seed=7, positions=list(range(1000)))
    assert len(set(many)) == 1000
    assert all(0.0 <= value < 1.0 for value in many)


@SHORT
@given(
    logits=LOGITS,
    frequency=st.floats(-2, 2, width=32),
    presence=st.floats(-2, 2, width=32),
    data=st.data(),
)
def test_frequency_and_presence_count_what_was_generated(
    lab: Lab, logits: list[float], frequency: float, presence: float, data: st.DataObject
) -> None:
    generated = data.draw(st.lists(st.integers(0, len(logits) - 1), max_size=10))
    sampling = {"frequency_penalty": frequency, "presence_penalty": presence, "generated_ids": generated}
    counts = Counter(generated)
    expected = [logit - frequency * counts[token] - presence * (token in counts) for token, logit in enumerate(logits)]
    assert lab("lab_sampler.penalised", logits=logits, sampling=sampling) == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_the_prompt_counts_for_repetition_only(lab: Lab) -> None:
    logits = [2.0, -2.0, 1.0]
    seen = {"prompt_ids": [0, 1], "generated_ids": []}
    assert lab("lab_sampler.penalised", logits=logits, sampling={"repetition_penalty": 2.0, **seen}) == [1.0, -4.0, 1.0]
    assert lab("lab_sampler.penalised", logits=logits, sampling={"frequency_penalty": 2.0, **seen}) == logits


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("bad", [[0.0, math.nan], [math.inf, 0.0], [-math.inf, -math.inf]])
def test_what_is_not_finite_is_an_error_and_no_token(lab: Lab, bad: list[float], temperature: float) -> None:
    sampling = {"temperature": temperature}
    assert lab("lab_sampler.tokens", logits=bad, sampling=sampling, positions=[0]) == "not_finite"


def test_a_masked_token_is_no_fault(lab: Lab) -> None:
    sampling = {"temperature": 1.0}
    assert lab("lab_sampler.tokens", logits=[-math.inf, 0.0], sampling=sampling, positions=[1, 2]) == [1, 1]


def test_a_tiny_temperature_does_not_overflow(lab: Lab) -> None:
    sampling = {"temperature": 1e-38}
    assert lab("lab_sampler.tokens", logits=[1.0, 2.0, 1.5], sampling=sampling, positions=[1, 2]) == [1, 1]


def test_ids_outside_the_vocabulary_are_refused(lab: Lab) -> None:
    sampling = {"repetition_penalty": 2.0, "prompt_ids": [2]}
    assert lab("lab_sampler.tokens", logits=[1.0, 2.0], sampling=sampling, positions=[1]) == "bad_forward"
