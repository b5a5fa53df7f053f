"""Hardware: found cheaply, without torch, and a proposal that leaves the computer usable."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.volunteer import hardware


async def test_this_computer_is_found_beside_the_loop() -> None:
    found = await hardware.find_hardware()
    assert 1 <= found.cores <= psutil.cpu_count()
    assert 0 < found.memory_available <= found.memory_total == psutil.virtual_memory().total


def test_looking_imports_no_torch() -> None:
    code = "import sys; from meshdesk.volunteer import hardware; hardware.look(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("free_gb", "proposed_mb"), [(24.1, 12000), (8, 4000), (4, 2000), (3.55, 1500), (2.7, 700), (2, 600), (0.3, 600)]
)
def test_half_of_what_is_free_is_proposed(free_gb: float, proposed_mb: int) -> None:
    assert hardware.proposed_memory_limit_mb(int(free_gb * 1e9)) == proposed_mb


@given(st.integers(min_value=0, max_value=1 << 42))
def test_a_proposal_leaves_two_gigabytes_or_is_the_least(available: int) -> None:
    proposed = hardware.proposed_memory_limit_mb(available)
    assert proposed == hardware.LEAST_MB or available - proposed * 1e6 >= 2e9
    assert proposed * 2e6 <= available or proposed == hardware.LEAST_MB
    assert proposed % 100 == 0


def test_a_larger_computer_keeps_a_core_for_its_owner() -> None:
    assert [hardware.proposed_threads(cores) for cores in (1, 2, 3, 16)] == [1, 2, 2, 15]


def test_cards_are_asked_of_the_drivers_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\nprintf 'NVIDIA  GeForce RTX 4090\\nTesla T4\\n'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert hardware.find_gpus() == ("NVIDIA GeForce RTX 4090", "Tesla T4")


def test_cards_are_read_from_the_drivers_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    card = tmp_path / "gpus" / "0000:01:00.0"
    card.mkdir(parents=True)
    (card / "information").write_text("Model: \t\t NVIDIA GeForce GTX 1060\nIRQ: 5\n")
    (tmp_path / "gpus" / "0000:02:00.0").mkdir()
    monkeypatch.setattr(hardware.shutil, "which", lambda _: None)
    monkeypatch.setattr(hardware, "NVIDIA_PROC", tmp_path / "gpus")
    assert hardware.find_gpus() == ("NVIDIA GeForce GTX 1060",)


@pytest.mark.parametrize("failure", [OSError("gone"), subprocess.TimeoutExpired("nvidia-smi", 4)])
def test_a_driver_that_does_not_answer_means_no_cards(failure: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise failure

    monkeypatch.setattr(hardware.shutil, "which", lambda _: "/usr/bin/nvidia-smi")
    monkeypatch.setattr(hardware.subprocess, "run", fail)
    monkeypatch.setattr(hardware, "NVIDIA_PROC", Path("/nowhere"))
    assert hardware.find_gpus() == ()
