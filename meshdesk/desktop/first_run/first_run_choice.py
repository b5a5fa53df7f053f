"""What a person chose in the first run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from meshdesk.volunteer.onboarding import Step


@dataclass(frozen=True, slots=True)
class FirstRunChoice:
    """``settings`` are values to change in the settings file, already checked one by one.

    ``join`` is False where a later version asked a new question only; then ``practice`` says nothing.
    ``autostart`` is None where it was not asked.
    """

    join: bool = True
    practice: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)
    autostart: bool | None = False
    steps: tuple[Step, ...] = tuple(Step)
    """What was answered; it is kept already."""
