"""What helps somebody else to see why a node does not work: a few texts in a zip, shown before it is saved.

Nothing secret goes in. Files that hold credentials are never read; whatever comes in otherwise is
redacted once more. Where this user's home lies does not matter to anybody, and is written as ``~``.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sys
import time
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

from meshdesk import __version__
from meshdesk.volunteer.log_records import LogLine
from meshdesk.volunteer.log_redaction import redacted, redacted_fields

LOG_LINES = 5_000
_FIRST_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
PACKAGES = (
    "aiohttp",
    "websockets",
    "huggingface_hub",
    "pydantic",
    "psutil",
    "orjson",
    "tokenizers",
    "torch",
    "transformers",
    "safetensors",
    "PySide6-Essentials",
    "qasync",
    "keyring",
)


class DoctorFinding(Protocol):
    """What one of the doctor's checks found."""

    @property
    def check(self) -> str: ...
    @property
    def verdict(self) -> str: ...
    @property
    def found(self) -> str: ...
    @property
    def advice(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """The texts by the names they have in the zip, just as they will be in it."""

    texts: Mapping[str, str]
    made_at: float

    @property
    def file_name(self) -> str:
        """What the zip may be called: ``meshdesk-diagnostics-20261130-140211.zip``."""
        return time.strftime("meshdesk-diagnostics-%Y%m%d-%H%M%S.zip", time.localtime(self.made_at))

    def save(self, path: Path) -> None:
        """Write the zip, whole or not at all; OSError if that fails. Blocks."""
        partial = path.with_name(f".{path.name}.partial")
        try:
            partial.unlink(missing_ok=True)
            descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
            with os.fdopen(descriptor, "w+b") as stream:
                with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as bundle:
                    for name, text in self.texts.items():
                        # A computer whose clock has lost its battery is in 1970, which a zip cannot say.
                        entry = zipfile.ZipInfo(name, max(_FIRST_ZIP_TIME, time.localtime(self.made_at)[:6]))
                        entry.compress_type = zipfile.ZIP_DEFLATED
                        bundle.writestr(entry, text.encode("utf-8", "backslashreplace"))
                stream.flush()
                os.fsync(stream.fileno())
            partial.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)
            raise


def collect(
    *,
    settings: Mapping[str, Any],
    status: Mapping[str, Any],
    lines: Sequence[LogLine],
    findings: Iterable[DoctorFinding] = (),
    network: str = "",
    qt_version: str = "",
    more: Mapping[str, str] | None = None,
) -> Diagnostics:
    """Put the texts together; takes tens of milliseconds, so not in the event loop. ``more`` adds texts by name."""
    texts = {
        "versions.txt": _versions(qt_version),
        "settings.json": _json(settings),
        "status.json": _json(status),
        "doctor.txt": _doctor(findings),
        "network.txt": network.strip() or "Nothing is known about the network.",
        "log.txt": "\n".join(line.text for line in lines[-LOG_LINES:]) or "The log is empty.",
        **(more or {}),
    }
    home = _home()
    return Diagnostics({name: _cleaned(text, home) for name, text in texts.items()}, time.time())


def _cleaned(text: str, home: str) -> str:
    text = redacted(text)
    if home:
        # A path stands in JSON and in reprs with its backslashes doubled.
        text = text.replace(home, "~").replace(json.dumps(home)[1:-1], "~")
    return text.rstrip("\n") + "\n"


def _home() -> str:
    try:
        home = str(Path.home())
    except RuntimeError:
        return ""
    return home if len(home) > 3 else ""


def _json(fields: Mapping[str, Any]) -> str:
    return json.dumps(redacted_fields(fields), indent=2, ensure_ascii=False, default=str)


def _doctor(findings: Iterable[DoctorFinding]) -> str:
    lines = []
    for finding in findings:
        lines.append(f"{finding.verdict!s:<8} {finding.check}: {finding.found}")
        if finding.advice:
            lines.append(f"{'':8} {finding.advice}")
    return "\n".join(lines) or "The doctor was not asked."


def _versions(qt_version: str) -> str:
    rows = [
        ("meshdesk", __version__),
        ("Python", f"{platform.python_version()} ({platform.python_implementation()})"),
        ("System", platform.platform()),
        ("Machine", f"{platform.machine()}, {os.cpu_count()} cores{_memory()}"),
        ("Qt", qt_version or "not used"),
        ("Desktop", os.environ.get("XDG_CURRENT_DESKTOP", "") or sys.platform),
    ]
    rows += [(name, _package(name)) for name in PACKAGES]
    return "\n".join(f"{name:<20} {value}" for name, value in rows)


def _memory() -> str:
    import psutil

    return f", {psutil.virtual_memory().total / 1e9:.1f} GB"


def _package(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
