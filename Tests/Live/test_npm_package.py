"""The npm package as it is installed: its tarball in node_modules, with TypeScript and Node (Clients.md, "Overview")."""
import asyncio
import gzip
import json
import os
import re
import shutil
import subprocess
import tarfile

import pytest

from harness.driven import NODE, has_node
from harness.server import REPOSITORY
from harness.tokens import make_token
from harness.waiting import within

LIBRARY = REPOSITORY / "Sources/Clients/js"
# The goal: 20 KB of what a page loads that keeps nothing.
LARGEST = 20_000

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
    if not shutil.which("npm"):
        pytest.skip("there is no npm to pack with")
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
