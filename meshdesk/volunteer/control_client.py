"""The asking side of the control socket, for commands and for a second start: plain blocking calls with deadlines."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from collections.abc import Iterator
from typing import Any

import orjson

from meshdesk.volunteer.control_places import Place, app_place, node_places
from meshdesk.volunteer.control_protocol import (
    MAX_ANSWER_BYTES,
    Answer,
    BadControl,
    Command,
    ControlError,
    Request,
    encode_request,
    parse_answer,
)

CONNECT_S = 2.0
ANSWER_S = 20.0
DOCTOR_S = 150.0
_CHUNK = 64 * 1024


class NotRunning(ControlError):
    """Nobody listens at the place."""

    code = "not_running"
    exit_code = 3


class NoAnswer(ControlError):
    """Somebody listens and does not answer in time."""

    code = "no_answer"
    exit_code = 4


class ControlClient:
    """Asks whoever runs at ``place``; a connection for each question."""

    def __init__(self, place: Place, connect_s: float = CONNECT_S):
        self.place = place
        self._connect_s = connect_s

    def ask(self, command: Command, within_s: float = ANSWER_S, **args: Any) -> Any:
        """The answer. Raises NotRunning, NoAnswer, or the ControlError that was answered."""
        with self._asked(command, within_s, args) as connection:
            for answer in _answers(connection):
                return answer.value
        raise NoAnswer("meshdesk ended before it answered.")

    def follow(self, command: Command, **args: Any) -> Iterator[Any]:
        """The items of an answer that goes on, for as long as they come. Raises as ``ask``."""
        with self._asked(command, ANSWER_S, args) as connection:
            # Between two items any time may pass.
            connection.settimeout(None)
            for answer in _answers(connection):
                if answer.end:
                    return
                yield answer.value

    @contextlib.contextmanager
    def _asked(self, command: Command, within_s: float, args: dict[str, Any]) -> Iterator[socket.socket]:
        try:
            connection, token = self._connect()
        except TimeoutError:
            raise NoAnswer("meshdesk is running here, but does not answer.") from None
        except (OSError, ValueError):
            raise NotRunning("meshdesk is not running here.", hint="Start it with: meshdesk") from None
        with connection:
            try:
                connection.settimeout(within_s)
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    # Who will not hear may have said why before it closed.
                    connection.sendall(encode_request(Request(command, args, token)))
                yield connection
            except TimeoutError:
                raise NoAnswer(f"meshdesk did not answer within {within_s:.0f} s.") from None
            except OSError as error:
                raise NoAnswer(f"The connection to meshdesk broke: {error.strerror or error}.") from None

    def _connect(self) -> tuple[socket.socket, str]:
        path = self.place.path
        if self.place.unix:
            found = path.lstat()
            if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
                raise ValueError("not this user's socket")
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            target: Any = str(path)
            token = ""
        else:
            fields = orjson.loads(path.read_bytes())
            target, token = ("127.0.0.1", int(fields["port"])), str(fields["token"])
            connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            connection.settimeout(self._connect_s)
            connection.connect(target)
        except BaseException:
            connection.close()
            raise
        return connection, token


def running(only_node: int | None = None) -> list[Place]:
    """Where somebody listens now: the app first, then the headless nodes; or node ``only_node`` alone."""
    places = [place for number, place in enumerate(node_places(), start=1) if only_node in (None, number)]
    if only_node is None:
        places.insert(0, app_place())
    return [place for place in places if _listens(place)]


def _listens(place: Place) -> bool:
    try:
        connection, _ = ControlClient(place)._connect()
    except TimeoutError:
        return True
    except (OSError, ValueError, KeyError, TypeError):
        return False
    connection.close()
    return True


def _answers(connection: socket.socket) -> Iterator[Answer]:
    """The lines of an answer, until its last one."""
    pending = bytearray()
    while True:
        end = pending.find(b"\n")
        if end < 0:
            if len(pending) > MAX_ANSWER_BYTES:
                raise BadControl("The running meshdesk gave an answer without an end.")
            received = connection.recv(_CHUNK)
            if not received:
                return
            pending += received
            continue
        line = bytes(pending[: end + 1])
        del pending[: end + 1]
        answer = parse_answer(line)
        yield answer
        if answer.last:
            return
