"""The types of throng.js as a TypeScript compiler sees them (Clients.md, "Overview")."""
import json
import re
import shutil
import subprocess

import pytest

from harness.driven import NODE, has_node
from harness.server import REPOSITORY

LIBRARY = REPOSITORY / "Sources/Clients/js"

# Each line behind @ts-expect-error is a mistake that the types must find; no other line is one.
USE = """
import { ClientError, CloseCode, ErrorCode, ThrongClient, ThrongError } from "./throng.js";
import type { GroupInfo, LocalMessage, Message, Position } from "./throng.js";

import { IndexedDBStorage, MemoryStorage, Storage, StorageError } from "./throng-storage.js";
import type { StorageChange, StorageRange } from "./throng-storage.js";

const saved: Position[] = [];
const client = new ThrongClient({ url: "wss://chat.example/ws", token: async () => "a token", positions: saved });
new ThrongClient({ url: "wss://chat.example/ws", token: "a token", log: null });
new ThrongClient({ url: "wss://chat.example/ws", token: "a token", log: (line) => console.log(line.length) });
const stored = { url: "wss://chat.example/ws", token: "a token", userID: "ann", storage: new IndexedDBStorage() };
new ThrongClient({ ...stored, storageLimits: { messagesPerGroup: 50 }, transport: "auto", tokenTimeoutMs: 5_000 });
new ThrongClient({ ...stored, storage: new MemoryStorage(), onHandlerError: (error, event) => console.error(event, error) });
// @ts-expect-error no such transport
new ThrongClient({ ...stored, transport: "pigeon" });
class Nowhere extends Storage {
  async open(name: string) { throw new StorageError("Refused", name); }
  async get(key: string) { return key === "" ? "" : undefined; }
  async scan({ from, to, limit = 1 }: StorageRange): Promise<[string, string][]> { return [[from, `${to}${limit}`]]; }
  async update(keys: string[], decide: (values: Map<string, string>) => StorageChange[]) {
    for (const change of decide(new Map())) if ("put" in change) console.log(change.put, change.value, keys);
  }
  async close() {}
  async destroy() {}
}
new ThrongClient({ ...stored, storage: new Nowhere() });
// @ts-expect-error half a storage
class Half extends Storage { async open() {} }
// @ts-expect-error a token is needed
new ThrongClient({ url: "wss://chat.example/ws" });

const session = await client.connect();
const until: number = session.tokenExpiresAt;
const { status } = await client.call("joinGroup", { groupID: "hello" });
const pending: boolean = status === "Pending";
// @ts-expect-error no such word
const asked: boolean = status === "Asked";
// @ts-expect-error a parameter is missing
await client.call("joinGroup", {});
// @ts-expect-error no such method
await client.call("joinGroups", { groupID: "hello" });
// @ts-expect-error for the application's backend alone
await client.call("kickUser", { userID: "alice" });
const { serverTime } = await client.call("ping");
await client.call("getServerInfo", {}, { queue: false });
const { groupList } = await client.call("getJoinedGroupList", { count: 200 });
const infos: GroupInfo[] = groupList;
const unread: number | undefined = infos[0].selfInfo?.unreadCount;

const stop = client.on("onRecvNewMessage", ({ groupID, message }) => {
  const text: string | undefined = message.text;
  const tip: Message["tips"] = message.tips;
  console.log(groupID, text, tip?.memberList?.[0].userID, message.reactions?.[0].count);
});
stop();
client.on("sync", ({ recovered, messageList }) => console.log(recovered, messageList.map(({ seq }) => seq)));
client.on("state", ({ state, retryInMs = 0 }) => console.log(state === "waiting" ? retryInMs / 1000 : 0));
client.on("event", (name, params) => console.log(name === "onMemberEnter", params));
// @ts-expect-error no such event
client.on("onRecvMessage", () => {});

const message: LocalMessage = client.sendText("hello", "Hello!", { priority: "High", atUserIDList: ["bob"] });
const answer: LocalMessage = client.sendText("hello", "Yes", { replyTo: 1, extension: "{}", isExcludedFromUnreadCount: true });
const answered: number | undefined = answer.replyTo;
const isPinned: boolean | undefined = infos[0].selfInfo?.isPinned;
client.on("onConversationChanged", ({ groupID, isPinned, clearedSeq }) => console.log(groupID, isPinned, clearedSeq));
client.on("stored", ({ conversations, outbox }) => console.log(conversations[0].info.groupName, outbox[0].state));
client.on("conversation", ({ conversation: { status, canSend, source } }) => console.log(status === "removed", canSend, source));
client.on("storageFailed", ({ reason, lostOutbox }) => console.log(reason === "Full" && lostOutbox));
const [first] = await client.conversations({ hidden: true });
const older = await client.messages(first.groupID, { before: 5, count: 10 });
const isFinished: boolean = older.source !== "stored" && older.isFinished && older.messageList[0].seq === 1;
const seen: string | undefined = (await client.storedProfile("bob"))?.nickName ?? (await client.storedMember("hello", "bob"))?.role;
for (const one of client.outbox()) if (one.state === "failed") client.discard(one);
await client.flush();
// @ts-expect-error no such option
await client.logout({ forgets: true });
// @ts-expect-error the client says by itself when it was sent first
client.sendText("hello", "Hello!", { firstSentAt: 1 });
// @ts-expect-error no such priority
client.sendText("hello", "Hello!", { priority: "Highest" });
const { state, seq } = await message.done;
// @ts-expect-error no such state
const isSent: boolean = state === "sent";
if (message.error instanceof ThrongError && message.error.code === ErrorCode.muted) console.log(message.error.retryAfterMs);
if (message.error instanceof ClientError && message.error.reason === "QueueFull") client.resend(message);
const replaced: 4502 = CloseCode.replaced;
console.log(until, pending, asked, serverTime, unread, seq, isSent, replaced, answered, isPinned, isFinished, seen, Half);
export {};
"""


