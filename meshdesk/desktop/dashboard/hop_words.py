"""A hop's figures in words: for tooltips and for screen readers."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from meshdesk.desktop.amounts import clock_text, count_text, ms_text, size_text
from meshdesk.desktop.dashboard.way_style import way_text
from meshdesk.volunteer.hop_history import HopRecord, Mark, MarkKind
from meshdesk.volunteer.layers import show_layers

translate = QCoreApplication.translate


def record_text(record: HopRecord) -> str:
    """All that is known of one hop of one token, a line each."""
    layers = show_layers(record.start_layer, record.end_layer)
    lines = [
        translate("HopWords", "Layers {layers}, {way}").format(
            layers=layers, way=way_text(record.way, served=record.served)
        )
    ]
    if record.tokens > 1:
        lines.append(
            translate("HopWords", "A prompt of {count} tokens, at {time}").format(
                count=count_text(record.tokens), time=clock_text(record.at)
            )
        )
    else:
        lines.append(
            translate("HopWords", "Token {number}, at {time}").format(
                number=count_text(record.token_index), time=clock_text(record.at)
            )
        )
    if record.served:
        text = translate("HopWords", "{total}: {compute} compute, {queue} queue")
    else:
        text = translate("HopWords", "{total}: {network} network, {compute} compute, {queue} queue")
    lines.append(
        text.format(
            total=ms_text(record.total_ms),
            network=ms_text(record.network_ms),
            compute=ms_text(record.compute_ms),
            queue=ms_text(record.queue_ms),
        )
    )
    lines.append(
        translate("HopWords", "{out} out, {back} back").format(
            out=size_text(record.bytes_out), back=size_text(record.bytes_in)
        )
    )
    return "\n".join(lines)


def mark_label(mark: Mark) -> str:
    """What the chart writes at a change of way."""
    if mark.kind is MarkKind.FELL_BACK:
        return translate("HopWords", "▲ relay lost {time}, direct").format(time=clock_text(mark.at))
    return translate("HopWords", "● relay back {time}").format(time=clock_text(mark.at))


def mark_text(mark: Mark) -> str:
    """The same with its reason, for the tooltip."""
    label = mark_label(mark)
    return f"{label}\n{mark.reason}" if mark.reason else label
