"""The Hub token: in the keyring, or in a private file after a yes; never anywhere else."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError

from meshdesk.volunteer.hub_token import (
    HubToken,
    KeyringFailed,
    NoKeyring,
    NotAToken,
    TokenNotKept,
    TokenPlace,
)
from meshdesk.volunteer.log_redaction import forget_secrets, redacted

TOKEN = "hf_AbCdEfGhIjKlMnOpQrStUvWxYz01234567"


class MemoryKeyring(KeyringBackend):
    """A keyring that works. ``failing`` is raised by each call, ``forgetful`` keeps nothing."""

    priority = 1  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.failing: Exception | None = None
        self.forgetful = False

    def get_password(self, service: str, username: str) -> str | None:
        self._fail()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._fail()
        if not self.forgetful:
            self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._fail()
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError("no such password")

    def _fail(self) -> None:
        if self.failing is not None:
            raise self.failing


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No token of the person who runs the tests; and whatever a test does, the token is in no record."""
    monkeypatch.delenv("HF_TOKEN", raising=False)
    caplog.set_level(logging.DEBUG)
    yield
    assert TOKEN not in caplog.text
    forget_secrets()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "hub-token"


@pytest.fixture
def working() -> Iterator[MemoryKeyring]:
    before, backend = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(backend)
    yield backend
    keyring.set_keyring(before)


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in WSL2, in the way in which a person can say so."""
    before = keyring.get_keyring()
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    keyring.core.init_backend()
    yield
    keyring.set_keyring(before)


def test_it_goes_into_the_keyring_and_nowhere_else(working: MemoryKeyring, path: Path) -> None:
    token = HubToken(path)
    assert (token.read(), token.where()) == (None, TokenPlace.NONE)
    assert token.save(f"  {TOKEN}\n") is TokenPlace.KEYRING
    assert (token.read(), token.where()) == (TOKEN, TokenPlace.KEYRING)
    assert not path.parent.exists()
    token.forget()
    assert (token.read(), working.kept) == (None, {})
    token.forget()


@pytest.mark.usefixtures("missing")
def test_without_a_keyring_it_asks_and_then_uses_a_private_file(path: Path) -> None:
    token = HubToken(path)
    assert (token.read(), token.where()) == (None, TokenPlace.NONE)
    with pytest.raises(NoKeyring, match="no keyring"):
        token.save(TOKEN)
    assert not path.exists()
    assert token.save(TOKEN, allow_file=True) is TokenPlace.FILE
    assert (token.read(), token.where()) == (TOKEN, TokenPlace.FILE)
    if sys.platform != "win32":
        assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    token.forget()
    assert (token.read(), path.exists()) == (None, False)


def test_without_the_library_it_is_as_without_a_keyring(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(NoKeyring):
        HubToken(path).save(TOKEN)
    assert HubToken(path).save(TOKEN, allow_file=True) is TokenPlace.FILE
    assert HubToken(path).read() == TOKEN


def test_a_keyring_that_keeps_nothing_is_none(working: MemoryKeyring, path: Path) -> None:
    working.forgetful = True
    with pytest.raises(NoKeyring, match="keeps nothing"):
        HubToken(path).save(TOKEN)


@pytest.mark.usefixtures("missing")
def test_a_keyring_that_appears_later_takes_the_files_place(path: Path) -> None:
    HubToken(path).save(TOKEN, allow_file=True)
    backend = MemoryKeyring()
    keyring.set_keyring(backend)
    assert HubToken(path).where() is TokenPlace.FILE
    assert HubToken(path).save(TOKEN, allow_file=True) is TokenPlace.KEYRING
    assert not path.exists()


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (KeyringLocked("locked"), "The keyring is locked."),
        (RuntimeError(f"could not store {TOKEN}"), r"\(RuntimeError\)"),
    ],
)
def test_a_keyring_that_fails_is_told_without_its_words(
    working: MemoryKeyring, path: Path, failure: Exception, words: str
) -> None:
    working.failing = failure
    token = HubToken(path)
    calls: list[Any] = [token.read, token.where, token.forget, lambda: token.save(TOKEN, allow_file=True)]
    for call in calls:
        with pytest.raises(KeyringFailed, match=words) as failed:
            call()
        assert TOKEN not in f"{failed.value}{failed.value.hint}"
    # A file is for where there is no keyring at all.
    assert not path.exists()


@pytest.mark.parametrize("text", ["", "short", "two words of it", "hf_ümläütümläüt", "hf_\x00aaaaaaaaaaaa", "h" * 600])
def test_what_is_no_token_is_refused_before_it_goes_anywhere(working: MemoryKeyring, path: Path, text: str) -> None:
    with pytest.raises(NotAToken, match="This is not a token"):
        HubToken(path).save(text, allow_file=True)
    assert working.kept == {}


def test_the_environments_token_goes_first_and_is_not_written(
    working: MemoryKeyring, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert (HubToken(path).read(), HubToken(path).where()) == (TOKEN, TokenPlace.ENVIRONMENT)
    assert (working.kept, path.exists()) == ({}, False)


@pytest.mark.usefixtures("missing")
def test_what_was_read_is_taken_out_of_every_log(path: Path) -> None:
    HubToken(path).save(TOKEN, allow_file=True)
    forget_secrets()
    HubToken(path).read()
    assert TOKEN not in redacted(f"the Hub says that {TOKEN} may not")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
@pytest.mark.usefixtures("missing")
def test_a_file_that_others_can_read_is_closed_to_them(path: Path) -> None:
    HubToken(path).save(TOKEN, allow_file=True)
    path.chmod(0o644)
    assert HubToken(path).read() == TOKEN
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("missing")
def test_a_file_that_cannot_be_written_is_told(path: Path) -> None:
    path.parent.write_text("a file where a directory should be")
    with pytest.raises(TokenNotKept, match="could not be written"):
        HubToken(path).save(TOKEN, allow_file=True)
