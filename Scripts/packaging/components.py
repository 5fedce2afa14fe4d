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


def debian_package(file):
    """The package of Debian that a file belongs to."""
    real = Path(file).resolve()
    # Where /lib is a link to /usr/lib, some packages name the one and some the other.
    for path in (real, Path(str(real).removeprefix("/usr")), Path("/usr" + str(real))):
        done = subprocess.run(["dpkg", "-S", path], capture_output=True, text=True)
        if done.returncode == 0:
            return installed(done.stdout.splitlines()[0].rpartition(": ")[0].split(",")[0])
    raise ValueError(f"{file} belongs to no package of Debian")


def installed(name):
    """A package of this machine."""
    shown = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package}\t${Version}\t${Architecture}\n", name], capture_output=True, text=True, check=True).stdout
    return DebianPackage(*shown.splitlines()[0].split("\t"))
