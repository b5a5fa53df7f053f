"""The network's facts and what follows from them: kinds of addresses, and why peers cannot dial a node."""

from __future__ import annotations

import itertools
import time

import pytest

from meshdesk.volunteer import network
from meshdesk.volunteer.direct_words import explain
from meshdesk.volunteer.network import (
    MIRRORED,
    AddressKind,
    NetworkFacts,
    OwnAddress,
    ProbeResult,
    gather_network,
    is_nearby,
    is_virtual,
    kind_of,
    look_at_network,
    own_addresses,
    why_not_direct,
)
from meshdesk.volunteer.proxies import shown_proxies, without_credentials
from meshdesk.volunteer.status import DirectFacts, WhyNotDirect
from meshdesk.volunteer.wsl import WslMode


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("127.0.0.1", AddressKind.LOOPBACK),
        ("::1", AddressKind.LOOPBACK),
        ("169.254.3.4", AddressKind.LINK_LOCAL),
        ("fe80::1%eth0", AddressKind.LINK_LOCAL),
        ("192.168.1.2", AddressKind.PRIVATE),
        ("172.31.0.1", AddressKind.PRIVATE),
        ("fd12::1", AddressKind.PRIVATE),
        ("100.64.0.1", AddressKind.CGNAT),
        ("100.127.255.254", AddressKind.CGNAT),
        ("100.128.0.1", AddressKind.PUBLIC),
        ("8.8.8.8", AddressKind.PUBLIC),
        ("2a00:1450::1", AddressKind.PUBLIC),
        ("::ffff:192.168.1.2", AddressKind.PRIVATE),
    ],
)
def test_the_kind_of_an_address(address: str, kind: AddressKind) -> None:
    assert kind_of(address) is kind


def facts(address: str = "", interface: str = "eth0", *, wsl: WslMode = WslMode.NOT_WSL, **more: bool) -> NetworkFacts:
    vpn = bool(network._VPN.search(interface))
    own = (OwnAddress(interface, address, kind_of(address), vpn),) if address else ()
    return NetworkFacts(own, wsl, address, **more)


REFUSED, SILENT = ProbeResult(False, "refused"), ProbeResult(False, "timed-out")
OTHER, UNASKED, REACHED = ProbeResult(False, "not-this-node"), ProbeResult(None, "busy"), ProbeResult(True, "reachable")


@pytest.mark.parametrize(
    ("found", "endpoint", "probe", "reachable", "why"),
    [
        (facts("8.8.8.8"), "http://8.8.8.8:1", REACHED, True, WhyNotDirect.REACHABLE),
        (facts("8.8.8.8"), "http://8.8.8.8:1", SILENT, False, WhyNotDirect.FIREWALL),
        (facts("8.8.8.8"), "http://8.8.8.8:1", None, None, WhyNotDirect.UNKNOWN),
        (facts("192.168.1.2"), "http://192.168.1.2:1", SILENT, False, WhyNotDirect.PRIVATE),
        (facts("192.168.1.2"), "http://192.168.1.2:1", OTHER, False, WhyNotDirect.PRIVATE),
        (facts("192.168.1.2"), "http://192.168.1.2:1", None, None, WhyNotDirect.PRIVATE),
        (facts("192.168.1.2", tracker_nearby=True), "http://192.168.1.2:1", None, None, WhyNotDirect.UNKNOWN),
        (facts("192.168.1.2", tracker_nearby=True), "http://192.168.1.2:1", REFUSED, False, WhyNotDirect.FIREWALL),
        (facts("192.168.1.2", tracker_nearby=True), "http://192.168.1.2:1", REACHED, True, WhyNotDirect.REACHABLE),
        (facts("100.70.1.1"), "http://100.70.1.1:1", SILENT, False, WhyNotDirect.CGNAT),
        (facts("100.70.1.1", "tailscale0"), "http://100.70.1.1:1", SILENT, False, WhyNotDirect.FIREWALL),
        (facts("100.70.1.1", "tailscale0"), "http://100.70.1.1:1", None, None, WhyNotDirect.UNKNOWN),
        (facts("169.254.1.1"), "http://169.254.1.1:1", SILENT, False, WhyNotDirect.NO_ADDRESS),
        (facts("172.20.1.4", wsl=WslMode.NAT), "http://172.20.1.4:1", SILENT, False, WhyNotDirect.WSL2_NAT),
        (facts("172.20.1.4", wsl=WslMode.NAT), "http://172.20.1.4:1", UNASKED, None, WhyNotDirect.WSL2_NAT),
        (facts("172.20.1.4", wsl=WslMode.NAT), "http://172.20.1.4:1", REACHED, True, WhyNotDirect.REACHABLE),
        (facts("172.20.1.4", wsl=WslMode.NAT), None, None, False, WhyNotDirect.WSL2_NAT),
        (facts("192.168.1.2", wsl=WslMode.MIRRORED), "http://192.168.1.2:1", SILENT, False, WhyNotDirect.PRIVATE),
        (facts(), None, None, False, WhyNotDirect.NO_ADDRESS),
        (facts(), "http://127.0.0.1:1", None, None, WhyNotDirect.LOOPBACK),
        (facts(), "http://127.0.0.1:1", REACHED, True, WhyNotDirect.LOOPBACK),
        (facts("8.8.8.8"), "http://me.example:1", REFUSED, False, WhyNotDirect.FIREWALL),
        (facts("8.8.8.8"), "http://me.example:1", None, None, WhyNotDirect.UNKNOWN),
        (facts("2a00:1450::1"), "http://[2a00:1450::1]:1", SILENT, False, WhyNotDirect.FIREWALL),
    ],
)
def test_why_peers_cannot_dial(
    found: NetworkFacts, endpoint: str | None, probe: ProbeResult | None, reachable: bool | None, why: WhyNotDirect
) -> None:
    direct = why_not_direct(found, direct_hops=True, endpoint=endpoint, tracker_probe=probe)
    assert (direct.reachable, direct.why) == (reachable, why)
    assert direct.endpoint == (endpoint or "")


