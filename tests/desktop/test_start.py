"""What the app refuses to start on, each with what to do."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from meshdesk.desktop import start
from meshdesk.desktop.first_look import FirstLook, read_first_look
from meshdesk.desktop.start import NoDesktop


def test_a_binding_that_aborts_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lambda name: "6.12.0" if "PySide6" in name else "1")
    with pytest.raises(NoDesktop, match=r"PySide6 6\.12\.0 does not work with Python 3\.11") as caught:
        start._check_binding((3, 11))
    assert caught.value.hint is not None and "PySide6-Essentials<6.12" in caught.value.hint
    start._check_binding((3, 12))


def test_without_the_windows_parts_the_headless_node_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    with pytest.raises(NoDesktop) as caught:
        start._check_binding((3, 11))
    assert caught.value.hint is not None and "meshdesk[desktop]" in caught.value.hint


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a screen")
def test_without_a_screen_it_is_a_sentence_and_no_abort(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "meshdesk"],
        env={"MESHDESK_DATA": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr == (
        "meshdesk: There is no screen to show a window on. Run a node without one: meshdesk node --tracker ADDRESS\n"
    )


def test_no_window_brings_torch_into_the_apps_process() -> None:
    script = """
import importlib, pkgutil, sys
for package in ("meshdesk.desktop", "meshdesk.volunteer", "meshdesk.node"):
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        importlib.import_module(module.name)
print(*sorted({"torch", "transformers", "safetensors"} & set(sys.modules)))
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.strip() == ""


@pytest.mark.parametrize(
    ("text", "look"),
    [
        ('{"theme": "dark", "language": "de"}', FirstLook("dark", "de")),
        ('{"theme": 7}', FirstLook()),
        ("[]", FirstLook()),
        ("{", FirstLook()),
    ],
)
def test_the_first_look_takes_what_is_of_use(tmp_path: Path, text: str, look: FirstLook) -> None:
    (tmp_path / "settings.json").write_text(text)
    assert read_first_look(tmp_path / "settings.json") == look


def test_without_settings_the_first_look_is_the_systems(tmp_path: Path) -> None:
    assert read_first_look(tmp_path / "settings.json") == FirstLook()
