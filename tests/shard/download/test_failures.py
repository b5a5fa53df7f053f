"""Every fault between here and the Hub has its own sentence, and is tried again only if it may pass."""

from __future__ import annotations

import ssl

import httpx2
import pytest
from huggingface_hub import errors

from meshdesk.shard.download.failures import MAX_WAIT_S, WEB_PAGE, NotTheModel, failure_of


def status_error(status: int, **headers: str) -> httpx2.HTTPStatusError:
    request = httpx2.Request("GET", "http://hub.example/x")
    response = httpx2.Response(status, headers={key.replace("_", "-"): value for key, value in headers.items()})
    return httpx2.HTTPStatusError("no", request=request, response=response)


def hub_error(kind: type[errors.HfHubHTTPError]) -> errors.HfHubHTTPError:
    response = httpx2.Response(403, request=httpx2.Request("GET", "http://hub.example/x"))
    return kind("no", response=response)


@pytest.mark.parametrize(
    ("error", "says", "retry"),
    [
        (hub_error(errors.GatedRepoError), "accepted its licence", False),
        (hub_error(errors.RevisionNotFoundError), "no revision v9", False),
        (hub_error(errors.RepositoryNotFoundError), "no public repo org/tiny", False),
        (errors.OfflineModeIsEnabled("no"), "HF_HUB_OFFLINE", False),
        (NotTheModel(WEB_PAGE), "web page", True),
        (status_error(401), "does not know the token", False),
        (status_error(403), "does not let this account", False),
        (status_error(407), "proxy wants a name", False),
        (status_error(416), "shorter than it was", True),
        (status_error(429), "asked too much", True),
        (status_error(503), "status 503", True),
        (status_error(418), "status 418", False),
        (httpx2.ProxyError("no"), "proxy does not let", True),
        (httpx2.ConnectError("no"), "cannot be reached", True),
        (httpx2.ReadTimeout("no"), "too long", True),
        (httpx2.RemoteProtocolError("cut"), "broke off", True),
        (ValueError("strange\nthing"), "strange", False),
    ],
)
def test_a_fault_says_what_it_is(error: Exception, says: str, retry: bool) -> None:
    failure = failure_of(error, "org/tiny", "v9")
    assert says in failure.sentence
    assert failure.retry == retry
    assert "\n" not in failure.sentence


def test_a_certificate_that_cannot_be_checked_is_found_behind_the_connection() -> None:
    error = httpx2.ConnectError("no")
    error.__cause__ = ssl.SSLCertVerificationError("self-signed")
    failure = failure_of(error, "org/tiny", None)
    assert "certificate" in failure.sentence
    assert "date" in (failure.hint or "")


@pytest.mark.parametrize(("said", "waited"), [("3", 3.0), ("1e9", MAX_WAIT_S), ("-1", 0.0), ("soon", None)])
def test_the_hub_may_say_how_long_to_wait(said: str, waited: float | None) -> None:
    assert failure_of(status_error(429, Retry_After=said), "org/tiny", None).wait_s == waited
