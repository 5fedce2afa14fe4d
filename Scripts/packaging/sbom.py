#!/usr/bin/env python3
"""Writes what the made files have in them as one SPDX 2.3 document, in JSON.

Usage: sbom.py --program FILE --scratch DIR --version VERSION --swift TEXT --directory DIR --into FILE [--image-packages FILE]

The program and the directory of SwiftPM in which it was built; VERSION and TEXT are those of Throng and of Swift.
DIRECTORY has the made files: throng_*.deb, throng-*.tar.gz, throng_*.oci.tar, *.whl, *.tgz. --image-packages names a
file with the lines `name<TAB>version<TAB>architecture` of the packages in the image. Its date is SOURCE_DATE_EPOCH, and
its name follows from what it says, so the same files have the same document."""
import argparse
import datetime
import hashlib
import json
import os
import re
import uuid
from pathlib import Path

import components

NONE = "NOASSERTION"
KINDS = {"*.deb": "deb", "*.tar.gz": "tarball", "*.oci.tar": "image", "*.whl": "wheel", "*.tgz": "npm"}


def digest(file):
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def identifier(*words):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", "-".join(words))


def package(name, version, license=NONE, purpose="LIBRARY", location=NONE, supplier=NONE, purl=None, **more):
    entry = {
        "SPDXID": identifier(purpose, name, version), "name": name, "versionInfo": version, "downloadLocation": location,
        "filesAnalyzed": False, "licenseConcluded": NONE, "licenseDeclared": license, "copyrightText": NONE, "supplier": supplier,
        "primaryPackagePurpose": purpose, **more}
    if purl:
        entry["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
    return entry


def of_swift(found):
    return package(
        found.name, found.version, found.license, location=f"git+{found.location}@{found.version}",
        purl=f"pkg:swift/{found.location.removeprefix('https://')}@{found.version}")


def of_debian(found):
    version = found.version.replace(":", "%3A").replace("+", "%2B")
    return package(
        found.name, found.version, supplier="Organization: Debian",
        purl=f"pkg:deb/debian/{found.name}@{version}?arch={found.architecture}&distro=debian-12")


class Document:
    def __init__(self):
        self.packages, self.relations = {}, set()

    def add(self, entry):
        self.packages[entry["SPDXID"]] = entry
        return entry["SPDXID"]

    def relate(self, one, kind, other):
        self.relations.add((one, kind, other))

    def text(self, version, instant):
        body = {
            "packages": [self.packages[key] for key in sorted(self.packages)],
            "relationships": [
                {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other} for one, kind, other in sorted(self.relations)]}
        name = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(body, sort_keys=True))
        return json.dumps({
            "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"throng-{version}",
            "documentNamespace": f"https://spdx.org/spdxdocs/throng-{version}-{name}",
            "creationInfo": {
                "created": datetime.datetime.fromtimestamp(instant, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "creators": [f"Tool: throng-package-{version}"]}, **body}, indent=1, ensure_ascii=False) + "\n"


def describe(arguments):
    document = Document()
    program = document.add(package(
        "throng", arguments.version, "Apache-2.0", "APPLICATION",
        checksums=[{"algorithm": "SHA256", "checksumValue": digest(arguments.program)}]))
    document.relate("SPDXRef-DOCUMENT", "DESCRIBES", program)
    for found in components.swift_packages(arguments.scratch):
        document.relate(program, "STATIC_LINK", document.add(of_swift(found)))
    linked = components.libraries(arguments.program)
    is_static = not any(map(components.is_of_swift, linked.values()))
    runtime = document.add(package("swift", arguments.swift, "Apache-2.0 WITH Swift-exception", location="https://www.swift.org/download"))
    document.relate(program, "STATIC_LINK" if is_static else "DYNAMIC_LINK", runtime)
    debian = set(components.debian_packages(file for file in linked.values() if not components.is_of_swift(file)).values())
    for found in debian:
        document.relate(program, "DYNAMIC_LINK", document.add(of_debian(found)))
    # libwebsockets loads it by its name.
    plugin = components.installed("libwebsockets-evlib-ev")["libwebsockets-evlib-ev"]
    document.relate(program, "DYNAMIC_LINK", document.add(of_debian(plugin)))

    for pattern, kind in KINDS.items():
        for file in sorted(arguments.directory.glob(pattern)):
            made = document.add(package(
                f"throng-{kind}", arguments.version, "Apache-2.0", "CONTAINER" if kind == "image" else "ARCHIVE", packageFileName=file.name,
                checksums=[{"algorithm": "SHA256", "checksumValue": digest(file)}]))
            document.relate("SPDXRef-DOCUMENT", "DESCRIBES", made)
            if kind in ("deb", "tarball", "image"):
                document.relate(made, "CONTAINS", program)
            inside = {"deb": (), "tarball": debian | {plugin}, "wheel": (), "npm": ()}.get(kind)
            if inside is None:
                rows = [line.split("\t") for line in arguments.image_packages.read_text().splitlines()]
                inside = {components.DebianPackage(*row) for row in rows if row[0] != "throng"}
            for found in inside:
                document.relate(made, "CONTAINS", document.add(of_debian(found)))
            if kind == "deb":
                for found in debian | {plugin}:
                    document.relate(made, "DEPENDS_ON", document.add(of_debian(found)))
    arguments.into.write_text(document.text(arguments.version, int(os.environ["SOURCE_DATE_EPOCH"])))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Writes an SPDX document of what Scripts/package has made.")
    for name in ("program", "scratch", "directory", "into"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    for name in ("version", "swift"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--image-packages", type=Path)
    describe(parser.parse_args())
