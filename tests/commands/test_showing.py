"""What is shown: hop times, an answer without control characters, lines for a reader that is slow or gone."""

from __future__ import annotations

import io
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from meshdesk.commands import line_writer
from meshdesk.commands.hop_table import HopTable, percentile
from meshdesk.commands.line_writer import LineWriter
from meshdesk.volunteer.chat_client import printable


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(1, 100))
def test_a_percentile_is_a_value_that_enough_do_not_exceed(values: list[float], percent: float) -> None:
    found = percentile(values, percent)
    assert found in values
    assert sum(value <= found for value in values) >= len(values) * percent / 100 - 1e-9
    smaller = [value for value in values if value < found]
    assert len(smaller) < len(values) * percent / 100


def test_the_table_keeps_the_prompt_out_of_the_percentiles() -> None:
    table = HopTable()
    for token, total in enumerate([900.0, 10.0, 30.0, 20.0]):
        for hop, (start, end, way) in enumerate([(0, 15, "local"), (15, 30, "direct-after-relay")]):
            table.add(
                {
                    "hop": hop,
                    "token_index": token,
                    "start_layer": start,
                    "end_layer": end,
                    "way": way,
                    "total_ms": total + hop,
                    "compute_ms": total - 2,
                    "queue_ms": 1.0,
                }
            )
    head, tail = _rows(table)
    assert head == ["head", "0–14", "20.0", "20.0", "30.0", "1.0", "local"]
    assert tail == ["1", "15–29", "21.0", "21.0", "31.0", "2.0", "direct-after-relay"]


def test_a_hop_that_only_saw_the_prompt_has_no_percentiles() -> None:
    table = HopTable()
    fields = {"hop": 0, "token_index": 0, "start_layer": 3, "end_layer": 4, "way": "local"}
    table.add({**fields, "total_ms": 5.0, "compute_ms": 1.0, "queue_ms": 0.0})
    assert _rows(table) == [["head", "3", "5.0", "–", "–", "–", "local"]]


def test_an_answer_cannot_steer_the_terminal() -> None:
    assert printable("a\x1b[2Jb\rc\x07\x9b31m\x7f") == "a[2Jbc31m"
    assert printable("line\n\tnaïve 🙂 漢字") == "line\n\tnaïve 🙂 漢字"


def test_lines_arrive_whole_and_in_order() -> None:
    stream = io.StringIO()
    writer = LineWriter(stream, str)
    for number in range(5000):
        writer.put(f"line {number}")
    writer.close()
    assert stream.getvalue() == "".join(f"line {number}\n" for number in range(5000))


def test_a_reader_that_is_stuck_loses_the_oldest_lines_and_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_writer, "MAX_LINES", 3)
    stream = Stuck()
    writer = LineWriter(stream, lambda count: f"({count} lost)")
    writer.put("first")
    assert stream.reached.wait(10), "the writer is in the middle of a line now"
    for number in range(10):
        writer.put(str(number))
    stream.go_on.set()
    writer.close()
    assert stream.getvalue() == "first\n(7 lost)\n7\n8\n9\n"


def test_a_reader_that_is_gone_is_noticed() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    stream = os.fdopen(writing, "w")
    writer = LineWriter(stream, str)
    writer.put("to nobody")
    writer.close()
    assert writer.broken
    writer.put("more")
    with pytest.raises(BrokenPipeError):
        stream.close()  # What could not be written is still in its buffer.


class Stuck(io.StringIO):
    """A stream whose first write takes until it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = threading.Event()
        self.go_on = threading.Event()

    def write(self, text: str) -> int:
        self.reached.set()
        assert self.go_on.wait(10)
        return super().write(text)


def _rows(table: HopTable) -> list[list[str]]:
    console = Console(file=io.StringIO(), width=120, color_system=None)
    console.print(table.draw())
    file = console.file
    assert isinstance(file, io.StringIO)
    body = [line for line in file.getvalue().splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in body]
