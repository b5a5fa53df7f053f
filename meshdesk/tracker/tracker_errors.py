"""What a tracker refuses, each as its own typed error."""

from __future__ import annotations

from typing import Any

from meshdesk.protocol.errors import MeshdeskError, ProtocolError


class BadRegistration(ProtocolError):
    """A registration or heartbeat is malformed; the message names the field."""

    code = "bad_registration"


class EndpointRefused(ProtocolError):
    """A node named an address that this tracker does not hand out."""

    code = "endpoint_refused"


class SecretMissing(MeshdeskError):
    """A heartbeat or a leave came without the node's secret."""

    code = "secret_missing"
    status = 401


class WrongSecret(MeshdeskError):
    """The node id belongs to a node with another secret."""

    code = "wrong_secret"
    status = 403


class UnknownNode(MeshdeskError):
    """No such node is registered (any more); it must register again."""

    code = "unknown_node"
    status = 404


class TrackerFull(MeshdeskError):
    """The tracker has as many nodes as it takes; a later try may succeed."""

    code = "tracker_full"
    status = 503


class UnknownModel(MeshdeskError):
    """No node has registered with the model asked for."""

    code = "model_not_found"
    status = 404
    param = "model"


class NoRoute(MeshdeskError):
    """No chain of nodes holds all layers. ``missing`` are half-open ranges of layers nobody holds."""

    code = "no_route"
    status = 503

    def __init__(self, message: str, missing: tuple[tuple[int, int], ...] = (), *, hint: str | None = None):
        super().__init__(message, hint=hint)
        self.missing = missing

    def details(self) -> dict[str, Any]:
        return {"missing_layers": [list(layers) for layers in self.missing]}


class TrackerBusy(MeshdeskError):
    """As many chats run as this tracker carries at once."""

    code = "too_many_chats"
    status = 429


class BodyLate(MeshdeskError):
    """The client did not send its request's body in time."""

    code = "body_late"
    status = 408


class ListenFailed(MeshdeskError):
    """The address to listen on is not to be had."""

    code = "port_in_use"
    exit_code = 4
