"""Log lines and hops as the JSON items that ``meshdesk logs`` and ``meshdesk hops`` follow."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from meshdesk.node.events import Way
from meshdesk.volunteer.hop_history import HopHistory, HopRecord
from meshdesk.volunteer.log_records import LogLine, LogRing

POLL_S = 0.2
NEWEST_LINES = 200
BATCH = 500


async def log_items(ring: LogRing, follow: bool) -> AsyncGenerator[dict[str, Any], None]:
    """The newest lines, and with ``follow`` each that comes, until closed."""
    lines, last = ring.newest(NEWEST_LINES), 0
    while True:
        for line in lines:
            yield line_fields(line)
            last = line.number
        if not follow:
            return
        if not lines:
            await asyncio.sleep(POLL_S)
        lines = ring.since(last, BATCH)


async def hop_items(history: HopHistory, follow: bool) -> AsyncGenerator[dict[str, Any], None]:
    """The kept records, and with ``follow`` each that comes, until closed."""
    last: HopRecord | None = None
    version = -1
    while True:
        if history.version != version:
            version = history.version
            for record in _after(list(history.records), last):
                yield hop_fields(record)
                last = record
        else:
            await asyncio.sleep(POLL_S)
        if not follow:
            return


def line_fields(line: LogLine) -> dict[str, Any]:
    return {**dataclasses.asdict(line), "level": line.level_name}


def hop_fields(record: HopRecord) -> dict[str, Any]:
    """Times in ms, layers half-open; ``way`` and ``network_ms`` null for what was served for others."""
    return {**dataclasses.asdict(record), "network_ms": record.network_ms}


def record_of(fields: Mapping[str, Any]) -> HopRecord:
    """The record that ``hop_fields`` took apart. KeyError, ValueError or TypeError if it is none."""
    known = {each.name: fields[each.name] for each in dataclasses.fields(HopRecord)}
    return HopRecord(**{**known, "way": None if known["way"] is None else Way(known["way"])})


def _after(records: list[HopRecord], last: HopRecord | None) -> list[HopRecord]:
    """Those that came after ``last``, or all if it is gone."""
    for index in range(len(records) - 1, -1, -1):
        if records[index] is last:
            return records[index + 1 :]
    return records
