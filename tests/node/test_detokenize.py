from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from meshdesk.node.detokenize import Detokenizer

TEXTS = ["👩‍🚀 日本語 ďábel", "Hello, world!", "  two  spaces\n\n\ttab ", "e\u0301 🇨🇿🏳️‍🌈", "", "naïve — “quotes”"]


@pytest.fixture(scope="module")
def tokenizer(smollm2: Path) -> Tokenizer:
    return Tokenizer.from_file(str(smollm2 / "tokenizer.json"))


def octet_tokenizer() -> Tokenizer:
    """One token an octet: every character beyond ASCII spans several tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({char: index for index, char in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def stream(tokenizer: Tokenizer, ids: list[int]) -> list[str]:
    detokenizer = Detokenizer(tokenizer)
    return [*(detokenizer.push(token_id) for token_id in ids), detokenizer.flush()]


@pytest.mark.parametrize("text", TEXTS)
def test_pieces_join_to_the_text_and_hold_no_half_characters(tokenizer: Tokenizer, text: str) -> None:
    for each in (tokenizer, octet_tokenizer()):
        ids = each.encode(text, add_special_tokens=False).ids
        pieces = stream(each, ids)
        assert "".join(pieces) == each.decode(ids) == text
        assert not any("�" in piece for piece in pieces)


@settings(deadline=None)
@given(st.data())
def test_any_ids_join_to_a_one_shot_decode(tokenizer: Tokenizer, data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, tokenizer.get_vocab_size() - 1), max_size=30))
    assert "".join(stream(tokenizer, ids)) == tokenizer.decode(ids)


@settings(deadline=None)
@given(st.lists(st.integers(0, 255), max_size=30))
def test_any_octets_join_to_a_one_shot_decode(ids: list[int]) -> None:
    tokenizer = octet_tokenizer()
    assert "".join(stream(tokenizer, ids)) == tokenizer.decode(ids)


def test_an_unfinished_character_waits_and_comes_out_with_the_flush() -> None:
    tokenizer = octet_tokenizer()
    ids = tokenizer.encode("a日").ids
    detokenizer = Detokenizer(tokenizer)
    assert [detokenizer.push(token_id) for token_id in ids[:-1]] == ["a", "", ""]
    assert detokenizer.flush() == tokenizer.decode(ids[1:-1]) != ""
    assert detokenizer.flush() == ""


def test_special_tokens_are_not_shown(tokenizer: Tokenizer) -> None:
    end = tokenizer.token_to_id("<|im_end|>")
    ids = [*tokenizer.encode("Hi", add_special_tokens=False).ids, end]
    assert "".join(stream(tokenizer, ids)) == "Hi"
