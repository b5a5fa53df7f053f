"""The log on disk stays small, and a disk that fails ends nothing."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from meshdesk.volunteer import log_file
from meshdesk.volunteer.log_file import LogFile
from meshdesk.volunteer.log_records import LogLine


def line(number: int, message: str = "m") -> LogLine:
    return LogLine(number, 0.0, 20, "app", "x", message)


def test_lines_are_written_and_kept_over_runs(tmp_path: Path) -> None:
    for run in (1, 2):
        file = LogFile(tmp_path / "logs")
        file.put(line(1, f"run {run}"))
        file.close()
    assert [text.rpartition(": ")[2] for text in file.path.read_text().splitlines()] == ["run 1", "run 2"]
    if sys.platform != "win32":
        assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


def test_files_are_bounded_in_size_and_number(tmp_path: Path) -> None:
    file = LogFile(tmp_path, file_bytes=2000, files=3)
    for number in range(100):
        file.put(line(number, f"{number:03} " + "x" * 100))
        file.flush()
    file.close()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["meshdesk.log", "meshdesk.log.1", "meshdesk.log.2"]
    assert all(path.stat().st_size <= 2000 for path in tmp_path.iterdir())
    texts = "".join((tmp_path / name).read_text() for name in reversed(names))
    numbers = [int(text.split("x: ")[1][:3]) for text in texts.splitlines()]
    assert numbers == list(range(numbers[0], 100))


def test_what_a_failing_disk_loses_is_told_once_it_works_again(tmp_path: Path) -> None:
    directory = tmp_path / "logs"
    directory.write_text("a file where the directory should be")
    file = LogFile(directory)
    for number in (1, 2, 3):
        file.put(line(number))
    assert file.flush()
    directory.unlink()
    file.put(line(4, "back"))
    file.close()
    dropped, back = (directory / log_file.NAME).read_text().splitlines()
    assert dropped.endswith("3 lines dropped") and back.endswith("back")


def test_a_disk_that_is_too_slow_loses_lines_not_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "QUEUED_LINES", 5)
    fifo = tmp_path / log_file.NAME
    os.mkfifo(fifo)
    file = LogFile(tmp_path)
    for number in range(1, 200):
        file.put(line(number))
    # Opening the pipe to read is what lets the writer go on.
    with fifo.open("rb") as reader:
        file.put(line(200, "last"))
        file.close()
        text = reader.read().decode()
    assert "lines dropped" in text
