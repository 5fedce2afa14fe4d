"""Debian packages for a measurement only: downloaded by apt-get and unpacked beside the build, never installed.

Installing them would leave services that start with the machine, users and configuration; this needs no root either.
"""
from __future__ import annotations

import os
import pathlib
import shutil
import subprocess

from processes import Failure


def _apt(cache: pathlib.Path, *arguments: str) -> None:
    options = [f"Dir::Cache::archives={cache}/archives", "Debug::NoLocking=true"]
    if (cache / "lists").exists():
        options += [f"Dir::State::Lists={cache}/lists", f"Dir::Cache::pkgcache=", f"Dir::Cache::srcpkgcache="]
    if os.geteuid() == 0:
        options.append("APT::Sandbox::User=root")  # the cache need not be open to the user _apt
    command = ["apt-get", "-qq", "-y", *(word for option in options for word in ("-o", option)), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    if done.returncode != 0:
        raise Failure((done.stderr.strip().splitlines() or ["apt-get failed"])[-1])


def _download(cache: pathlib.Path, package: str) -> None:
    (cache / "archives/partial").mkdir(parents=True, exist_ok=True)
    install = ("--download-only", "--no-install-recommends", "--no-upgrade", "--reinstall", "install", package)
    try:
        _apt(cache, *install)
    except Failure:  # a stale list of packages is the usual reason
        (cache / "lists/partial").mkdir(parents=True, exist_ok=True)
        _apt(cache, "update")
        _apt(cache, *install)


def unpack(package: str, into: pathlib.Path) -> pathlib.Path:
    """Downloads a package with whatever it needs and this machine lacks; returns the root of the unpacked files."""
    root = into / "root"
    if (into / "complete").exists():
        return root
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise Failure("this is neither Debian nor Ubuntu")
    shutil.rmtree(into, ignore_errors=True)
    root.mkdir(parents=True)
    _download(into, package)
    for archive in sorted((into / "archives").glob("*.deb")):
        subprocess.run(["dpkg-deb", "--extract", archive, root], check=True, capture_output=True)
    (into / "complete").touch()
    return root


def version(root: pathlib.Path, package: str) -> str:
    """The version of an unpacked (or installed) package, without Debian's revision."""
    for archive in (root.parent / "archives").glob(f"{package}_*.deb"):
        full = subprocess.run(["dpkg-deb", "--field", archive, "Version"], capture_output=True, text=True, check=True).stdout
        break
    else:
        full = subprocess.run(
            ["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=True).stdout
    return full.strip().rpartition(":")[2].partition("-")[0].partition("+")[0]


def locate(root: pathlib.Path, path: str) -> pathlib.Path:
    """A file of an unpacked package, or of the same package where it is installed already."""
    for candidate in (root / path, pathlib.Path("/") / path):
        if candidate.exists():
            return candidate
    raise Failure(f"there is no /{path}")
