"""The person's settings on disk: read with forgiveness, written whole or not at all.

``settings.json`` holds only what the person has set, and whatever else stood in it: keys of a newer
version, and values that this version cannot take, stay until that very setting is changed. Two programs
may write; for each setting the last one wins. A change counts at once; on a running loop it is written
beside it, in order, and ``saved`` waits for that.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

from filelock import FileLock, Timeout
from pydantic import ValidationError

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.volunteer.private_file import write_private
from meshdesk.volunteer.settings import Settings, Weekday
from meshdesk.volunteer.settings_refusal import check_values, label_of, no_such_setting, refusals_of
from meshdesk.volunteer.wording import QT_TRANSLATE_NOOP, Words

log = logging.getLogger(__name__)

MAX_BYTES = 1024 * 1024
LOCK_WAIT_S = 5.0
_RESET = object()

_BROKEN_FILE = QT_TRANSLATE_NOOP(
    "Settings", "The settings could not be read, so all are at their defaults. The broken file is kept as {aside}."
)
_UNREADABLE = QT_TRANSLATE_NOOP("Settings", "{file} cannot be read ({reason}), so all settings are at their defaults.")
_BAD_VALUE = QT_TRANSLATE_NOOP("Settings", "{setting} has a value in {file} that cannot be, so its default is used.")
_NOT_SAVED = QT_TRANSLATE_NOOP(
    "Settings", "The settings could not be saved ({reason}); they are lost at the next start."
)


class SettingsNotSaved(MeshdeskError):
    """The settings count, but could not be written, so that they are lost at the next start."""

    code = "settings_not_saved"


class _Broken(Exception):
    """The file is there and is no JSON object."""


class SettingsFile:
    """The settings in ``path``, which is read here: make it before the loop runs, or in a thread.

    All methods belong to one thread.
    """

    def __init__(self, path: Path):
        self.path = path
        self._listeners: list[Callable[[frozenset[str]], None]] = []
        self._unwritten: dict[str, Any] = {}
        self._writer: asyncio.Task[None] | None = None
        self._file_problem: Words | None = None
        self._save_problem: Words | None = None
        self.settings = Settings()
        """The present values; another object after each change."""
        self.bad_values: dict[str, Words] = {}
        """Settings whose value in the file is no good, and why; their defaults are used."""
        try:
            self._take(self._read_or_set_aside())
        except (OSError, Timeout) as error:
            self._file_problem = _UNREADABLE.format(file=str(path), reason=_reason(error))
        if self.problem:
            log.warning("%s", self.problem)

    @property
    def problems(self) -> tuple[Words, ...]:
        """What is wrong with the file, sentence by sentence, for who translates it."""
        told = [self._file_problem] if self._file_problem else []
        for name, refusal in self.bad_values.items():
            told += [_BAD_VALUE.format(setting=label_of(name), file=self.path.name), refusal]
        return tuple(told + ([self._save_problem] if self._save_problem else []))

    @property
    def problem(self) -> str:
        """What is wrong with the file, in English; "" if nothing is."""
        return " ".join(self.problems)

    def change(self, **values: Any) -> None:
        """Set these settings, all or none; raises SettingRefused.

        Without a running loop it raises SettingsNotSaved if the file cannot be written; on a loop that
        becomes the ``problem``.
        """
        settings = check_values(self.settings, values)
        self._apply(settings, {name: getattr(settings, name) for name in values})

    def reset(self, name: str) -> None:
        """Give the setting its default again, and forget that it was ever set. Raises as ``change``."""
        if name not in Settings.model_fields:
            raise no_such_setting(name)
        default = Settings.model_fields[name].default
        self._apply(self.settings.model_copy(update={name: default}), {name: _RESET})

    def listen(self, changed: Callable[[frozenset[str]], None]) -> Callable[[], None]:
        """Call ``changed`` with the names of what has changed, after each change; returns how to end that.

        No name at all: only ``problem`` is another. What another program has written is seen with the next
        change or ``refresh``.
        """
        self._listeners.append(changed)

        def end() -> None:
            with contextlib.suppress(ValueError):
                self._listeners.remove(changed)

        return end

    async def saved(self) -> None:
        """Wait until all that was changed so far is on disk, or has failed to be and is told in ``problem``."""
        while self._writer is not None:
            await asyncio.shield(self._writer)

    async def refresh(self) -> None:
        """Take up what another program has written to the file."""
        await self.saved()
        try:
            raw = await asyncio.to_thread(self._read_or_set_aside)
        except (OSError, Timeout) as error:
            log.warning("the settings cannot be read again: %s", _reason(error))
            return
        # What was changed here meanwhile is newer than what was read.
        self._adopt(_merged(raw, self._unwritten))

    def _apply(self, settings: Settings, unwritten: Mapping[str, Any]) -> None:
        before, problem = self.settings, self.problem
        self.settings = settings
        for name in unwritten:
            self.bad_values.pop(name, None)
        self._unwritten.update({name: _plain(value) for name, value in unwritten.items()})
        names = _differences(before, settings)
        if names or problem != self.problem:
            self._tell(names)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._write_now()
            return
        if self._writer is None:
            self._writer = loop.create_task(self._write_all(), name="settings")

    def _write_now(self) -> None:
        unwritten, self._unwritten = self._unwritten, {}
        try:
            raw = self._write(unwritten)
        except (OSError, Timeout) as error:
            self._unwritten = {**unwritten, **self._unwritten}
            self._save_problem = _save_problem(error)
            raise SettingsNotSaved(self._save_problem) from error
        self._save_problem = None
        self._adopt(raw)

    async def _write_all(self) -> None:
        try:
            while self._unwritten:
                unwritten, self._unwritten = self._unwritten, {}
                try:
                    raw = await asyncio.to_thread(self._write, unwritten)
                except (OSError, Timeout) as error:
                    # Kept, so that the next change tries it again.
                    self._unwritten = {**unwritten, **self._unwritten}
                    self._say_save_problem(_save_problem(error))
                    log.warning("the settings cannot be saved: %s", _reason(error))
                    return
                self._say_save_problem(None)
                self._adopt(_merged(raw, self._unwritten))
        finally:
            self._writer = None

    def _say_save_problem(self, problem: Words | None) -> None:
        if problem != self._save_problem:
            self._save_problem = problem
            self._tell(frozenset())

    def _adopt(self, raw: dict[str, Any]) -> None:
        before, problem = self.settings, self.problem
        self._take(raw)
        names = _differences(before, self.settings)
        if names or problem != self.problem:
            self._tell(names)

    def _take(self, raw: dict[str, Any]) -> None:
        """Make ``raw`` the present values, with the defaults for what cannot be."""
        known = {name: value for name, value in raw.items() if name in Settings.model_fields}
        try:
            self.settings, self.bad_values = Settings.model_validate(known), {}
        except ValidationError as error:
            self.bad_values = refusals_of(error)
            good = {name: value for name, value in known.items() if name not in self.bad_values}
            self.settings = Settings.model_validate(good)

    def _tell(self, names: frozenset[str]) -> None:
        for listener in list(self._listeners):
            try:
                listener(names)
            except Exception:
                log.exception("a listener to the settings failed")

    def _read_or_set_aside(self) -> dict[str, Any]:
        try:
            return _read(self.path)
        except _Broken:
            with self._lock():
                return self._read_locked()

    def _lock(self) -> FileLock:
        # A new one each time: one object would let two threads of this program in at once.
        return FileLock(self.path.with_name(self.path.name + ".lock"), timeout=LOCK_WAIT_S)

    def _read_locked(self) -> dict[str, Any]:
        try:
            return _read(self.path)
        except _Broken:
            aside = _free_name(self.path)
            self.path.replace(aside)
            self._file_problem = _BROKEN_FILE.format(aside=str(aside))
            return {}

    def _write(self, unwritten: Mapping[str, Any]) -> dict[str, Any]:
        """Put ``unwritten`` into what the file holds by now; gives what it holds then. Blocks."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._lock():
            raw = _merged(self._read_locked(), unwritten)
            write_private(self.path, json.dumps(raw, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass"))
            return raw


def _read(path: Path) -> dict[str, Any]:
    """The file's object, {} if there is no file. Raises _Broken, OSError."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return {}
    try:
        raw = json.loads(data) if len(data) <= MAX_BYTES else None
    # A file full of brackets is as broken as one that ends in the middle.
    except (ValueError, RecursionError):
        raise _Broken from None
    if not isinstance(raw, dict):
        raise _Broken
    return raw


def _merged(raw: dict[str, Any], unwritten: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**raw, **unwritten}
    return {name: value for name, value in merged.items() if value is not _RESET}


def _plain(value: Any) -> Any:
    """The value as JSON has it, days in the order of the week."""
    return [day for day in get_args(Weekday) if day in value] if isinstance(value, frozenset) else value


def _differences(before: Settings, after: Settings) -> frozenset[str]:
    return frozenset(name for name in Settings.model_fields if getattr(before, name) != getattr(after, name))


def _free_name(path: Path) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    found, number = path.with_name(f"{path.stem}.broken-{stamp}{path.suffix}"), 1
    while found.exists():
        number += 1
        found = path.with_name(f"{path.stem}.broken-{stamp}-{number}{path.suffix}")
    return found


def _save_problem(error: Exception) -> Words:
    return _NOT_SAVED.format(reason=_reason(error))


def _reason(error: Exception) -> str:
    if isinstance(error, Timeout):
        return "another program holds the file"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
