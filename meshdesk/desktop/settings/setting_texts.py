"""Every text that the settings' model brings to the screen, marked for the translations.

The model itself knows no Qt; a test compares this list with it. A new setting's texts are added here too.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from meshdesk.volunteer.wording import QT_TRANSLATE_NOOP

TEXTS = (
    QT_TRANSLATE_NOOP("Settings", "Mesh"),
    QT_TRANSLATE_NOOP("Settings", "Model"),
    QT_TRANSLATE_NOOP("Settings", "Computer"),
    QT_TRANSLATE_NOOP("Settings", "When to serve"),
    QT_TRANSLATE_NOOP("Settings", "Network"),
    QT_TRANSLATE_NOOP("Settings", "App"),
    QT_TRANSLATE_NOOP("Settings", "Tracker"),
    QT_TRANSLATE_NOOP("Settings", "The mesh to join: its tracker's address, from its invite."),
    QT_TRANSLATE_NOOP("Settings", "Relay"),
    QT_TRANSLATE_NOOP(
        "Settings",
        "The relay by which others reach this computer; from the invite. Without one, only direct hops are possible.",
    ),
    QT_TRANSLATE_NOOP("Settings", "Display name"),
    QT_TRANSLATE_NOOP(
        "Settings", "What others in the mesh see for this computer. Empty: they see a part of its random id."
    ),
    QT_TRANSLATE_NOOP("Settings", "A model's directory, or org/name on the Hub. Empty: the mesh's own model."),
    QT_TRANSLATE_NOOP("Settings", "Models folder"),
    QT_TRANSLATE_NOOP("Settings", "Where downloaded models are kept. Empty: the usual place for such files."),
    QT_TRANSLATE_NOOP("Settings", "Layers"),
    QT_TRANSLATE_NOOP(
        "Settings",
        "Which layers to hold: auto chooses those that the mesh needs most and that fit; or a range like 0-14, or all.",
    ),
    QT_TRANSLATE_NOOP("Settings", "Memory limit"),
    QT_TRANSLATE_NOOP("Settings", "How much memory the model's layers and the chats may take together."),
    QT_TRANSLATE_NOOP("Settings", "MB"),
    QT_TRANSLATE_NOOP("Settings", "half of what is free"),
    QT_TRANSLATE_NOOP("Settings", "Threads"),
    QT_TRANSLATE_NOOP("Settings", "How many processor threads compute."),
    QT_TRANSLATE_NOOP("Settings", "all cores"),
    QT_TRANSLATE_NOOP("Settings", "Device"),
    QT_TRANSLATE_NOOP("Settings", "What computes. This version uses the processor; graphics cards are not used yet."),
    QT_TRANSLATE_NOOP("Settings", "Pause on battery"),
    QT_TRANSLATE_NOOP("Settings", "Do not serve while this computer runs on battery."),
    QT_TRANSLATE_NOOP("Settings", "Pause below charge"),
    QT_TRANSLATE_NOOP("Settings", "Do not serve while the battery holds less than this, also when plugged in."),
    QT_TRANSLATE_NOOP("Settings", "%"),
    QT_TRANSLATE_NOOP("Settings", "never"),
    QT_TRANSLATE_NOOP("Settings", "Pause when busy"),
    QT_TRANSLATE_NOOP(
        "Settings", "Do not serve while other programs keep the processor busier than this for a minute."
    ),
    QT_TRANSLATE_NOOP("Settings", "Only at set times"),
    QT_TRANSLATE_NOOP("Settings", "Serve at these times only."),
    QT_TRANSLATE_NOOP("Settings", "Days"),
    QT_TRANSLATE_NOOP("Settings", "The days on which to serve."),
    QT_TRANSLATE_NOOP("Settings", "From"),
    QT_TRANSLATE_NOOP("Settings", "When serving begins, like 22:00."),
    QT_TRANSLATE_NOOP("Settings", "To"),
    QT_TRANSLATE_NOOP("Settings", "When serving ends; earlier than its beginning means the next morning."),
    QT_TRANSLATE_NOOP("Settings", "Monthly transfer"),
    QT_TRANSLATE_NOOP("Settings", "Stop serving for the rest of the month after so much has been sent and received."),
    QT_TRANSLATE_NOOP("Settings", "GB"),
    QT_TRANSLATE_NOOP("Settings", "no limit"),
    QT_TRANSLATE_NOOP("Settings", "Direct hops"),
    QT_TRANSLATE_NOOP(
        "Settings",
        "Let peers on your network dial this computer, and be dialled where the relay fails. Off: by relay only.",
    ),
    QT_TRANSLATE_NOOP("Settings", "Port"),
    QT_TRANSLATE_NOOP("Settings", "The port for direct hops."),
    QT_TRANSLATE_NOOP("Settings", "any free one"),
    QT_TRANSLATE_NOOP("Settings", "Bandwidth cap"),
    QT_TRANSLATE_NOOP(
        "Settings", "The most that this node sends and receives for the mesh. Low values make every token slower."
    ),
    QT_TRANSLATE_NOOP("Settings", "KB/s"),
    QT_TRANSLATE_NOOP("Settings", "Start with the computer"),
    QT_TRANSLATE_NOOP("Settings", "Start meshdesk, in the tray, when you log in."),
    QT_TRANSLATE_NOOP("Settings", "Join at start"),
    QT_TRANSLATE_NOOP("Settings", "Join the mesh as soon as meshdesk starts."),
    QT_TRANSLATE_NOOP("Settings", "Notifications"),
    QT_TRANSLATE_NOOP("Settings", "Tell about outages and faults outside the window."),
    QT_TRANSLATE_NOOP("Settings", "Theme"),
    QT_TRANSLATE_NOOP("Settings", "Light, dark, or as the system has it."),
    QT_TRANSLATE_NOOP("Settings", "Language"),
    QT_TRANSLATE_NOOP("Settings", "The app's language."),
    QT_TRANSLATE_NOOP("Settings", "Log level"),
    QT_TRANSLATE_NOOP("Settings", "How much is written to the log."),
)
"""Groups, labels, help, units, and what 0 means."""

CHOICES = {
    ("device", "auto"): QT_TRANSLATE_NOOP("Settings", "Automatic"),
    ("device", "cpu"): QT_TRANSLATE_NOOP("Settings", "Processor"),
    ("theme", "system"): QT_TRANSLATE_NOOP("Settings", "As the system"),
    ("theme", "light"): QT_TRANSLATE_NOOP("Settings", "Light"),
    ("theme", "dark"): QT_TRANSLATE_NOOP("Settings", "Dark"),
    ("language", "system"): QT_TRANSLATE_NOOP("Settings", "As the system"),
    ("language", "en"): QT_TRANSLATE_NOOP("Settings", "English"),
    ("language", "de"): QT_TRANSLATE_NOOP("Settings", "Deutsch"),
    ("log_level", "debug"): QT_TRANSLATE_NOOP("Settings", "Everything"),
    ("log_level", "info"): QT_TRANSLATE_NOOP("Settings", "The usual"),
    ("log_level", "warning"): QT_TRANSLATE_NOOP("Settings", "Warnings and errors"),
    ("log_level", "error"): QT_TRANSLATE_NOOP("Settings", "Errors only"),
}
"""What a person reads for each value of a setting that is one of several."""


def setting_text(text: str) -> str:
    """A text of the settings' model in the app's language."""
    return QCoreApplication.translate("Settings", text) if text else ""


def choice_text(name: str, value: str) -> str:
    """A value of the setting ``name`` as people read it."""
    return setting_text(CHOICES.get((name, value), value))
