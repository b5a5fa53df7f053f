"""Starting with a Mac: a launch agent of the person's. It counts from their next login on."""

from __future__ import annotations

import plistlib
from pathlib import Path
from xml.parsers.expat import ExpatError

from meshdesk.volunteer.private_file import write_private

LABEL = "org.meshdesk.app"
MAX_BYTES = 64 * 1024


class LaunchAgent:
    """The agent's file in ``directory``, which is the person's Library/LaunchAgents."""

    def __init__(self, directory: Path):
        self.path = directory / f"{LABEL}.plist"

    def exists(self) -> bool:
        try:
            with self.path.open("rb") as stream:
                agent = plistlib.loads(stream.read(MAX_BYTES))
        except FileNotFoundError:
            return False
        except (plistlib.InvalidFileException, ExpatError, ValueError):
            # The system does not start what it cannot read.
            return False
        return (
            isinstance(agent, dict)
            and bool(agent.get("ProgramArguments"))
            and agent.get("RunAtLoad") is True
            and agent.get("Disabled") is not True
        )

    def write(self, command: list[str]) -> None:
        agent = {
            "Label": LABEL,
            "ProgramArguments": command,
            "RunAtLoad": True,
            "ProcessType": "Interactive",
            "LimitLoadToSessionType": "Aqua",
        }
        write_private(self.path, plistlib.dumps(agent))

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
