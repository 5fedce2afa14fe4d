"""Short sentences as people say them, and another server, from PyPI: installed beside the build, never committed."""
from __future__ import annotations

import pathlib
import re
import subprocess
import sys

from processes import Failure

CORPUS = "chatterbot-corpus==1.3.3"
SOCKETIFY = "socketify==0.0.31"
LANGUAGES = ("chinese", "english", "german", "spanish", "traditionalchinese")
LONGEST = 200
_SENTENCE = re.compile(r"^\s*-\s+(?:-\s+)?(.*)$")


def _succeeds(command: list[object], what: str) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{what}: {(done.stderr.strip().splitlines() or ['it failed'])[-1]}")


def install(cache: pathlib.Path, package: str, *options: str) -> pathlib.Path:
    """The Python of a virtual environment that has the package."""
    venv = cache / "venv"
    python = venv / "bin/python"
    if not python.exists():
        _succeeds([sys.executable, "-m", "venv", venv], "a virtual environment cannot be made")
    name, version = package.split("==")
    if not any(venv.glob(f"lib/*/site-packages/{name.replace('-', '_')}-{version}.dist-info")):
        _succeeds([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *options, package], package)
    return python


def sentences(files: list[pathlib.Path]) -> list[str]:
    """The lines of conversations in the corpus's YAML files that are no titles of categories."""
    found = []
    for file in files:
        for line in file.read_text(encoding="utf8").splitlines():
            match = _SENTENCE.match(line)
            sentence = match[1].strip().strip("\"'") if match else ""
            if sentence and not sentence.endswith(":") and len(sentence.encode()) <= LONGEST:
                found.append(sentence)
    return found


def write_texts(cache: pathlib.Path) -> pathlib.Path:
    """The file with a sentence a line."""
    install(cache, CORPUS, "--no-deps")
    (data,) = cache.glob("venv/lib/*/site-packages/chatterbot_corpus/data")
    files = [file for language in LANGUAGES for file in sorted((data / language).glob("*.yml")) if "coding" not in file.name]
    texts = cache / "texts.txt"
    texts.write_text("\n".join(sentences(files)) + "\n", encoding="utf8")
    return texts
