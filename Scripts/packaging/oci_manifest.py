#!/usr/bin/env python3
"""Makes an image layout of OCI loadable by every version of Docker: adds the index that `docker save` writes.

Usage: oci_manifest.py LAYOUT NAME:TAG"""
import json
import sys
from pathlib import Path


def main(layout, name):
    def blob(descriptor):
        return "blobs/" + descriptor["digest"].replace(":", "/")
    (manifest,) = json.loads((layout / "index.json").read_text())["manifests"]
    read = json.loads((layout / blob(manifest)).read_text())
    (layout / "manifest.json").write_text(json.dumps(
        [{"Config": blob(read["config"]), "RepoTags": [name], "Layers": [blob(layer) for layer in read["layers"]]}]) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: oci_manifest.py LAYOUT NAME:TAG")
    main(Path(sys.argv[1]), sys.argv[2])
