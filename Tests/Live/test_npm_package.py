"""The npm package as it is installed: its tarball in node_modules, with TypeScript and Node (Clients.md, "Overview")."""
import asyncio
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile

import pytest

from harness.driven import DRIVERS, NODE, has_node
from harness.server import BINARY, IS_CLUSTER, REPOSITORY
from harness.tokens import make_token
from harness.waiting import within

LIBRARY = REPOSITORY / "Sources/Clients/js"
# The goal: 20 KB of what a page loads that keeps nothing.
LARGEST = 20_000
# In seconds.
PART_OF_THE_LIST, WHOLE_LIST = 500, 3600
# All tests share what one worker has packed.
pytestmark = pytest.mark.xdist_group("npm-package")

PROGRAM = """
import { ErrorCode, ThrongClient, type ClientError, type LocalMessage, type Message } from "throng-client";
import { MemoryStorage } from "throng-client/storage";

const [url, token, userID, groupID] = process.argv.slice(2) as [string, string, string, string];
const client = new ThrongClient({ url, token, userID, storage: new MemoryStorage(), log: null });
const heard: Message[] = [];
client.on("onRecvNewMessage", ({ message }) => void heard.push(message));
const { userID: me } = await client.connect();
try {
  await client.call("joinGroup", { groupID });
} catch (error) {
  if ((error as { code?: number }).code !== ErrorCode.alreadyMember) throw error;
}
const message: LocalMessage = await client.sendText(groupID, "installed").done;
const fault: ClientError["reason"] | undefined = message.error && "reason" in message.error ? message.error.reason : undefined;
const { messageList, isFinished } = await client.messages(groupID, { count: 1 });
console.log(JSON.stringify({ me, state: message.state, fault: fault ?? null, text: messageList[0]?.text, isFinished, heard: heard.length }));
client.close();
"""


@pytest.fixture(scope="module")
def tarball(tmp_path_factory):
    into = tmp_path_factory.mktemp("packages")
    command = [REPOSITORY / "Scripts/package", "--npm", "--built", into / "nothing", "--into", into / "made"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "SOURCE_DATE_EPOCH": "1790000000"})
    assert done.returncode == 0, done.stderr
    (found,) = (into / "made").glob("*.tgz")
    return found


@pytest.fixture
def project(tarball, tmp_path):
    """A project with the package in it, as `npm install` of the file leaves it."""
    with tarfile.open(tarball) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "unpacked/package").rename(tmp_path / "node_modules/throng-client")
    (tmp_path / "package.json").write_text(json.dumps({"name": "project", "type": "module", "private": True}))
    return tmp_path


def test_the_package_has_the_library_and_nothing_else(tarball):
    with tarfile.open(tarball) as archive:
        names = {member.name.removeprefix("package/") for member in archive.getmembers()}
        manifest = json.load(archive.extractfile("package/package.json"))
        licence = archive.extractfile("package/LICENSE").read().decode()
    assert names == {"LICENSE", "README.md", "package.json", "throng.js", "throng.d.ts", "throng-storage.js", "throng-storage.d.ts"}
    assert "Apache License" in licence and manifest["license"] == "Apache-2.0"
    assert (manifest["type"], manifest["sideEffects"], manifest["engines"]) == ("module", False, {"node": ">=20"})
    assert not {"dependencies", "peerDependencies", "optionalDependencies", "bundledDependencies"} & set(manifest)
    release = re.search(r'static let version = "([0-9.]+)"', (REPOSITORY / "Sources/ServerConfiguration/Release.swift").read_text())[1]
    assert manifest["version"] == release


