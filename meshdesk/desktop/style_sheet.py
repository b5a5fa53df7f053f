"""The application's style sheet, made from the theme's tokens. Flat: one-pixel lines, no shadows, no gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping

# A widget says what it is by the property "role"; everything else goes by its class.
_TEMPLATE = """
* {{ outline: none; }}
QWidget {{ color: {text}; }}
QMainWindow, QDialog, QWidget[role="window"] {{ background: {bg}; }}
QScrollArea, QScrollArea > QWidget > QWidget {{ background: transparent; border: none; }}
QFrame[role="card"] {{ background: {surface}; border: 1px solid {line}; border-radius: 8px; }}
QFrame[role="row"] {{ background: transparent; border: none; border-radius: 6px; }}
QFrame[role="row"][highlight="true"] {{ background: {direct_tint}; }}
QFrame[role="banner"] {{ background: {fallback_tint}; border: 1px solid {fallback}; border-radius: 8px; }}
QFrame[role="banner"][kind="error"] {{ background: {error_tint}; border-color: {error}; }}
QFrame[role="banner"][kind="neutral"] {{ background: {relay_tint}; border-color: {relay}; }}
QFrame[role="divider"] {{ background: {line}; border: none; min-height: 1px; max-height: 1px; }}
QLabel {{ background: transparent; }}
QLabel:disabled {{ color: {muted}; }}
QLabel[role="headline"] {{ font-size: 20px; font-weight: 600; }}
QLabel[role="caption"] {{ font-size: 11px; color: {muted}; }}
QLabel[role="muted"] {{ color: {muted}; }}
QLabel[role="error"] {{ color: {error}; }}
QLabel[role="title"] {{ font-weight: 600; }}

QPushButton, QToolButton {{
    background: {surface}; border: 1px solid {line}; border-radius: 6px; padding: 5px 12px; min-height: 18px;
}}
QToolButton {{ padding: 5px 7px; }}
QPushButton:hover, QToolButton:hover {{ border-color: {muted}; }}
QPushButton:pressed, QToolButton:pressed {{ background: {bg}; }}
QPushButton:focus, QToolButton:focus {{ border: 2px solid {direct}; padding: 4px 11px; }}
QToolButton:focus {{ padding: 4px 6px; }}
QPushButton:disabled, QToolButton:disabled {{ color: {muted}; background: {bg}; }}
QPushButton[role="primary"] {{
    background: {direct}; border-color: {direct}; color: {accent_ink}; font-weight: 600;
}}
QPushButton[role="primary"]:hover {{ background: {direct_strong}; }}
QPushButton[role="primary"]:focus {{ border: 2px solid {text}; }}
QPushButton[role="primary"]:disabled {{ background: {line}; border-color: {line}; color: {muted}; }}
QPushButton[role="link"] {{
    background: transparent; border: 1px solid transparent; padding: 2px 4px; color: {direct}; text-align: left;
}}
QPushButton[role="link"]:hover {{ text-decoration: underline; }}
QPushButton[role="link"]:focus {{ border: 1px solid {direct}; }}
QPushButton[segment="true"] {{ border-radius: 0; padding: 4px 12px; }}
QPushButton[segment="true"]:checked {{ background: {direct_tint}; border-color: {direct}; color: {direct}; }}
QPushButton[segment="true"]:checked:disabled {{ background: {line}; border-color: {line}; color: {muted}; }}
QPushButton::menu-indicator {{ subcontrol-position: right center; right: 6px; }}
QToolButton:checked {{ background: {direct_tint}; border-color: {direct}; color: {direct}; }}

QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QComboBox, QTimeEdit {{
    background: {surface}; border: 1px solid {line}; border-radius: 6px; padding: 4px 8px; min-height: 20px;
    selection-background-color: {direct}; selection-color: {accent_ink};
}}
QLineEdit, QPlainTextEdit, QTextEdit {{ placeholder-text-color: {muted}; }}
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QSpinBox:focus, QComboBox:focus, QTimeEdit:focus {{
    border: 2px solid {direct}; padding: 3px 7px;
}}
QPlainTextEdit[role="flat"] {{
    background: transparent; border: 1px solid transparent; border-radius: 4px; padding: 0; min-height: 0;
}}
QPlainTextEdit[role="flat"]:focus {{ border: 1px solid {direct}; padding: 0; }}
QLineEdit[invalid="true"], QSpinBox[invalid="true"], QPlainTextEdit[invalid="true"] {{ border-color: {error}; }}
QLineEdit:disabled, QSpinBox:disabled, QComboBox:disabled {{ color: {muted}; background: {bg}; }}
QComboBox::drop-down {{ border: none; width: 24px; }}
QComboBox::down-arrow {{ image: url("{down}"); width: 12px; height: 12px; }}
QSpinBox::up-button, QTimeEdit::up-button, QSpinBox::down-button, QTimeEdit::down-button {{
    subcontrol-origin: border; width: 22px; border: none; background: transparent;
}}
QSpinBox::up-button, QTimeEdit::up-button {{ subcontrol-position: top right; }}
QSpinBox::down-button, QTimeEdit::down-button {{ subcontrol-position: bottom right; }}
QSpinBox::up-arrow, QTimeEdit::up-arrow {{ image: url("{up}"); width: 10px; height: 10px; }}
QSpinBox::down-arrow, QTimeEdit::down-arrow {{ image: url("{down}"); width: 10px; height: 10px; }}
QComboBox QAbstractItemView {{ background: {surface}; border: 1px solid {line}; selection-background-color: {direct}; }}

