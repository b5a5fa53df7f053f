"""What a role tells on standard output: JSON lines for programs, or sentences for people. Logs go to stderr."""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

import orjson
from rich.console import Console

from meshdesk.commands.line_writer import LineHandler, LineWriter
from meshdesk.protocol.errors import MeshdeskError
from meshdesk.volunteer.debugging import debugging
from meshdesk.volunteer.log_redaction import the_filter

_LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class Output:
    """One role's standard output and log. Nothing it does waits for whoever reads.

    With ``json_lines`` standard output carries JSON lines only, and meshdesk's log is at INFO; without,
    it carries sentences, and only warnings are logged.
    """

    def __init__(self, role: str, json_lines: bool):
        self._role = role
        self._json_lines = json_lines
        self._console = Console(highlight=False, emoji=False, soft_wrap=True)
        self._out = LineWriter(sys.stdout, lambda count: _json({"event": "dropped", "count": count}))
        self._log = LineWriter(sys.stderr, lambda count: f"({count} lines of the log were lost)")
        self._handler = LineHandler(self._log)
        self._handler.setFormatter(logging.Formatter(_LOG_FORMAT))
        self._handler.addFilter(the_filter())
        shown = logging.INFO if json_lines else logging.WARNING
        self._handler.setLevel(logging.NOTSET if debugging() else shown)
        root = logging.getLogger()
        root.addHandler(self._handler)
        root.setLevel(logging.INFO if debugging() else logging.WARNING)
        # Those who ask over the control socket get more than standard error shows.
        logging.getLogger("meshdesk").setLevel(logging.DEBUG if debugging() else logging.INFO)

    def ready(self, sentence: str, fields: dict[str, Any]) -> None:
        """The role serves now. ``fields`` stand beside event, role and pid in the JSON form."""
        if self._json_lines:
            self._out.put(_json({"event": "ready", "role": self._role, **fields, "pid": os.getpid()}))
        else:
            self.say(sentence, "bold green")

    def event(self, fields: dict[str, Any]) -> None:
        """One JSON line; people get sentences by ``say`` instead."""
        if self._json_lines:
            self._out.put(_json(fields))

    def say(self, sentence: str, style: str = "") -> None:
        """One line for a person; programs do not get it."""
        if not self._json_lines:
            with self._console.capture() as captured:
                self._console.print(sentence, style=style or None, markup=False)
            self._out.put(captured.get().rstrip("\n"))

    def failed(self, error: MeshdeskError) -> None:
        """The role ends with ``error``; main() says so on stderr."""
        self.event({"event": "failed", "role": self._role, "exit_code": error.exit_code, **error.to_body()["error"]})

    def close(self) -> None:
        logging.getLogger().removeHandler(self._handler)
        self._out.close()
        self._log.close()


def _json(fields: dict[str, Any]) -> str:
    return orjson.dumps(fields, default=str).decode()
