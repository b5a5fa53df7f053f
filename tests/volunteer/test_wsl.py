"""WSL and its network mode, told by what such computers really show."""

from __future__ import annotations

from pathlib import Path

import pytest

from meshdesk.volunteer import wsl
from meshdesk.volunteer.wsl import (
    WslMode,
    default_gateway,
    find_wsl,
    mode_by_addresses,
    mode_configured,
    mode_said,
    wsl_generation,
)

WSL2 = "5.15.167.4-microsoft-standard-WSL2"
ROUTES = (
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
    "eth0\t00000000\t011014AC\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
    "eth0\t001014AC\t00000000\t0001\t0\t0\t0\t00F0FFFF\t0\t0\t0\n"
)


@pytest.mark.parametrize(
    ("release", "generation"),
    [(WSL2, 2), ("6.6.87.2-microsoft-standard-WSL2+", 2), ("4.4.0-19041-Microsoft", 1), ("6.1.0-18-amd64", 0)],
)
def test_the_kernel_names_the_generation(release: str, generation: int) -> None:
    assert wsl_generation(release) == generation


@pytest.mark.parametrize(
    ("answer", "mode"),
    [
        ("nat\n", WslMode.NAT),
        ("Mirrored", WslMode.MIRRORED),
        ("virtioproxy", WslMode.OTHER),
        ("none", WslMode.OTHER),
        ("", None),
        ("Invalid command line argument: --networking-mode", None),
    ],
)
def test_what_wslinfo_says(answer: str, mode: WslMode | None) -> None:
    assert mode_said(answer) is mode


def test_the_gateway_is_read_from_the_kernels_routes() -> None:
    assert default_gateway(ROUTES) == "172.20.16.1"
    assert default_gateway("Iface\tDestination\n") is None
    assert default_gateway("") is None


@pytest.mark.parametrize(
    ("eth0", "gateway", "mode"),
    [
        ("172.20.25.3", "172.20.16.1", WslMode.NAT),
        ("172.20.25.3", "172.20.25.254", None),  # an office network may use that range too
        ("192.168.1.20", "192.168.1.1", WslMode.MIRRORED),
        (None, "192.168.1.1", None),
        ("192.168.1.20", None, None),
    ],
)
def test_the_addresses_tell_the_mode(eth0: str | None, gateway: str | None, mode: WslMode | None) -> None:
    assert mode_by_addresses(eth0, gateway) is mode


@pytest.mark.parametrize(
    ("config", "mode"),
    [
        ("[wsl2]\nnetworkingMode=mirrored\n", WslMode.MIRRORED),
        ("[WSL2]\n", WslMode.NAT),
        ("[experimental]\nnetworkingMode = mirrored", WslMode.MIRRORED),
        ("[wsl2]\nmemory=4GB\n", WslMode.NAT),
        ("[wsl2]\nnetworkingMode=bridged", WslMode.OTHER),
        ("networkingMode=mirrored", None),
        ("", None),
    ],
)
def test_what_the_configuration_asks_for(config: str, mode: WslMode | None) -> None:
    assert mode_configured(config) is mode


@pytest.fixture
def in_wsl2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(wsl.platform, "release", lambda: WSL2)
    monkeypatch.setattr(wsl.sys, "platform", "linux")
    monkeypatch.setattr(wsl, "ROUTES", tmp_path / "route")
    monkeypatch.setattr(wsl, "PROFILES", tmp_path / "Users")
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_wslinfo_goes_before_what_can_be_guessed(in_wsl2: Path) -> None:
    program = in_wsl2 / "wslinfo"
    program.write_text('#!/bin/sh\n[ "$1" = --networking-mode ] && echo mirrored\n')
    program.chmod(0o755)
    (in_wsl2 / "route").write_text(ROUTES)
    assert find_wsl("172.20.25.3") is WslMode.MIRRORED


def test_a_wslinfo_that_hangs_is_not_waited_for(in_wsl2: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wsl, "ASK_S", 0.1)
    program = in_wsl2 / "wslinfo"
    program.write_text("#!/bin/sh\nexec /bin/sleep 30\n")
    program.chmod(0o755)
    (in_wsl2 / "route").write_text(ROUTES)
    assert find_wsl("172.20.25.3") is WslMode.NAT


def test_without_wslinfo_and_routes_the_configuration_of_the_only_user_counts(in_wsl2: Path) -> None:
    assert find_wsl(None) is WslMode.UNKNOWN
    anna = in_wsl2 / "Users" / "anna"
    anna.mkdir(parents=True)
    (anna / ".wslconfig").write_bytes(b"\xef\xbb\xbf[wsl2]\r\nnetworkingMode=mirrored\r\n")
    assert find_wsl(None) is WslMode.MIRRORED
    ben = in_wsl2 / "Users" / "ben"
    ben.mkdir()
    (ben / ".wslconfig").write_text("[wsl2]\nnetworkingMode=nat\n")
    assert find_wsl(None) is WslMode.UNKNOWN, "there is no saying whose counts"


def test_elsewhere_it_is_no_wsl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wsl.platform, "release", lambda: "6.1.0-18-amd64")
    assert find_wsl("172.20.25.3") is WslMode.NOT_WSL and not WslMode.NOT_WSL.is_wsl2
    assert WslMode.UNKNOWN.is_wsl2
