"""Amounts: what a person reads must be true, short and steady."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QLocale

from meshdesk.desktop import amounts


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    before = QLocale()
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedKingdom))
    yield
    QLocale.setDefault(before)


@pytest.mark.parametrize(
    ("octets", "text"),
    [
        (None, "–"),
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (9_949, "9.9 kB"),
        (9_951, "10 kB"),
        (141_200_000, "141 MB"),
        (999_600_000, "1.0 GB"),
        (4_020_000_000_000_000, "4,020 TB"),
    ],
)
def test_size(octets: int | None, text: str) -> None:
    assert amounts.size_text(octets) == text


def test_a_pair_of_sizes_shares_its_unit() -> None:
    assert amounts.pair_of_sizes_text(84e6, 141e6) == "84 of 141 MB"
    assert amounts.pair_of_sizes_text(0, 141e6) == "0 of 141 MB"
    assert amounts.pair_of_sizes_text(900e3, 1.5e9) == "900 kB of 1.5 GB"


@pytest.mark.parametrize(
    ("ms", "text"), [(None, "–"), (0.04, "0.0 ms"), (21.34, "21.3 ms"), (99.96, "100 ms"), (1234.2, "1,234 ms")]
)
def test_ms(ms: float | None, text: str) -> None:
    assert amounts.ms_text(ms) == text


def test_ms_without_its_unit() -> None:
    assert amounts.ms_text(21.34, unit=False) == "21.3"
    assert amounts.ms_text(None, unit=False) == "–"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (0, "0 s"),
        (9.4, "9 s"),
        (60, "1 min"),
        (125, "2 min 5 s"),
        (601, "10 min"),
        (3 * 3600 + 12 * 60 + 5, "3 h 12 min"),
        (7200, "2 h"),
        (53 * 3600, "2 d 5 h"),
        (-3, "0 s"),
    ],
)
def test_duration(seconds: float | None, text: str) -> None:
    assert amounts.duration_text(seconds) == text


@pytest.mark.parametrize(
    ("ago", "text"),
    [(-3, "just now"), (2, "just now"), (13, "10 s ago"), (130, "2 min ago"), (7300, "2 h 1 min ago")],
)
def test_ago(ago: float, text: str) -> None:
    assert amounts.ago_text(1000.0, 1000.0 + ago) == text
    assert amounts.ago_text(None, 5.0) == "–"


def test_clock_is_local_time() -> None:
    assert amounts.clock_text(None) == "–"
    assert len(amounts.clock_text(1_700_000_000)) == 8
    assert amounts.clock_text(1_700_000_000, seconds=False) == amounts.clock_text(1_700_000_000)[:5]
    assert amounts.clock_text(1_700_000_000) in amounts.moment_text(1_700_000_000)


def test_counts_and_rates_follow_the_language() -> None:
    assert amounts.count_text(88_310) == "88,310"
    assert amounts.rate_text(18.42) == "18.4"
    QLocale.setDefault(QLocale(QLocale.Language.German, QLocale.Country.Germany))
    assert amounts.count_text(88_310) == "88.310"
    assert amounts.rate_text(18.42) == "18,4"
    assert amounts.rate_text(None) == amounts.count_text(None) == "–"


def test_speed() -> None:
    assert amounts.speed_text(6_200_000) == "6.2 MB/s"
    assert amounts.speed_text(None) == "–"


@given(st.floats(min_value=0, max_value=9e14))
def test_a_size_has_at_most_three_places(octets: float) -> None:
    figure, unit = amounts.size_text(octets).split()
    assert len(figure.replace(".", "").replace(",", "")) <= 3
    assert unit in {"B", "kB", "MB", "GB", "TB"}
