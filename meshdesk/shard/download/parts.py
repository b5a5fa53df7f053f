"""Files under way: octets written where they belong, a journal of what arrived, and nothing believed without its hash.

A part lies under a name of its own and gets its final one when it is complete and checked. Every entry of its
journal has the hash of the octets it speaks of, and a resume reads them again: whatever a kill, a power cut or
a bad disk has done to them, what does not match is fetched anew.
"""

from __future__ import annotations

import bisect
import contextlib
import hashlib
import io
import os
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

import orjson

from meshdesk.shard.download.shard_files import KeptFile, Segment
from meshdesk.shard.download.spans import Span, joined, without

ENTRY_BYTES = 256 * 1024
"""How much one entry of the journal speaks of: what a kill may lose of each connection."""
_READ_BYTES = 1 << 20


class Part:
    """One file under way, in ``directory``. ``write`` and ``record`` may come from many threads."""

    def __init__(self, directory: Path, file: KeptFile):
        self.file = file
        self.path = directory / f"{file.name}.part"
        self._journal_path = directory / f"{file.name}.journal"
        self._lock = threading.Lock()
        self._there: list[Span] = []
        self._stream: io.FileIO | None = None
        self._journal: io.FileIO | None = None

    def __enter__(self) -> Self:
        """Open it, and see what of an earlier try is still good; raises OSError."""
        self.path.touch()
        self._journal_path.touch()
        # Without buffers: what a full disk did not take must not come back at the next write.
        self._stream = io.FileIO(self.path, "r+b")
        try:
            self._journal = io.FileIO(self._journal_path, "r+b")
            lines = self._journal.readall().splitlines()
            if lines[:1] == [self._head()]:
                self._there = joined(filter(None, map(self._entry, lines[1:])))
                if self.file.header:
                    self.write(0, self.file.header)
            else:
                self.start_anew()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def missing(self) -> list[Span]:
        """What of the source file is wanted still."""
        left = without([Span(len(self.file.header), self.file.size)], self._there)
        return joined(
            Span(segment.source.begin + begin - segment.offset, segment.source.begin + end - segment.offset)
            for segment in self.file.segments
            for begin, end in _within(left, Span(segment.offset, segment.offset + segment.source.size))
        )

    def write(self, offset: int, data: bytes | memoryview) -> None:
        """Put octets at their place; raises OSError."""
        assert self._stream is not None
        with self._lock:
            self._stream.seek(offset)
            _write_all(self._stream, data)

    def record(self, span: Span, sha256: str) -> None:
        """Note that the octets of ``span`` of this part are written and have this hash."""
        assert self._journal is not None
        with self._lock:
            before = self._journal.tell()
            try:
                _write_all(self._journal, orjson.dumps([span.begin, span.end, sha256]) + b"\n")
            except OSError:
                self._journal.truncate(before)
                self._journal.seek(before)
                raise
            self._there.append(span)

    def start_anew(self) -> None:
        """Forget what there is: it is wrong, or of something else."""
        assert self._stream is not None and self._journal is not None
        with self._lock:
            self._there = []
            self._stream.truncate(0)
            self._journal.seek(0)
            self._journal.truncate(0)
            _write_all(self._journal, self._head() + b"\n")
        if self.file.header:
            self.write(0, self.file.header)

    def finish(self, final: Path) -> None:
        """Give the complete part its final name, with every octet on the disk first."""
        assert self._stream is not None
        os.fsync(self._stream.fileno())
        self.close()
        self.path.replace(final)
        self._journal_path.unlink(missing_ok=True)

    def close(self) -> None:
        """Write no more; what there is stays for a later try."""
        for stream in (self._stream, self._journal):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._stream = self._journal = None

    def _head(self) -> bytes:
        """What the part is a part of; another content on the Hub has another."""
        made_of = [self.file.source.name, self.file.source.etag, self.file.size, self.file.header.hex()]
        return b'"' + hashlib.sha256(orjson.dumps(made_of)).hexdigest().encode() + b'"'

    def _entry(self, line: bytes) -> Span | None:
        """What a line of the journal speaks of; None if that is not there, or the line was cut."""
        try:
            begin, end, sha256 = orjson.loads(line)
            span = Span(int(begin), int(end))
        except (orjson.JSONDecodeError, ValueError, TypeError):
            return None
        if not 0 <= span.begin < span.end <= self.file.size or self._hash_of(span) != sha256:
            return None
        return span

    def _hash_of(self, span: Span) -> str:
        assert self._stream is not None
        digest = hashlib.sha256()
        self._stream.seek(span.begin)
        left = span.size
        while left and (data := self._stream.read(min(_READ_BYTES, left))):
            digest.update(data)
            left -= len(data)
        return digest.hexdigest()


class PartStream:
    """Octets of one source file as they come, put into the parts that want them. For one thread; ``flush`` ends it."""

    def __init__(self, places: Places):
        self._places = places
        self._part: Part | None = None
        self._begin = self._end = 0
        self._digest = hashlib.sha256()

    def write(self, begin: int, data: bytes) -> None:
        """Octets of the source file from its octet ``begin`` on; raises OSError."""
        view = memoryview(data)
        for part, offset, span in self._places.of(Span(begin, begin + len(data))):
            if part is not self._part or offset != self._end:
                self.flush()
                self._part, self._begin, self._end = part, offset, offset
            piece = view[span.begin - begin : span.end - begin]
            part.write(offset, piece)
            self._digest.update(piece)
            self._end += len(piece)
            if self._end - self._begin >= ENTRY_BYTES:
                self.flush()

    def flush(self) -> None:
        """Note in the journal what has been written."""
        if self._part is not None and self._end > self._begin:
            self._part.record(Span(self._begin, self._end), self._digest.hexdigest())
        self._begin = self._end
        self._digest = hashlib.sha256()


class Places:
    """Where the octets of one source file go: the segments of all parts that take from it."""

    def __init__(self, parts: Iterable[Part]):
        found = [(segment, part) for part in parts for segment in part.file.segments if segment.source.size]
        self._segments: Sequence[tuple[Segment, Part]] = sorted(found, key=lambda each: each[0].source)
        self._begins = [segment.source.begin for segment, _ in self._segments]

    def of(self, span: Span) -> list[tuple[Part, int, Span]]:
        """Part, offset in it, and octets of the source, for all of ``span`` that somebody wants; in order."""
        found = []
        # Tensors do not overlap, so only the one before the first beginning inside can reach into the span.
        first = max(0, bisect.bisect_right(self._begins, span.begin) - 1)
        for segment, part in self._segments[first:]:
            if segment.source.begin >= span.end:
                break
            begin, end = max(span.begin, segment.source.begin), min(span.end, segment.source.end)
            if begin < end:
                found.append((part, segment.offset + begin - segment.source.begin, Span(begin, end)))
        return found


def _write_all(stream: io.FileIO, data: bytes | memoryview) -> None:
    view = memoryview(data)
    while view:
        view = view[stream.write(view) or 0 :]


def _within(spans: Iterable[Span], bounds: Span) -> list[Span]:
    clipped = (Span(max(span.begin, bounds.begin), min(span.end, bounds.end)) for span in spans)
    return [span for span in clipped if span.size > 0]
