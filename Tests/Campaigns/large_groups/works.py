"""What is done with one group of so many members, and what it costs."""
import asyncio
import time

from chaos.engines import PostgreSQL
from connections.crowd import Crowd, build
from harness.amplification import idle
from harness.footprint import Process
from harness.pinger import Pinger
from harness.server import Server

GROUP, OWNER = "community", "owner"
# Members of one importGroupMembers.
IMPORTED = 300
SETTINGS = {
    "loops": 1, "limits.public.maxMemberNum": 200_000, "limits.signInsPerSecond": 0, "limits.requestsPerSecond": 1_000_000,
    "limits.requestBurst": 1_000_000, "limits.deliveriesPerSecond": 0, "limits.deliveredBytesPerSecond": 0,
    "limits.strangersPerDay": 0, "auth.failureDelay": 0}
HEAD = ["request", "p50, ms", "longest, ms", "CPU each, ms", "a bystander's longest wait, ms",
        "longest turn of the loop, at most, ms"]
# The column by which growth is told.
CPU = HEAD.index("CPU each, ms") - 1


class Community:
    """A server with the group."""

    def __init__(self, directory, store, members, options):
        self.directory, self.members, self.options = directory, members, options
        self.database = PostgreSQL(directory / "postgresql") if store == "postgresql" else None
        self.crowd = self.bystander = None
        # CPU a second while nothing is done but the bystander's pings.
        self.background = 0
        self.found = {}

    async def start(self):
        settings = dict(SETTINGS)
        if self.database:
            await asyncio.to_thread(self.database.create)
            await self.database.start()
            self.database.create_database()
            settings["store.url"] = f"postgres://throng@127.0.0.1:{self.database.port}/throng"
        self.server = Server(self.directory / "data", settings)
        await asyncio.to_thread(self.server.start)
        self.program = build(self.directory)

    async def call(self, method, **params):
        answer = await asyncio.to_thread(lambda: self.server.rpc(method, **params))
        assert "result" in answer, f"{method}: {answer}"
        return answer["result"]

    async def fill(self):
        await self.call("importGroup", groupType="Public", groupName="c", groupID=GROUP, ownerUserID=OWNER, joinMode="Any")
        # Named as the crowd names its users.
        names = [f"member-{number}" for number in range(self.members - 1)]
        for start in range(0, len(names), IMPORTED):
            rows = [{"userID": name} for name in names[start:start + IMPORTED]]
            await self.call("importGroupMembers", groupID=GROUP, memberList=rows)

    async def arrive(self):
        """Half of the members sign in."""
        online = min(self.options.online, self.members // 2)
        self.crowd = Crowd(self.program, self.directory, self.server.address, "member", online, sources=4)
        await self.crowd.start()
        await self.crowd.open(online)
        await self.rest()
        self.bystander = Pinger(self.server)
        process = Process(self.server.process.pid)
        cpu, began = process.cpu, time.monotonic()
        await asyncio.sleep(1)
        self.background = (process.cpu - cpu) / (time.monotonic() - began)

    async def rest(self):
        await idle(Process(self.server.process.pid))

    async def measure(self, name, call, repeats=None):
        """`call(number)` so often, one after the other."""
        process, times = Process(self.server.process.pid), []
        if self.bystander:
            self.bystander.worst()
        # To read it costs CPU, too.
        turns = self.turns()
        cpu, start = process.cpu, time.monotonic()
        for number in range(repeats or self.options.repeats):
            began = time.monotonic()
            await call(number)
            times.append(1000 * (time.monotonic() - began))
        # Deliveries go on behind an answer.
        await self.rest()
        cpu = process.cpu - cpu - self.background * (time.monotonic() - start)
        cpu, times = 1000 * max(0, cpu) / len(times), sorted(times)
        worst = f"{1000 * self.bystander.worst():.1f}" if self.bystander else "–"
        longer = [bound for bound, count in self.turns().items() if count > turns.get(bound, 0)]
        turn = max(longer, default="–", key=float)
        self.found[name] = [f"{times[len(times) // 2]:.1f}", f"{times[-1]:.1f}", f"{cpu:.2f}", worst, turn]

    def turns(self):
        """How many turns the loop has had, by the milliseconds that bound them; servers of before do not count them."""
        found, below = {}, 0
        for line in self.server.http("GET", "/metrics").text.splitlines():
            if line.startswith("throng_loop_turn_seconds_bucket"):
                bound, count = float(line.split('le="')[1].split('"')[0]), int(float(line.rsplit(" ", 1)[1]))
                found[f"{1000 * bound:g}"], below = count - below, count
        return found

    async def leave(self):
        if self.bystander:
            self.bystander.end()
        if self.crowd:
            await self.crowd.kill()
        self.bystander = self.crowd = None
        self.background = 0

    async def restart(self):
        await self.leave()
        await asyncio.to_thread(self.server.kill)
        await asyncio.to_thread(self.server.start)
        await self.rest()

    async def end(self):
        await self.leave()
        if self.server.running:
            self.server.kill()
        if self.database:
            self.database.end()


async def measure(directory, store, members, options):
    """Figures by request, as texts, in the order of `HEAD`."""
    community = Community(directory, store, members, options)

    def call(method, user=OWNER, **params):
        return community.call(method, asUser=user, groupID=GROUP, **params)

    def sync(row):
        return community.call("syncGroups", asUser="member-0", groups=[
            {"groupID": GROUP, "epoch": row["epoch"], "seq": max(0, row["lastSeq"] - 10)}])

    try:
        await community.start()
        await community.fill()
        await community.arrive()
        await community.measure("nothing, for comparison", lambda number: asyncio.sleep(0.05))
        await community.measure("joinGroup", lambda number: call("joinGroup", f"joiner-{number}"))
        await community.measure("sendGroupTextMessage", lambda number: call("sendGroupTextMessage", text="x" * 70))
        await community.measure("getGroupMemberList, a page of 100", lambda number: call("getGroupMemberList", count=100))
        await community.measure(
            "muteGroupMember", lambda number: call("muteGroupMember", userID=f"member-{number}", muteTime=600))
        start = [{"groupID": GROUP, "epoch": "", "seq": 0}]
        (row,) = (await community.call("syncGroups", asUser="member-0", groups=start))["groups"]
        await community.measure("syncGroups, 10 messages", lambda number: sync(row))
        await community.measure("getGroupUnreadCount", lambda number: community.call(
            "getGroupUnreadCount", asUser=f"member-{number}", groupIDList=[GROUP]))
        await community.measure("quitGroup", lambda number: call("quitGroup", f"joiner-{number}"))
        await community.restart()
        await community.measure("getGroupsInfo, which loads the group", lambda number: community.call(
            "getGroupsInfo", asUser=OWNER, groupIDList=[GROUP]), repeats=1)
        await community.restart()
        await community.arrive()
        await community.measure("dismissGroup", lambda number: call("dismissGroup"), repeats=1)
        return community.found
    finally:
        await community.end()
