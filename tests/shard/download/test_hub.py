"""The Hub as a download sees it, through the real Hub library, from a Hub on loopback."""

from __future__ import annotations

from collections.abc import Iterator

import huggingface_hub.constants
import pytest
from huggingface_hub import close_session

from meshdesk.shard.download.failures import CHANGED, NotTheModel, failure_of
from meshdesk.shard.download.hub import Hub
from meshdesk.shard.download.outline import SourceFile
from meshdesk.shard.download.spans import Span
from tests.shard.loopback_hub import COMMIT, LoopbackHub, loopback_hub

WEIGHTS = bytes(number % 251 for number in range(5000))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    with loopback_hub({"model.safetensors": WEIGHTS, "config.json": b"{}"}) as server:
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", server.url)
        monkeypatch.setattr(
            huggingface_hub.constants,
            "HUGGINGFACE_CO_URL_TEMPLATE",
            server.url + "/{repo_id}/resolve/{revision}/{filename}",
        )
        yield server
        close_session()


@pytest.fixture
def weights(server: LoopbackHub) -> SourceFile:
    return Hub("org/tiny").listing(None).weights["model.safetensors"]


@pytest.mark.parametrize("revision", [None, "main", COMMIT])
def test_a_listing_is_pinned_to_the_commit(server: LoopbackHub, revision: str | None) -> None:
    listing = Hub("org/tiny").listing(revision)
    assert (listing.commit, listing.others) == (COMMIT, {"config.json": 2})
    assert listing.weights["model.safetensors"].size == len(WEIGHTS)


def test_only_the_octets_that_are_asked_for_come(server: LoopbackHub, weights: SourceFile) -> None:
    before = server.octets_sent
    assert Hub("org/tiny").read(weights, COMMIT, Span(1000, 1064)) == WEIGHTS[1000:1064]
    assert server.octets_sent - before == 64


def test_a_file_that_became_shorter_is_noticed(server: LoopbackHub, weights: SourceFile) -> None:
    server.files["model.safetensors"] = WEIGHTS[:4000]
    with pytest.raises(NotTheModel) as raised:
        Hub("org/tiny").read(weights, COMMIT, Span(0, 10))
    assert raised.value.failure == CHANGED
    with pytest.raises(Exception, match="416") as beyond:
        Hub("org/tiny").read(weights, COMMIT, Span(4500, 4510))
    assert failure_of(beyond.value, "org/tiny", None).retry


@pytest.mark.parametrize(("repo", "says"), [("org/gated", "accepted its licence"), ("org/none", "no public repo")])
def test_a_refusal_is_told_in_words(server: LoopbackHub, repo: str, says: str) -> None:
    with pytest.raises(Exception) as raised:
        Hub(repo).listing(None)
    assert says in failure_of(raised.value, repo, None).sentence
