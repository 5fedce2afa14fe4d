"""Three nodes on one PostgreSQL and one NATS, each node with proxies of its own to both, or in a network."""
import asyncio
import http.client
import json
import signal
import time

from harness.ports import reserve_port
from harness.server import Server, StartFailed
from harness.tokens import admin_token

from .engines import NATS, PATIENCE, PostgreSQL, Tables, shard_of, until
from .fault_proxy import FaultProxy
from .nats_proxy import NATSProxy
from .wall_clock import TOKEN_LIFETIME

from network.namespaces import Way

# Seconds.
LEASE = 3
# One user stands for many: rates of one session are not what is tried here.
SETTINGS = {
    "cluster.enabled": "true", "cluster.leaseDuration": f"{LEASE}s", "limits.requestsPerSecond": 100000,
    "limits.requestBurst": 100000, "limits.deliveriesPerSecond": 0, "limits.deliveredBytesPerSecond": 0,
    "limits.strangersPerDay": 0, "auth.failureDelay": 0, "drain.duration": 1, "log.format": "json",
}


class Node:
    def __init__(self, name, cluster):
        self.name = name
        self.cluster = cluster
        self.server = None
        # By engine, and then as the addresses in its configuration.
        self.proxies = {}
        # Its process is stopped or being ended: clients that look for a node pass it by.
        self.is_down = True

    async def prepare(self):
        cluster, network = self.cluster, self.cluster.network
        targets = {"postgresql": [cluster.primary.port, None]}
        if cluster.nats:
            targets["nats"] = [cluster.nats.port]
        ports = {engine: [target for target in found if target] for engine, found in targets.items()}
        if cluster.has_proxies:
            for engine, found in targets.items():
                kind = NATSProxy if engine == "nats" else FaultProxy
                self.proxies[engine] = [await kind(target).start(reserve_port()) for target in found]
                ports[engine] = [proxy.port for proxy in self.proxies[engine]]
        elif network:
            names = {"postgresql": cluster.primary.directory.name, "nats": "nats"}
            self.proxies = {engine: [Way(network, self.name, names[engine])] for engine in targets}
        place = cluster.primary.address
        hosts = ",".join(f"{place}:{port}" for port in ports["postgresql"])
        settings = {**SETTINGS, "cluster.name": self.name, "store.url": f"postgres://throng@{hosts}/throng"}
        if cluster.nats:
            settings["bus.url"] = f"nats://{cluster.nats.address if network else '127.0.0.1'}:{ports['nats'][0]}"
        settings |= cluster.settings
        address = network.address(self.name) if network else "127.0.0.1"
        self.server = Server(
            self.cluster.directory / self.name, settings, listen=f"{address}:{reserve_port()}",
            internal=f"{address}:{reserve_port()}")

    def set_binary(self, binary):
        network = self.cluster.network
        self.server.binary = network.program(self.name, binary) if network else binary

    @property
    def url(self):
        return f"ws://{self.server.listen}/ws"

    @property
    def fenced(self):
        """How many groups have found their commits refused, because the node was removed (ClusterSchema)."""
        return sum('"group"' in line and "TH001" in line for line in self.server.log.splitlines())

    async def start(self, is_persistent=False):
        """Starts it; a persistent one again and again, as a service manager does, while its engines are away."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                await asyncio.to_thread(self.server.start)
                break
            except StartFailed:
                if not is_persistent or time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.2)
        self.is_down = False

    def kill(self):
        self.is_down = True
        self.server.kill()

    def pause(self):
        self.is_down = True
        self.server.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.server.process.send_signal(signal.SIGCONT)
        self.is_down = False

    async def drain(self, by_command):
        """Ends it as operators do, by a signal or by `throng cluster drain` at another node; gives the exit status."""
        if by_command:
            other = next(node for node in self.cluster.nodes if node is not self)
            await other.post("/cluster", {"drain": self.name})
        else:
            self.server.terminate()
        self.is_down = True
        return await asyncio.to_thread(self.server.wait)

    async def get(self, path):
        """The status; None where nobody answers."""
        try:
            return (await asyncio.to_thread(self._ask, "GET", path))[0]
        except (OSError, http.client.HTTPException):
            return None

    async def post(self, path, body):
        status, answer = await asyncio.to_thread(self._ask, "POST", path, json.dumps(body))
        assert 200 <= status < 300, f"{path} at {self.name}: {status} {answer}"
        return answer

    def _ask(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.server.internal, timeout=10)
        try:
            connection.request(method, path, body, {"Authorization": f"Bearer {admin_token(ttl=TOKEN_LIFETIME)}"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    async def call(self, method, **params):
        """The whole answer of an administrator's request, or of a user's (`asUser`); repeated while it is refused for
        the moment."""
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = json.loads(await self.post("/rpc", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
            is_refused = answer.get("error", {}).get("data", {}).get("temporary")
            if not is_refused or time.monotonic() > deadline:
                return answer
            await asyncio.sleep(0.1)


class Cluster:
    """`bus`: nats, or postgresql alone. `settings` go before those of the cluster. With a `network`, which has started, nodes
    and engines are at places of their own there, and faults cut these."""

    def __init__(self, directory, count=3, bus="nats", has_proxies=True, settings=None, network=None):
        self.directory, self.network = directory, network
        self.has_proxies, self.settings = has_proxies and not network, settings or {}
        # As in the nodes' configuration: one takes writes, and the other is away, or a replica.
        self.databases = [PostgreSQL(directory / f"postgresql{number}", network) for number in (1, 2)]
        self.primary, self.replica = self.databases
        self.nats = NATS(directory, network) if bus == "nats" else None
        self.tables = Tables(self.primary)
        self.nodes = [Node(f"node{number}", self) for number in range(1, count + 1)]

    async def start(self, binary=None):
        """With the nodes of another binary than the one under test."""
        await asyncio.to_thread(self.primary.create)
        await asyncio.gather(*(engine.start() for engine in (self.primary, self.nats) if engine))
        self.primary.create_database()
        for node in self.nodes:
            await node.prepare()
            node.set_binary(binary or node.server.binary)
            await node.start()
        await self.wait_until_whole()

    async def wait_until_whole(self):
        """Waits until every node is ready and has its share of the shards."""
        async def is_whole():
            for node in self.nodes:
                if await node.get("/readyz") != 200:
                    return False
            owners = list((await self.tables.owners() or {}).values())
            shares = [owners.count(node.name) for node in self.nodes]
            return sum(shares) == 1024 and max(shares) - min(shares) < 30

        await until(is_whole, "all nodes are ready, and each has its share of shards", pause=0.1)

    async def start_replica(self):
        """Gives the primary a replica, for which each COMMIT waits from now on."""
        await asyncio.to_thread(self.replica.copy, self.primary)
        await self.replica.start()
        for proxy in self.proxies_of(self.replica):
            await proxy.lead_to(self.replica.port)
        # Not before the copy, which would have the setting, too, and wait for a replica of its own when it is promoted.
        await self.tables.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
        await self.tables.run("SELECT pg_reload_conf()")
        await until(self._is_synchronous, "the replica follows its primary")
        # The process that tells the others to wait for the replica makes checkpoints, too: it has read the setting then.
        await self.tables.run("CHECKPOINT")

    async def _is_synchronous(self):
        return await self.tables.rows("SELECT sync_state FROM pg_stat_replication") == [["sync"]]

    async def promote_replica(self):
        await asyncio.to_thread(self.replica.promote)
        self.primary, self.replica = self.replica, self.primary
        self.tables.database = self.primary

    def proxies_of(self, database):
        """Those of all nodes at the database's address."""
        place = self.databases.index(database)
        return [node.proxies["postgresql"][place] for node in self.nodes]

    async def owned_by(self, node, groups):
        """Those of the groups for which a node decides."""
        owners = await self.tables.owners() or {}
        return [group for group in groups if owners.get(shard_of(group)) == node.name]

    async def end(self):
        for node in self.nodes:
            if node.server and node.server.running:
                node.server.kill()
            for proxy in sum(node.proxies.values(), []):
                await proxy.close()
        await self.tables.end()
        if self.nats:
            self.nats.end()
        for database in self.databases:
            database.end()
