"""What a built program is made of: the Swift packages that were compiled into it, Swift's runtime, and the libraries of Debian
that it is linked with. For Scripts/package and its helpers."""
import json
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

LICENSES = json.loads((Path(__file__).parent / "components.json").read_text())
# Parts of glibc: they belong to the kernel and the name services of a system, and every Linux system has its own.
OF_GLIBC = re.compile(r"(ld-linux[-\w]*|libc|libm|libmvec|libpthread|libdl|librt|libresolv|libutil|libanl|libnss_\w+)\.so\.\d+")


class SwiftPackage(NamedTuple):
    identity: str
    name: str
    location: str
    version: str
    license: str
    checkout: Path


class DebianPackage(NamedTuple):
    name: str
    version: str
    architecture: str


def swift_packages(scratch):
    """The packages that SwiftPM has compiled in this scratch directory, by their identity."""
    state = json.loads((Path(scratch) / "workspace-state.json").read_text())
    found = []
    for dependency in state["object"]["dependencies"]:
        reference, checkout = dependency["packageRef"], dependency["state"].get("checkoutState", {})
        identity = reference["identity"]
        if "version" not in checkout:
            raise ValueError(f"{identity} is not pinned to a version")
        if identity not in LICENSES:
            raise ValueError(f"{identity}: its licence is not in Scripts/packaging/components.json")
        found.append(SwiftPackage(
            identity, reference["name"], reference["location"].removesuffix(".git"), checkout["version"], LICENSES[identity],
            Path(scratch) / "checkouts" / dependency["subpath"]))
    return sorted(found)


def text_of(package, *names):
    """The text of a file that begins with one of these words in the checkout of a package, or None."""
    for word in names:
        for file in sorted(package.checkout.glob(f"{word}*")):
            return file.read_text()
    return None


def libraries(program):
    """The files of all shared libraries that the program loads at its start, by their sonames, but for those of glibc."""
    shown = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    if missing := re.findall(r"^\s*(\S+) => not found", shown, re.M):
        raise ValueError(f"{program}: {', '.join(missing)} is not on this machine")
    rows = re.findall(r"^\s*(\S+) => (/\S+) \(0x", shown, re.M)
    return {name: Path(file) for name, file in rows if not OF_GLIBC.fullmatch(name)}


def is_of_swift(file):
    return "/usr/lib/swift/" in str(file)


def names_of(file):
    """The names that a package may have a file by: where /lib is a link to /usr/lib, some have the one and some the other."""
    real = str(Path(file).resolve())
    return [real, real.removeprefix("/usr"), "/usr" + real]


def debian_packages(files):
    """The package of Debian that each of these files belongs to."""
    files = list(files)
    if not files:
        return {}
    # It ends with 1 where it does not know one of the names, and tells of the others.
    shown = subprocess.run(["dpkg", "-S", *(name for file in files for name in names_of(file))], capture_output=True, text=True).stdout
    owners = {path: owner.split(",")[0] for owner, _, path in (line.partition(": ") for line in shown.splitlines())}
    found = {file: next((owners[name] for name in names_of(file) if name in owners), None) for file in files}
    if strange := [str(file) for file, owner in found.items() if owner is None]:
        raise ValueError(f"{', '.join(strange)}: of no package of Debian")
    packages = installed(*sorted(set(found.values())))
    return {file: packages[owner] for file, owner in found.items()}


def installed(*names):
    """Packages of this machine by these names."""
    shown = subprocess.run(
        ["dpkg-query", "-W", "-f", "${binary:Package}\t${Package}\t${Version}\t${Architecture}\n", *names], capture_output=True, text=True,
        check=True).stdout
    rows = [line.split("\t") for line in shown.splitlines()]
    known = {name: DebianPackage(*row[1:]) for row in rows for name in (row[0], row[1], f"{row[1]}:{row[3]}")}
    return {name: known[name] for name in names}
