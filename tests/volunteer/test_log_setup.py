"""One stream takes up everything, gives back what it took, and lets no secret through."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import gc
import io
import logging
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from meshdesk.volunteer.fault_hooks import CRASH_FILE
from meshdesk.volunteer.log_records import LogLine
from meshdesk.volunteer.log_redaction import REMOVED, forget_secrets, keep_secret
from meshdesk.volunteer.log_setup import Fault, LogStream

SECRET = "q7Zt-vW3x_Kp9"


@pytest.fixture
def stream(tmp_path: Path) -> Iterator[LogStream]:
    stream = LogStream.install(tmp_path / "logs", "debug")
    yield stream
    stream.close()
    forget_secrets()


def last(stream: LogStream) -> LogLine:
    return stream.ring.newest(1)[0]


def test_records_reach_memory_and_disk_with_their_origin(stream: LogStream) -> None:
    logging.getLogger("meshdesk.node.head").debug("a token of %d", 7)
    logging.getLogger("meshdesk.shard.child").warning("from the child")
    assert [(line.origin, line.message) for line in stream.ring.since(0)] == [
        ("engine", "a token of 7"),
        ("child", "from the child"),
    ]
    stream.close()
    assert [text.partition(" ")[2].partition(" ")[2] for text in stream.path.read_text().splitlines()] == [
        "DEBUG    engine meshdesk.node.head: a token of 7",
        "WARNING  child  meshdesk.shard.child: from the child",
    ]


def test_secrets_reach_no_handler(stream: LogStream, tmp_path: Path) -> None:
    keep_secret(SECRET)
    log = logging.getLogger("meshdesk.node")
    log.info("hub token is %s", SECRET)
    try:
        raise ValueError(SECRET)
    except ValueError:
        log.exception("failed for https://u:%s@h/", "pw")
    log.warning("%d", SECRET)
    log.warning("x", extra={"details": f"token={SECRET}"})
    thread = threading.Thread(target=lambda: {}[SECRET])
    thread.start()
    thread.join()
    stream.close()
    in_memory = "\n".join(line.text for line in stream.ring.since(0))
    for text in (in_memory, stream.path.read_text()):
        assert SECRET not in text and ":pw@" not in text and text.count(REMOVED) >= 5


def test_handlers_that_were_there_before_are_watched_too(tmp_path: Path) -> None:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    logging.getLogger("meshdesk.other").addHandler(handler)
    stream = LogStream.install(tmp_path)
    logging.getLogger("meshdesk.other").warning("token=%s", SECRET)
    stream.close()
    logging.getLogger("meshdesk.other").removeHandler(handler)
    assert written.getvalue() == f"token={REMOVED}\n"
    assert not handler.filters


def test_what_nobody_caught_is_told_with_its_traceback(stream: LogStream, capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise ValueError(f"password={SECRET}")

    thread = threading.Thread(target=fail, name="worker")
    thread.start()
    thread.join()
    in_thread = last(stream)
    with contextlib.suppress(ValueError):
        fail()
    try:
        fail()
    except ValueError as error:
        sys.excepthook(ValueError, error, error.__traceback__)
    in_main = last(stream)
    for line, where in ((in_thread, "in thread worker"), (in_main, "in the app")):
        assert line.origin == "fault" and line.level == logging.ERROR
        assert line.message == f"Not caught {where}: ValueError: password={REMOVED}"
        assert "in fail" in line.details and SECRET not in line.details
    shown = capsys.readouterr().err
    assert "in fail" in shown and SECRET not in shown


def test_a_finaliser_that_fails_is_told(stream: LogStream) -> None:
    class Loose:
        def __del__(self) -> None:
            raise LookupError("gone")

    Loose()
    gc.collect()
    assert last(stream).message == "Not caught in the clean-up of function: LookupError: gone"


def test_an_interrupt_from_the_keyboard_is_no_fault(stream: LogStream) -> None:
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert last(stream).level == logging.INFO


def test_the_loop_tells_of_what_nobody_awaited(stream: LogStream) -> None:
    def fail() -> None:
        raise ValueError(f"secret={SECRET}")

    async def body() -> None:
        loop = asyncio.get_running_loop()
        stream.attach_loop(loop)
        loop.call_soon(fail)
        await asyncio.sleep(0)
        line = last(stream)
        assert line.origin == "fault" and "in the event loop: Exception in callback" in line.message
        assert SECRET not in line.text and "in fail" in line.details
        loop.call_exception_handler({"message": "a network failed", "exception": ConnectionResetError("peer")})
        assert last(stream).origin == "engine" and last(stream).message == "a network failed"

    with contextlib.closing(asyncio.new_event_loop()) as loop:
        loop.run_until_complete(body())
        stream.close()
        assert loop.get_exception_handler() is None


def test_warnings_come_into_the_log(stream: LogStream) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    assert last(stream).message.startswith("DeprecationWarning: old (test_log_setup.py:")


def test_close_gives_everything_back(tmp_path: Path) -> None:
    def state() -> list[object]:
        root, meshdesk = logging.getLogger(), logging.getLogger("meshdesk")
        return [
            (sys.excepthook, threading.excepthook, sys.unraisablehook, warnings.showwarning),
            (root.level, meshdesk.level, list(root.handlers), [list(handler.filters) for handler in root.handlers]),
            faulthandler.is_enabled(),
            {thread.name for thread in threading.enumerate()},
        ]

    before = state()
    stream = LogStream.install(tmp_path, "error")
    assert state() != before
    stream.close()
    stream.close()
    assert state() == before
    assert not (tmp_path / CRASH_FILE).exists()


def test_a_hook_that_somebody_took_later_stays_theirs(tmp_path: Path) -> None:
    before = sys.excepthook
    stream = LogStream.install(tmp_path)
    theirs = lambda *args: None  # noqa: E731
    sys.excepthook = theirs
    stream.close()
    assert sys.excepthook is theirs
    sys.excepthook = before


def test_levels_hold_libraries_shorter(stream: LogStream) -> None:
    enabled = logging.Logger.isEnabledFor
    ours, theirs = logging.getLogger("meshdesk.node"), logging.getLogger("some.library")
    assert enabled(ours, logging.DEBUG) and not enabled(theirs, logging.DEBUG) and enabled(theirs, logging.INFO)
    stream.set_level("info")
    assert not enabled(ours, logging.DEBUG) and not enabled(theirs, logging.INFO)
    stream.set_level("error")
    assert not enabled(ours, logging.WARNING) and not enabled(theirs, logging.WARNING)


def test_very_long_texts_are_cut_and_control_characters_shown(stream: LogStream) -> None:
    logging.getLogger("meshdesk").info("\x1b[31m%s", "a" * 100_000 + "the end")
    message = last(stream).message
    assert len(message) < 17_000 and message.startswith("\\x1b[31maaa") and message.endswith("the end")


def test_faults_are_told_once_a_group_and_the_early_ones_later(stream: LogStream) -> None:
    def report(number: int, kind: type[Exception] = ValueError) -> None:
        try:
            raise kind(f"number {number}")
        except Exception as error:
            logging.getLogger("meshdesk.fault").error("Not caught: %s", error, exc_info=True)

    report(1)
    told: list[Fault] = []
    forget = stream.listen_to_faults(told.append)
    report(2)
    report(3, KeyError)
    assert [fault.line.message for fault in told] == ["Not caught: number 1", "Not caught: 'number 3'"]
    assert len(stream.ring) == 3, "each of them is in the log"
    forget()
    report(4, LookupError)
    assert len(told) == 2


CRASH = """
import ctypes, logging, sys
from pathlib import Path
from meshdesk.volunteer.log_setup import LogStream
LogStream.install(Path(sys.argv[1]))
ctypes.string_at(0)
"""


def test_a_run_that_died_is_told_of_at_the_next_start(tmp_path: Path) -> None:
    died = subprocess.run([sys.executable, "-c", CRASH, str(tmp_path)], capture_output=True, check=False, timeout=30)
    assert died.returncode != 0
    stream = LogStream.install(tmp_path)
    line = last(stream)
    told: list[Fault] = []
    stream.listen_to_faults(told.append)
    stream.close()
    assert line.message == "The last run ended with a fault: Fatal Python error: Segmentation fault"
    assert line.origin == "fault" and "string_at" in line.details
    assert [fault.line for fault in told] == [line]
    after = LogStream.install(tmp_path)
    after.close()
    assert len(after.ring) == 0


def test_the_last_words_of_a_run_that_just_ends_are_written(tmp_path: Path) -> None:
    code = CRASH.replace(
        "ctypes.string_at(0)", "logging.getLogger('meshdesk').info('bye')\nraise ValueError('token=abcdef')"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, check=False, timeout=30)
    assert ended.returncode == 1 and b"abcdef" not in ended.stderr and b"ValueError" in ended.stderr
    text = (tmp_path / "meshdesk.log").read_text()
    assert "bye" in text and "ValueError" in text and "abcdef" not in text
