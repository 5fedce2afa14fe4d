"""Fixtures: the files that Scripts/package has made (THRONG_PACKAGES), and systems to try them in."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from chroot import Chroot, base
from service import CONFIGURATION

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

    def make(suite="bookworm", *packages, archive=None):
        systems.append(Chroot(archive or base(suite, *packages), tmp_path / f"root-{len(systems)}"))
        return systems[-1]
    yield make
    for system in systems:
        system.remove()


@pytest.fixture
def deb(made):
    return made("throng_*.deb")


@pytest.fixture
def before(deb, tmp_path):
    """A package of a version before: the same program, with another example of the configuration and another unit."""
    other = os.environ.get("THRONG_PACKAGE_BEFORE")
    if other:
        return Path(shutil.copy(other, tmp_path / "before.deb"))
    tree = tmp_path / "before"
    subprocess.run(["dpkg-deb", "-R", deb, tree], check=True)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"^Version: .*", "Version: 0.0.1", control.read_text(), flags=re.M))
    configuration = tree / CONFIGURATION.lstrip("/")
    configuration.write_text("## Of the version before.\n" + configuration.read_text())
    unit = tree / "lib/systemd/system/throng.service"
    unit.write_text("# Of the version before.\n" + unit.read_text())
    made = tmp_path / "before.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "-b", tree, made], check=True, capture_output=True)
    return made
