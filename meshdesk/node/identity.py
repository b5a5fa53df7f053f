"""The secrets by which relay and tracker know a node again, one for each service."""

from __future__ import annotations

import base64
import hashlib
import hmac


def service_secret(identity_secret: str, service: str) -> str:
    """The secret for ``service`` ("relay ws://…", "tracker http://…").

    Each service gets another one, so that whoever runs a relay cannot speak for the node at the tracker.
    """
    digest = hmac.new(identity_secret.encode("utf-8"), f"meshdesk/{service}".encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode("ascii").rstrip("=")
