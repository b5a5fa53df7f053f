"""What ``transformers.generate`` says, worked out in a process of its own so that the tests stay free of torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

Messages = list[dict[str, str]]


def reference_tokens(model: Path, dtype: str, chats: list[Messages], max_new_tokens: int) -> list[list[int]]:
    """The greedy tokens of ``generate`` for each chat, the end token included where it comes."""
    request = {"model": str(model), "dtype": dtype, "chats": chats, "max_new_tokens": max_new_tokens}
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.reference"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    tokens: list[list[int]] = json.loads(done.stdout.splitlines()[-1])
    return tokens


def _generate(request: dict[str, Any]) -> list[list[int]]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    # As many threads as a node of the tests has: sums in another order round in another way.
    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(request["model"])
    model = AutoModelForCausalLM.from_pretrained(request["model"], dtype=getattr(torch, request["dtype"])).eval()
    answers = []
    for messages in request["chats"]:
        inputs = tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        with torch.inference_mode():
            output = model.generate(
                **inputs,
                do_sample=False,
                max_new_tokens=request["max_new_tokens"],
                temperature=None,
                top_p=None,
                top_k=None,
                pad_token_id=tokenizer.eos_token_id,
            )
        answers.append(output[0, inputs["input_ids"].shape[1] :].tolist())
    return answers


if __name__ == "__main__":
    print(json.dumps(_generate(json.load(sys.stdin))))
