"""A role as a child: what it logs keeps its level, and what is no line of its log is said as it is."""

from __future__ import annotations

import asyncio
import logging

import pytest

from meshdesk.volunteer.child_role import ChildRole, RoleFailed


async def read(caplog: pytest.LogCaptureFixture, *lines: str) -> list[tuple[int, str]]:
    role = ChildRole("relay", [])
    stream = asyncio.StreamReader()
    stream.feed_data("".join(f"{line}\n" for line in lines).encode())
    stream.feed_eof()
    with caplog.at_level(logging.DEBUG, "meshdesk.role"):
        await role._read_errors(stream)
    return [(record.levelno, record.getMessage()) for record in caplog.records]


async def test_a_roles_log_keeps_its_levels(caplog: pytest.LogCaptureFixture) -> None:
    said = await read(
        caplog,
        "2026-12-01 04:57:30,113 INFO meshdesk.relay.server: listening on port 38603",
        "2026-12-01 04:57:31,001 WARNING meshdesk.relay.hub: peer abc is gone",
        "something from elsewhere, 50 % of it",
    )
    assert said == [
        (logging.INFO, "relay: meshdesk.relay.server: listening on port 38603"),
        (logging.WARNING, "relay: meshdesk.relay.hub: peer abc is gone"),
        (logging.INFO, "relay: something from elsewhere, 50 % of it"),
    ]


async def test_a_role_that_ends_at_once_says_why() -> None:
    role = ChildRole("relay", ["relay", "--port", "no-number"])
    with pytest.raises(RoleFailed, match="relay"):
        await role.start(20)
    await role.stop()