def test_npm_packs_and_installs_the_same(tarball, tmp_path):
    if not shutil.which("npm"):
        pytest.skip("there is no npm to compare with")

    def npm(*words):
        environment = {**os.environ, "npm_config_cache": str(tmp_path / "cache"), "npm_config_update_notifier": "false"}
        done = subprocess.run(["npm", *words], cwd=tmp_path / "project", env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
    # Links are files in a package; npm leaves them out.
    shutil.copytree(LIBRARY, tmp_path / "js")
    (tmp_path / "project").mkdir()
    npm("pack", "--silent", tmp_path / "js")
    with tarfile.open(tarball) as ours, tarfile.open(tmp_path / "project" / tarball.name) as theirs:
        assert {one.name: one.size for one in ours.getmembers()} == {one.name: one.size for one in theirs.getmembers()}
    (tmp_path / "project/package.json").write_text(json.dumps({"name": "project", "type": "module", "private": True}))
    npm("install", "--offline", "--silent", tarball)
    installed = {path.name for path in (tmp_path / "project/node_modules/throng-client").iterdir()}
    assert {"throng.js", "throng.d.ts", "throng-storage.js", "throng-storage.d.ts", "package.json"} <= installed


async def test_it_is_installed_compiled_and_run(project, server, world):
    """A strict TypeScript project imports the package by its name, and its program sends a message."""
    if not shutil.which("tsc") or not has_node():
        pytest.skip("there is no TypeScript compiler, or no Node with a WebSocket")
    (project / "program.mts").write_text(PROGRAM)
    (project / "node.d.ts").write_text("declare const process: { argv: string[] };\n")
    options = {"strict": True, "target": "es2022", "module": "node16", "moduleResolution": "node16", "lib": ["es2022", "dom"],
               "types": [], "noUncheckedIndexedAccess": True, "exactOptionalPropertyTypes": True, "noUnusedLocals": True}
    (project / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": ["program.mts", "node.d.ts"]}))
    done = subprocess.run(["tsc"], cwd=project, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "")
    owner, user = await world.user("owner"), world.name("installed")
    group = await world.group(owner)
    process = await asyncio.create_subprocess_exec(
        *NODE, "program.mjs", server.url, make_token(user), user, group, cwd=project, stdout=asyncio.subprocess.PIPE)
    said, _ = await within(process.communicate(), 60)
    assert process.returncode == 0
    found = json.loads(said)
    assert found.pop("heard") == 0, "an own message is no event"
    assert found == {"me": user, "state": "stored", "fault": None, "text": "installed", "isFinished": False}
    assert (await owner.expect("onRecvNewMessage", groupID=group))["message"]["text"] == "installed"


@pytest.mark.skipif(IS_CLUSTER, reason="one server is enough")
@pytest.mark.parametrize("chosen, least, patience", [
    pytest.param(
        "test_connect or bad_token or start_shows or middle_of_a_send or test_forget or no_websocket_passes or comes_back_to", 9,
        PART_OF_THE_LIST, id="part"),
    pytest.param("", 120, WHOLE_LIST, id="all", marks=[pytest.mark.campaign, pytest.mark.timeout(WHOLE_LIST + 60)]),
])
def test_the_scenarios_pass_as_installed(project, chosen, least, patience):
    """A part of each list, and all of them, with the installed package behind the driver."""
    if not has_node():
        pytest.skip("there is no Node with a WebSocket")
    driver = {"name": "throng.js", "command": [*map(str, NODE), str(DRIVERS / "driver.mjs")], "can": ["storage", "streams", "clock"]}
    environment = {**os.environ, "THRONG_BINARY": str(BINARY), "THRONG_JS": str(project / "node_modules/throng-client"),
                   "THRONG_CLIENT": json.dumps(driver), "PYTEST_XDIST_WORKER": ""}
    done = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", "-c", REPOSITORY / "Tests/Live/pytest.ini", "-p", "no:cacheprovider", "--no-header", "-rA",
         "test_clients.py", "test_client_storage.py", "test_client_streams.py", "-k", chosen],
        cwd=REPOSITORY / "Tests/Live", env=environment, capture_output=True, text=True, timeout=patience)
    said = done.stdout + done.stderr
    passed, skipped = (int((re.search(rf"(\d+) {word}", said) or ["", "0"])[1]) for word in ("passed", "skipped"))
    # Its store may have several processes.
    assert done.returncode == 0 and passed >= least and skipped <= (0 if chosen else 1), said


def test_its_own_tests_pass(tmp_path):
    """With Node alone, on the sources."""
    if not has_node():
        pytest.skip("there is no Node with a WebSocket")
    files = sorted((LIBRARY / "test").glob("*.test.mjs"))
    assert len(files) >= 4
    done = subprocess.run(
        [*NODE, "--test", "--test-timeout=120000", *files], capture_output=True, text=True, timeout=600, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-8000:]


def test_it_is_small():
    minify = pytest.importorskip("minify")
    sizes = {}
    for name in ("throng.js", "throng-storage.js"):
        text = minify.string("application/javascript", (LIBRARY / name).read_text())
        sizes[name] = len(gzip.compress(text.encode(), 9))
    assert sizes["throng.js"] <= LARGEST, sizes
    assert sizes["throng-storage.js"] <= LARGEST, sizes
