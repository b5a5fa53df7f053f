"""A Hugging Face Hub on loopback: the part of its API that a download of a whole repo uses."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

COMMIT = hashlib.sha1(b"commit").hexdigest()


class LoopbackHub(ThreadingHTTPServer):
    """Serves ``files`` as the public repo ``org/tiny``; ``org/gated`` asks for terms, all else does not exist."""

    daemon_threads = False
    block_on_close = True

    def __init__(self, files: dict[str, bytes]):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = files
        self.octets_sent = 0
        self.asked: list[str] = []
        self.authorizations: set[str] = set()
        """What callers proved themselves with."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 5.0
    server: LoopbackHub

    def do_HEAD(self) -> None:
        self._serve(body=False)

    def do_GET(self) -> None:
        self._serve(body=True)

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""

    def _serve(self, *, body: bool) -> None:
        path = urlsplit(self.path).path
        self.server.asked.append(f"{self.command} {path}")
        self.server.authorizations.add(self.headers.get("Authorization", ""))
        if "org/gated" in path:
            self._fail(403, "GatedRepo", "Access to model org/gated is restricted.")
            return
        if "org/tiny" not in path:
            self._fail(401, "RepoNotFound", "Repository not found.")
            return
        if path == "/api/models/org/tiny":
            path += "/revision/main"
        api = re.fullmatch(r"/api/models/org/tiny/(revision|tree)/([^/]+)", path)
        resolve = re.fullmatch(r"/org/tiny/resolve/([^/]+)/(.+)", path)
        revision = (api and api[2]) or (resolve and resolve[1])
        if revision not in ("main", COMMIT):
            self._fail(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        elif api is not None:
            self._answer_api(api[1])
        elif resolve is not None and resolve[2] in self.server.files:
            self._answer_file(self.server.files[resolve[2]], body)
        else:
            self._fail(404, "EntryNotFound", "Entry not found.")

    def _answer_api(self, kind: str) -> None:
        files = self.server.files
        tree = [{"type": "file", "path": name, "size": len(data), "oid": _oid(data)} for name, data in files.items()]
        info = {
            "_id": "1",
            "id": "org/tiny",
            "sha": COMMIT,
            "private": False,
            "siblings": [{"rfilename": name, "size": len(data), "blobId": _oid(data)} for name, data in files.items()],
        }
        self._send(200, json.dumps(tree if kind == "tree" else info).encode(), {"Content-Type": "application/json"})

    def _answer_file(self, data: bytes, body: bool) -> None:
        headers = {"ETag": f'"{_oid(data)}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if wanted is None:
            self._send(200, data, headers, body=body)
            return
        begin, end = int(wanted[1]), min(int(wanted[2] or len(data)) + 1, len(data))
        if begin >= len(data):
            self._send(416, b"", {"Content-Range": f"bytes */{len(data)}"})
            return
        headers["Content-Range"] = f"bytes {begin}-{end - 1}/{len(data)}"
        self._send(206, data[begin:end], headers, body=body)

    def _fail(self, status: int, code: str, message: str) -> None:
        self._send(status, b"{}", {"X-Error-Code": code, "X-Error-Message": message})

    def _send(self, status: int, data: bytes, headers: dict[str, str], *, body: bool = True) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body and self.command != "HEAD":
            self.wfile.write(data)
            self.server.octets_sent += len(data)


def _oid(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()


@contextmanager
def loopback_hub(files: dict[str, bytes]) -> Iterator[LoopbackHub]:
    hub = LoopbackHub(files)
    serving = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.05})
    serving.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        serving.join()
        hub.server_close()
