"""What it costs when much comes at once: many who join one live room, and a sign-in of somebody who is in a
thousand groups. With --baseline each is measured on that server, too.

    Tests/Campaigns/run-package crowds joins [--members 10000] [--limit 0] [--rounds 3] [--baseline BINARY]
    Tests/Campaigns/run-package crowds unread [--groups 1000] [--messages 1000] [--flagged] [--baseline BINARY]
"""
import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.amplification import ATTACKER, Attack, idle
from harness.flood import FloodSocket, Tally
from harness.footprint import Process
from harness.server import BINARY, Server, clean_environment
from harness.tokens import SECRET, make_token

# Nobody but the crowd itself slows it down.
SETTINGS = {"limits.signInsPerSecond": 0, "limits.requestsPerSecond": 100_000, "limits.requestBurst": 100_000,
            "limits.deliveriesPerSecond": 0, "limits.deliveredBytesPerSecond": 0}
PATIENCE = 300
AT_ONCE = 100  # connections under way while the sessions are opened
LISTED = 200  # groups of one getGroupUnreadCount
LISTED_INFOS = 50  # and of one getGroupsInfo
MOST_UNREAD = 1000  # limits.unreadCount


class Work:
    """Seconds and CPU of the server between two instants."""

    def __init__(self, server):
        self._process = Process(server.process.pid)
        self._start, self._cpu = time.monotonic(), self._process.cpu

    def done(self):
        return {"seconds": round(time.monotonic() - self._start, 3), "CPU seconds": round(self._process.cpu - self._cpu, 3)}


def refusals(tally):
    """What must not happen while these figures are taken."""
    return {**{f"refused {code}": count for code, count in tally.refused.items()},
            **{f"closed {code}": count for code, count in tally.closed.items()}}


# Many join one room


async def opened(server, tally, count):
    """So many sessions of different users."""
    tokens, sockets = [make_token(f"fan-{number}") for number in range(count)], []
    for start in range(0, count, AT_ONCE):
        sockets += await asyncio.gather(*(FloodSocket.sign_in(server, tally, token) for token in tokens[start:start + AT_ONCE]))
    assert all(socket.is_open for socket in sockets), refusals(tally)
    return sockets


async def quiet_events(tally, seconds=2.5):
    """Waits until no event has come for so long: notices come once a second."""
    seen, since = tally.events, time.monotonic()
    while time.monotonic() - since < seconds:
        await asyncio.sleep(0.1)
        if tally.events != seen:
            seen, since = tally.events, time.monotonic()


async def joins(server, arguments):
    """All join as soon as they can; by the last answer, and by the last notice."""
    answer = server.rpc(
        "createGroup", groupType="AVChatRoom", groupName="room", groupID="room", ownerUserID="owner")
    assert "result" in answer, answer
    tally = Tally()
    sockets = await opened(server, tally, arguments.members)
    await idle(Process(server.process.pid))
    before, work = (tally.events, tally.bytes), Work(server)
    for number, socket in enumerate(sockets):
        socket.request("joinGroup", {"groupID": "room"}, number)
    await asyncio.gather(*(socket.answers(PATIENCE) for socket in sockets))
    found = work.done()
    await quiet_events(tally)
    found["CPU seconds, notices included"] = work.done()["CPU seconds"]
    found["notices per member"] = round((tally.events - before[0]) / len(sockets), 2)
    found["MB to all"] = round((tally.bytes - before[1]) / 1e6, 1)
    found.update(refusals(tally))
    members = server.rpc("getGroupsInfo", groupIDList=["room"])["result"]["resultList"][0]["info"]["memberCount"]
    assert members == len(sockets) + 1, f"{members} members"
    for socket in sockets:
        socket.cut()
    return found


# One signs in who is in many groups


