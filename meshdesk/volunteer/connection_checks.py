"""The doctor's look at the way to the mesh: tracker, relay, clock, addresses, proxy, port, direct reachability."""

from __future__ import annotations

import errno
import os
import socket
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from meshdesk.volunteer.direct_words import explain
from meshdesk.volunteer.finding import Finding, Verdict
from meshdesk.volunteer.network import AddressKind, NetworkFacts, why_not_direct
from meshdesk.volunteer.status import DirectFacts, WhyNotDirect
from meshdesk.volunteer.wording import QT_TRANSLATE_NOOP, Words
from meshdesk.volunteer.wsl import WslMode

if TYPE_CHECKING:
    import aiohttp

ASK_S = 5.0
SKEW_S = 5.0
"""From here on a clock that is wrong confuses deadlines and logs."""

TRACKER = QT_TRANSLATE_NOOP("Checks", "tracker")
RELAY = QT_TRANSLATE_NOOP("Checks", "relay")
CLOCK = QT_TRANSLATE_NOOP("Checks", "clock")
_CHECK_ADDRESS = QT_TRANSLATE_NOOP("Checks", "Check the address, and that it runs.")


@dataclass(frozen=True, slots=True)
class Reached:
    """How a server answered: ``problem`` "" if well, ``ms`` one round trip, ``skew_s`` its clock against ours."""

    problem: Words | None = None
    ms: float | None = None
    skew_s: float | None = None


async def check_tracker(url: str) -> tuple[Finding, float | None]:
    """Whether the tracker answers, how fast, and how far its clock is from ours in seconds."""
    full = url.rstrip("/") + "/v1/models"
    reached = await _ask(full)
    return _answered(TRACKER, full, reached), reached.skew_s


async def check_relay(url: str) -> Finding:
    """Whether the relay answers, how fast, and whether a WebSocket gets through to it."""
    full = "http" + url.rstrip("/").removeprefix("ws") + "/health"
    reached = await _ask(full)
    if reached.problem is None:
        problem = await _open_websocket(url.rstrip("/") + "/ws")
        if problem is not None:
            advice = QT_TRANSLATE_NOOP("Checks", "A firewall or a virus scanner stops WebSockets; let {host} through.")
            return Finding(RELAY, Verdict.BAD, problem, advice.format(host=urlsplit(url).hostname or ""))
    return _answered(RELAY, full, reached)


def check_clock(skew_s: float | None) -> Finding | None:
    """This computer's clock against the tracker's; None where nothing is known. Ahead is positive."""
    if skew_s is None:
        return None
    if abs(skew_s) <= SKEW_S:
        return Finding(CLOCK, Verdict.GOOD, QT_TRANSLATE_NOOP("Checks", "agrees with the tracker's"))
    found = (
        QT_TRANSLATE_NOOP("Checks", "{seconds} s ahead of the tracker's")
        if skew_s > 0
        else QT_TRANSLATE_NOOP("Checks", "{seconds} s behind the tracker's")
    )
    return Finding(
        CLOCK,
        Verdict.WARNING,
        found.format(seconds=round(abs(skew_s))),
        QT_TRANSLATE_NOOP("Checks", "Let the system set its time by itself."),
    )


def check_network(facts: NetworkFacts) -> Finding:
    """By which addresses this computer could be dialled."""
    check = QT_TRANSLATE_NOOP("Checks", "network")
    own = [each for each in facts.addresses if each.kind not in (AddressKind.LOOPBACK, AddressKind.LINK_LOCAL)]
    shown = [
        f"{each.address} ({each.interface}, {each.kind.value}{', VPN' if each.vpn else ''})"
        for each in own
        if not each.virtual
    ]
    if not shown:
        return Finding(
            check,
            Verdict.WARNING,
            QT_TRANSLATE_NOOP("Checks", "no address beyond this computer"),
            QT_TRANSLATE_NOOP("Checks", "Connect this computer to a network, unless it is to practise alone."),
        )
    return Finding(check, Verdict.GOOD, ", ".join(shown[:6]) + (" …" if len(shown) > 6 else ""))


