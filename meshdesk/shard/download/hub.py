"""The Hub as a download sees it: a repo's commit and files, and octets of a file. Child process only.

Everything goes through the Hub library's own client: its endpoint, token, proxies, certificates and redirects.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
from huggingface_hub import HfApi, constants, hf_hub_download, hf_hub_url
from huggingface_hub.utils._headers import build_hf_headers
from huggingface_hub.utils._http import get_session, hf_raise_for_status

from meshdesk.shard.download.failures import ANOTHER_LENGTH, CHANGED, RANGE_IGNORED, WEB_PAGE, NotTheModel
from meshdesk.shard.download.outline import SourceFile
from meshdesk.shard.download.spans import Span

CONNECT_S = 10.0
STALL_S = 30.0
"""So long nothing may come before a connection is given up for another."""
CHUNK_BYTES = 64 * 1024
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")


@dataclass(frozen=True, slots=True)
class Listing:
    """A repo at one commit: weight files and the names of all others with their sizes."""

    repo: str
    commit: str
    weights: dict[str, SourceFile]
    others: dict[str, int] = field(default_factory=dict)
    all_names: tuple[str, ...] = ()


class Hub:
    """``stall_s`` seconds without an octet end a connection."""

    def __init__(self, repo: str, stall_s: float = STALL_S):
        self.repo = repo
        self._stall_s = stall_s

    def listing(self, revision: str | None) -> Listing:
        """What the repo holds at ``revision``, pinned to its commit. Raises what the library raises."""
        info = HfApi().model_info(self.repo, revision=revision, files_metadata=True, timeout=self._stall_s)
        weights: dict[str, SourceFile] = {}
        others: dict[str, int] = {}
        assert info.sha is not None
        for file in info.siblings or ():
            if file.rfilename.endswith(".safetensors"):
                sha256 = file.lfs.sha256 if file.lfs is not None else None
                if file.size is None or (sha256 or file.blob_id) is None:
                    weights[file.rfilename] = self._by_head(file.rfilename, info.sha)
                else:
                    weights[file.rfilename] = SourceFile(
                        file.rfilename, file.size, sha256 or file.blob_id or "", sha256
                    )
            else:
                others[file.rfilename] = file.size or 0
        return Listing(self.repo, info.sha, weights, others, tuple(file.rfilename for file in info.siblings or ()))

    def small_file(self, name: str, commit: str) -> Path:
        """One of the files beside the weights, in the library's cache."""
        return Path(hf_hub_download(self.repo, name, revision=commit))

    def etag(self, name: str, commit: str) -> str | None:
        """What names the content of a file now; asked with one request."""
        return self._by_head(name, commit).etag

    @contextlib.contextmanager
    def octets(self, file: SourceFile, commit: str, span: Span) -> Iterator[Iterator[bytes]]:
        """The octets of ``span`` as they come. Raises NotTheModel for an answer that is something else."""
        headers = build_hf_headers()
        headers["Range"] = f"bytes={span.begin}-{span.end - 1}"
        # What is compressed on the way has no octets that one could ask for.
        headers["Accept-Encoding"] = "identity"
        url = hf_hub_url(self.repo, file.name, revision=commit)
        limits = httpx2.Timeout(self._stall_s, connect=CONNECT_S)
        with get_session().stream("GET", url, headers=headers, timeout=limits, follow_redirects=True) as response:
            hf_raise_for_status(response)
            self._check(response, file, span)
            yield response.iter_raw(CHUNK_BYTES)

    def read(self, file: SourceFile, commit: str, span: Span) -> bytes:
        """All octets of a short span."""
        with self.octets(file, commit, span) as chunks:
            data = b"".join(chunks)
        if len(data) != span.size:
            raise NotTheModel(ANOTHER_LENGTH)
        return data

    def _check(self, response: httpx2.Response, file: SourceFile, span: Span) -> None:
        if response.headers.get("Content-Type", "").startswith("text/html"):
            raise NotTheModel(WEB_PAGE)
        for answer in (*response.history, response):
            linked = answer.headers.get(constants.HUGGINGFACE_HEADER_X_LINKED_ETAG, "")
            if linked and _plain(linked) != file.etag:
                raise NotTheModel(CHANGED)
        if response.status_code == 200 and span != Span(0, file.size):
            raise NotTheModel(RANGE_IGNORED)
        if response.status_code == 206:
            said = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
            if said is None or (int(said[1]), int(said[2]) + 1) != span:
                raise NotTheModel(ANOTHER_LENGTH)
            if said[3] not in ("*", str(file.size)):
                raise NotTheModel(CHANGED)

    def _by_head(self, name: str, commit: str) -> SourceFile:
        from huggingface_hub import get_hf_file_metadata

        found = get_hf_file_metadata(hf_hub_url(self.repo, name, revision=commit), timeout=self._stall_s)
        if found.size is None or not found.etag:
            raise NotTheModel(ANOTHER_LENGTH)
        return SourceFile(name, found.size, found.etag, found.etag if len(found.etag) == 64 else None)


def _plain(etag: str) -> str:
    return etag.removeprefix("W/").strip('"')
