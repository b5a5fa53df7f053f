"""``python -m tests.reference_generate``: greedy tokens of ``transformers.generate``, JSON in and JSON out."""

from __future__ import annotations

import json
import sys
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def generate(request: dict[str, Any]) -> list[list[int]]:
    # As many threads as a shard of the tests has: sums in another order round in another way.
    torch.set_num_threads(1)
    model: Any = AutoModelForCausalLM.from_pretrained(request["model"], dtype=getattr(torch, request["dtype"]))
    answers = []
    for prompt in request["prompts"]:
        ids = torch.tensor([prompt if isinstance(prompt, list) else _chat_ids(request["model"], prompt)])
        output = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            max_new_tokens=request["max_new_tokens"],
            temperature=None,
            top_p=None,
            top_k=None,
            pad_token_id=0,
        )
        answers.append(output[0, ids.shape[1] :].tolist())
    return answers


def _chat_ids(model: str, prompt: str) -> list[int]:
    tokenizer: Any = AutoTokenizer.from_pretrained(model)
    messages = [{"role": "user", "content": prompt}]
    ids: list[int] = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
    return ids


if __name__ == "__main__":
    print(json.dumps(generate(json.load(sys.stdin))))
