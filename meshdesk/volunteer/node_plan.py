"""From a person's settings to the configuration of a node: find the model, choose the layers, know the address.

What blocks runs in threads; what a person may want to stop can be stopped.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from meshdesk.node.config import NodeConfig
from meshdesk.protocol.errors import MeshdeskError, UsageError
from meshdesk.shard.model_job import ModelProgress
from meshdesk.shard.model_repo import ModelRepo, read_model_repo
from meshdesk.shard.model_source import DEFAULT_REPO, find_model
from meshdesk.volunteer.advertise import NONE, advertised, reserved_port
from meshdesk.volunteer.identity import Identity
from meshdesk.volunteer.layer_choice import Choice, ModelSize, choose_layers, memory_budget
from meshdesk.volunteer.layers import parse_layers
from meshdesk.volunteer.mesh_view import MeshNode, mesh_model
from meshdesk.volunteer.settings import Settings
from meshdesk.volunteer.urls import is_loopback

log = logging.getLogger(__name__)

MB = 1_000_000
FREE_SHARE = 0.5
"""How much of the free memory is taken where the person set no limit."""
ANY_HOST = "0.0.0.0"


class NoMesh(UsageError):
    """Nobody said which mesh to join."""

    code = "no_mesh"


@dataclass(frozen=True, slots=True)
class NodePlan:
    """A node ready to be started, with what people are told about it."""

    config: NodeConfig
    model: str
    num_layers: int
    weight_bytes: int
    why: str
    """Why these layers; "" where the person fixed them."""
    direct_hops: bool
    """Whether the person lets peers dial this computer."""


@dataclass(frozen=True, slots=True)
class MeshAddress:
    """Where the mesh is: base URLs; ``relay`` "" where there is none."""

    tracker: str
    relay: str


async def locate_model(settings: Settings, nodes: Sequence[MeshNode], report: Callable[[ModelProgress], None]) -> Path:
    """The model's directory, made or fetched first where needed; ``report`` is called on the loop.

    Cancelled, it ends its child process before it returns. Raises what ``find_model`` raises.
    """
    loop = asyncio.get_running_loop()
    stopped = threading.Event()

    def tell(progress: ModelProgress) -> None:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(report, progress)

    finding = asyncio.ensure_future(asyncio.to_thread(find_model, _wanted(settings, nodes), tell, stopped, _hub_token))
    try:
        return await asyncio.shield(finding)
    except asyncio.CancelledError:
        stopped.set()
        await asyncio.wait({finding})
        # Whatever it ended with concerns nobody any more.
        if not finding.cancelled():
            finding.exception()
        raise


@asynccontextmanager
async def plan_node(
    settings: Settings, address: MeshAddress, path: Path, nodes: Sequence[MeshNode], identity: Identity
) -> AsyncIterator[NodePlan]:
    """The node's plan; its port is kept for it while the block runs. Raises UsageError, NothingFits, ModelDamaged."""
    repo = await asyncio.to_thread(read_model_repo, path)
    size = model_size(repo)
    free = (await asyncio.to_thread(psutil.virtual_memory)).available
    limit = settings.memory_limit_mb * MB or int(free * FREE_SHARE)
    choice = _choose(settings, size, limit, repo, nodes, identity.node_id)
    identity.keep_service_secrets(address.tracker, address.relay or None)
    host = ANY_HOST if settings.direct_hops and not _own_machine(address) else "127.0.0.1"
    with reserved_port(host, settings.port if settings.direct_hops else 0) as port:
        endpoint = await asyncio.to_thread(
            advertised,
            None if settings.direct_hops else NONE,
            host=host,
            port=port,
            tracker_url=address.tracker,
            relay_url=address.relay or None,
        )
        config = NodeConfig(
            model_path=path,
            start_layer=choice.start,
            end_layer=choice.end,
            host=host,
            port=port,
            advertise=endpoint,
            tracker_url=address.tracker,
            relay_url=address.relay or None,
            threads=settings.threads or None,
            kv_budget_bytes=choice.kv_budget_bytes,
            node_id=identity.node_id,
            identity_secret=identity.secret,
            display_name=settings.display_name,
            max_bytes_per_s=settings.bandwidth_kb_s * 1000,
        )
        log.info("layers %d–%d of %s: %s", choice.start, choice.end - 1, repo.model_id, choice.why or "as set")
        yield NodePlan(
            config,
            repo.model_id,
            repo.num_layers,
            size.nbytes(choice.start, choice.end),
            choice.why,
            settings.direct_hops,
        )


def model_size(repo: ModelRepo) -> ModelSize:
    """The octets of a model's layers and ends, by its tensors' names."""
    head = [tensor for tensor in repo.outside_layers() if "lm_head" in tensor.name or "embed_out" in tensor.name]
    embeddings = [tensor for tensor in repo.outside_layers() if tensor not in head]
    first = sum(tensor.nbytes for tensor in embeddings)
    tied = not head
    return ModelSize(repo.layer_bytes, first, first if tied else sum(tensor.nbytes for tensor in head), tied)


def _choose(
    settings: Settings, size: ModelSize, limit: int, repo: ModelRepo, nodes: Sequence[MeshNode], own_id: str
) -> Choice:
    if settings.layers == "auto":
        same = [node for node in nodes if (node.model, node.revision) == (repo.model_id, repo.revision)]
        others = [(node.start_layer, node.end_layer) for node in same if node.node_id != own_id]
        return choose_layers(size, limit, others)
    start, end = parse_layers(settings.layers)
    start, end = start or 0, end or size.num_layers
    if end > size.num_layers:
        raise UsageError(
            f"Layers {settings.layers} do not exist in this model: it has layers 0–{size.num_layers - 1}.",
            hint="Choose others in Settings, or automatic.",
        )
    return Choice(start, end, "", memory_budget(limit)[1])


def _wanted(settings: Settings, nodes: Sequence[MeshNode]) -> str | None:
    """What to ask ``find_model`` for; None for the bundled model."""
    if settings.model:
        return settings.model
    common = mesh_model(nodes)
    if common is None:
        return None
    model, revision = common
    if model in (DEFAULT_REPO, DEFAULT_REPO.rpartition("/")[2]):
        return None
    return f"{model}@{revision}" if "/" in model else model


def _hub_token() -> str | None:
    """The person's token for the Hub; None where there is none or it cannot be read. Blocks."""
    from meshdesk.volunteer.hub_token import HubToken

    try:
        return HubToken().read()
    except MeshdeskError as error:
        log.warning("the Hub token cannot be read: %s", error.message)
        return None


def _own_machine(address: MeshAddress) -> bool:

    return is_loopback(address.tracker)
