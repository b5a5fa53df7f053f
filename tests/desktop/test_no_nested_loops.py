"""No window of the app runs an event loop inside the app's: other tasks would stop, some for good."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import meshdesk.desktop

ROOM = Path(meshdesk.desktop.__file__).parent
LOOPS = {"exec", "exec_", "processEvents"}
"""Methods that run a loop until something happens, of whatever object."""
ASKING = {
    "QMessageBox": ("about", "aboutQt", "critical", "information", "question", "warning"),
    "QFileDialog": ("get", "saveFileContent"),
    "QInputDialog": ("get",),
    "QColorDialog": ("get",),
    "QFontDialog": ("get",),
}
"""Static functions, by the beginning of their names, that show a dialog and wait for it."""


def nested_loops(source: str) -> Iterator[int]:
    """The lines of ``source`` on which a nested event loop would run."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Attribute):
            continue
        owner = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
        if node.attr in LOOPS or node.attr.startswith(ASKING.get(owner, ())):
            yield node.lineno


@pytest.mark.parametrize("file", sorted(ROOM.rglob("*.py")), ids=lambda file: str(file.relative_to(ROOM)))
def test_no_window_runs_a_loop_of_its_own(file: Path) -> None:
    assert list(nested_loops(file.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "line",
    [
        "dialog.exec()",
        "self.menu.exec_(point)",
        "QDialog(self).exec()",
        "QMessageBox.question(self, '', '')",
        "QtWidgets.QMessageBox.warning(self, '', '')",
        "QFileDialog.getSaveFileName(self)",
        "ask = QInputDialog.getText",
        "QColorDialog.getColor()",
        "QApplication.processEvents()",
        "QCoreApplication.instance().processEvents()",
    ],
)
def test_a_nested_loop_is_seen(line: str) -> None:
    assert list(nested_loops(f"import x\n{line}")) == [2]


@pytest.mark.parametrize(
    "line", ["dialog.open()", "log.warning('x')", "QMessageBox(self).open()", "executor.submit(f)"]
)
def test_what_is_allowed_is_not_seen(line: str) -> None:
    assert list(nested_loops(line)) == []
