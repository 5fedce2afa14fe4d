"""Fixtures: the files that Scripts/package has made (THRONG_PACKAGES), and systems to try them in."""
import os
from pathlib import Path

import pytest

from chroot import Chroot, base

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def packages():
    return Path(os.environ.get("THRONG_PACKAGES") or REPOSITORY / ".build-package").resolve()


@pytest.fixture(scope="session")
def made(packages):
    """Finds the one file of a pattern among those that were made; what was not made is not tested."""
    def find(pattern):
        found = list(packages.glob(pattern))
        if not found:
            pytest.skip(f"there is no {pattern} in {packages}")
        assert len(found) == 1, found
        return found[0]
    return find


@pytest.fixture
def make_chroot(tmp_path):
    """Systems of one's own: of a release of Debian, or of an archive."""
    systems = []

    def make(suite="bookworm", archive=None):
        systems.append(Chroot(archive or base(suite), tmp_path / f"root-{len(systems)}"))
        return systems[-1]
    yield make
    for system in systems:
        system.remove()