# What the JSDoc of throng.js says (written.d.ts is made of it) fits what throng.d.ts says.
BOTH = """
import type * as declared from "./throng.js";
import type * as written from "./written.js";

declare const client: written.ThrongClient;
declare const refused: written.ThrongError;
declare const unanswered: written.ClientError;
export const same: [declared.ThrongClient, declared.ThrongError, declared.ClientError] = [client, refused, unanswered];
export const serverTime: Promise<{ serverTime: number }> = client.call("ping");
// @ts-expect-error no such method
client.call("joinGroups", { groupID: "hello" });
// @ts-expect-error no such event
client.on("onRecvMessage", () => {});
// @ts-expect-error no such priority
client.sendText("hello", "Hello!", { priority: "Highest" });
"""


@pytest.fixture
def compiled(tmp_path):
    """Compiles a file beside the types of throng.js; nothing may be wrong with it."""
    if not shutil.which("tsc"):
        pytest.skip("there is no TypeScript compiler")
    for file in LIBRARY.glob("*.d.ts"):
        shutil.copy(file, tmp_path)

    def compile(file, **more):
        # Everything is checked, the library's own declarations too.
        options = {"strict": True, "target": "es2022", "module": "es2022", "moduleResolution": "node", "lib": ["es2022", "dom"],
                   "types": [], **more}
        (tmp_path / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": [file]}))
        done = subprocess.run(["tsc"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stdout) == (0, "")
    return compile


def test_the_types_are_typescripts(compiled, tmp_path):
    (tmp_path / "use.ts").write_text(USE)
    compiled("use.ts", noEmit=True)


def test_the_jsdoc_says_the_same_as_the_types(compiled, tmp_path):
    (tmp_path / "made").mkdir()
    shutil.copy(LIBRARY / "throng.js", tmp_path / "written.js")
    compiled("written.js", allowJs=True, declaration=True, emitDeclarationOnly=True, outDir="made")
    (tmp_path / "written.js").unlink()
    shutil.move(tmp_path / "made/written.d.ts", tmp_path)
    (tmp_path / "both.ts").write_text(BOTH)
    compiled("both.ts", noEmit=True)


def test_the_types_name_what_the_module_has():
    """The part of the types that is written by hand: exports, and the members of the client."""
    if not has_node():
        pytest.skip("there is no Node with a WebSocket")
    script = f"""
        const [client, storage] = [await import({json.dumps(str(LIBRARY / "throng.js"))}), await import({json.dumps(str(LIBRARY / "throng-storage.js"))})];
        const members = Object.getOwnPropertyNames(client.ThrongClient.prototype);
        console.log(JSON.stringify([Object.keys(client), Object.keys(storage), members]));
    """
    done = subprocess.run([*NODE, "--input-type=module", "-e", script], check=True, capture_output=True, text=True, timeout=60)
    exports, storage, members = map(set, json.loads(done.stdout))

    def declared(types):
        return set(re.findall(r"^export declare (?:abstract )?(?:class|const) (\w+)", types, re.MULTILINE))

    types = (LIBRARY / "throng.d.ts").read_text()
    # `internal` is for the other module alone.
    assert declared(types) == exports - {"internal"}
    assert declared((LIBRARY / "throng-storage.d.ts").read_text()) == storage
    client = types[types.index("export declare class ThrongClient"):]
    client = client[:client.index("\n}\n")]
    assert set(re.findall(r"^  (?:readonly )?(\w+)[<(:]", client, re.MULTILINE)) == members