QCheckBox, QRadioButton {{ spacing: 8px; background: transparent; padding: 2px; }}
QCheckBox:focus, QRadioButton:focus {{ border: 1px solid {direct}; border-radius: 4px; padding: 1px; }}
QCheckBox::indicator, QRadioButton::indicator {{
    width: 14px; height: 14px; border: 1px solid {muted}; border-radius: 4px; background: {surface};
}}
QCheckBox::indicator:checked {{ background: {direct}; border-color: {direct}; image: url("{check}"); }}
QRadioButton::indicator {{ border-radius: 8px; }}
QRadioButton::indicator:checked {{ width: 6px; height: 6px; border: 5px solid {direct}; }}
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled {{ border-color: {line}; background: {bg}; }}

QSlider::groove:horizontal {{ height: 4px; background: {line}; border-radius: 2px; }}
QSlider::sub-page:horizontal {{ background: {direct}; border-radius: 2px; }}
QSlider::handle:horizontal {{
    width: 14px; height: 14px; margin: -6px 0; border: 1px solid {direct}; border-radius: 8px; background: {direct};
}}
QSlider::handle:horizontal:focus {{ border: 3px solid {text}; width: 10px; height: 10px; }}

QTableView, QListView, QTreeView {{
    background: {surface}; alternate-background-color: {bg}; border: 1px solid {line}; border-radius: 6px;
    gridline-color: {line}; selection-background-color: {direct_tint}; selection-color: {text};
}}
QTableView:focus, QListView:focus, QTreeView:focus {{ border-color: {direct}; }}
QListView[role="pages"] {{ background: transparent; border: none; }}
QListView[role="pages"]::item {{ padding: 6px 10px; border-radius: 6px; }}
QListView[role="pages"]::item:selected {{ background: {direct_tint}; color: {direct}; }}
QHeaderView {{ background: {surface}; border: none; }}
QHeaderView::section {{
    background: {surface}; color: {muted}; border: none; border-bottom: 1px solid {line}; padding: 4px 8px;
}}
QTableCornerButton::section {{ background: {surface}; border: none; }}

QProgressBar {{
    background: {line}; border: none; border-radius: 3px; min-height: 6px; max-height: 6px; text-align: center;
}}
QProgressBar::chunk {{ background: {direct}; border-radius: 3px; }}

QMenu {{ background: {surface}; border: 1px solid {line}; padding: 4px; }}
QMenu::item {{ padding: 5px 24px 5px 12px; border-radius: 4px; }}
QMenu::item:selected {{ background: {direct_tint}; color: {text}; }}
QMenu::item:disabled {{ color: {muted}; }}
QMenu::separator {{ height: 1px; background: {line}; margin: 4px 8px; }}
QToolTip {{ background: {surface}; color: {text}; border: 1px solid {line}; padding: 4px 6px; }}

QScrollBar:vertical {{ background: transparent; width: 10px; margin: 2px; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 2px; }}
QScrollBar::handle {{ background: {line}; border-radius: 3px; min-height: 24px; min-width: 24px; }}
QScrollBar::handle:hover {{ background: {muted}; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
QSplitter::handle {{ background: {line}; }}
QSplitter::handle:vertical {{ height: 1px; }}
QSplitter::handle:horizontal {{ width: 1px; }}
"""


def style_sheet(
    tokens: Mapping[str, str], accent_ink: str, mixed: Callable[[str, float], str], mark: Callable[[str], str]
) -> str:
    """The sheet for one theme. ``mixed(token, part)`` gives a token's colour thinned over the surface.

    ``mark(name)`` is the file of a small sign that a control draws itself: ``check``, ``up`` or ``down``.
    """
    return _TEMPLATE.format(
        **tokens,
        accent_ink=accent_ink,
        **{name: mark(name) for name in ("check", "up", "down")},
        direct_tint=mixed("direct", 0.14),
        direct_strong=mixed("direct", 0.86),
        relay_tint=mixed("relay", 0.08),
        fallback_tint=mixed("fallback", 0.10),
        error_tint=mixed("error", 0.08),
    )
