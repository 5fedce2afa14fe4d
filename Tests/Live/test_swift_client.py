"""SwiftClient.md as an app's author reads it: a package of its own that depends on ThrongClient alone."""
import asyncio
import os
import re
import shutil
import subprocess

import pytest

from harness.client import PATIENCE
from harness.server import REPOSITORY
from harness.tokens import make_token

PAGE = (REPOSITORY / "Sources/ThrongServer/Documentation.docc/SwiftClient.md").read_text()
BUILD_PATIENCE = 600


def example(mark):
    """The one block of code that holds the mark."""
    blocks = [block for block in re.findall(r"\n```swift\n(.*?)```\n", PAGE, re.DOTALL) if mark in block]
    assert len(blocks) == 1, (mark, len(blocks))
    return blocks[0]


def run(*command, cwd):
    # Git may fetch from this machine only: a dependency of the server's would fail the build.
    environment = {**os.environ, "GIT_ALLOW_PROTOCOL": "file", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=BUILD_PATIENCE)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture
def package(tmp_path):
    """A release of this package as another one sees it: a repository with a version, in which SwiftPM refuses unsafe
    flags."""
    folder = tmp_path / "throng"
    folder.mkdir()
    shutil.copy(REPOSITORY / "Package.swift", folder)
    for name in ("Sources", "Tests"):
        shutil.copytree(REPOSITORY / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".build*"))
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.com")
    for command in (("init", "--quiet"), ("add", "."), (*identity, "commit", "--quiet", "--message=1.0.0"), ("tag", "1.0.0")):
        run("git", *command, cwd=folder)
    return folder


# It builds with all processors.
@pytest.mark.heavy
@pytest.mark.timeout(BUILD_PATIENCE)
async def test_an_app_depends_on_the_client_alone(server, world, package, tmp_path):
    app = tmp_path / "say"
    (app / "Sources/say").mkdir(parents=True)
    manifest = example("// swift-tools-version")
    assert "https://git.example/throng" in manifest
    (app / "Package.swift").write_text(manifest.replace("https://git.example/throng", package.as_uri()))
    (app / "Sources/say/main.swift").write_text(example("// main.swift"))
    (app / "Sources/say/Follow.swift").write_text(example("func follow"))
    quick = ("--disable-index-store", "-debug-info-format", "none")
    output = await asyncio.to_thread(run, "swift", "build", *quick, "--cache-path", tmp_path / "cache", cwd=app)
    # Neither the server's dependencies nor its targets are built.
    assert [one.name for one in (app / ".build/checkouts").iterdir()] == ["throng"], output
    built = {one.name for one in (app / ".build/debug/Modules").iterdir()}
    assert {name for name in built if name.endswith(".swiftmodule")} == {"ThrongClient.swiftmodule", "say.swiftmodule"}

    owner, user = await world.user("owner"), world.name("dave")
    group = await world.group(owner)
    for text in ("Hello from Swift", "Hello again"):
        process = await asyncio.create_subprocess_exec(
            app / ".build/debug/say", server.url, make_token(user), group, text, stdout=asyncio.subprocess.PIPE)
        answer, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
        assert (process.returncode, answer.decode()) == (0, f"{user}: stored\n")
        assert (await owner.expect("onRecvNewMessage", groupID=group))["message"]["text"] == text
