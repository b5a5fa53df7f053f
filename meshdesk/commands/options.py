"""Options that several commands have, so that they read and work the same everywhere."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Dtype(StrEnum):
    """What weights are computed in; auto measures which is faster here."""

    AUTO = "auto"
    BFLOAT16 = "bfloat16"
    FLOAT32 = "float32"


WILDCARDS = ("0.0.0.0", "::")


def _named(host: str) -> str:
    if not host.strip():
        # To the system an empty address means all of them, which nobody means by it.
        raise typer.BadParameter("it is empty; 0.0.0.0 would be all addresses of this computer.")
    return host


def program() -> str:
    """How this program was called, as a person can call it again."""
    called = Path(sys.argv[0])
    return "python -m meshdesk" if called.name == "__main__.py" else str(called)


def reached_at(url: str, host: str) -> str:
    """``url`` as other computers may know it: this one's own name for itself is of no use to them."""
    if host not in WILDCARDS:
        return url
    scheme, _, rest = url.partition("://")
    return f"{scheme}://THIS-COMPUTERS-ADDRESS:{rest.rpartition(':')[2]}"


Host = Annotated[
    str, typer.Option(help="The address to listen on; 0.0.0.0 for all of this computer's.", callback=_named)
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 takes a free one.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of sentences.")]
ExitWithParent = Annotated[
    bool, typer.Option("--exit-with-parent", hidden=True, help="End when the program that started this one ends.")
]
Model = Annotated[
    str | None,
    typer.Option(
        help="A model's directory, or org/name[@revision] on the Hub; without it, the bundled SmolLM2-135M-Instruct.",
        show_default=False,
    ),
]
Compute = Annotated[Dtype, typer.Option("--dtype", help="What to compute in; auto measures which is faster here.")]
