"""Which address of this node others are told to dial, and a port that is known before anything listens."""

from __future__ import annotations

import contextlib
import errno
import socket
import sys
from collections.abc import Iterator

from meshdesk.protocol.errors import MeshdeskError, UsageError
from meshdesk.volunteer.urls import address_towards, http_url, is_loopback

NONE = "none"
_WILDCARDS = ("0.0.0.0", "::", "")


class PortTaken(MeshdeskError):
    """Another program listens where this one should; said before minutes are spent on loading a model."""

    code = "port_in_use"
    exit_code = 4


@contextlib.contextmanager
def reserved_port(host: str, port: int) -> Iterator[int]:
    """``port``, or for 0 a free one of ``host``, that no other program gets while the block runs; or PortTaken.

    A node tells the tracker its address when it starts to listen, so the port must be known before. On
    Linux a bound socket that does not listen keeps it; a server that may reuse addresses can still take it.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            holder.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise PortTaken(
                    f"Port {port} on {host} is already in use by another program.", hint="Choose another with --port."
                ) from error
            # The server will say what else is wrong with this address.
            yield port
            return
        free = int(holder.getsockname()[1])
        if sys.platform != "linux":
            holder.close()
        yield free


def advertised(
    choice: str | None, *, host: str, port: int, tracker_url: str | None, relay_url: str | None
) -> str | None:
    """The base URL to register; None for a node that is reached by relay only.

    ``choice`` is what the person said: a URL, ``none``, or None for this node's own address as the
    tracker's network sees it. UsageError where nobody could reach the node.
    """
    if choice is not None and choice.lower() != NONE:
        return http_url(choice, "--advertise")
    if tracker_url is None:
        return None
    own = None if choice is not None else _own_address(host, tracker_url)
    if own is None and relay_url is None:
        raise UsageError(
            f"Nobody else could reach this node: it listens on {host} only, and it has no relay.",
            hint="Give --relay, or --host 0.0.0.0 with --advertise http://ADDRESS:PORT.",
        )
    if own is None:
        return None
    return f"http://[{own}]:{port}" if ":" in own else f"http://{own}:{port}"


def _own_address(host: str, tracker_url: str) -> str | None:
    if host in _WILDCARDS:
        return address_towards(tracker_url)
    if is_loopback(f"http://[{host}]" if ":" in host else f"http://{host}") and not is_loopback(tracker_url):
        # The tracker is on another computer, to which this address means itself.
        return None
    return host
