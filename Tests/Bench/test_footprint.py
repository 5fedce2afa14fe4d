"""From compilers and starts to the tables."""
import pathlib

import pytest

import footprint
from footprint import Build, Compilers, Start


@pytest.mark.parametrize("words, target", [
    (["/usr/bin/swift-frontend", "-frontend", "-c", "a.swift", "-module-name", "GRDB", "-o", "/x/GRDB.build/a.o"], "GRDB"),
    (["/usr/bin/clang", "-c", "aes.cc", "-o", "/x/release/CCryptoBoringSSL.build/aes.cc.o"], "CCryptoBoringSSL"),
    (["/usr/bin/clang-17", "-cc1", "-o", "/x/release/CTransport.build/loop.c.o"], "CTransport"),
    # It links, and names objects of many targets.
    (["/usr/bin/clang", "-o", "throng", "/x/GRDB.build/a.o"], None),
    (["/usr/bin/python3", "-module-name", "GRDB"], None),
])
def test_a_compiler_tells_its_target(words, target):
    assert footprint.target_of("\0".join(words) + "\0") == target


def test_a_processs_time_counts_once_and_a_number_may_come_again():
    compilers = Compilers(session=1)
    for seconds in (1, 1, 3):
        compilers.count("A", (7, "100"), seconds)
    compilers.count("B", (7, "200"), 2)
    assert compilers.seconds == {"A": 3, "B": 2}


def test_what_was_not_seen_is_in_a_line_of_its_own():
    table = footprint.build_table(Build(120, 200, {"A": 50, "B": 100, "C": 0.2}, pathlib.Path("throng"))).splitlines()
    assert table[0].endswith(": 2.0 min, 200 s of CPU.")
    assert table[4:] == ["| B | 100 | 50% |", "| A | 50 | 25% |", f"| {footprint.OTHERS} | 50 | 25% |"]


def test_starts_are_shown_with_their_goals():
    table = footprint.start_table(bytes(24_000_000), [Start(0.3, 1)], [Start(0.1, 29_000_000), Start(0.2, 31_000_000)]).splitlines()
    assert "without the Swift runtime" in footprint.start_table(b"..libswiftCore.so..", [Start(0.3, 1)], [Start(0.1, 1)])
    assert table[2:] == [
        "| the executable, stripped | ≤ 25 MB | 24.0 MB |", "| the first start: ready after | ≤ 0.2 s | 0.300 (0.300–0.300) s |",
        "| a later start: ready after | ≤ 0.2 s | 0.150 (0.100–0.200) s |", "| memory at rest (RSS) | ≤ 30 MB | 30.0 (29.0–31.0) MB |"]
