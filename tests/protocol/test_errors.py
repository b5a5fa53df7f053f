from __future__ import annotations

from typing import Any

from meshdesk.protocol.errors import MeshdeskError, UsageError


class Behind(MeshdeskError):
    code = "behind"

    def details(self) -> dict[str, Any]:
        return {"have": 7}


def test_a_body_says_only_what_is_known() -> None:
    assert MeshdeskError("It broke.").to_body() == {"error": {"code": "internal_error", "message": "It broke."}}


def test_a_body_says_all_that_is_known() -> None:
    body = Behind("Behind.", hint="Replay.", delivered=True).to_body()
    assert body == {"error": {"code": "behind", "message": "Behind.", "hint": "Replay.", "delivered": True, "have": 7}}


def test_a_usage_error_ends_a_command_with_2() -> None:
    assert UsageError("No.").exit_code == 2
    assert str(UsageError("No.")) == "No."
