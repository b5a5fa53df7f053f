"""Where the model comes from: what is refused, the one conversion, and what a killed one leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from meshdesk.shard import model_source
from meshdesk.shard.model_job import ModelProgress, ModelUnavailable, run_job
from meshdesk.shard.model_repo import read_model_repo
from meshdesk.shard.model_source import ModelNotFound, find_model

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\n"
    "You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
FIND = """
import sys
from meshdesk.shard.model_source import find_model
print(find_model(None, lambda progress: print(progress.step, flush=True)), flush=True)
assert not {"torch", "transformers"} & set(sys.modules), "heavy libraries belong in the child process"
"""


def finder(cache: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", FIND],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "MESHDESK_CACHE": str(cache), "PYTHONPATH": str(ROOT)},
    )


@pytest.mark.timeout(400)
def test_killed_then_two_at_once_convert_once(tmp_path: Path) -> None:
    models = tmp_path / "models" / "HuggingFaceTB"
    with finder(tmp_path) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == "loading the libraries\n"
        children = psutil.Process(killed.pid).children(recursive=True)
        assert len(children) == 1
        killed.kill()
    assert not psutil.wait_procs(children, timeout=10)[1], "the conversion ends with whoever wanted it"
    assert not (models / "SmolLM2-135M-Instruct").exists()
    assert list(models.glob(".*.partial")), "the killed one left its half-made files aside"

    with finder(tmp_path) as first, finder(tmp_path) as second:
        outputs = []
        for process in (first, second):
            out, err = process.communicate(timeout=300)
            assert process.returncode == 0, err
            outputs.append(out.splitlines())
    path = models / "SmolLM2-135M-Instruct"
    assert [lines[-1] for lines in outputs] == [str(path)] * 2
    assert sorted("writing the model" in lines for lines in outputs) == [False, True], "converted once"
    assert {entry.name for entry in models.iterdir()} == {path.name, f".{path.name}.lock"}
    check_repo(path)


def test_the_kept_model_is_whole(smollm2: Path) -> None:
    check_repo(smollm2)
    assert find_model(None) == smollm2


def check_repo(path: Path) -> None:
    """The model's facts as its makers published them."""
    repo = read_model_repo(path)
    assert repo.num_layers == 30 and repo.config["tie_word_embeddings"] and repo.config["rms_norm_eps"] < 1.1e-5
    assert {tensor.dtype for tensor in repo.tensors.values()} == {"BF16"}
    assert json.loads((path / "generation_config.json").read_bytes())["eos_token_id"] == 2
    assert (path / "chat_template.jinja").read_text() == TEMPLATE
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
    assert [tokenizer.id_to_token(token) for token in range(3)] == ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    assert tokenizer.encode("a<|im_end|>").ids[-1] == 2
    assert tokenizer.encode("x\n\n12  3").tokens == ["x", "ĊĊ", "1", "2", "ĠĠ", "3"], "digits stand alone"
    assert tokenizer.decode(tokenizer.encode("naïve 🙂 漢字\n").ids) == "naïve 🙂 漢字\n"


def test_a_directory_is_taken_as_it_is(smollm2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_model(str(smollm2)) == smollm2
    (tmp_path / "org" / "name").mkdir(parents=True)
    (tmp_path / "org" / "name" / "config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert find_model("org/name") == Path("org/name"), "what is on disk is not looked for on the Hub"


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("{tmp}", "There is no config.json in"),
        ("{tmp}/nothing", "There is no directory"),
        ("{tmp}/file", "is a file"),
        ("no-such-model", "not the name of a Hub repo either"),
        ("a/b/c", "not the name of a Hub repo either"),
        ("../a", "not the name of a Hub repo either"),
        ("a/b@", "not the name of a Hub repo either"),
    ],
)
def test_what_is_no_model_is_refused(model: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelNotFound, match=said):
        find_model(model.format(tmp=tmp_path))


def test_a_hub_that_cannot_be_reached_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    steps: list[ModelProgress] = []
    with pytest.raises(ModelUnavailable, match="Downloading org/name failed: the Hub cannot be reached"):
        find_model("org/name@main", steps.append)
    assert steps[0].step == "asking the Hub for org/name@main"


def test_a_cache_that_cannot_be_written_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("MESHDESK_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelUnavailable, match="cannot be kept in") as caught:
        find_model(None)
    assert "MESHDESK_CACHE" in str(caught.value.hint)


def test_a_full_disk_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESHDESK_CACHE", str(tmp_path))
    monkeypatch.setattr(model_source, "DISK_FACTOR", 10**9)
    with pytest.raises(ModelUnavailable, match="MB are free"):
        find_model(None)
    assert not list(tmp_path.rglob("*.partial"))


JOBS = {
    "fails": "raise JobFailed('it has no weights.', 'Take another.')",
    "breaks": "raise ValueError('bad magic\\nmore')",
    "dies": "import os; os.abort()",
    "hangs": "report('working', 0, 0); import time; time.sleep(600)",
    "chatters": "[print('x' * 1000) for _ in range(3000)]; [report('n', n, 3000) for n in range(3000)]; return 'done'",
}


@pytest.fixture
def job(tmp_path: Path, request: pytest.FixtureRequest) -> dict[str, object]:
    lines = "\n    ".join(JOBS[request.param].split("; "))
    source = f"from meshdesk.shard.model_job import *\ndef work(report):\n    {lines}\nserve_job(work)\n"
    (tmp_path / "job_of_test.py").write_text(source)
    path = os.pathsep.join([str(ROOT), str(tmp_path)])
    return {"what": "Work", "environment": {**os.environ, "PYTHONPATH": path}}


@pytest.mark.parametrize(
    ("job", "silence_s", "said"),
    [
        ("fails", 60.0, r"Work failed: it has no weights\."),
        ("breaks", 60.0, "Work failed: bad magic$"),
        ("dies", 60.0, r"Work failed: its process ended \(code -6\)\."),
        ("hangs", 3.0, r"Work failed: it made no progress for 3 s\."),
    ],
    indirect=["job"],
)
def test_a_job_that_goes_wrong_is_a_sentence(job: dict[str, object], silence_s: float, said: str) -> None:
    with pytest.raises(ModelUnavailable, match=said):
        run_job("job_of_test", [], silence_s=silence_s, on_progress=lambda _: None, **job)  # type: ignore[arg-type]


@pytest.mark.parametrize("job", ["chatters"], indirect=True)
def test_a_job_that_says_much_is_heard_to_the_end(job: dict[str, object]) -> None:
    seen: list[int] = []
    before = threading.active_count()
    given = run_job("job_of_test", [], silence_s=60, on_progress=lambda p: seen.append(p.done), **job)  # type: ignore[arg-type]
    assert given == "done"
    assert seen == list(range(3000))
    assert threading.active_count() == before
