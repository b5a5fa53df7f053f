"""A status in a few lines for a terminal. Pure: made from the fields that ``meshdesk status --json`` prints."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from meshdesk.volunteer.direct_words import explain
from meshdesk.volunteer.layers import show_layers
from meshdesk.volunteer.status import DirectFacts, WhyNotDirect

Fields = Mapping[str, Any]

_SIGNS = {
    "off": ("○", "dim"),
    "starting": ("◔", "cyan"),
    "serving": ("●", "green"),
    "leaving": ("◔", "cyan"),
    "paused": ("‖", "yellow"),
    "error": ("✗", "red"),
}
_RULES = {
    "battery": "on battery",
    "schedule": "outside the set times",
    "busy": "computer busy",
    "quota": "quota used up",
}
_HOW = {"relay": " by relay", "direct": " directly"}


def sign(status: Fields) -> tuple[str, str]:
    """The state's sign, and its style in rich's words."""
    return _SIGNS.get(str(status["phase"]), ("?", ""))


def headline(status: Fields) -> str:
    """One sentence: am I in, and how do people reach me."""
    phase, shard = status["phase"], status.get("shard")
    span = _span(shard) if shard else ""
    if phase == "serving":
        if status.get("reconnecting_since"):
            return f"Reconnecting, with {span} loaded"
        return f"Serving {span}{_HOW.get(status['reach'], ', connecting')}"
    if phase == "starting":
        return f"Starting{_progress(status.get('progress'))}"
    if phase == "paused":
        return f"Paused{_pause(status.get('pause'))}"
    if phase == "leaving":
        return "Leaving once the chats under way are over"
    if phase == "error":
        return (status.get("problem") or {}).get("message") or "There is a problem"
    return "Not in the mesh" + (f"; {span} still loaded" if shard and status.get("role") == "node" else "")


def rows(status: Fields, now: float | None = None) -> list[tuple[str, str]]:
    """What stands under the headline: a name and a text for each line."""
    now = time.time() if now is None else now
    found = [("", " · ".join(_present(status, now)))]
    problem = status.get("problem") or {}
    found.append(("", problem.get("hint", "")))
    found += [(name, _link(status.get(name.lower()) or {})) for name in ("Relay", "Tracker")]
    if status["phase"] == "serving":
        found.append(("Direct", direct_sentence(status.get("direct") or {})))
    route = [_stop(stop) for stop in status.get("route") or ()]
    found.append(("Route", " → ".join(route)))
    found.append(("Given", _given(status.get("today") or {}, status.get("in_all") or {})))
    return [(name, text) for name, text in found if text]


def direct_sentence(direct: Fields) -> str:
    """How peers reach this computer, in words."""
    try:
        why = WhyNotDirect(direct.get("why", "unknown"))
    except ValueError:
        why = WhyNotDirect.UNKNOWN
    facts = DirectFacts(direct.get("reachable"), why, direct.get("endpoint", ""), direct.get("detail", ""))
    return str(explain(facts)[0])


def duration(seconds: float) -> str:
    """``9 s``, ``12 min``, ``3 h 12 min`` or ``2 d 5 h``."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


def size(octets: float) -> str:
    """Octets in decimal units: ``141 MB``."""
    for unit in ("B", "kB", "MB", "GB"):
        if octets < 999.5:
            return f"{octets:.1f} {unit}" if unit != "B" and octets < 9.95 else f"{octets:.0f} {unit}"
        octets /= 1000
    return f"{octets:.1f} TB"


def _span(shard: Fields) -> str:
    model = str(shard["model"]).rpartition("/")[2]
    return f"layers {show_layers(shard['start_layer'], shard['end_layer'])} of {model}"


def _progress(progress: Fields | None) -> str:
    if not progress:
        return ""
    done, total = progress.get("done") or 0, progress.get("total") or 0
    text = f": {progress['step']}"
    if total:
        text += f", {size(done)} of {size(total)}"
    if progress.get("seconds_left") is not None:
        text += f", {duration(progress['seconds_left'])} left"
    return text


def _pause(pause: Fields | None) -> str:
    if not pause:
        return ""
    if pause["cause"] != "person":
        return f": {_RULES.get(pause['cause'], pause['cause'])}" + (f" ({pause['detail']})" if pause["detail"] else "")
    if pause.get("until") is None:
        return " until you resume"
    return f" until {time.strftime('%H:%M', time.localtime(pause['until']))}"


def _present(status: Fields, now: float) -> list[str]:
    found = []
    if status["phase"] == "serving":
        chats = status.get("chats_now") or 0
        found.append("1 chat now" if chats == 1 else f"{chats} chats now")
        if status.get("tokens_per_s") is not None:
            found.append(f"{status['tokens_per_s']:.1f} tokens/s")
        if status.get("joined_at"):
            found.append(f"in the mesh for {duration(now - status['joined_at'])}")
    elif status.get("since"):
        found.append(f"for {duration(now - status['since'])}")
    if status.get("practice"):
        found.append("practice mesh on this computer")
    return found


def _link(link: Fields) -> str:
    if not link.get("address"):
        return ""
    state = "not connected" if link["state"] == "none" else link["state"]
    text = f"{link['address']}  {state}"
    if link.get("latency_ms") is not None:
        text += f", {link['latency_ms']:.1f} ms"
    if link.get("reconnects"):
        text += f", {link['reconnects']} reconnects"
    return text + (f" ({link['reason']})" if link.get("reason") and link["state"] != "connected" else "")


def _stop(stop: Fields) -> str:
    name = "YOU" if stop.get("mine") else stop["name"]
    text = f"{name} {show_layers(stop['start_layer'], stop['end_layer'])}"
    seam = stop.get("way") or ""
    if stop.get("latency_ms") is not None:
        seam += f" {stop['latency_ms']:.1f} ms"
    return f"({seam.strip()}) {text}" if seam else text


def _given(today: Fields, in_all: Fields) -> str:
    def amount(given: Fields) -> str:
        chats = given.get("chats") or 0
        return f"{given.get('tokens') or 0:,} tokens in {chats:,} chat{'' if chats == 1 else 's'}"

    if not (in_all.get("chats") or in_all.get("tokens")):
        return ""
    traffic = f"↑ {size(in_all.get('bytes_out') or 0)} ↓ {size(in_all.get('bytes_in') or 0)}"
    return f"today {amount(today)}; in all {amount(in_all)}, {traffic}"
