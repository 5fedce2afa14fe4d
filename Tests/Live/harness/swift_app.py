"""Apps in Swift as somebody writes them who has this package beside theirs: a page's code, built with SwiftPM."""
import asyncio
import os
import re
import shutil
import subprocess

from .server import REPOSITORY

BUILD_PATIENCE = 600
RELEASE = re.search(r'version = "([^"]+)"', (REPOSITORY / "Sources/ServerConfiguration/Release.swift").read_text())[1]
QUICK = ("--disable-index-store", "-debug-info-format", "none")


def example_of(page, mark):
    """The one block of Swift in a page that holds the mark."""
    blocks = [block for block in re.findall(r"\n```swift\n(.*?)```\n", page, re.DOTALL) if mark in block]
    assert len(blocks) == 1, (mark, len(blocks))
    return blocks[0]


def run(*command, cwd):
    # Git may fetch from this machine only: a dependency of the server's would fail the build.
    environment = {**os.environ, "GIT_ALLOW_PROTOCOL": "file", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=BUILD_PATIENCE)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


class SwiftApp:
    """An app in a directory of its own. Beside it stands `throng`, a release of this package as another one sees it: a
    repository with a version, in which SwiftPM refuses unsafe flags."""

    def __init__(self, directory, name):
        self.name, self.app, self.package, self._cache = name, directory / name, directory / "throng", directory / "cache"
        (self.app / "Sources" / name).mkdir(parents=True)
        self.package.mkdir()
        shutil.copy(REPOSITORY / "Package.swift", self.package)
        for folder in ("Sources", "Tests"):
            shutil.copytree(REPOSITORY / folder, self.package / folder, ignore=shutil.ignore_patterns("__pycache__", ".build*"))
        identity = ("-c", "user.name=test", "-c", "user.email=test@example.com")
        for command in (("init", "--quiet"), ("add", "."), (*identity, "commit", "--quiet", f"--message={RELEASE}"), ("tag", RELEASE)):
            run("git", *command, cwd=self.package)

    async def build(self, manifest, **sources):
        """Builds these sources; gives what SwiftPM says."""
        (self.app / "Package.swift").write_text(manifest)
        for name, text in sources.items():
            (self.app / f"Sources/{self.name}/{name}.swift").write_text(text)
        output = await asyncio.to_thread(run, "swift", "build", *QUICK, "--cache-path", self._cache, cwd=self.app)
        built = {one.name for one in (self.app / ".build/debug/Modules").iterdir()}
        # Neither the server's dependencies nor its targets are built.
        modules = {name for name in built if name.endswith(".swiftmodule")}
        assert modules == {"ThrongClient.swiftmodule", f"{self.name}.swiftmodule"}
        return output

    @property
    def program(self):
        return self.app / ".build/debug" / self.name

    @property
    def checkouts(self):
        """The dependencies that were fetched."""
        folder = self.app / ".build/checkouts"
        return [one.name for one in folder.iterdir()] if folder.exists() else []
