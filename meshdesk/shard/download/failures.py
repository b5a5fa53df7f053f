"""What goes wrong between here and the Hub, each in its own sentence with what to do, and whether to try again."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from meshdesk.shard.model_job import JobFailed

MAX_WAIT_S = 600.0
"""Longer than that nobody waits because the Hub asks for it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """``sentence`` and ``hint`` for a person. ``retry`` if it may pass by itself; ``wait_s`` as the Hub asks for."""

    sentence: str
    hint: str | None = None
    retry: bool = False
    wait_s: float | None = None

    def raised(self) -> JobFailed:
        return JobFailed(self.sentence, self.hint)


class NotTheModel(Exception):
    """An answer that is no model's data: ``failure`` says what it is instead."""

    def __init__(self, failure: Failure):
        super().__init__(failure.sentence)
        self.failure = failure


WEB_PAGE = Failure(
    "the answer was a web page instead of the model.",
    "A network with a login page answers so: open a browser, log in, and try again.",
    retry=True,
)
ANOTHER_LENGTH = Failure("the answer did not have the length that was asked for.", None, retry=True)
RANGE_IGNORED = Failure(
    "the server does not send parts of files.", "Choose another mirror (HF_ENDPOINT), or a model in several files."
)
CHANGED = Failure("the file on the Hub is another one than before.", None, retry=True)


def failure_of(error: BaseException, repo: str, revision: str | None) -> Failure:
    """What ``error``, raised while asking the Hub for ``repo``, means to a person."""
    import httpx2
    from huggingface_hub import errors

    if isinstance(error, NotTheModel):
        return error.failure
    if isinstance(error, errors.GatedRepoError):
        return Failure(
            f"{repo} is given only to those who accepted its licence.",
            f"Accept the licence at {_page(repo)}, then add a token of your account in Settings (or HF_TOKEN).",
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return Failure(f"{repo} has no revision {revision}.", "Check what stands behind the @.")
    if isinstance(error, errors.RepositoryNotFoundError):
        return Failure(
            f"the Hub has no public repo {repo}.",
            "Check the name; a private one needs a token (Settings, or HF_TOKEN).",
        )
    if isinstance(error, errors.EntryNotFoundError):
        return Failure(f"{repo} lacks a file that its list of files names.", "Try again later, or another revision.")
    if isinstance(error, errors.OfflineModeIsEnabled):
        return Failure(
            "the Hub is not asked while HF_HUB_OFFLINE is set, and the model is not on this disk.",
            "Unset HF_HUB_OFFLINE, or choose a model that is on this disk.",
        )
    if isinstance(error, errors.HfHubHTTPError | httpx2.HTTPStatusError) and error.response is not None:
        return _of_status(error.response.status_code, error.response.headers.get("Retry-After"), repo)
    return _of_network(error)


def _of_status(status: int, retry_after: str | None, repo: str) -> Failure:
    if status == 429:
        return Failure(
            "the Hub is asked too much from this address just now.",
            "Wait a while; with a token of an account more is allowed.",
            retry=True,
            wait_s=_seconds(retry_after),
        )
    if status >= 500:
        return Failure(
            f"the Hub has a fault of its own (status {status}).",
            "Try again later.",
            retry=True,
            wait_s=_seconds(retry_after),
        )
    if status == 401:
        return Failure("the Hub does not know the token.", "Make a new one at the Hub and put it into Settings.")
    if status == 403:
        return Failure(f"the Hub does not let this account have {repo}.", f"Look at {_page(repo)} while logged in.")
    if status == 407:
        return Failure("the proxy wants a name and a password.", "Put them into HTTPS_PROXY, or ask who runs it.")
    if status == 416:
        return Failure("the file on the Hub is shorter than it was.", "Try again.", retry=True)
    return Failure(f"the Hub answered with status {status}.", "Try again later.")


def _of_network(error: BaseException) -> Failure:
    import httpx2

    if any(isinstance(cause, ssl.SSLError) for cause in _causes(error)) or "CERTIFICATE_VERIFY" in str(error):
        return Failure(
            "the connection to the Hub is not safe: its certificate cannot be checked.",
            "Check this computer's date; a firewall that looks into traffic needs its certificate in SSL_CERT_FILE.",
        )
    if isinstance(error, httpx2.ProxyError):
        return Failure("the proxy does not let the connection through.", "Check HTTPS_PROXY.", retry=True)
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return Failure("the Hub cannot be reached.", "Check the network; choose a model on this disk.", retry=True)
    if isinstance(error, httpx2.TimeoutException):
        return Failure("nothing came from the Hub for too long.", "Check the network.", retry=True)
    if isinstance(error, httpx2.TransportError | httpx2.StreamError | ConnectionError):
        return Failure("the connection to the Hub broke off.", "Check the network.", retry=True)
    said = str(error).strip().splitlines()
    return Failure(f"{said[0][:300] if said else type(error).__name__}")


def _seconds(retry_after: str | None) -> float | None:
    try:
        return min(MAX_WAIT_S, max(0.0, float(retry_after))) if retry_after else None
    except ValueError:
        return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(10):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _page(repo: str) -> str:
    from huggingface_hub import constants

    endpoint = urlsplit(constants.ENDPOINT)
    return f"{endpoint.scheme}://{endpoint.netloc}/{repo}"
