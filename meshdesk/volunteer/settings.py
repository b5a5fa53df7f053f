"""Every setting of a volunteer's computer: default, bounds, unit and help in one place.

The settings window, the command line and the node's configuration are made from this model; a new
setting is added here and nowhere else. ``SettingInfo`` carries what pydantic has no place for.
Descriptions are English source texts; the desktop translates them by the context "Settings".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from meshdesk.protocol.errors import UsageError
from meshdesk.volunteer.layers import parse_layers
from meshdesk.volunteer.urls import http_url, websocket_url
from meshdesk.volunteer.wording import QT_TRANSLATE_NOOP

Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
NO_HTTP_URL = QT_TRANSLATE_NOOP("Settings", "This is not an address. Write it like http://203.0.113.5:7000.")
NO_WEBSOCKET_URL = QT_TRANSLATE_NOOP("Settings", "This is not an address. Write it like ws://203.0.113.5:7001.")
NO_NAME = QT_TRANSLATE_NOOP("Settings", "Use letters, digits and signs only.")
NO_LAYERS = QT_TRANSLATE_NOOP("Settings", "Write auto, all, or a range like 0-14.")
NO_CLOCK = QT_TRANSLATE_NOOP("Settings", "Write the time like 22:00.")
NO_TIME_OF_DAY = QT_TRANSLATE_NOOP("Settings", "There is no such time of day.")

GROUPS = ("Mesh", "Model", "Computer", "When to serve", "Network", "App")


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """How one setting is shown. ``unit`` stands behind the number; ``restarts`` says that the node starts anew.

    ``zero`` is what 0 means, where it means something of its own. ``after`` names a setting without
    which this one has no effect; the window greys it then, and says why.
    """

    group: str
    label: str
    unit: str = ""
    zero: str = ""
    restarts: bool = False
    after: str = ""


def _setting(default: Any, info: SettingInfo, description: str, **bounds: Any) -> Any:
    return Field(default=default, description=description, json_schema_extra={"info": info}, **bounds)  # type: ignore[dict-item]


class Settings(BaseModel):
    """One person's choices. Assigning a bad value raises pydantic's ValidationError; see ``info_of``."""

    model_config = ConfigDict(validate_assignment=True, extra="ignore")

    tracker: str = _setting(
        "", SettingInfo("Mesh", "Tracker", restarts=True), "The mesh to join: its tracker's address, from its invite."
    )
    relay: str = _setting(
        "",
        SettingInfo("Mesh", "Relay", restarts=True),
        "The relay by which others reach this computer; from the invite. Without one, only direct hops are possible.",
    )
    display_name: str = _setting(
        "",
        SettingInfo("Mesh", "Display name", restarts=True),
        "What others in the mesh see for this computer. Empty: they see a part of its random id.",
        max_length=32,
    )
    model: str = _setting(
        "",
        SettingInfo("Model", "Model", restarts=True),
        "A model's directory, or org/name on the Hub. Empty: the mesh's own model.",
        max_length=400,
    )
    models_folder: str = _setting(
        "",
        SettingInfo("Model", "Models folder", restarts=True),
        "Where downloaded models are kept. Empty: the usual place for such files.",
        max_length=1000,
    )
    layers: str = _setting(
        "auto",
        SettingInfo("Model", "Layers", restarts=True),
        "Which layers to hold: auto chooses those that the mesh needs most and that fit; or a range like 0-14, or all.",
    )
    memory_limit_mb: Annotated[int, Field(ge=0, le=4_194_304)] = _setting(
        0,
        SettingInfo("Computer", "Memory limit", unit="MB", zero="half of what is free", restarts=True),
        "How much memory the model's layers and the chats may take together.",
    )
    threads: Annotated[int, Field(ge=0, le=1024)] = _setting(
        0, SettingInfo("Computer", "Threads", zero="all cores", restarts=True), "How many processor threads compute."
    )
    device: Literal["auto", "cpu"] = _setting(
        "auto",
        SettingInfo("Computer", "Device", restarts=True),
        "What computes. This version uses the processor; graphics cards are not used yet.",
    )
    pause_on_battery: bool = _setting(
        True, SettingInfo("When to serve", "Pause on battery"), "Do not serve while this computer runs on battery."
    )
    pause_below_percent: Annotated[int, Field(ge=0, le=100)] = _setting(
        0,
        SettingInfo("When to serve", "Pause below charge", unit="%", zero="never"),
        "Do not serve while the battery holds less than this, also when plugged in.",
    )
    pause_when_busy_percent: Annotated[int, Field(ge=0, le=100)] = _setting(
        0,
        SettingInfo("When to serve", "Pause when busy", unit="%", zero="never"),
        "Do not serve while other programs keep the processor busier than this for a minute.",
    )
    schedule: bool = _setting(False, SettingInfo("When to serve", "Only at set times"), "Serve at these times only.")
    schedule_days: frozenset[Weekday] = _setting(
        frozenset(("mon", "tue", "wed", "thu", "fri", "sat", "sun")),
        SettingInfo("When to serve", "Days", after="schedule"),
        "The days on which to serve.",
    )
    schedule_from: str = _setting(
        "22:00", SettingInfo("When to serve", "From", after="schedule"), "When serving begins, like 22:00."
    )
    schedule_to: str = _setting(
        "07:00",
        SettingInfo("When to serve", "To", after="schedule"),
        "When serving ends; earlier than its beginning means the next morning.",
    )
    monthly_quota_gb: Annotated[int, Field(ge=0, le=1_000_000)] = _setting(
        0,
        SettingInfo("When to serve", "Monthly transfer", unit="GB", zero="no limit"),
        "Stop serving for the rest of the month after so much has been sent and received.",
    )
    direct_hops: bool = _setting(
        True,
        SettingInfo("Network", "Direct hops", restarts=True),
        "Let peers on your network dial this computer, and be dialled where the relay fails. Off: by relay only.",
    )
    port: Annotated[int, Field(ge=0, le=65535)] = _setting(
        0,
        SettingInfo("Network", "Port", zero="any free one", restarts=True, after="direct_hops"),
        "The port for direct hops.",
    )
    bandwidth_kb_s: Annotated[int, Field(ge=0, le=10_000_000)] = _setting(
        0,
        SettingInfo("Network", "Bandwidth cap", unit="KB/s", zero="no limit", restarts=True),
        "The most that this node sends and receives for the mesh. Low values make every token slower.",
    )
    autostart: bool = _setting(
        False, SettingInfo("App", "Start with the computer"), "Start meshdesk, in the tray, when you log in."
    )
    start_joined: bool = _setting(
        False, SettingInfo("App", "Join at start"), "Join the mesh as soon as meshdesk starts."
    )
    notifications: bool = _setting(
        True, SettingInfo("App", "Notifications"), "Tell about outages and faults outside the window."
    )
    theme: Literal["system", "light", "dark"] = _setting(
        "system", SettingInfo("App", "Theme"), "Light, dark, or as the system has it."
    )
    language: Literal["system", "en", "de"] = _setting("system", SettingInfo("App", "Language"), "The app's language.")
    log_level: Literal["debug", "info", "warning", "error"] = _setting(
        "info", SettingInfo("App", "Log level"), "How much is written to the log."
    )

    @field_validator("tracker")
    @classmethod
    def _tracker(cls, value: str) -> str:
        return _checked(lambda: http_url(value.strip(), "tracker"), NO_HTTP_URL) if value.strip() else ""

    @field_validator("relay")
    @classmethod
    def _relay(cls, value: str) -> str:
        return _checked(lambda: websocket_url(value.strip(), "relay"), NO_WEBSOCKET_URL) if value.strip() else ""

    @field_validator("display_name")
    @classmethod
    def _name(cls, value: str) -> str:
        value = " ".join(value.split())
        if not value.isprintable():
            raise ValueError(NO_NAME)
        return value

    @field_validator("layers")
    @classmethod
    def _layers(cls, value: str) -> str:
        value = value.strip().lower()
        if value not in ("", "auto"):
            _checked(lambda: parse_layers(value), NO_LAYERS)
        return value or "auto"

    @field_validator("schedule_from", "schedule_to")
    @classmethod
    def _clock(cls, value: str) -> str:
        hours, colon, minutes = value.strip().partition(":")
        if not (value.isascii() and colon and hours.isdigit() and minutes.isdigit() and len(minutes) == 2):
            raise ValueError(NO_CLOCK)
        if int(hours) > 23 or int(minutes) > 59:
            raise ValueError(NO_TIME_OF_DAY)
        return f"{int(hours):02}:{minutes}"


def info_of(name: str) -> SettingInfo:
    """How the setting ``name`` is shown."""
    extra = Settings.model_fields[name].json_schema_extra
    assert isinstance(extra, dict)
    info = extra["info"]
    assert isinstance(info, SettingInfo)
    return info


def _checked(check: Any, sentence: str) -> Any:
    try:
        return check()
    except UsageError:
        raise ValueError(sentence) from None
