#!/usr/bin/env python3
"""Copies what a program needs beside it, so that it runs on a Linux without these packages, at any place.

Usage: relocate.py PROGRAM DIRECTORY

Writes DIRECTORY/libexec/throng, DIRECTORY/lib with all shared libraries but those of glibc, and the licences of these libraries
into DIRECTORY/share/doc/throng/licenses. Prints the version of glibc that all of it needs."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

import components

PLUGIN = "libwebsockets-evlib_ev.so"
# The launcher opens the directory of the libraries as this file, because libwebsockets looks for its event loop in one directory
# alone, whose name was written into it when it was built.
OPENED = b"/proc/self/fd/9"


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def put(file, target):
    """A copy of a library that finds the others beside it."""
    shutil.copyfile(file, target)
    target.chmod(0o644)
    run("patchelf", "--set-rpath", "$ORIGIN", target)


def point_to_opened(library, directory):
    """Puts the opened directory in the place of the one that libwebsockets has for its plugins."""
    content, name = library.read_bytes(), str(directory).encode()
    places = [found.start() for found in re.finditer(rb"(?<=\0)" + re.escape(name) + rb"(?=\0)", content)]
    if len(places) != 1 or len(OPENED) > len(name):
        raise ValueError(f"{library}: it does not name {directory} just once")
    end = places[0] + len(name)
    library.write_bytes(content[:places[0]] + OPENED.ljust(len(name), b"\0") + content[end:])


def glibc_of(files):
    """The latest version of glibc whose functions these files use."""
    found = {version for file in files for version in re.findall(r"\(GLIBC_(\d+(?:\.\d+)+)\)", run("objdump", "-T", file))}
    return max(found, key=lambda version: [int(part) for part in version.split(".")])


def main(program, directory):
    plugin = Path(run("sh", "-c", f"dpkg -L libwebsockets-evlib-ev | grep '/{PLUGIN}$'").strip())
    copies, licenses = directory / "lib", directory / "share/doc/throng/licenses"
    for made in (copies, licenses, directory / "libexec"):
        made.mkdir(parents=True)
    found = {**components.libraries(program), **components.libraries(plugin), PLUGIN: plugin}
    for name, file in sorted(found.items()):
        put(file, copies / name)
    packages = components.debian_packages(file for file in found.values() if not components.is_of_swift(file))
    for package in {package.name for package in packages.values()}:
        shutil.copyfile(f"/usr/share/doc/{package}/copyright", licenses / package)
    (websockets,) = copies.glob("libwebsockets.so.*")
    point_to_opened(websockets, plugin.parent)
    target = directory / "libexec/throng"
    shutil.copyfile(program, target)
    target.chmod(0o755)
    run("patchelf", "--set-rpath", "$ORIGIN/../lib", target)
    print(glibc_of([target, *copies.iterdir()]))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: relocate.py PROGRAM DIRECTORY")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
