"""SwiftClient.md as an app's author reads it: a package of its own that depends on ThrongClient alone."""
import asyncio
import re

import pytest

from harness.client import PATIENCE
from harness.ports import reserve_port
from harness.server import REPOSITORY
from harness.swift_app import BUILD_PATIENCE, RELEASE, SwiftApp, example_of
from harness.tokens import make_token

PAGE = (REPOSITORY / "Sources/ThrongServer/Documentation.docc/SwiftClient.md").read_text()
PATH_DEPENDENCY = '.package(path: "../throng", traits: [])'


def example(mark):
    return example_of(PAGE, mark)


def release_dependency():
    """The dependency of the page that takes a release: its version is this one."""
    found = re.findall(r"dependencies: \[\s+(\.package\(url: .*)\n", example("upToNextMinor"))
    assert len(found) == 1 and f'from: "{RELEASE}"' in found[0] and '"https://git.example/throng"' in found[0]
    return found[0]


@pytest.fixture
def app(tmp_path):
    return SwiftApp(tmp_path, "say")


async def end_of(*command):
    """The exit status of a program, what it prints, and what it complains of."""
    process = await asyncio.create_subprocess_exec(*map(str, command), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    said, complained = await asyncio.wait_for(process.communicate(), PATIENCE)
    return process.returncode, said.decode(), complained.decode()


# It builds with all processors.
@pytest.mark.heavy
@pytest.mark.timeout(BUILD_PATIENCE)
async def test_an_app_depends_on_the_client_alone(server, world, app):
    """The page as it stands there, without a change."""
    manifest = example("// swift-tools-version")
    assert PATH_DEPENDENCY in manifest
    main = example("// main.swift")
    output = await app.build(manifest, main=main, Follow=example("func follow"))
    assert app.checkouts == [], output
    say = app.program

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
    await app.build(manifest, main=main.replace(".seconds(30)", ".milliseconds(1)"))
    status, said, complained = await end_of(say, nowhere, "a token", group, "Hello")
    assert (status, said, complained.splitlines()[-1]) == (1, "", "say: given up after 30 s")


@pytest.mark.heavy
@pytest.mark.timeout(BUILD_PATIENCE)
async def test_an_app_depends_on_a_release(app):
    """SwiftPM refuses unsafe flags in a dependency that has a version."""
    manifest = example("// swift-tools-version").replace(PATH_DEPENDENCY, release_dependency())
    output = await app.build(manifest.replace("https://git.example/throng", app.package.as_uri()), main=example("// main.swift"))
    assert app.checkouts == ["throng"], output
