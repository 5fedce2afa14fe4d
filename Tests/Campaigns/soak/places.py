"""Where a soak runs: one node on a file, one on PostgreSQL, three nodes. Their data stay, so that a later run goes on."""
import asyncio
import itertools

from chaos.cluster import SETTINGS, Cluster, Node
from chaos.engines import PATIENCE, until
from chaos.fault_proxy import FaultProxy
from chaos.wall_clock import WallClock

from harness.ports import reserve_port

# Each kind of message and event, and bounds that a run reaches: what is kept must not grow for hours. The grace is longer
# than any fault keeps members away, who would have left their room otherwise.
COMMON = {
    "heartbeat.interval": "10s", "heartbeat.timeout": "8s", "limits.sendQueueBytes": 262144, "search.messages": "true",
    "avChatRoom.recentMessages": 100, "avChatRoom.recentDuration": "120s", "avChatRoom.offlineGrace": "150s",
}
# The groups that last reach it within an hour; those of a round do not, and are read to their beginning. Not by time,
# because the clock steps.
KEPT = {f"history.maxMessages.{kind}": 3000 for kind in ("work", "public", "meeting")}


class Through:
    """A node as clients behind its proxy reach it."""

    def __init__(self, node):
        self._node = node

    def __getattr__(self, name):
        return getattr(self._node, name)

    @property
    def url(self):
        return f"ws://127.0.0.1:{self._node.front.port}/ws"


class SoakNode(Node):
    """With a proxy before its public listener, and a wall clock that may step."""

    front = None

    async def prepare(self):
        await super().prepare()
        self._finish()
        self.front = await FaultProxy(int(self.server.listen.rpartition(":")[2])).start(reserve_port())
        self.through = Through(self)
        self.clock = WallClock(self.cluster.directory, self.name)
        self.server.environment = self.clock.environment
        # Bytes of the log, of all lives.
        self.logged = 0

    def _finish(self):
        """Of the settings."""

    @property
    def pid(self):
        return self.server.process.pid

    def take_log(self):
        """Counts the lines since the last time, and keeps them in a file until the next: the harness would keep those of
        all hours."""
        with self.server._news:
            lines, self.server.lines = self.server.lines, []
        text = "".join(line + "\n" for line in lines)
        self.logged += len(text)
        (self.cluster.directory / f"{self.name}.before.log").write_text(text)


class LoneNode(SoakNode):
    """The only one."""

    def _finish(self):
        settings = self.server.settings
        for key in [key for key in settings if key.startswith("cluster.")]:
            del settings[key]
        if not self.cluster.on_postgresql:
            settings["store.url"] = "sqlite:throng.db"


class SoakCluster(Cluster):
    """Three nodes, whose databases may be there already."""

    name = "three nodes"
    count = 3
    bus = "nats"
    node = SoakNode
    on_postgresql = True
    has_proxies = True

    def __init__(self, directory, settings=None):
        settings = {**COMMON, **KEPT, **(settings or {})}
        super().__init__(directory, count=self.count, bus=self.bus, has_proxies=self.has_proxies, settings=settings)
        self.nodes = [self.node(f"node{number}", self) for number in range(1, self.count + 1)]

    async def start(self, binary=None):
        is_new = self.on_postgresql and not (self.primary.directory / "data").exists()
        if is_new:
            await asyncio.to_thread(self.primary.create)
        if self.on_postgresql:
            await self.primary.start()
        if self.nats:
            await self.nats.start()
        if is_new:
            self.primary.create_database()
        for node in self.nodes:
            await node.prepare()
            node.server.binary = binary or node.server.binary
            await node.start()
        await self.wait_until_whole()

    async def database_bytes(self):
        """None where the node's own metric tells it, or the database does not answer."""
        if not self.on_postgresql:
            return None
        rows = await self.tables.rows("SELECT pg_database_size('throng')")
        return float(rows[0][0]) if rows else None

    async def end(self):
        for node in self.nodes:
            if node.front:
                await node.front.close()
            # A stopped process does not end.
            if node.server and node.server.running:
                node.resume()
        await super().end()


class LoneOnPostgreSQL(SoakCluster):
    name = "PostgreSQL"
    count = 1
    bus = "postgresql"
    node = LoneNode

    async def wait_until_whole(self):
        async def is_ready():
            return await self.nodes[0].get("/readyz") == 200

        await until(is_ready, "the node is ready", PATIENCE, pause=0.1)


class Lone(LoneOnPostgreSQL):
    name = "one node"
    on_postgresql = False
    has_proxies = False


PLACES = {"one": Lone, "postgresql": LoneOnPostgreSQL, "cluster": SoakCluster}


class Balancer:
    """Chooses the ways of clients: every third goes through a proxy that may lose."""

    def __init__(self):
        self._turn = itertools.count()

    def way_to(self, node):
        return node.through if node and next(self._turn) % 3 == 0 else node
