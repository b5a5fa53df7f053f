"""The doctor's checks against servers that behave like those a volunteer meets, and against a poor computer."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable
from email.utils import formatdate

import pytest
from aiohttp import web

from meshdesk.volunteer import checks, computer_checks, connection_checks
from meshdesk.volunteer.checks import check_connection, check_everything
from meshdesk.volunteer.connection_checks import (
    check_clock,
    check_direct,
    check_network,
    check_port,
    check_proxy,
    check_relay,
    check_tracker,
    check_wsl,
)
from meshdesk.volunteer.finding import Finding, Verdict
from meshdesk.volunteer.network import AddressKind, NetworkFacts, OwnAddress
from meshdesk.volunteer.status import DirectFacts, WhyNotDirect
from meshdesk.volunteer.wsl import WslMode

Answer = Callable[[web.Request], web.StreamResponse]


@contextlib.asynccontextmanager
async def server(answer: Answer) -> AsyncIterator[int]:
    """A server on loopback that answers everything with ``answer``; its port."""

    async def handle(request: web.Request) -> web.StreamResponse:
        response = answer(request)
        if isinstance(response, web.WebSocketResponse):
            await response.prepare(request)
            await response.close()
        return response

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def at(skew_s: float) -> Answer:
    return lambda _: web.json_response({}, headers={"Date": formatdate(time.time() - skew_s, usegmt=True)})


async def test_a_tracker_is_timed_and_its_clock_compared() -> None:
    async with server(at(0)) as port:
        finding, skew = await check_tracker(f"http://127.0.0.1:{port}")
    assert finding.verdict is Verdict.GOOD and "answers in" in finding.found
    assert skew is not None and abs(skew) < 1.5
    for apart in (60, -3600):
        async with server(at(apart)) as port:
            _, skew = await check_tracker(f"http://127.0.0.1:{port}")
        clock = check_clock(skew)
        assert clock is not None and clock.verdict is Verdict.WARNING and clock.advice
        assert ("ahead" if apart > 0 else "behind") in clock.found and str(abs(apart))[:2] in clock.found
    assert check_clock(None) is None


@pytest.mark.parametrize("date", ["", "yesterday"])
async def test_a_tracker_without_a_clock_is_no_fault(date: str) -> None:
    async with server(lambda _: web.json_response({}, headers={"Date": date})) as port:
        finding, skew = await check_tracker(f"http://127.0.0.1:{port}")
    assert finding.verdict is Verdict.GOOD and skew is None


async def test_what_answers_wrongly_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async with server(lambda _: web.json_response({}, status=502)) as port:
        assert "status 502" in (await check_tracker(f"http://127.0.0.1:{port}"))[0].found
    async with server(lambda _: web.Response(text="<html>captive</html>", content_type="text/html")) as port:
        finding, _ = await check_tracker(f"http://127.0.0.1:{port}")
        assert finding.verdict is Verdict.BAD and "as it should" in finding.found
    with socket.socket() as silent:
        monkeypatch.setattr(connection_checks, "ASK_S", 0.1)
        silent.bind(("127.0.0.1", 0))
        silent.listen(1)
        finding, _ = await check_tracker(f"http://127.0.0.1:{silent.getsockname()[1]}")
        assert "did not answer within" in finding.found


async def test_a_relay_must_let_websockets_through() -> None:
    def relay(request: web.Request) -> web.StreamResponse:
        return web.WebSocketResponse() if request.path == "/ws" else web.json_response({})

    async with server(relay) as port:
        assert (await check_relay(f"ws://127.0.0.1:{port}")).verdict is Verdict.GOOD
    async with server(lambda _: web.json_response({})) as port:
        finding = await check_relay(f"ws://127.0.0.1:{port}")
    assert finding.verdict is Verdict.BAD and "WebSocket" in finding.found and "127.0.0.1" in finding.advice
    assert "refused" in (await check_relay("ws://127.0.0.1:1")).found


async def test_the_port_is_free_ours_a_nodes_or_anothers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await check_port("127.0.0.1", 0)).verdict is Verdict.GOOD
    async with server(lambda _: web.json_response({"node_id": "n1"})) as port:
        assert "this meshdesk" in (await check_port("127.0.0.1", port, ours=True)).found
        assert "node of this computer" in (await check_port("127.0.0.1", port)).found
    assert "is free" in (await check_port("127.0.0.1", port)).found
    async with server(lambda _: web.json_response({})) as port:
        taken = await check_port("127.0.0.1", port)
    assert taken.verdict is Verdict.BAD and "another program" in taken.found
    monkeypatch.setattr(connection_checks, "_cannot_bind", lambda host, port: errno.EACCES)
    assert "not allowed" in (await check_port("127.0.0.1", 80)).found


def own(address: str, kind: AddressKind, **more: bool) -> NetworkFacts:
    return NetworkFacts((OwnAddress("eth0", address, kind, **more),), towards_tracker=address)


def test_addresses_wsl_and_proxies_are_told() -> None:
    assert "192.168.1.2 (eth0, private)" in check_network(own("192.168.1.2", AddressKind.PRIVATE)).found
    assert check_network(own("172.17.0.1", AddressKind.PRIVATE, virtual=True)).verdict is Verdict.WARNING
    assert check_wsl(NetworkFacts()) is None
    nat = check_wsl(NetworkFacts(wsl=WslMode.NAT))
    assert nat is not None and nat.verdict is Verdict.GOOD and "relay" in nat.found
    assert check_proxy(NetworkFacts()).found == "none"
    assert "without it" in check_proxy(NetworkFacts(proxies={"https": "http://p:3128"})).advice


def test_not_being_dialled_is_normal_with_a_relay_and_a_warning_without() -> None:
    private = own("192.168.1.2", AddressKind.PRIVATE)
    behind = DirectFacts(False, WhyNotDirect.PRIVATE, "http://192.168.1.2:1")
    assert check_direct(private, behind, has_relay=True).verdict is Verdict.GOOD
    alone = check_direct(private, behind, has_relay=False)
    assert alone.verdict is Verdict.WARNING and "There is no relay" in alone.found and alone.advice
    assert "router" in check_direct(private, None, has_relay=True).found
    assert check_direct(NetworkFacts(), None, has_relay=False).verdict is Verdict.GOOD


async def test_a_check_that_fails_does_not_hide_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object, **__: object) -> Finding:
        raise RuntimeError("no sockets left")

    monkeypatch.setattr(checks, "check_port", fail)
    found = [finding async for finding in check_connection(checks.Examined())]
    assert any("no sockets left" in finding.found for finding in found)
    assert {"network", "proxy", "direct hops"} <= {str(finding.check) for finding in found}


async def test_findings_come_before_the_slowest_check_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = asyncio.Event()

    async def slow() -> Finding:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    monkeypatch.setattr(checks, "check_torch", slow)
    seen = []
    findings = check_everything(connection_first=True)
    async for finding in findings:
        seen.append(str(finding.check))
        if finding.check == "graphics":
            break
    await findings.aclose()
    assert seen[0] == "port" and "Python" in seen and ended.is_set()


def test_a_poor_computer_is_told_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computer_checks, "NEEDED_PYTHON", (9, 0))
    assert computer_checks.check_python().verdict is Verdict.BAD
    monkeypatch.setattr(computer_checks, "PACKAGES", ("orjson", "no-such-package"))
    packages = computer_checks.check_packages()
    assert packages.verdict is Verdict.BAD and "no-such-package" in packages.found
    monkeypatch.setattr(computer_checks, "WINDOWS", ("no-such-qt",))
    assert computer_checks.check_qt().verdict is Verdict.WARNING, "a headless node needs no windows"
    monkeypatch.setattr(computer_checks, "find_gpus", lambda: ("NVIDIA GeForce RTX 4090",))
    assert "RTX 4090; not used" in computer_checks.check_gpu().found


def test_the_qt_that_ends_programs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computer_checks, "_version", lambda name: "6.12.0")
    for python, verdict in (((3, 11, 9), Verdict.BAD), ((3, 12, 0), Verdict.GOOD)):
        monkeypatch.setattr(sys, "version_info", python)
        assert computer_checks.check_qt().verdict is verdict


def test_a_finding_is_plain_json_in_english() -> None:
    finding = check_proxy(NetworkFacts())
    assert finding.to_fields() == {"check": "proxy", "verdict": "good", "found": "none", "advice": ""}
    assert all(type(value) is str for value in finding.to_fields().values())
