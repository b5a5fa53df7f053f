"""``/v1/models`` and where the chats come in, in the form OpenAI's clients know."""

from __future__ import annotations

import time
from typing import Any

from aiohttp import web

from meshdesk.tracker.chat_proxy import ChatProxy
from meshdesk.tracker.route_choice import ModelState, RouteChooser
from meshdesk.tracker.tracker_errors import UnknownModel

OWNER = "meshdesk"


class OpenAIApi:
    """The clients' side of the tracker. Errors are in OpenAI form."""

    def __init__(self, chooser: RouteChooser, chats: ChatProxy):
        self._chooser = chooser
        self._chats = chats

    def add_routes(self, router: web.UrlDispatcher) -> None:
        router.add_get("/v1/models", self.list_models)
        # Model ids hold slashes.
        router.add_get("/v1/models/{model:.+}", self.get_model)
        router.add_post("/v1/chat/completions", self._chats.chat_completions)
        router.add_post("/v1/completions", self._chats.completions)

    async def list_models(self, _: web.Request) -> web.Response:
        """Every model some node holds a part of; ``meshdesk.ready`` says whether it can answer now."""
        listed = [_shown(state) for state in self._chooser.models()]
        return web.json_response({"object": "list", "data": listed})

    async def get_model(self, request: web.Request) -> web.Response:
        name = request.match_info["model"]
        for state in self._chooser.models():
            if state.name == name:
                return web.json_response(_shown(state))
        raise UnknownModel(f"The model {name!r} is not in this mesh.")


def _shown(state: ModelState) -> dict[str, Any]:
    return {
        "id": state.name,
        "object": "model",
        "created": int(time.time() - state.since_s),
        "owned_by": OWNER,
        "meshdesk": {
            "ready": state.ready,
            "nodes": state.nodes,
            "missing_layers": [list(layers) for layers in state.missing],
            "variants": [
                {"revision": key.revision, "dtype": key.dtype, "num_layers": key.num_layers} for key in state.keys
            ],
        },
    }