def check_wsl(facts: NetworkFacts) -> Finding | None:
    """WSL and its mode; None elsewhere."""
    if facts.wsl is WslMode.NOT_WSL:
        return None
    found = {
        WslMode.WSL1: QT_TRANSLATE_NOOP("Checks", "WSL1, which shares the network of Windows"),
        WslMode.NAT: QT_TRANSLATE_NOOP("Checks", "WSL2 in NAT mode: others reach it through the relay only"),
        WslMode.MIRRORED: QT_TRANSLATE_NOOP("Checks", "WSL2 in mirrored mode, behind the Hyper-V firewall"),
    }.get(facts.wsl, QT_TRANSLATE_NOOP("Checks", "WSL2, in a network mode that is not known"))
    return Finding("WSL", Verdict.GOOD, found)


def check_proxy(facts: NetworkFacts) -> Finding:
    check = QT_TRANSLATE_NOOP("Checks", "proxy")
    if not facts.proxies:
        return Finding(check, Verdict.GOOD, QT_TRANSLATE_NOOP("Checks", "none"))
    shown = ", ".join(f"{kind}: {address}" for kind, address in facts.proxies.items())
    return Finding(
        check,
        Verdict.GOOD,
        shown,
        QT_TRANSLATE_NOOP(
            "Checks", "Only models are fetched through it. Tracker and relay must be reachable without it."
        ),
    )


async def check_port(host: str, port: int, *, ours: bool = False) -> Finding:
    """Whether the port for direct hops can be had; ``ours``: this meshdesk listens there now."""
    check = QT_TRANSLATE_NOOP("Checks", "port")
    if port == 0:
        return Finding(check, Verdict.GOOD, QT_TRANSLATE_NOOP("Checks", "any free one"))
    if ours:
        found = QT_TRANSLATE_NOOP("Checks", "{port}, this meshdesk listens there").format(port=port)
        return Finding(check, Verdict.GOOD, found)
    problem = _cannot_bind(host, port)
    if problem is None:
        return Finding(check, Verdict.GOOD, QT_TRANSLATE_NOOP("Checks", "{port} is free").format(port=port))
    if problem != errno.EADDRINUSE:
        found = QT_TRANSLATE_NOOP("Checks", "{port} is not allowed to this user").format(port=port)
        return Finding(check, Verdict.BAD, found, QT_TRANSLATE_NOOP("Checks", "Choose one above 1024."))
    if await _is_node(port):
        found = QT_TRANSLATE_NOOP("Checks", "{port}, a meshdesk node of this computer listens there").format(port=port)
        return Finding(check, Verdict.GOOD, found)
    found = QT_TRANSLATE_NOOP("Checks", "{port} is in use by another program").format(port=port)
    return Finding(check, Verdict.BAD, found, QT_TRANSLATE_NOOP("Checks", "Choose another, or 0 for any free one."))


def check_direct(facts: NetworkFacts, direct: DirectFacts | None, *, has_relay: bool) -> Finding:
    """How peers reach this computer. Not being dialled directly is normal as long as there is a relay."""
    check = QT_TRANSLATE_NOOP("Checks", "direct hops")
    if direct is None and not facts.towards_tracker:
        direct = DirectFacts()
    if direct is None:
        host = facts.towards_tracker
        endpoint = (f"http://[{host}]" if ":" in host else f"http://{host}") if host else None
        direct = why_not_direct(facts, direct_hops=True, endpoint=endpoint, tracker_probe=None)
    sentence, advice = explain(direct)
    fine = has_relay or direct.reachable or direct.why in (WhyNotDirect.LOOPBACK, WhyNotDirect.UNKNOWN)
    if not fine:
        sentence = QT_TRANSLATE_NOOP("Checks", "There is no relay, and peers can hardly dial this computer directly.")
    return Finding(check, Verdict.GOOD if fine else Verdict.WARNING, sentence, advice)


def _answered(check: Words, url: str, reached: Reached) -> Finding:
    if reached.problem is not None:
        return Finding(check, Verdict.BAD, reached.problem, _CHECK_ADDRESS)
    found = QT_TRANSLATE_NOOP("Checks", "{url} answers in {ms} ms").format(url=url, ms=f"{reached.ms:.1f}")
    return Finding(check, Verdict.GOOD, found)


