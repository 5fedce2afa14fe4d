"""The tarball on a system that has none of its libraries, the image by its root file system, and what is said of all files."""
import hashlib
import json
import re
import subprocess
import sys
import tarfile

import pytest

from service import PATIENCE, Service, chat


class InImage(Service):
    """What the image says is run, with its variables and without a file."""

    def __init__(self, system, settings):
        super().__init__(system)
        self._words, self.options = [*settings["Entrypoint"], *settings["Cmd"]], []
        self._variables = [line for line in settings["Env"] if line.startswith("THRONG_")]

    def as_user(self, *words):
        return super().as_user("env", *self._variables, *words)


class Tarball(Service):
    """The program of a tarball at /srv/throng, as its README says."""

    def __init__(self, system):
        unit = system.file("/srv/throng/share/systemd/throng.service")
        ready = system.file("/etc/systemd/system/throng.service")
        ready.parent.mkdir(parents=True, exist_ok=True)
        ready.write_text(unit.read_text().replace("/usr/local/bin/throng", "/srv/throng/bin/throng"))
        super().__init__(system, "/etc/systemd/system/throng.service")


@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
def test_the_tarball_runs_where_none_of_its_libraries_is(make_chroot, made, suite):
    system = make_chroot(suite)
    place = system.file("/srv/throng")
    place.mkdir(parents=True)
    subprocess.run(["tar", "-C", place, "--strip-components=1", "-xf", made("throng-*.tar.gz")], check=True)
    assert not list(system.root.glob("usr/lib/*/libwebsockets*"))
    system.run("useradd", "--system", "--user-group", "--no-create-home", "throng")
    system.run("install", "-d", "-o", "throng", "-g", "throng", "-m", "0700", "/var/lib/throng")
    system.run("install", "-D", "-m", "0644", "/srv/throng/share/throng.yaml", "/etc/throng/throng.yaml")
    # By any name, from any directory.
    system.file("/usr/local/bin").mkdir(parents=True, exist_ok=True)
    system.run("ln", "-s", "/srv/throng/bin/throng", "/usr/local/bin/throng")
    assert system.run("throng", "version").startswith("throng ")
    with Tarball(system) as service:
        chat(service, "tarball", "Hello!")


def test_the_readme_of_the_tarball_names_the_glibc_that_it_needs(made, tmp_path):
    archive = tarfile.open(made("throng-*.tar.gz"))
    (name,) = {entry.split("/")[0] for entry in archive.getnames()}
    text = archive.extractfile(f"{name}/README").read().decode()
    version = tuple(map(int, re.search(r"glibc (\d+)\.(\d+) or later", text).groups()))
    assert (2, 30) < version <= (2, 36), "Debian 12 has 2.36"
    assert all(entry.uid == entry.gid == 0 and entry.mtime == archive.getmembers()[0].mtime for entry in archive.getmembers())


@pytest.fixture
def layout(made, tmp_path):
    directory = tmp_path / "layout"
    directory.mkdir()
    subprocess.run(["tar", "-C", directory, "-xf", made("throng_*.oci.tar")], check=True)
    return directory


def blob(layout, descriptor):
    return layout / "blobs" / descriptor["digest"].replace(":", "/")


def test_the_image_runs_by_its_root_file_system(layout, make_chroot, made):
    (index,) = json.loads((layout / "index.json").read_text())["manifests"]
    manifest = json.loads(blob(layout, index).read_text())
    described = json.loads(blob(layout, manifest["config"]).read_text())
    (layer,) = manifest["layers"]
    system = make_chroot(archive=blob(layout, layer))
    settings = described["config"]
    assert (settings["User"], settings["WorkingDir"], settings["Entrypoint"], settings["Cmd"]) == (
        "throng", "/var/lib/throng", ["throng"], ["serve"])
    assert settings["StopSignal"] == "SIGTERM" and list(settings["Volumes"]) == ["/var/lib/throng"] and "8080" in list(settings["ExposedPorts"])[0]
    environment = dict(line.split("=", 1) for line in settings["Env"])
    assert environment["THRONG_DATA_DIR"] == "/var/lib/throng" and environment["THRONG_DRAIN_DURATION"] == "7s"
    assert system.run("stat", "-c", "%U:%G %a", "/var/lib/throng") == "throng:throng 700\n"
    # The licences are in it, and what nobody needs in a container is not.
    assert system.file("/usr/share/doc/libwebsockets17/copyright").exists() and not system.file("/usr/bin/apt-get").exists()
    with InImage(system, settings) as service:
        chat(service, "image", "Hello!")


def test_docker_and_oci_agree_about_the_image(layout):
    (index,) = json.loads((layout / "index.json").read_text())["manifests"]
    manifest = json.loads(blob(layout, index).read_text())
    (docker,) = json.loads((layout / "manifest.json").read_text())
    assert layout / docker["Config"] == blob(layout, manifest["config"])
    assert [layout / file for file in docker["Layers"]] == [blob(layout, layer) for layer in manifest["layers"]]
    assert re.fullmatch(r"throng:[\w.+-]+", *docker["RepoTags"])
    for file in (layout / "blobs/sha256").iterdir():
        assert hashlib.sha256(file.read_bytes()).hexdigest() == file.name


def test_every_file_has_its_sum_and_the_list_says_what_is_in_them(packages, made):
    document = made("throng-*.spdx.json")
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=packages, check=True)
    summed = {line.split()[1] for line in (packages / "SHA256SUMS").read_text().splitlines()}
    assert summed == {file.name for file in packages.iterdir()} - {"SHA256SUMS"}
    # By the validator of SPDX's own library.
    script = "import sys; from spdx_tools.spdx.clitools.pyspdxtools import main; sys.argv = ['pyspdxtools', '-i', sys.argv[1]]; main()"
    done = subprocess.run([sys.executable, "-c", script, document], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    text = json.loads(document.read_text())
    files = {entry["packageFileName"] for entry in text["packages"] if "packageFileName" in entry}
    assert files == summed - {document.name}
    names = {entry["name"] for entry in text["packages"]}
    assert {"throng", "swift", "GRDB", "jwt-kit", "libwebsockets17", "libwebsockets-evlib-ev", "libssl3"} <= names
