from __future__ import annotations

import socket

import aiohttp
import pytest

from meshdesk import __version__
from meshdesk.tracker.config import TrackerConfig
from meshdesk.tracker.dialling import CheckedResolver, NoAllowedAddress, allowed_address
from meshdesk.tracker.openai_api import OpenAIApi
from meshdesk.tracker.server import TrackerServer
from meshdesk.tracker.tracker_errors import ListenFailed
from tests.tracker.conftest import Join, StartTracker
from tests.tracker.records import MODEL, Clock


async def test_health_says_what_the_mesh_can_answer(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    await join(tracker, "a", 0, 30, endpoint="http://127.0.0.1:9")
    await join(tracker, "b", 0, 15, endpoint="http://127.0.0.1:9", model="Half")
    async with client.get(tracker.url + "/health") as response:
        fields = await response.json()
    assert fields.pop("uptime_s") >= 0
    assert fields == {
        "status": "ok",
        "version": __version__,
        "nodes": 2,
        "models": {"Half": "incomplete", MODEL: "ready"},
        "chats": 0,
    }


async def test_metrics_count_the_nodes(client: aiohttp.ClientSession, join: Join) -> None:
    clock = Clock()
    tracker = TrackerServer(TrackerConfig(allow_loopback=True, expire_after_s=45), clock=clock)
    await tracker.start()
    try:
        await join(tracker, "a", endpoint="http://127.0.0.1:9")
        await join(tracker, "b", endpoint="http://127.0.0.1:9")
        for nodes, expired in ((2.0, 0.0), (0.0, 2.0), (0.0, 2.0)):
            async with client.get(tracker.url + "/metrics") as response:
                assert response.content_type == "text/plain"
                text = await response.text()
            assert f"meshdesk_tracker_nodes {nodes}" in text
            assert "meshdesk_tracker_registrations_total 2.0" in text
            clock.now += 45
            assert tracker.registry.live() == []
            assert f"meshdesk_tracker_nodes_expired_total {expired}" in text
    finally:
        await tracker.stop()


@pytest.mark.parametrize(
    ("method", "path", "status", "code", "openai"),
    [
        ("GET", "/nothing", 404, "not_found", False),
        ("GET", "/v1/nothing", 404, "not_found", True),
        ("PUT", "/v1/nodes", 405, "method_not_allowed", False),
        ("GET", "/v1/chat/completions", 405, "method_not_allowed", True),
    ],
)
async def test_paths_that_do_not_exist_are_refused_in_the_form_of_their_side(
    method: str,
    path: str,
    status: int,
    code: str,
    openai: bool,
    tracker: TrackerServer,
    client: aiohttp.ClientSession,
) -> None:
    async with client.request(method, tracker.url + path) as response:
        error = (await response.json())["error"]
        assert (response.status, error["code"], "type" in error) == (status, code, openai)
        assert ("Allow" in response.headers) == (status == 405)


async def test_a_fault_of_ours_is_a_sentence_and_a_line_in_the_log(
    start_tracker: StartTracker,
    client: aiohttp.ClientSession,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken(_: OpenAIApi, __: aiohttp.web.Request) -> aiohttp.web.Response:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(OpenAIApi, "list_models", broken)
    tracker = await start_tracker()
    async with client.get(tracker.url + "/v1/models") as response:
        text = await response.text()
        assert (response.status, (await response.json())["error"]["code"]) == (500, "internal_error")
    assert "secret detail" not in text
    assert "GET /v1/models failed" in caplog.text


async def test_a_port_in_use_is_a_sentence(tracker: TrackerServer) -> None:
    with pytest.raises(ListenFailed, match=f"Port {tracker.port} on 127.0.0.1 is already in use") as failed:
        await TrackerServer(TrackerConfig(port=tracker.port)).start()
    assert (failed.value.exit_code, failed.value.hint) == (4, "Choose another with --port.")


@pytest.mark.parametrize(
    ("host", "port", "sentence"),
    [
        ("203.0.113.1", 0, "This computer has no address 203.0.113.1."),
        ("no-such-name.invalid", 0, "This computer has no address no-such-name.invalid."),
    ],
)
async def test_an_address_of_another_computer_is_a_sentence(host: str, port: int, sentence: str) -> None:
    with pytest.raises(ListenFailed, match=sentence):
        await TrackerServer(TrackerConfig(host=host, port=port)).start()


@pytest.mark.parametrize(("host", "shown"), [("0.0.0.0", "127.0.0.1"), ("::1", "[::1]"), ("127.0.0.1", "127.0.0.1")])
async def test_the_url_is_one_this_machine_can_use(
    host: str, shown: str, client: aiohttp.ClientSession, start_tracker: StartTracker
) -> None:
    if ":" in host and not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    tracker = await start_tracker(host=host)
    assert tracker.url == f"http://{shown}:{tracker.port}"
    async with client.get(tracker.url + "/health") as response:
        assert response.status == 200


async def test_a_tracker_that_never_started_can_be_stopped() -> None:
    await TrackerServer().stop()


async def test_names_are_looked_up_and_judged_before_they_are_dialled() -> None:
    assert await allowed_address("203.0.113.5", 80, allow_loopback=False) == "203.0.113.5"
    assert await allowed_address("localhost", 80, allow_loopback=True) in ("127.0.0.1", "::1")
    for host in ("localhost", "127.0.0.1", "169.254.169.254"):
        with pytest.raises(NoAllowedAddress):
            await allowed_address(host, 80, allow_loopback=False)
    loose, strict = (CheckedResolver(allow_loopback=allow) for allow in (True, False))
    assert {each["host"] for each in await loose.resolve("localhost", 80)} <= {"127.0.0.1", "::1"}
    with pytest.raises(NoAllowedAddress):
        await strict.resolve("localhost", 80)
    await loose.close()
    await strict.close()
