"""The share of sessions on surviving nodes that the loss of one of three nodes closes.

    Tests/Campaigns/run-package node_loss [--runs 10] [--loss kill] [--bus nats] [--sessions 3000] [--groups 1000]

Sessions are spread evenly over three nodes, and messages go to groups by chance. THRONG_BINARY names the server.
Prints a row of Markdown for each run, and the sums. The end is 0, or 1 where an open session missed a message.
"""
import argparse
import asyncio
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from chaos.cluster import Cluster
from chaos.engines import shard_of
from chaos.run import counts
from harness.campaigns import run_campaign
from harness.server import BINARY
from harness.waiting import within

from .clients import Crowd
from .judge import Stored, judge

LISTED = 50  # groups of one getGroupsInfo
AT_ONCE = 8  # calls of the backend
# Seconds.
QUIET = 1  # without an event, behind the last reply
BUS_AWAY = 1
PATIENCE = 120  # until others serve the groups

LOSSES = ["kill", "pause", "drain", "nats"]
HEAD = ["run", "lost", "sessions elsewhere", "closed", "share, %", "by code", "had missed something", "with a request in flight",
        "without a reason", "last close, s", "groups served again, s", "longest reply, s", "acknowledged", "refused",
        "missed silently", "out of order"]


def parse():
    parser = argparse.ArgumentParser(prog="node_loss", description=__doc__.split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument(
        "--loss", choices=LOSSES, default="kill", help="a node is killed, stopped or drained, or NATS is restarted (kill)")
    parser.add_argument("--bus", choices=["nats", "postgresql"], default="nats")
    parser.add_argument("--sessions", type=int, default=3000)
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--members", type=int, default=10, help="of each group (10)")
    parser.add_argument("--rate", type=float, default=100, help="messages a second, of all together (100)")
    parser.add_argument("--before", type=float, default=5, metavar="S", help="seconds of messages before the loss (5)")
    parser.add_argument("--after", type=float, default=15, metavar="S", help="seconds that are looked at (15)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there")
    options = parser.parse_args()
    if options.members > options.sessions:
        parser.error("a group cannot have more members than there are sessions")
    if options.loss == "nats" and options.bus != "nats":
        parser.error("without NATS it cannot be lost")
    return options


def draw(chance, sessions, groups, members):
    """Members by group, so that each user is in as many groups as the others, but for one."""
    users = [f"user{number}" for number in range(sessions)]
    found, waiting = {}, []
    for number in range(groups):
        group = []
        while len(group) < members:
            if not waiting:
                waiting = chance.sample(users, len(users))
            # The next who is not in this one yet.
            index = next((index for index, user in enumerate(waiting) if user not in group), None)
            if index is None:
                waiting += chance.sample(users, len(users))
            else:
                group.append(waiting.pop(index))
        found[f"group{number}"] = group
    return found


class Loss:
    """What is taken away, and given back."""

    def __init__(self, cluster, kind, node):
        self.cluster, self.kind = cluster, kind
        self.node = None if kind == "nats" else node

    @property
    def name(self):
        return self.node.name if self.node else "NATS"

    async def begin(self):
        if self.kind == "kill":
            await asyncio.to_thread(self.node.kill)
        elif self.kind == "pause":
            self.node.pause()
        elif self.kind == "drain":
            self._drained = asyncio.create_task(self.node.drain(by_command=False))
        else:
            await self.cluster.nats.kill()
            await asyncio.sleep(BUS_AWAY)
            await self.cluster.nats.start()

    async def end(self):
        """Before the history is read."""
        if self.kind == "pause":
            self.node.resume()
        elif self.kind == "drain":
            status = await self._drained
            assert status == 0, f"{self.name} ended with {status}"


async def each(works):
    """All of them, so many at once."""
    turn = asyncio.Semaphore(AT_ONCE)

    async def one(work):
        async with turn:
            return await work

    return await asyncio.gather(*map(one, works))


async def create(cluster, members):
    async def one(group, users):
        answer = await cluster.nodes[0].call(
            "createGroup", groupID=group, groupName=group, groupType="Public", ownerUserID=users[0],
            memberList=[{"userID": user} for user in users[1:]])
        assert "result" in answer, answer

    await each(one(group, users) for group, users in members.items())


async def served_again(node, groups):
    """Unix seconds at which all groups have answered at this node."""
    left = list(groups)
    while left:
        answers = await each(node.call("getGroupsInfo", groupIDList=left[start:start + LISTED])
                             for start in range(0, len(left), LISTED))
        rows = [row for answer in answers for row in answer.get("result", {}).get("resultList", [])]
        served = {row["groupID"] for row in rows if row["code"] == 0}
        left = [group for group in left if group not in served]
        if left:
            await asyncio.sleep(0.05)
    return time.time()


async def history(node, group, reader):
    found, start = [], {}
    while True:
        answer = await node.call(
            "getGroupHistoryMessageList", asUser=reader, groupID=group, direction="Newer", count=100, **start)
        assert "result" in answer, answer
        page = answer["result"]
        found += [Stored(row["seq"], row["sender"], row["timestamp"] / 1000) for row in page["messageList"] if "tips" not in row]
        if page["isFinished"]:
            return found
        start = {"fromSeq": page["messageList"][-1]["seq"]}


async def run(options, number, directory):
    """The figures of one loss, by the names of `HEAD`."""
    chance = random.Random(f"{options.seed} {number}")
    members = draw(chance, options.sessions, options.groups, options.members)
    cluster = Cluster(directory, bus=options.bus, has_proxies=False, settings={"limits.signInsPerSecond": 0})
    crowd = served = None
    try:
        await cluster.start()
        await create(cluster, members)
        crowd = Crowd(cluster, chance, members, options.rate)
        await crowd.sign_in()
        loss = Loss(cluster, options.loss, chance.choice(cluster.nodes))
        other = next(node for node in cluster.nodes if node is not loss.node)
        owners = await cluster.tables.owners()
        groups = [group for group in members if loss.node is None or owners[shard_of(group)] == loss.node.name]
        crowd.start()
        await asyncio.sleep(options.before)
        assert all(client.is_open for client in crowd.clients.values()), "a session has ended before the loss"
        crowd.late, crowd.lost, lost_at = 0.0, loss.node and loss.node.name, time.time()
        await loss.begin()
        served = asyncio.create_task(served_again(other, groups))
        await asyncio.sleep(options.after)
        await crowd.stop()
        served_at = await within(served, PATIENCE)
        await loss.end()
        await crowd.quiet(QUIET)
        histories = dict(zip(members, await each(history(other, group, users[0]) for group, users in members.items())))
        acknowledged = {(group, seq) for _, group, seq in crowd.acks}
        stored = {(group, one.seq) for group, found in histories.items() for one in found}
        assert acknowledged <= stored, f"acknowledged messages are gone: {sorted(acknowledged - stored)[:5]}"
        found = judge(crowd.views, histories, loss.node and loss.node.name, lost_at)
        refused = Counter(crowd.refused) + Counter({"unanswered": crowd.unanswered})
        return dict(zip(HEAD, [
            number, loss.name, found.survivors, found.closed, round(100 * found.share, 2), dict(found.codes), found.missing,
            found.in_flight, found.needless, round(found.last_close, 2), round(served_at - lost_at, 2), round(crowd.late, 2),
            len(crowd.acks), dict(refused), found.missed, found.disordered]))
    finally:
        if served:
            served.cancel()
        if crowd:
            crowd.end()
        await cluster.end()


def cells(figures):
    return [counts(value) if isinstance(value, dict) else value for value in figures.values()]


def total(runs):
    """A row of sums; times are the largest."""
    codes, refused = (sum((Counter(one[name]) for one in runs), Counter()) for name in ("by code", "refused"))
    added = {name: sum(one[name] for one in runs) for name in HEAD if isinstance(runs[0][name], int) and name != "run"}
    largest = {name: max(one[name] for one in runs) for name in HEAD if name.endswith(", s")}
    share = 100 * added["closed"] / max(1, added["sessions elsewhere"])
    row = {**added, **largest, "run": "all", "lost": "", "share, %": round(share, 2), "by code": dict(codes)}
    row["refused"] = dict(refused)
    return {name: row[name] for name in HEAD}


def line(values):
    return "| " + " | ".join(map(str, values)) + " |"


async def runs_of(options, scratch):
    done = []
    for number in range(1, options.runs + 1):
        directory = scratch / str(number)
        directory.mkdir()
        # PostgreSQL's account works in it.
        os.chmod(directory, 0o755)
        done.append(await run(options, number, directory))
        print(line(cells(done[-1])), flush=True)
    return done


def main():
    options = parse()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    print(f"{BINARY}: {options.loss}, {options.sessions} sessions in {options.groups} groups of {options.members}, "
          f"{options.rate:g} messages a second, {options.bus}\n")
    print(line(HEAD) + "\n" + line(["---"] * len(HEAD)), flush=True)
    with tempfile.TemporaryDirectory(prefix="throng-loss-", dir="/var/tmp", ignore_cleanup_errors=True) as scratch:
        os.chmod(scratch, 0o755)
        done = run_campaign(runs_of(options, Path(scratch)))
    print(line(cells(total(done))))
    if options.json:
        options.json.write_text(json.dumps({"binary": str(BINARY), "loss": options.loss, "runs": done}, indent=1))
    return 1 if any(one["missed silently"] or one["out of order"] for one in done) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (KeyboardInterrupt, asyncio.CancelledError):
        sys.exit("node_loss: interrupted")
