"""What a tracker tells anybody about its mesh: the nodes in it, and the models it can answer for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from meshdesk.volunteer.chat_client import NoTracker, layer_ranges, no_answer_reason

DEADLINE_S = 5.0
MAX_BODY_BYTES = 8 << 20
MAX_MODELS = 200
MAX_NAME_CHARS = 300


@dataclass(frozen=True, slots=True)
class MeshModel:
    """A model that some node of the mesh holds a part of. ``missing`` are half-open ranges nobody holds."""

    name: str
    ready: bool
    missing: tuple[tuple[int, int], ...] = ()


async def count_nodes(tracker_url: str, deadline_s: float = DEADLINE_S) -> int:
    """How many nodes the mesh has now. Raises NoTracker, within ``deadline_s`` at the latest."""
    listed = await _listed(tracker_url, "/v1/nodes", "nodes", deadline_s)
    return len(listed)


async def list_models(tracker_url: str, deadline_s: float = DEADLINE_S) -> list[MeshModel]:
    """The mesh's models as the tracker orders them. Raises NoTracker, within ``deadline_s`` at the latest."""
    listed = await _listed(tracker_url, "/v1/models", "data", deadline_s)
    return [model for model in map(_model, listed[:MAX_MODELS]) if model is not None]


async def _listed(tracker_url: str, path: str, name: str, deadline_s: float) -> list[Any]:
    import aiohttp

    no_tracker = NoTracker(f"What answers at {tracker_url} is no tracker.", hint="Check the address.")
    timeout = aiohttp.ClientTimeout(total=deadline_s)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as client,
            client.get(tracker_url + path, allow_redirects=False) as response,
        ):
            body = bytearray()
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > MAX_BODY_BYTES:
                    raise no_tracker
            fields = orjson.loads(body) if response.status == 200 else None
    except TimeoutError:
        raise NoTracker(
            f"Nothing answers at {tracker_url} within {deadline_s:g} s.", hint="Check the address, and that it runs."
        ) from None
    except aiohttp.ClientConnectorError as error:
        raise NoTracker(
            f"Nothing answers at {tracker_url}: {no_answer_reason(error)}.", hint="Check the address, and that it runs."
        ) from error
    except (aiohttp.ClientError, ValueError):
        raise no_tracker from None
    listed = fields.get(name) if isinstance(fields, dict) else None
    if not isinstance(listed, list):
        raise no_tracker
    return listed


def _model(fields: Any) -> MeshModel | None:
    """One entry of the list; None for one that has no name to ask for."""
    name = fields.get("id") if isinstance(fields, dict) else None
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME_CHARS:
        return None
    extension = fields.get("meshdesk")
    extension = extension if isinstance(extension, dict) else {}
    return MeshModel(name, extension.get("ready") is not False, layer_ranges(extension.get("missing_layers")))
