"""The person's token for the Hugging Face Hub, for models that are not open to all.

It lies in the system's keyring; where there is none, as in WSL2, in a file that only this user can read, and
only after they said yes to that. Never in the settings, a log or a command line. A token in the
environment variable HF_TOKEN goes first, and is never written anywhere.
"""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

from meshdesk.protocol.errors import MeshdeskError, UsageError
from meshdesk.volunteer.identity import data_root
from meshdesk.volunteer.log_redaction import keep_secret
from meshdesk.volunteer.private_file import write_private
from meshdesk.volunteer.wording import QT_TRANSLATE_NOOP

log = logging.getLogger(__name__)

VARIABLE = "HF_TOKEN"
SERVICE, ACCOUNT = "meshdesk", "hugging-face-hub"
FILE_NAME = "hub-token"
SHORTEST, LONGEST = 8, 512

_NOT_A_TOKEN = QT_TRANSLATE_NOOP("HubToken", "This is not a token.")
_COPY_IT = QT_TRANSLATE_NOOP("HubToken", "Copy it whole from huggingface.co/settings/tokens.")
_NO_KEYRING = QT_TRANSLATE_NOOP("HubToken", "This system has no keyring that meshdesk can use.")
_FORGETFUL = QT_TRANSLATE_NOOP("HubToken", "This system's keyring keeps nothing.")
_LOCKED = QT_TRANSLATE_NOOP("HubToken", "The keyring is locked.")
_UNLOCK = QT_TRANSLATE_NOOP("HubToken", "Unlock it, then try again.")
_FAILED = QT_TRANSLATE_NOOP("HubToken", "The keyring did not do what it was asked ({reason}).")
_LOOK = QT_TRANSLATE_NOOP("HubToken", "Look at your system's keyring.")
_NOT_WRITTEN = QT_TRANSLATE_NOOP("HubToken", "The token could not be written to {file} ({reason}).")
_NOT_REMOVED = QT_TRANSLATE_NOOP("HubToken", "{file} could not be removed ({reason}).")


class TokenPlace(StrEnum):
    """Where the token that counts lies."""

    NONE = "none"
    ENVIRONMENT = "environment"
    KEYRING = "keyring"
    FILE = "file"


class NotAToken(UsageError):
    """What was given cannot be a token."""

    code = "not_a_token"


class NoKeyring(MeshdeskError):
    """There is no keyring to keep the token in; with the person's yes, a file takes its place."""

    code = "no_keyring"


class KeyringFailed(MeshdeskError):
    """There is a keyring, and it did not do what it was asked."""

    code = "keyring_failed"


class TokenNotKept(MeshdeskError):
    """The token's file could not be written or removed."""

    code = "token_not_kept"


class HubToken:
    """The token of this user. All calls block, some until the person has unlocked the keyring: not on the loop."""

    def __init__(self, path: Path | None = None):
        self.path = path or data_root() / FILE_NAME
        """The file that is used where there is no keyring."""

    def read(self) -> str | None:
        """The token, or None if there is none. Raises KeyringFailed if there might be one."""
        token = self._found()[0]
        if token is not None:
            keep_secret(token)
        return token

    def where(self) -> TokenPlace:
        """Where the token lies. Raises KeyringFailed."""
        return self._found()[1]

    def save(self, token: str, allow_file: bool = False) -> TokenPlace:
        """Keep ``token``; with ``allow_file`` in the file where there is no keyring.

        Raises NotAToken, NoKeyring (ask, then call again with ``allow_file``), KeyringFailed, TokenNotKept.
        """
        token = token.strip()
        # Before anything can go wrong with it, and be logged.
        keep_secret(token)
        if not (SHORTEST <= len(token) <= LONGEST and token.isascii() and token.isprintable() and " " not in token):
            raise NotAToken(_NOT_A_TOKEN, hint=_COPY_IT)
        try:
            _keyring_set(token)
        except NoKeyring:
            if not allow_file:
                raise
            self._write(token)
            return TokenPlace.FILE
        self._remove()
        return TokenPlace.KEYRING

    def forget(self) -> None:
        """Remove the token wherever it was kept. Raises KeyringFailed, TokenNotKept."""
        self._remove()
        with contextlib.suppress(NoKeyring):
            _keyring_delete()

    def _found(self) -> tuple[str | None, TokenPlace]:
        given = os.environ.get(VARIABLE, "").strip()
        if given:
            return given, TokenPlace.ENVIRONMENT
        failure: KeyringFailed | None = None
        try:
            token = _keyring_get()
            if token:
                return token, TokenPlace.KEYRING
        except NoKeyring:
            pass
        except KeyringFailed as error:
            failure = error
        token = self._read()
        if token:
            return token, TokenPlace.FILE
        if failure is not None:
            raise failure
        return None, TokenPlace.NONE

    def _read(self) -> str | None:
        try:
            with self.path.open("rb") as stream:
                if sys.platform != "win32" and stat.S_IMODE(os.fstat(stream.fileno()).st_mode) & 0o077:
                    log.warning("others could read the Hub token's file; now only you can")
                    os.fchmod(stream.fileno(), 0o600)
                return stream.read(LONGEST).decode("ascii", errors="ignore").strip() or None
        except FileNotFoundError:
            return None
        except OSError as error:
            log.warning("the Hub token's file cannot be read: %s", error.strerror or error)
            return None

    def _write(self, token: str) -> None:
        try:
            write_private(self.path, token.encode())
        except OSError as error:
            raise TokenNotKept(_NOT_WRITTEN.format(file=str(self.path), reason=str(error.strerror))) from None

    def _remove(self) -> None:
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise TokenNotKept(_NOT_REMOVED.format(file=str(self.path), reason=str(error.strerror))) from None


def _keyring() -> Any:
    """The library, loaded only where it is needed: it takes a part of a second."""
    try:
        import keyring
    except ImportError:
        raise NoKeyring(_NO_KEYRING) from None
    return keyring


def _keyring_get() -> str | None:
    keyring = _keyring()
    with _in_words():
        found = keyring.get_password(SERVICE, ACCOUNT)
    return found if isinstance(found, str) else None


def _keyring_set(token: str) -> None:
    keyring = _keyring()
    with _in_words():
        keyring.set_password(SERVICE, ACCOUNT, token)
        kept = keyring.get_password(SERVICE, ACCOUNT)
    if kept != token:
        # There are back-ends that take everything and keep nothing.
        raise NoKeyring(_FORGETFUL)


def _keyring_delete() -> None:
    keyring = _keyring()
    with _in_words():
        if keyring.get_password(SERVICE, ACCOUNT) is not None:
            keyring.delete_password(SERVICE, ACCOUNT)


@contextlib.contextmanager
def _in_words() -> Iterator[None]:
    from keyring import errors

    try:
        yield
    except errors.NoKeyringError:
        raise NoKeyring(_NO_KEYRING) from None
    except errors.KeyringLocked:
        raise KeyringFailed(_LOCKED, hint=_UNLOCK) from None
    except Exception as error:
        # Back-ends raise what their systems raise. Its words are left out: they might hold what was to be kept.
        raise KeyringFailed(_FAILED.format(reason=type(error).__name__), hint=_LOOK) from None
