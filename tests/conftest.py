"""What every test gets: a watch for leaks, a loop that refuses blocking calls, and the real model."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio
from blockbuster import BlockBuster, blockbuster_ctx
from hypothesis import HealthCheck, settings

from meshdesk.shard.model_source import find_model

settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", parent=settings.get_profile("suite"), max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))

LEAK_GRACE_S = 5.0


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The real SmolLM2-135M-Instruct as a safetensors repo; converted from its wheel once a machine."""
    return find_model(None)


@pytest.fixture(scope="session", autouse=True)
def small_collections() -> None:
    """What was imported before the first test is not looked through again after each of hundreds of tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_leaks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves a thread, a child process or a listening socket behind.

    Module- and session-wide servers are started by fixtures that are set up before this one looks.
    """
    process = psutil.Process()
    threads = set(threading.enumerate())
    children = {child.pid for child in process.children(recursive=True)}
    listening = _listening(process)
    yield
    gc.collect()
    left_threads = [
        thread
        for thread in threading.enumerate()
        if thread not in threads and not thread.daemon and not thread.name.startswith("asyncio_")
    ]
    new_children = [child for child in process.children(recursive=True) if child.pid not in children]
    _, left_children = psutil.wait_procs(new_children, timeout=LEAK_GRACE_S)
    left_sockets = _listening(process) - listening
    assert not left_threads, f"threads left behind: {left_threads}"
    assert not left_children, f"processes left behind: {left_children}"
    assert not left_sockets, f"sockets left listening: {left_sockets}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Watch for tasks where there is a loop; a synchronous test needs none."""
    for item in items:
        if isinstance(item, pytest.Function) and pytest_asyncio.is_async_test(item):
            item.fixturenames.insert(0, "no_leaked_tasks")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Have the model converted before the first test that may need it, so that no test's timeout counts it."""
    rooms = {item.path.relative_to(item.config.rootpath).parts[1] for item in session.items}
    if rooms & {"commands", "e2e", "node", "shard"} and not session.config.option.collectonly:
        find_model(None)


@pytest_asyncio.fixture
async def no_leaked_tasks() -> AsyncIterator[None]:
    """Fail an asynchronous test that leaves a task of its own running."""
    before = asyncio.all_tasks()
    yield
    await asyncio.sleep(0)
    left = [task for task in asyncio.all_tasks() - before if not task.done() and task is not asyncio.current_task()]
    assert not left, f"tasks left behind: {left}"


@pytest.fixture(autouse=True)
def nothing_blocks() -> Iterator[BlockBuster]:
    """A blocking call inside the event loop raises, where meshdesk's own code makes it."""
    with blockbuster_ctx("meshdesk") as blockbuster:
        for function in blockbuster.functions.values():
            # Where Qt is loaded, its binding reads the source of each module that is imported for the first time.
            function.can_block_in("shibokensupport/feature.py", {"feature_imported", "_mod_uses_pyside"})
            # An icon is half a kilobyte of the package itself, read once.
            function.can_block_in("meshdesk/desktop/icons.py", {"_svg"})
        yield blockbuster


def _listening(process: psutil.Process) -> set[tuple[int, str]]:
    return {
        (connection.fd, str(connection.laddr))
        for connection in process.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    }
