"""Files under way: put together from octets in any order, resumed after a kill, and never believed unchecked."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from meshdesk.shard.download import parts
from meshdesk.shard.download.parts import Part, PartStream, Places
from meshdesk.shard.download.shard_files import KeptFile, plan_files, requests_for
from meshdesk.shard.download.spans import Span, pieces
from tests.shard.download.samples import two_files


def source_octets(size: int) -> bytes:
    return random.Random(7).randbytes(size)


def wanted_files() -> list[KeptFile]:
    """The layers of the first source file, as files of their own."""
    outline = two_files()
    wanted = [each for each in outline.tensors.values() if each.layer in (0, 1) and "00001-of" in each.file.name]
    return plan_files(outline, wanted)


def expected(file: KeptFile) -> bytes:
    source = source_octets(file.source.size)
    return file.header + b"".join(source[each.source.begin : each.source.end] for each in file.segments)


def fetch(opened: list[Part], spans: list[Span], chunk: int = 7) -> None:
    """The octets of ``spans`` as they would come from the Hub, in chunks that fall anywhere."""
    stream = PartStream(Places(opened))
    source = source_octets(opened[0].file.source.size)
    for span in spans:
        for begin in range(span.begin, span.end, chunk):
            stream.write(begin, source[begin : min(begin + chunk, span.end)])
        stream.flush()


def test_octets_in_any_order_make_the_files(tmp_path: Path) -> None:
    files = wanted_files()
    (asked,) = requests_for(files).values()
    spans = pieces(asked, 50)
    random.Random(3).shuffle(spans)
    opened = [Part(tmp_path, file).__enter__() for file in files]
    fetch(opened, spans)
    for part in opened:
        assert part.missing == []
        part.finish(tmp_path / part.file.name)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        each.name: expected(each) for each in files
    }


def test_what_came_before_a_kill_is_not_fetched_again(tmp_path: Path) -> None:
    file = wanted_files()[0]
    (span,) = file.wanted
    half = Span(span.begin, span.begin + span.size // 2)
    # Nobody closes the first: so it is after a kill.
    killed = Part(tmp_path, file).__enter__()
    fetch([killed], [half])
    with Part(tmp_path, file) as part:
        assert part.missing == [Span(half.end, span.end)]
        fetch([part], part.missing)
        part.finish(tmp_path / file.name)
    killed.close()
    assert (tmp_path / file.name).read_bytes() == expected(file)


def test_octets_that_changed_on_the_disk_are_fetched_anew(tmp_path: Path) -> None:
    file = wanted_files()[0]
    (span,) = file.wanted
    first, second = pieces([span], span.size // 2)
    with Part(tmp_path, file) as part:
        fetch([part], [first, second])
        path = part.path
    raw = bytearray(path.read_bytes())
    raw[len(file.header) + 1] ^= 1
    raw[0] ^= 1
    path.write_bytes(raw)
    with Part(tmp_path, file) as part:
        assert part.missing == [first]
        fetch([part], part.missing)
        part.finish(tmp_path / file.name)
    assert (tmp_path / file.name).read_bytes() == expected(file), "the header is written anew at every start"


@pytest.mark.parametrize("damage", ["cut", "garbage", "negative", "beyond"])
def test_a_damaged_journal_costs_only_what_it_no_longer_says(tmp_path: Path, damage: str) -> None:
    file = wanted_files()[0]
    (span,) = file.wanted
    first, second = pieces([span], span.size // 2)
    with Part(tmp_path, file) as part:
        fetch([part], [first, second])
    journal = tmp_path / f"{file.name}.journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) == 3
    lines[2] = {
        "cut": lines[2][:20],
        "garbage": b"\x00\xff{\n",
        "negative": b'[-5, 3, ""]\n',
        "beyond": b'[0, 99999999, ""]\n',
    }[damage]
    journal.write_bytes(b"".join(lines))
    with Part(tmp_path, file) as part:
        assert part.missing == [second]


def test_another_content_on_the_hub_begins_anew(tmp_path: Path) -> None:
    file = wanted_files()[0]
    with Part(tmp_path, file) as part:
        fetch([part], file.wanted)
        assert part.missing == []
    outline = two_files()
    source = outline.files[file.source.name]
    outline.files[file.source.name] = type(source)(source.name, source.size, "another etag", None)
    other = plan_files(outline, [each for each in outline.tensors.values() if each.layer == 0])[0]
    assert other.name == file.name
    with Part(tmp_path, other) as part:
        assert part.missing == file.wanted


def test_a_long_run_is_noted_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a kill would lose all that one connection has brought."""
    monkeypatch.setattr(parts, "ENTRY_BYTES", 32)
    file = wanted_files()[0]
    (span,) = file.wanted
    with Part(tmp_path, file) as part:
        stream = PartStream(Places([part]))
        stream.write(span.begin, source_octets(file.source.size)[span.begin : span.begin + 40])
        assert part.missing == [Span(span.begin + 40, span.end)], "before the flush at the end"
