from __future__ import annotations

import pytest

from meshdesk.tracker.endpoint_rules import check_endpoint, check_relay_addr, why_refused
from meshdesk.tracker.tracker_errors import EndpointRefused


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://203.0.113.5:7002",
        "https://203.0.113.5",
        "http://172.29.240.3:7002",
        "http://10.0.0.4:7002",
        "http://192.168.1.20:7002",
        "http://100.64.3.2:7002",
        "http://[2001:db8:1::5]:7002",
        "http://[fd12:3456::1]:7002",
        "http://[64:ff9b::203.0.113.5]:7002",
        "https://node.example.org",
        "https://node.example.org.:8443",
        "http://_x.a-b.example:1",
    ],
)
def test_addresses_another_computer_can_mean_are_taken(endpoint: str) -> None:
    assert check_endpoint(endpoint, allow_loopback=False) == endpoint


def test_a_trailing_slash_is_dropped() -> None:
    assert check_endpoint("http://203.0.113.5:7002/", allow_loopback=False) == "http://203.0.113.5:7002"


LOOPBACK = [
    "http://127.0.0.1:7002",
    "http://127.9.9.9",
    "http://[::1]:7002",
    "http://[::ffff:127.0.0.1]:7002",
    "http://[64:ff9b::7f00:1]:7002",
    "http://[2002:7f00:1::]:7002",
    "http://localhost:7002",
    "http://LOCALHOST.:7002",
    "http://a.localhost:7002",
    "http://ip6-loopback",
]


@pytest.mark.parametrize("endpoint", LOOPBACK)
def test_loopback_is_refused_unless_allowed(endpoint: str) -> None:
    with pytest.raises(EndpointRefused, match="whoever dials it"):
        check_endpoint(endpoint, allow_loopback=False)
    assert check_endpoint(endpoint, allow_loopback=True) == endpoint


@pytest.mark.parametrize("allow_loopback", [False, True])
@pytest.mark.parametrize(
    ("endpoint", "reason"),
    [
        ("http://169.254.169.254", "link-local"),
        ("http://[fe80::1]:7002", "link-local"),
        ("http://[::ffff:169.254.169.254]", "link-local"),
        ("http://100.100.100.200", "metadata"),
        ("http://168.63.129.16", "metadata"),
        ("http://[fd00:ec2::254]", "metadata"),
        ("http://metadata.google.internal", "metadata"),
        ("http://224.0.0.1:7002", "multicast"),
        ("http://[ff02::1]:7002", "multicast"),
        ("http://0.0.0.0:7002", "unspecified"),
        ("http://[::]:7002", "unspecified"),
        ("http://0.0.0.7:7002", "reserved"),
        ("http://255.255.255.255:7002", "reserved"),
        ("http://[::7f00:1]:7002", "reserved"),
        ("http://[::ffff:0:169.254.169.254]:7002", "link-local"),
        ("http://127.1:7002", "spelling"),
        ("http://2130706433:7002", "spelling"),
        ("http://0x7f.1:7002", "spelling"),
        ("http://a.b.0x7f000001", "spelling"),
        ("http://[fe80::1%25eth0]:7002", "zone"),
        ("http://-a.example", "no host name"),
        ("http://a..example", "no host name"),
        ("http://" + "a." * 130 + "example", "no host name"),
        ("http://:7002", "no host"),
        ("http://203.0.113.5:0", "port 0"),
        ("http://203.0.113.5:70000", "not a URL"),
        ("http://[::1:7002", "not a URL"),
        ("ftp://203.0.113.5", "http:// or https://"),
        ("file:///etc/passwd", "http:// or https://"),
        ("203.0.113.5:7002", "http:// or https://"),
        ("http://user@203.0.113.5", "user name"),
        ("http://203.0.113.5?x", "query"),
        ("http://203.0.113.5#x", "fragment"),
        ("http://203.0.113.5/admin", "base URL"),
        ("http://203.0.113.5/\r\nX: y", "characters"),
        ("http://203.0.113.5\\@127.0.0.1", "characters"),
        ("http://\u2488.example", "characters"),
        ("http://203.0.113.5/" + "a" * 600, "too long"),
    ],
)
def test_what_is_never_handed_out(endpoint: str, reason: str, allow_loopback: bool) -> None:
    with pytest.raises(EndpointRefused, match=reason):
        check_endpoint(endpoint, allow_loopback=allow_loopback)


@pytest.mark.parametrize("addr", ["wss://relay.example/rpc/abc-123", "ws://203.0.113.9:8765/a/b/rpc/x_Y"])
def test_relay_addresses_are_taken_as_they_are(addr: str) -> None:
    assert check_relay_addr(addr, allow_loopback=False) == addr


@pytest.mark.parametrize(
    ("addr", "reason"),
    [
        ("ws://127.0.0.1:1/rpc/x", "whoever dials it"),
        ("http://relay.example/rpc/x", "ws:// or wss://"),
        ("wss://relay.example/ws", "RELAY/rpc/PEER"),
        ("wss://relay.example/rpc/", "RELAY/rpc/PEER"),
        ("wss://relay.example/rpc/a/b", "RELAY/rpc/PEER"),
        ("wss://relay.example/rpc/x?y", "query"),
    ],
)
def test_relay_addresses_that_are_refused(addr: str, reason: str) -> None:
    with pytest.raises(EndpointRefused, match=reason):
        check_relay_addr(addr, allow_loopback=False)


def test_an_address_about_to_be_dialled_is_judged_by_the_same_rules() -> None:
    assert why_refused("203.0.113.5", allow_loopback=False) is None
    assert why_refused("127.0.0.1", allow_loopback=False) is not None
    assert why_refused("127.0.0.1", allow_loopback=True) is None
    assert why_refused("::ffff:127.0.0.1", allow_loopback=False) is not None
    assert why_refused("not an address", allow_loopback=True) == "is no IP address"
