"""A bundle of diagnostics holds what helps, nothing secret, and is on disk whole or not at all."""

from __future__ import annotations

import json
import os
import stat
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from meshdesk import __version__
from meshdesk.node.identity import service_secret
from meshdesk.volunteer.checks import Finding, Verdict
from meshdesk.volunteer.diagnostics import LOG_LINES, Diagnostics, collect
from meshdesk.volunteer.identity import DATA_VARIABLE, kept_identity
from meshdesk.volunteer.log_records import LogLine
from meshdesk.volunteer.log_redaction import forget_secrets
from meshdesk.volunteer.settings import Settings
from meshdesk.volunteer.status import LinkFacts, LinkState, Problem, Status

SECRET = "q7Zt-vW3x_Kp9"


@pytest.fixture(autouse=True)
def no_secrets_left() -> Iterator[None]:
    yield
    forget_secrets()


def a_bundle(**more: Any) -> Diagnostics:
    arguments: dict[str, Any] = {
        "settings": Settings(tracker="http://mesh.example:7000").model_dump(),
        "status": Status(relay=LinkFacts("wss://relay.example", LinkState.CONNECTED)).to_fields(),
        "lines": [LogLine(1, 0.0, 20, "app", "meshdesk", "started")],
        "findings": [Finding("disk", Verdict.WARNING, "3 GB free", "Make room.")],
        "network": "WSL2, NAT",
        "qt_version": "6.11.3",
    }
    return collect(**{**arguments, **more})


def test_it_holds_what_helps(tmp_path: Path) -> None:
    bundle = a_bundle()
    path = tmp_path / bundle.file_name
    bundle.save(path)
    with zipfile.ZipFile(path) as saved:
        assert saved.testzip() is None
        texts = {name: saved.read(name).decode() for name in saved.namelist()}
    assert texts == dict(bundle.texts), "what was shown is what is in it"
    assert list(texts) == ["versions.txt", "settings.json", "status.json", "doctor.txt", "network.txt", "log.txt"]
    for word in (__version__, "6.11.3", "aiohttp", sys.version.split()[0]):
        assert word in texts["versions.txt"]
    assert json.loads(texts["settings.json"])["tracker"] == "http://mesh.example:7000"
    assert json.loads(texts["status.json"])["relay"]["state"] == "connected"
    assert texts["doctor.txt"] == "warning  disk: 3 GB free\n         Make room.\n"
    assert texts["log.txt"].endswith("INFO     app    meshdesk: started\n")


def test_nothing_secret_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    monkeypatch.setenv("HF_TOKEN", "hf_" + "aB3" * 11)
    with kept_identity() as identity:
        identity.keep_service_secrets("http://t", "ws://r")
        derived = service_secret(identity.secret, "relay ws://r")
        secrets = [SECRET, identity.secret, "hf_" + "aB3" * 11, derived]
        bundle = a_bundle(
            settings={
                "tracker": f"http://u:{SECRET}@mesh.example/?token={SECRET}",
                "hf_token": SECRET,
                "nested": {"api_key": [SECRET], identity.secret: 1},
            },
            status=Status(problem=Problem(f"refused with Authorization: Bearer {SECRET}")).to_fields(),
            lines=[
                LogLine(1, 0.0, 20, "app", "x", f"secret={SECRET}", f"ValueError: password: {SECRET}"),
                LogLine(2, 0.0, 20, "app", "x", f"its identity is {identity.secret}"),
            ],
            findings=[Finding("relay", Verdict.BAD, f"wss://a:{SECRET}@relay answers", f"--token {secrets[2]}")],
            network=f"registered with {derived} by proxy http://me:{SECRET}@proxy.example:3128",
            more={"environment.txt": f"HF_TOKEN={secrets[2]}"},
        )
    bundle.save(tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip") as saved:
        everything = "".join(saved.namelist()) + "".join(saved.read(name).decode() for name in saved.namelist())
    for secret in secrets:
        assert secret not in everything
    assert json.loads(bundle.texts["settings.json"])["hf_token"] == "[removed]"


def test_the_home_directory_is_not_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "anna"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    bundle = a_bundle(settings={"model": str(home / "models")}, network=str(home))
    assert json.loads(bundle.texts["settings.json"]) == {"model": str(Path("~") / "models")}
    assert "anna" not in bundle.texts["network.txt"]


def test_only_the_newest_lines_are_taken() -> None:
    lines = [LogLine(number, 0.0, 20, "app", "x", f"line {number}") for number in range(LOG_LINES + 100)]
    text = a_bundle(lines=lines).texts["log.txt"]
    assert text.count("\n") == LOG_LINES and "line 99\n" not in text and text.endswith(f"line {LOG_LINES + 99}\n")


def test_it_is_saved_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(b"an older one")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(os, "fsync", full)
        a_bundle().save(path)
    assert [each.name for each in tmp_path.iterdir()] == ["a.zip"] and path.read_bytes() == b"an older one"
    a_bundle().save(path)
    assert [each.name for each in tmp_path.iterdir()] == ["a.zip"] and zipfile.is_zipfile(path)
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
