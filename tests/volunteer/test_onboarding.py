"""The first run's answers: kept, asked once, and a later version asks its new question only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from meshdesk.volunteer.onboarding import Onboarding, Step


def test_at_first_everything_is_asked(tmp_path: Path) -> None:
    assert Onboarding(tmp_path / "none" / "onboarding.json").remaining() == tuple(Step)


def test_what_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "onboarding.json"
    Onboarding(path).finish(Step)
    assert Onboarding(path).remaining() == ()
    assert json.loads(path.read_bytes()) == {"version": 1, "done": ["mesh", "sharing", "hardware", "model", "app"]}
    assert [each.name for each in path.parent.iterdir()] == ["onboarding.json"]
    Onboarding(path).forget()
    assert Onboarding(path).remaining() == tuple(Step)


def test_a_new_step_is_the_only_one_asked(tmp_path: Path) -> None:
    path = tmp_path / "onboarding.json"
    path.write_text('{"version": 0, "done": ["mesh", "sharing", "hardware", "model"]}')
    onboarding = Onboarding(path)
    assert onboarding.remaining() == (Step.APP,)
    onboarding.finish(onboarding.remaining())
    assert onboarding.remaining() == ()


def test_what_a_newer_version_wrote_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "onboarding.json"
    path.write_text('{"version": 7, "done": ["mesh", "telescope"]}')
    Onboarding(path).finish([Step.SHARING, Step.MESH])
    assert json.loads(path.read_bytes()) == {"version": 7, "done": ["mesh", "telescope", "sharing"]}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"done": 5}', b'{"done": [5, null]}', b"\xff" * 100])
def test_a_broken_record_means_asking_again(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "onboarding.json"
    path.write_bytes(content)
    onboarding = Onboarding(path)
    assert onboarding.remaining() == tuple(Step)
    onboarding.finish([Step.MESH])
    assert onboarding.remaining() == tuple(Step)[1:]


def test_the_usual_place_is_where_meshdesk_keeps_its_things(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESHDESK_DATA", str(tmp_path))
    Onboarding().finish([Step.MESH])
    assert (tmp_path / "onboarding.json").exists()