async def _ask(url: str) -> Reached:
    """Ask twice over one connection: the first time opens it, the second is the round trip."""
    import aiohttp

    try:
        async with _client() as client:
            await _get(client, url)
            started = time.perf_counter()
            skew = await _get(client, url)
            return Reached(None, (time.perf_counter() - started) * 1000, skew)
    except _BadStatus as error:
        problem = QT_TRANSLATE_NOOP("Checks", "{url} answers with status {status}")
        return Reached(problem.format(url=url, status=error.args[0]))
    except TimeoutError:
        problem = QT_TRANSLATE_NOOP("Checks", "{url} did not answer within {seconds} s")
        return Reached(problem.format(url=url, seconds=round(ASK_S)))
    except aiohttp.ClientConnectorDNSError:
        problem = QT_TRANSLATE_NOOP("Checks", "{url} does not answer: its name is not known")
        return Reached(problem.format(url=url))
    except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientSSLError) as error:
        problem = QT_TRANSLATE_NOOP("Checks", "{url} does not answer: its certificate is not trusted ({reason})")
        return Reached(problem.format(url=url, reason=str(error)[:200]))
    except aiohttp.ClientConnectorError as error:
        problem = QT_TRANSLATE_NOOP("Checks", "{url} does not answer: {reason}")
        return Reached(problem.format(url=url, reason=_why(error.os_error)))
    except (aiohttp.ClientError, OSError, ValueError) as error:
        problem = QT_TRANSLATE_NOOP("Checks", "{url} does not answer as it should: {reason}")
        return Reached(problem.format(url=url, reason=str(error)[:200]))


async def _get(client: aiohttp.ClientSession, url: str) -> float | None:
    """Read an answer of status 200 and JSON; our clock minus the server's, where it tells the time."""
    asked = time.time()
    async with client.get(url, allow_redirects=False) as response:
        if response.status != 200:
            raise _BadStatus(response.status)
        await response.json()
        date = response.headers.get("Date", "")
    try:
        # The header counts whole seconds, so on average it is half a second late.
        theirs = parsedate_to_datetime(date).timestamp() + 0.5
    except (ValueError, TypeError):
        return None
    return (asked + time.time()) / 2 - theirs


async def _open_websocket(url: str) -> Words | None:
    """What is wrong with a WebSocket to ``url``; None if it opens."""
    import aiohttp

    try:
        async with _client() as client, client.ws_connect(url, autoclose=True):
            return None
    except TimeoutError:
        return QT_TRANSLATE_NOOP("Checks", "{url} opens no WebSocket within {seconds} s").format(
            url=url, seconds=round(ASK_S)
        )
    except aiohttp.WSServerHandshakeError as error:
        return QT_TRANSLATE_NOOP("Checks", "{url} opens no WebSocket: status {status}").format(
            url=url, status=error.status
        )
    except (aiohttp.ClientError, OSError) as error:
        problem = QT_TRANSLATE_NOOP("Checks", "{url} opens no WebSocket: {reason}")
        return problem.format(url=url, reason=str(error)[:200])


def _why(error: OSError) -> str:
    return os.strerror(error.errno).lower() if error.errno and error.errno > 0 else str(error)[:200]


def _client() -> aiohttp.ClientSession:
    import aiohttp

    return aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=ASK_S), trust_env=False)


async def _is_node(port: int) -> bool:
    """Whether a meshdesk node listens on this computer's ``port``."""
    import aiohttp

    try:
        async with _client() as client, client.get(f"http://127.0.0.1:{port}/health") as response:
            fields = await response.json()
    except (TimeoutError, aiohttp.ClientError, OSError, ValueError):
        return False
    return isinstance(fields, dict) and "node_id" in fields


def _cannot_bind(host: str, port: int) -> int | None:
    """The errno of binding; None if it can be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
            trial.listen(1)
        except OSError as error:
            return error.errno or errno.EACCES
    return None


class _BadStatus(Exception):
    """Not 200."""
