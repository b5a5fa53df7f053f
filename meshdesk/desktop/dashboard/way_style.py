"""How each way of a hop is drawn and named, in route, chart and tables alike. Colour is never the only sign."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QCoreApplication

from meshdesk.desktop.theme import Token
from meshdesk.node.events import Way

translate = QCoreApplication.translate


class Marker(StrEnum):
    """What sits on a line."""

    NONE = "none"
    ROUND = "round"
    TRIANGLE = "triangle"


@dataclass(frozen=True, slots=True)
class WayStyle:
    """Colour and form of a line."""

    token: Token
    marker: Marker = Marker.NONE
    dashed: bool = False


_STYLES = {
    Way.LOCAL: WayStyle(Token.MUTED),
    Way.DIRECT: WayStyle(Token.DIRECT),
    Way.RELAY: WayStyle(Token.RELAY, Marker.ROUND),
    Way.DIRECT_AFTER_RELAY: WayStyle(Token.FALLBACK, Marker.TRIANGLE, dashed=True),
}
_SERVED = WayStyle(Token.DIRECT)
_UNKNOWN = WayStyle(Token.MUTED)


def way_style(way: Way | None, *, served: bool = False) -> WayStyle:
    """``way`` None is a seam nothing is known of; with ``served``, a forward this node computed for another's chat."""
    if way is None:
        return _SERVED if served else _UNKNOWN
    return _STYLES[way]


def way_text(way: Way | None, *, served: bool = False) -> str:
    """The way in a word or two."""
    if way is Way.LOCAL:
        return translate("Way", "this computer")
    if way is Way.DIRECT:
        return translate("Way", "direct")
    if way is Way.RELAY:
        return translate("Way", "relay")
    if way is Way.DIRECT_AFTER_RELAY:
        return translate("Way", "direct (relay failed)")
    return translate("Way", "served here") if served else translate("Way", "not known")
