"""Whether this program was asked to say more than usual, and how its children learn of it."""

from __future__ import annotations

import os

DEBUG_VARIABLE = "MESHDESK_DEBUG"


def debugging() -> bool:
    """Whether ``--debug`` was given, here or to the program that started this one."""
    return os.environ.get(DEBUG_VARIABLE, "") not in ("", "0")
