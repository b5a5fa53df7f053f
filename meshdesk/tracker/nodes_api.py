"""``/v1/nodes``: where nodes register, say that they live, and take their leave."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import orjson
from aiohttp import web

from meshdesk.tracker.config import TrackerConfig
from meshdesk.tracker.endpoint_probe import EndpointProbe
from meshdesk.tracker.registration import parse_load, parse_registration
from meshdesk.tracker.registry import Registered, Registry
from meshdesk.tracker.route_choice import RouteChooser
from meshdesk.tracker.tracker_errors import BadRegistration, BodyLate, SecretMissing

log = logging.getLogger(__name__)

MAX_BODY_BYTES = 16 * 1024
BODY_S = 10.0


class NodesApi:
    """The nodes' side of the tracker. Errors are JSON with a code and a sentence."""

    def __init__(self, config: TrackerConfig, registry: Registry, chooser: RouteChooser, probe: EndpointProbe):
        self._config = config
        self._registry = registry
        self._chooser = chooser
        self._probe = probe

    def add_routes(self, router: web.UrlDispatcher) -> None:
        router.add_post("/v1/nodes", self.register)
        router.add_get("/v1/nodes", self.list_nodes)
        router.add_post("/v1/nodes/{node_id}/heartbeat", self.heartbeat)
        router.add_post("/v1/nodes/{node_id}/probe", self.probe)
        router.add_delete("/v1/nodes/{node_id}", self.leave)

    async def register(self, request: web.Request) -> web.Response:
        """Take a node in, or its newer word. The route key goes to the node alone."""
        fields = await _json(request)
        record, secret = parse_registration(fields, allow_loopback=self._config.allow_loopback)
        known = self._registry.get(record.node_id) is not None
        node = self._registry.register(record, secret, request.remote or "")
        if not known:
            # It was away, so what failed before says nothing about it now.
            self._chooser.avoided.forgive(record.node_id)
            log.info(
                "node %s joins with layers %d–%d of %s",
                record.node_id,
                record.start_layer,
                record.end_layer - 1,
                record.key.model_at_revision,
            )
        return web.json_response(
            {
                "node_id": record.node_id,
                "heartbeat_s": self._config.heartbeat_s,
                "expires_s": self._config.expire_after_s,
                "route_key": node.route_key.hex(),
            }
        )

    async def heartbeat(self, request: web.Request) -> web.Response:
        """404 tells a node that the tracker has forgotten to register again."""
        node_id = request.match_info["node_id"]
        secret = _bearer(request)
        node = self._registry.heartbeat(node_id, secret, parse_load(await _json(request)))
        return web.json_response({"node_id": node.record.node_id, "expires_s": self._config.expire_after_s})

    async def probe(self, request: web.Request) -> web.Response:
        """Dial the node at its endpoint, for the node alone: can others reach it there, and if not, how did it fail."""
        node = self._registry.owned(request.match_info["node_id"], _bearer(request))
        result = await self._probe.probe(node.record.node_id, node.record.endpoint)
        return web.json_response(
            {
                "endpoint": node.record.endpoint,
                "reachable": result.reachable,
                "reason": result.reason,
                "ms": result.ms,
                "seen_from": request.remote,
            }
        )

    async def leave(self, request: web.Request) -> web.Response:
        node_id = request.match_info["node_id"]
        self._registry.leave(node_id, _bearer(request))
        log.info("node %s leaves", node_id)
        return web.json_response({"node_id": node_id})

    async def list_nodes(self, _: web.Request) -> web.Response:
        """All live nodes by id: what routes are made of, no secrets."""
        nodes = sorted(self._registry.live(), key=lambda node: node.record.node_id)
        return web.json_response({"nodes": [self._shown(node) for node in nodes]})

    def _shown(self, node: Registered) -> dict[str, Any]:
        record = node.record
        return {
            "node_id": record.node_id,
            "endpoint": record.endpoint,
            "relay_addr": record.relay_addr,
            "model": record.key.model,
            "revision": record.key.revision,
            "start_layer": record.start_layer,
            "end_layer": record.end_layer,
            "num_layers": record.key.num_layers,
            "dtype": record.key.dtype,
            "max_positions": record.max_positions,
            "version": record.version,
            "name": record.name,
            "load": node.load,
            "chats": self._chooser.chats(record.node_id),
            "silent_s": round(self._registry.silent_s(node), 3),
            "avoided": self._chooser.avoided.why(record.node_id) is not None,
        }


async def _json(request: web.Request) -> object:
    """The body as JSON, None where there is none."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            async for chunk in request.content.iter_any():
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    raise _TooLarge(f"The body has more than {MAX_BODY_BYTES} octets.")
    except TimeoutError:
        raise BodyLate(f"The body did not come within {BODY_S:g} s.") from None
    if not body:
        return None
    try:
        fields: object = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise BadRegistration("The body is not JSON.") from None
    return fields


def _bearer(request: web.Request) -> str:
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise SecretMissing("The header Authorization: Bearer SECRET is missing.")
    return secret.strip()


class _TooLarge(BadRegistration):
    code = "too_large"
    status = 413
