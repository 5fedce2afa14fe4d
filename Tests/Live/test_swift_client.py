"""SwiftClient.md as an app's author reads it: a package of its own that depends on ThrongClient alone."""
import asyncio
import os
import re
import shutil
import subprocess

import pytest

from harness.client import PATIENCE
from harness.ports import reserve_port
from harness.server import REPOSITORY
from harness.tokens import make_token

PAGE = (REPOSITORY / "Sources/ThrongServer/Documentation.docc/SwiftClient.md").read_text()
BUILD_PATIENCE = 600
RELEASE = re.search(r'version = "([^"]+)"', (REPOSITORY / "Sources/ServerConfiguration/Release.swift").read_text())[1]
PATH_DEPENDENCY = '.package(path: "../throng", traits: [])'
QUICK = ("--disable-index-store", "-debug-info-format", "none")


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


def release_dependency():
    """The dependency of the page that takes a release: its version is this one."""
    found = re.findall(r"dependencies: \[\s+(\.package\(url: .*)\n", example("upToNextMinor"))
    assert len(found) == 1 and f'from: "{RELEASE}"' in found[0] and '"https://git.example/throng"' in found[0]
    return found[0]


@pytest.fixture
def package(tmp_path):
    """A release of this package as another one sees it: a repository with a version, in which SwiftPM refuses unsafe
    flags. The directory is the one beside which the page has its app."""
    folder = tmp_path / "throng"
    folder.mkdir()
    shutil.copy(REPOSITORY / "Package.swift", folder)
    for name in ("Sources", "Tests"):
        shutil.copytree(REPOSITORY / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".build*"))
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.com")
    for command in (("init", "--quiet"), ("add", "."), (*identity, "commit", "--quiet", f"--message={RELEASE}"), ("tag", RELEASE)):
        run("git", *command, cwd=folder)
    return folder


@pytest.fixture
def build(package, tmp_path):
    """Builds an app of these sources that depends on the package; gives its directory, and what SwiftPM said."""
    async def build(manifest, **sources):
        app = tmp_path / "say"
        (app / "Sources/say").mkdir(parents=True, exist_ok=True)
        (app / "Package.swift").write_text(manifest)
        for name, text in sources.items():
            (app / f"Sources/say/{name}.swift").write_text(text)
        output = await asyncio.to_thread(run, "swift", "build", *QUICK, "--cache-path", tmp_path / "cache", cwd=app)
        built = {one.name for one in (app / ".build/debug/Modules").iterdir()}
        # Neither the server's dependencies nor its targets are built.
        assert {name for name in built if name.endswith(".swiftmodule")} == {"ThrongClient.swiftmodule", "say.swiftmodule"}
        return app, output
    return build


def checkouts(app):
    folder = app / ".build/checkouts"
    return [one.name for one in folder.iterdir()] if folder.exists() else []


async def end_of(*command):
    """The exit status of a program, what it prints, and what it complains of."""
    process = await asyncio.create_subprocess_exec(*map(str, command), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    said, complained = await asyncio.wait_for(process.communicate(), PATIENCE)
    return process.returncode, said.decode(), complained.decode()


# It builds with all processors.
@pytest.mark.heavy
@pytest.mark.timeout(BUILD_PATIENCE)
async def test_an_app_depends_on_the_client_alone(server, world, build):
    """The page as it stands there, without a change."""
    manifest = example("// swift-tools-version")
    assert PATH_DEPENDENCY in manifest
    main = example("// main.swift")
    app, output = await build(manifest, main=main, Follow=example("func follow"))
    assert checkouts(app) == [], output
    say = app / ".build/debug/say"

    owner, user = await world.user("owner"), world.name("dave")
    group = await world.group(owner)
    for text in ("Hello from Swift", "Hello again"):
        assert await end_of(say, server.url, make_token(user), group, text) == (0, f"{user}: stored\n", "")
        assert (await owner.expect("onRecvNewMessage", groupID=group))["message"]["text"] == text

    # What goes wrong is a line and an exit status, no crash.
    assert await end_of(say) == (1, "", "say: usage: say ADDRESS TOKEN GROUP TEXT\n")
    status, said, complained = await end_of(say, server.url, make_token(user), "no-such-group", "Hello")
    assert (status, said) == (1, "") and re.fullmatch(r"say: joinGroup: .+ \(10010\)\n", complained)
    status, said, complained = await end_of(say, server.url, "no token", group, "Hello")
    assert (status, said) == (1, "") and re.fullmatch(r"say: login: .+ \(70003\)\n", complained)
    status, said, complained = await end_of(say, "http://127.0.0.1/ws", "a token", group, "Hello")
    assert (status, said) == (1, "") and complained.startswith("say: ") and complained.count("\n") == 1

    nowhere = f"ws://127.0.0.1:{reserve_port()}/ws"
    process = await asyncio.create_subprocess_exec(say, nowhere, "a token", group, "Hello", stderr=asyncio.subprocess.PIPE)
    try:
        line = (await asyncio.wait_for(process.stderr.readline(), PATIENCE)).decode()
    finally:
        process.kill()
        await process.wait()
    assert re.fullmatch(rf"throng: not connected to {nowhere}: \S.*; next try in \d+\.\d s\n", line)
    assert main.count(".seconds(30)") == 1
    app, _ = await build(manifest, main=main.replace(".seconds(30)", ".milliseconds(1)"))
    status, said, complained = await end_of(say, nowhere, "a token", group, "Hello")
    assert (status, said, complained.splitlines()[-1]) == (1, "", "say: given up after 30 s")


@pytest.mark.heavy
@pytest.mark.timeout(BUILD_PATIENCE)
async def test_an_app_depends_on_a_release(build, package):
    """SwiftPM refuses unsafe flags in a dependency that has a version."""
    manifest = example("// swift-tools-version").replace(PATH_DEPENDENCY, release_dependency())
    app, output = await build(manifest.replace("https://git.example/throng", package.as_uri()), main=example("// main.swift"))
    assert checkouts(app) == ["throng"], output
