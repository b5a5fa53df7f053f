"""What this computer holds of the model: which layers, why those, and how much memory they take."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from meshdesk.desktop.actions import Actions, Window
from meshdesk.desktop.amounts import UNKNOWN, size_text
from meshdesk.desktop.dashboard.card import Card, set_text, show_text
from meshdesk.desktop.spoken_words import spoken
from meshdesk.volunteer.layers import show_layers
from meshdesk.volunteer.status import Status

translate = QCoreApplication.translate


class ShardCard(Card):
    """Empty until layers are chosen; then what they are."""

    def __init__(self, actions: Actions):
        super().__init__(translate("ShardCard", "Shard"))
        self._model = self.add_line(translate("ShardCard", "Model"))
        self._layers = self.add_line(translate("ShardCard", "Layers"))
        self._weights = self.add_line(translate("ShardCard", "Weights"))
        self._memory = self.add_line(translate("ShardCard", "Memory"))
        self._why = self.add_text("caption")
        change = self.add_link(translate("ShardCard", "Change…"))
        change.clicked.connect(lambda: actions.show(Window.SETTINGS, about="layers"))
        self.end()

    def show_status(self, status: Status, now: float) -> None:
        """Say what is true now."""
        shard = status.shard
        if shard is None:
            for label in (self._model, self._layers, self._weights, self._memory):
                set_text(label, UNKNOWN)
            show_text(self._why, translate("ShardCard", "The layers are chosen when you join."))
            return
        set_text(self._model, shard.model.rpartition("/")[2], shard.model)
        layers = translate("ShardCard", "{layers} (of {count})").format(
            layers=show_layers(shard.start_layer, shard.end_layer), count=shard.num_layers
        )
        set_text(self._layers, layers)
        weights = (size_text(shard.weight_bytes), shard.compute_dtype, shard.device)
        set_text(self._weights, " · ".join(each for each in weights if each))
        used = [size_text(shard.memory_bytes)]
        if shard.kv_bytes:
            used.append(translate("ShardCard", "{size} for chats").format(size=size_text(shard.kv_bytes)))
        set_text(self._memory, " · ".join(used))
        why = (
            translate("ShardCard", "Chosen because {reason}.").format(reason=spoken(shard.chosen))
            if shard.chosen
            else ""
        )
        show_text(self._why, why)
