"""What a child's environment holds, and that the parent's is left alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from meshdesk.shard.child_environment import child_environment, compute_environment


def test_secrets_stay_with_the_parent_and_the_network_stays_shut() -> None:
    mine = {"HF_TOKEN": "hf_x", "HUGGING_FACE_HUB_TOKEN": "hf_y", "HUGGINGFACE_HUB_TOKEN": "hf_z", "PATH": "/bin"}
    child = compute_environment(mine)
    assert not [value for value in child.values() if value.startswith("hf_")]
    assert (child["PATH"], child["HF_HUB_OFFLINE"], child["TRANSFORMERS_OFFLINE"]) == ("/bin", "1", "1")


def test_meshdesk_is_found_from_anywhere_and_once(tmp_path: Path) -> None:
    child = child_environment(child_environment({**os.environ, "PYTHONPATH": str(tmp_path)}))
    paths = child["PYTHONPATH"].split(os.pathsep)
    assert (len(paths), paths[-1]) == (len(set(paths)), str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-P", "-c", "import meshdesk.shard.worker"], env=child, cwd=tmp_path, check=False
    )
    assert done.returncode == 0


def test_idle_compute_threads_spin_briefly_unless_the_user_says_otherwise() -> None:
    assert int(compute_environment({})["GOMP_SPINCOUNT"]) <= 20_000
    assert compute_environment({"GOMP_SPINCOUNT": "7"})["GOMP_SPINCOUNT"] == "7"
    assert "GOMP_SPINCOUNT" not in compute_environment({"OMP_WAIT_POLICY": "active"})
    assert compute_environment({})["KMP_BLOCKTIME"] == "1"
    assert compute_environment({"KMP_BLOCKTIME": "0"})["KMP_BLOCKTIME"] == "0"


def test_nothing_of_the_parents_own_is_changed() -> None:
    before = dict(os.environ)
    compute_environment(dict(os.environ))
    assert dict(os.environ) == before
