"""Every text has its German, every plural its forms, and what is shipped is what is written down."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from meshdesk.desktop.amounts import count_text
from meshdesk.desktop.background import Background
from meshdesk.desktop.dashboard.dashboard_window import DashboardWindow
from meshdesk.desktop.language import LANGUAGE_VARIABLE, PSEUDO, install_language
from meshdesk.desktop.sentences import chats_text, headline
from meshdesk.volunteer.status import Status
from tests.desktop.recorded_actions import RecordedActions
from tests.desktop.sample_status import NOW, STATES, hops_of

ROOT = Path(__file__).resolve().parents[2]
TRANSLATIONS = ROOT / "meshdesk" / "resources" / "translations"
TOOLS = Path(sys.executable).parent
LUPDATE, LRELEASE = TOOLS / "pyside6-lupdate", TOOLS / "pyside6-lrelease"
PLACES = re.compile(r"\{\w*\}|%n")
needs_tools = pytest.mark.skipif(not LUPDATE.exists(), reason="Qt's translation tools are not beside this Python")


def messages(path: Path) -> dict[tuple[str, str], list[str]]:
    """The translations of each context's texts; several for a plural, "" where one is not finished."""
    found = {}
    for context in ElementTree.parse(path).getroot().iter("context"):
        for message in context.iter("message"):
            translation = message.find("translation")
            assert translation is not None
            forms = [form.text or "" for form in translation] or [translation.text or ""]
            done = translation.get("type") is None
            key = (context.findtext("name", ""), message.findtext("source", ""))
            found[key] = forms if done else [""]
    return found


@needs_tools
@pytest.mark.parametrize("name", ["en", "de"])
def test_every_text_in_the_code_is_translated(name: str, tmp_path: Path) -> None:
    copy = tmp_path / "now.ts"
    copy.write_bytes((TRANSLATIONS / f"meshdesk_{name}.ts").read_bytes())
    files = [
        str(path) for room in ("desktop", "volunteer") for path in sorted((ROOT / "meshdesk" / room).rglob("*.py"))
    ]
    only = ["-pluralonly"] if name == "en" else []
    command = [str(LUPDATE), *files, "-ts", str(copy), "-locations", "none", "-no-obsolete", *only]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    missing = [key for key, forms in messages(copy).items() if not all(forms)]
    assert not missing, f"translate these (make translations): {missing}"


@pytest.mark.parametrize("name", ["en", "de"])
def test_no_translation_loses_a_place(name: str) -> None:
    for (context, source), forms in messages(TRANSLATIONS / f"meshdesk_{name}.ts").items():
        wanted = set(PLACES.findall(source))
        for number, form in enumerate(forms):
            # "One chat" may say it in a word.
            optional = {"%n"} if len(forms) > 1 and number == 0 else set()
            assert wanted - optional <= set(PLACES.findall(form)) <= wanted, (context, source, form)


@needs_tools
@pytest.mark.parametrize("name", ["en", "de"])
def test_what_is_shipped_is_what_is_written(name: str, tmp_path: Path) -> None:
    made = tmp_path / "made.qm"
    source = TRANSLATIONS / f"meshdesk_{name}.ts"
    subprocess.run([str(LRELEASE), str(source), "-qm", str(made)], check=True, capture_output=True, timeout=60)
    assert made.read_bytes() == source.with_suffix(".qm").read_bytes()


def test_the_language_changes_while_the_app_runs(back_to_english: None) -> None:
    assert install_language("de") == "de"
    assert (headline(Status()), chats_text(1), chats_text(3)) == ("Nicht im Mesh", "Jetzt ein Chat", "Jetzt 3 Chats")
    assert count_text(88310) == "88.310"
    assert install_language("en") == "en"
    assert (headline(Status()), chats_text(1), chats_text(3)) == ("Not in the mesh", "1 chat now", "3 chats now")


def test_a_language_of_the_system_that_there_is_not_becomes_english(
    back_to_english: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QLocale, "uiLanguages", lambda self: ["fr-FR", "fr"])
    assert install_language("system") == "en"
    monkeypatch.setattr(QLocale, "uiLanguages", lambda self: ["fr-FR", "de-AT"])
    assert install_language("system") == "de"


@pytest.mark.parametrize("state", sorted(STATES))
def test_no_word_of_the_dashboard_was_forgotten(
    qtbot: QtBot, back_to_english: None, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    """In the language of the translators' trial every translated text stands in brackets, longer than it was."""
    monkeypatch.setenv(LANGUAGE_VARIABLE, PSEUDO)
    install_language("en")
    status = STATES[state]()
    window = DashboardWindow(
        lambda: status, hops_of(state), lambda _: lambda: None, RecordedActions(), Background(), clock=lambda: NOW
    )
    qtbot.addWidget(window)
    window.show()
    data = f"{status} 127.0.0.1 meshdesk"
    for label in (*window.findChildren(QLabel), *window.findChildren(QPushButton)):
        if not label.isVisible():
            continue
        outside = label.text()
        while outside != (outside := re.sub(r"\[[^\[\]]*\]", " ", outside)):
            pass
        forgotten = [word for word in re.findall(r"[A-Za-z]{3,}", outside) if word not in data]
        assert not forgotten, label.text()
