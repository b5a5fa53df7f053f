"""What one check of the doctor found, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: what was looked at, what was found, and what to do about it ("" if nothing).

    The texts may be Words, which a window can translate.
    """

    check: str
    verdict: Verdict
    found: str
    advice: str = ""

    def to_fields(self) -> dict[str, str]:
        """As JSON fields, in English."""
        return {
            "check": str(self.check),
            "verdict": self.verdict.value,
            "found": str(self.found),
            "advice": str(self.advice),
        }