def test_switched_off_goes_before_everything() -> None:
    direct = why_not_direct(facts("8.8.8.8"), direct_hops=False, endpoint="http://8.8.8.8:1", tracker_probe=REACHED)
    assert direct == DirectFacts(False, WhyNotDirect.SWITCHED_OFF)


def test_mirrored_wsl2_names_the_firewall_of_hyper_v() -> None:
    near = facts("192.168.1.2", wsl=WslMode.MIRRORED, tracker_nearby=True)
    direct = why_not_direct(near, direct_hops=True, endpoint="http://192.168.1.2:1", tracker_probe=SILENT)
    assert (direct.why, direct.detail) == (WhyNotDirect.FIREWALL, MIRRORED)
    assert all("Hyper-V" in text for text in explain(direct))


def test_every_reason_has_a_sentence_that_calms_and_no_advice_opens_a_door_in_silence() -> None:
    details = ("", "refused", "timed-out", "unreachable", "something new", MIRRORED)
    for why, detail in itertools.product(WhyNotDirect, details):
        sentence, advice = explain(DirectFacts(None, why, "http://192.0.2.1:7000", detail))
        assert sentence.endswith(".") and "{" not in sentence + advice
        assert "0.0.0.0" not in advice
        if "port" in advice:
            assert "firewall" in advice or "Anybody can" in advice, advice
        if why not in (WhyNotDirect.REACHABLE, WhyNotDirect.UNKNOWN, WhyNotDirect.LOOPBACK):
            assert "relay" in sentence and "working" in sentence


@pytest.mark.parametrize(
    ("url", "near"),
    [
        ("http://127.0.0.1:7000", True),
        ("http://192.168.1.9:7000", True),
        ("http://nas.local:7000", True),
        ("http://8.8.8.8", False),
        ("https://mesh.example", False),
    ],
)
def test_a_tracker_nearby(url: str, near: bool) -> None:
    assert is_nearby(url) is near


def test_interfaces_of_containers_are_no_way_in() -> None:
    assert all(map(is_virtual, ("docker0", "br-1a2b", "veth9", "virbr0", "VirtualBox Host-Only Network")))
    assert not any(map(is_virtual, ("eth0", "wlan0", "enp3s0", "Wi-Fi", "Ethernet", "tun0")))


async def test_this_computer_is_looked_at_beside_the_loop() -> None:
    found = await gather_network("http://127.0.0.1:7000")
    assert found.of("127.0.0.1") is not None
    assert (found.towards_tracker, found.tracker_nearby) == ("127.0.0.1", True)
    assert found.addresses == own_addresses()


async def test_a_name_server_that_hangs_does_not_hang_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "GATHER_S", 0.05)
    monkeypatch.setattr(network, "address_towards", lambda url: time.sleep(0.3))
    assert await gather_network("http://tracker.example") == NetworkFacts()


def test_proxies_are_told_without_who_uses_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://anna:hunter2@proxy.example:3128/x?key=secret")
    found = look_at_network(None).proxies
    assert found["https"] == "http://proxy.example:3128"
    assert shown_proxies({"no": "localhost", "http": "", "socks": "socks5://[2001:db8::1]:1080"}) == {
        "socks": "socks5://[2001:db8::1]:1080"
    }
    assert without_credentials("proxy.example:8080") == "http://proxy.example:8080"
    for odd in ("http://anna:hunter2@[broken", "http://u:p@:99999999", "://"):
        assert "hunter2" not in without_credentials(odd) and "u:p" not in without_credentials(odd)
