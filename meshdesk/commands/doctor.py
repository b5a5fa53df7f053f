"""``meshdesk doctor``: what stands in the way of running a node here, and what to do about it."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

import orjson
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from meshdesk.commands.options import Json
from meshdesk.volunteer.finding import Finding, Verdict
from meshdesk.volunteer.urls import http_url, websocket_url

_SHOWN = {Verdict.GOOD: ("✓", "green"), Verdict.WARNING: ("!", "yellow"), Verdict.BAD: ("✗", "red")}


def doctor(
    tracker: Annotated[
        str | None, typer.Option(help="Also look whether this tracker answers.", show_default=False)
    ] = None,
    relay: Annotated[str | None, typer.Option(help="Also look whether this relay answers.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """Check this computer and its connection: programs, model, memory, disk, tracker, relay, clock, WSL2, proxy, port.

    Where meshdesk runs, its own mesh and port are looked at. Exit code 1 if something is missing.
    """
    tracker_url = None if tracker is None else http_url(tracker, "--tracker")
    relay_url = None if relay is None else websocket_url(relay, "--relay")
    findings = _of_running() if tracker is None and relay is None else None
    if findings is None:
        findings = asyncio.run(_look(tracker_url, relay_url))
    bad = any(finding.verdict is Verdict.BAD for finding in findings)
    if json:
        fields = [each.to_fields() for each in findings]
        sys.stdout.write(orjson.dumps({"ok": not bad, "findings": fields}).decode() + "\n")
    else:
        _print(findings)
        print("Something is missing; see above." if bad else "This computer can run a node.")
    sys.exit(1 if bad else 0)


async def _look(tracker_url: str | None, relay_url: str | None) -> list[Finding]:
    from meshdesk.volunteer.checks import check_everything

    return [finding async for finding in check_everything(tracker_url, relay_url)]


def _of_running() -> list[Finding] | None:
    """What the running meshdesk finds; None where none runs, or it cannot tell."""
    from meshdesk.volunteer.control_client import DOCTOR_S, ControlClient, running
    from meshdesk.volunteer.control_protocol import Command, ControlError

    places = running()
    if not places:
        return None
    try:
        told = ControlClient(places[0]).ask(Command.DOCTOR, DOCTOR_S)
        return [Finding(each["check"], Verdict(each["verdict"]), each["found"], each["advice"]) for each in told]
    except (ControlError, KeyError, TypeError, ValueError):
        return None


def _print(findings: list[Finding]) -> None:
    table = Table(box=None, show_header=False, pad_edge=False)
    for finding in findings:
        sign, style = _SHOWN[finding.verdict]
        advice = Text(f"\n{finding.advice}", style=style) if finding.advice else Text()
        table.add_row(Text(sign, style=style), Text(finding.check), Text(finding.found) + advice)
    Console(highlight=False, emoji=False).print(table)
