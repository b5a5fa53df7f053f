"""Starting with a Linux desktop: a .desktop file in the person's autostart directory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from meshdesk.volunteer.private_file import write_private

FILE_NAME = "meshdesk.desktop"
MAX_BYTES = 64 * 1024
_GROUP = "[Desktop Entry]"
_RESERVED = set(" \t\n\r\"'\\><~|&;$*?#()`")
_ESCAPED = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


class XdgAutostart:
    """The entry below ``config``, which is the person's XDG_CONFIG_HOME."""

    def __init__(self, config: Path):
        self.path = config / "autostart" / FILE_NAME

    def exists(self) -> bool:
        try:
            with self.path.open("rb") as stream:
                text = stream.read(MAX_BYTES).decode(errors="replace")
        except (FileNotFoundError, NotADirectoryError):
            return False
        keys = _keys(text)
        # Desktops switch an entry off by these, rather than delete it.
        off = keys.get("Hidden", "").lower() == "true" or keys.get("X-GNOME-Autostart-enabled", "").lower() == "false"
        return bool(keys.get("Exec")) and not off

    def write(self, command: list[str]) -> None:
        write_private(
            self.path,
            f"{_GROUP}\n"
            "Type=Application\n"
            "Version=1.0\n"
            "Name=meshdesk\n"
            "Comment=Lend this computer to a mesh that runs language models\n"
            "Comment[de]=Diesen Computer einem Netz leihen, das Sprachmodelle rechnet\n"
            f"Exec={exec_line(command)}\n"
            "Icon=meshdesk\n"
            "Terminal=false\n"
            "X-GNOME-Autostart-enabled=true\n".encode(errors="surrogateescape"),
        )

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def config_home(environment: Mapping[str, str] = os.environ) -> Path:
    """XDG_CONFIG_HOME; a relative one is to be ignored."""
    given = environment.get("XDG_CONFIG_HOME", "")
    return Path(given) if given.startswith("/") else Path.home() / ".config"


def exec_line(command: list[str]) -> str:
    """The value of Exec: its own quoting and field codes first, then the escapes of any string in such a file."""
    line = " ".join(_quoted(argument.replace("%", "%%")) for argument in command)
    return "".join(_ESCAPED.get(each, each) for each in line)


def _quoted(argument: str) -> str:
    if argument and not _RESERVED & set(argument):
        return argument
    return '"' + "".join("\\" + each if each in '"`$\\' else each for each in argument) + '"'


def _keys(text: str) -> dict[str, str]:
    """The keys of the file's main group; a line that is none is passed over."""
    keys: dict[str, str] = {}
    group = ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            group = line
        elif group == _GROUP and not line.startswith("#") and "=" in line:
            key, _, value = line.partition("=")
            keys.setdefault(key.strip(), value.strip())
    return keys
