"""The relay's plain HTTP side, and how it starts and stops."""

from __future__ import annotations

import aiohttp
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from meshdesk.relay.server import RelayConfig, RelayPortInUse, RelayServer
from tests.relay.conftest import SECRET, Ends
from tests.relay.test_adr_frames import FORWARD, closed


async def test_health_and_metrics_count_what_happens(ends: Ends) -> None:
    await ends.peer()
    await (await ends.requester("nobody")).ask(request_id="aa", **FORWARD)
    async with aiohttp.ClientSession() as client:
        async with client.get(ends.relay.http_url + "/health") as response:
            health = await response.json()
        async with client.get(ends.relay.http_url + "/metrics") as response:
            metrics = await response.text()
    assert (health["status"], health["peers"], health["requesters"]) == ("ok", 1, 1)
    assert "meshdesk_relay_peers 1.0" in metrics
    assert 'meshdesk_relay_failures_total{code="unknown_peer"} 1.0' in metrics
    assert "peer-1" not in metrics
    assert SECRET not in metrics


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/", 404, "not_found"),
        ("/rpc/", 404, "not_found"),
        ("/rpc/a%2Fb", 404, "not_found"),
        ("/ws", 426, "upgrade_required"),
        ("/rpc/peer-1", 426, "upgrade_required"),
    ],
)
async def test_other_paths_are_answered_in_words(ends: Ends, path: str, status: int, code: str) -> None:
    async with aiohttp.ClientSession() as client, client.get(ends.relay.http_url + path) as response:
        assert response.status == status
        assert (await response.json())["error"]["code"] == code


async def test_a_web_page_cannot_be_a_peer(ends: Ends) -> None:
    with pytest.raises(InvalidStatus) as caught:
        async with connect(ends.relay.url + "/ws", origin="https://evil.example", proxy=None):  # type: ignore[arg-type]
            pass
    assert caught.value.response.status_code == 403


async def test_a_relay_that_stops_says_so_to_everybody(ends: Ends) -> None:
    peer, requester = await ends.peer(), await ends.requester()
    await ends.relay.stop()
    assert await closed(peer) == (1012, "the relay is stopping")
    assert await closed(requester) == (1012, "the relay is stopping")


async def test_a_relay_stops_although_a_peer_does_not_read(ends: Ends) -> None:
    peer = await ends.peer()
    peer.socket.transport.pause_reading()
    await ends.relay.stop()
    peer.socket.transport.resume_reading()


async def test_a_port_in_use_is_a_sentence(ends: Ends) -> None:
    second = RelayServer(RelayConfig(port=ends.relay.port))
    with pytest.raises(RelayPortInUse) as caught:
        await second.start()
    assert str(ends.relay.port) in caught.value.message
    with pytest.raises(RelayPortInUse, match="no address"):
        await RelayServer(RelayConfig(host="203.0.113.7")).start()