def seeded(attack, groups, messages, flagged):
    """So many groups of others in which so many messages are unread; with `flagged` a half of them do not count."""
    group = attack.group(owner="owner", members=1, groupID="group")
    seqs = [attack.message(group)["seq"]]
    if flagged:
        seqs.append(attack.message(group, isExcludedFromUnreadCount=True)["seq"])
        seqs.append(attack.message(group, toUserIDList=["member-0"])["seq"])
    with attack.stopped() as rows:
        number, (first, *others), last = rows.number_of(group), seqs, seqs[-1]
        # Those that count first, and behind them what does not, in turn.
        copies = {first: messages - len(seqs)}
        if flagged:
            copies = {first: (messages + 1) // 2 - 1, **{seq: (messages // 2 - 2) // 2 for seq in others}}
        for seq, count in copies.items():
            if count <= 0:
                continue
            here, tail = ("number = ? AND seq = ?", [number, seq]), len(str(seq))
            rows.multiply("message", count, *here, seq=f"{last} + n",
                          msgID=f"substr(msgID, 1, length(msgID) - {tail}) || ({last} + n)")
            if seq != first:
                rows.multiply("messageExtras", count, *here, seq=f"{last} + n")
            last += count
        here = ("number = ?", [number])
        rows.multiply("groupRecord", groups - 1, *here, groupID="'group-' || n", epoch="epoch || n", number="number + n")
        rows.multiply("message", groups - 1, *here, number="number + n", msgID="msgID || '-' || n")
        for table in ("member", "messageExtras") if flagged else ("member",):
            rows.multiply(table, groups - 1, *here, number="number + n")
    return ["group", *(f"group-{n}" for n in range(1, groups))]


async def counted(server, groups, method, listed):
    """A sign-in, and this of all groups, as clients do it; the sum of all unread counts besides."""
    tally, unread = Tally(), 0

    def read(text):
        nonlocal unread
        result = json.loads(text).get("result", {})
        if method == "getGroupUnreadCount":
            unread += result.get("totalCount", 0)
        else:
            unread += sum(row["info"]["selfInfo"]["unreadCount"] for row in result.get("resultList", []))

    work = Work(server)
    socket = await FloodSocket.sign_in(server, tally, make_token(ATTACKER))
    assert socket.is_open, refusals(tally)
    signed_in = work.done()["seconds"]
    socket.on_text = read
    for start in range(0, len(groups), listed):
        socket.request(method, {"groupIDList": groups[start:start + listed]}, start)
    await socket.answers(PATIENCE)
    found = {"seconds to the sign-in": signed_in, **work.done(), "unread": unread, **refusals(tally)}
    socket.cut()
    return found


async def unread(server, arguments):
    """After a start, when no group is in memory, and once more."""
    attack = Attack(server, 0, True)
    groups = seeded(attack, arguments.groups, arguments.messages, arguments.flagged)
    found = {}
    for method, listed in (("getGroupUnreadCount", LISTED), ("getGroupsInfo", LISTED_INFOS)):
        with attack.stopped():
            pass
        await idle(Process(server.process.pid))
        found[f"{method}, none in memory"] = await counted(server, groups, method, listed)
        found[f"{method}, again"] = await counted(server, groups, method, listed)
    counts = [figures["unread"] for figures in found.values()]
    # Tips count for nobody, and what does not count for nothing.
    assert len(set(counts)) == 1 and 0 < counts[0] <= arguments.groups * MOST_UNREAD, counts
    return found


def known(settings, binary):
    """Those that the server has: a baseline may be older than some of them."""
    def accepts(key):
        command = [str(binary), "config", "check", "--set", f"auth.secret={SECRET}", "--set", f"{key}={settings[key]}"]
        return subprocess.run(command, env=clean_environment(), capture_output=True).returncode == 0

    return {key: value for key, value in settings.items() if accepts(key)}


async def measured(binary, arguments):
    settings = dict(SETTINGS)
    if arguments.work == "joins":
        settings["limits.avChatRoom.messagesPerSecond"] = arguments.limit
    if binary != BINARY:
        settings = known(settings, binary)
    with tempfile.TemporaryDirectory(dir=arguments.directory, ignore_cleanup_errors=True) as directory:
        server = Server(Path(directory) / "data", settings, binary=binary).start()
        try:
            return await (joins if arguments.work == "joins" else unread)(server, arguments)
        finally:
            if server.running:
                server.kill()


def parse():
    parser = argparse.ArgumentParser(prog="crowds", description=__doc__.split("\n\n")[0])
    parser.add_argument("--directory", type=Path, help="where the data is (/tmp may be memory)")
    works = parser.add_subparsers(dest="work", required=True)
    for name in ("joins", "unread"):
        work = works.add_parser(name)
        work.add_argument("--baseline", type=Path, metavar="BINARY", help="measure this server, too, before the other")
        work.add_argument("--rounds", type=int, default=3)
        if name == "joins":
            work.add_argument("--members", type=int, default=10_000)
            work.add_argument("--limit", type=int, default=0, help="limits.avChatRoom.messagesPerSecond (0)")
        else:
            work.add_argument("--groups", type=int, default=1000)
            work.add_argument("--messages", type=int, default=1000, help="in each group")
            work.add_argument("--flagged", action="store_true", help="a half of them are targeted or do not count (0.2.0)")
    return parser.parse_args()


def main():
    arguments = parse()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    binaries = {"before": arguments.baseline.resolve()} if arguments.baseline else {}
    for _ in range(arguments.rounds):
        for name, binary in {**binaries, "now": BINARY}.items():
            print(json.dumps({name: asyncio.run(measured(binary, arguments))}), flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("crowds: interrupted")
