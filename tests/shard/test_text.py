"""Chats and text to token ids: as the library does it, and refusals a person can act on."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from tests.shard.lab import Lab, LabFailed

CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Grüße 🌤️ 谢谢"}]


def encode(lab: Lab, path: Path, messages: Any) -> Any:
    return lab("lab_text.call", path=path, method="encode_chat", argument=messages)


def test_a_chat_becomes_the_librarys_ids(lab: Lab, smollm2: Path) -> None:
    ids = encode(lab, smollm2, CHAT)
    assert ids == lab("lab_text.library_ids", path=smollm2, messages=CHAT)
    parts = [{"type": "text", "text": "Grüße "}, {"type": "text", "text": "🌤️ 谢谢"}]
    assert encode(lab, smollm2, [CHAT[0], {"role": "user", "content": parts}]) == ids


def test_the_head_gets_the_same_tokenizer(lab: Lab, smollm2: Path) -> None:
    facts = lab("lab_text.facts", path=smollm2)
    assert (facts["eos"], facts["template"]) == (2, True)
    text = "Grüße 🌤️ 谢谢"
    ids = lab("lab_text.call", path=smollm2, method="encode_text", argument=text)
    assert Tokenizer.from_str(facts["json"]).encode(text).ids == ids
    assert Tokenizer.from_str(facts["json"]).decode(ids) == text
    spelled = [lab("lab_text.call", path=smollm2, method="decode_one", argument=token) for token in ids[:3]]
    assert "".join(spelled).startswith("Gr")


@pytest.mark.parametrize("token", [2, 10**6, -1, 2**70])
def test_special_and_unknown_tokens_have_no_text(lab: Lab, smollm2: Path, token: int) -> None:
    assert lab("lab_text.call", path=smollm2, method="decode_one", argument=token) == ""


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "at least one message"),
        ("hello", "at least one message"),
        ([{"content": "x"}], "needs a role"),
        (["x"], "needs a role"),
        ([{"role": "user", "content": 5}], "string or a list of text parts"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "reads text only"),
        ([{"role": "user", "content": "x" * 4_000_001}], "4000000 is the most"),
    ],
)
def test_what_no_text_model_can_take_is_refused(lab: Lab, smollm2: Path, messages: Any, words: str) -> None:
    refusal = encode(lab, smollm2, messages)
    assert refusal["code"] == "bad_forward"
    assert words in refusal["message"]


@pytest.mark.parametrize("text", [5, None, "x" * 4_000_001])
def test_text_must_be_text_of_some_length(lab: Lab, smollm2: Path, text: Any) -> None:
    refusal = lab("lab_text.call", path=smollm2, method="encode_text", argument=text)
    assert refusal["code"] == "bad_forward"


def repo_with(smollm2: Path, to: Path, *, template: str | None = None) -> Path:
    """The real tokenizer with another chat template, or none."""
    shutil.copy(smollm2 / "tokenizer.json", to)
    config = (smollm2 / "tokenizer_config.json").read_text()
    (to / "tokenizer_config.json").write_text(config)
    if template is not None:
        (to / "chat_template.jinja").write_text(template)
    return to


def test_a_template_that_refuses_speaks_for_itself(lab: Lab, smollm2: Path, tmp_path: Path) -> None:
    path = repo_with(smollm2, tmp_path, template="{{ raise_exception('Roles must alternate.') }}")
    refusal = encode(lab, path, CHAT)
    assert refusal["code"] == "bad_forward"
    assert "Roles must alternate." in refusal["message"]


def test_a_model_without_a_template_holds_no_chat(lab: Lab, smollm2: Path, tmp_path: Path) -> None:
    path = repo_with(smollm2, tmp_path)
    assert "no chat template" in encode(lab, path, CHAT)["message"]


def test_a_template_cannot_reach_the_machine(lab: Lab, smollm2: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    attack = "{{ cycler.__init__.__globals__.os.mkdir('" + str(made) + "') }}"
    assert encode(lab, repo_with(smollm2, tmp_path, template=attack), CHAT)["code"] == "bad_forward"
    assert not made.exists()


def test_no_tokenizer_is_none_and_a_damaged_one_is_named(
    lab: Lab, tiny: Callable[..., Path], smollm2: Path, tmp_path: Path
) -> None:
    assert lab("lab_text.facts", path=tiny("llama")) == {}
    path = repo_with(smollm2, tmp_path)
    (path / "tokenizer.json").write_text('{"half')
    with pytest.raises(LabFailed, match="ModelDamaged: The model's tokenizer cannot be read"):
        lab("lab_text.facts", path=path)
