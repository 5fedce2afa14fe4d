"""PostgreSQL and NATS of a cluster, on ports of their own, which can be ended and started again."""
import asyncio
import os
import shutil
import signal
import subprocess

from harness.ports import reserve_port
from harness.postgresql import programs

PATIENCE = 60


async def until(condition, what, patience=PATIENCE, pause=0.02):
    """Waits for something that only polling can show."""
    deadline = asyncio.get_running_loop().time() + patience
    while not (value := await condition()):
        if asyncio.get_running_loop().time() > deadline:
            raise TimeoutError(f"not within {patience} s: {what}")
        await asyncio.sleep(pause)
    return value


async def accepts(port, address="127.0.0.1"):
    try:
        _, writer = await asyncio.open_connection(address, port)
        writer.close()
        return True
    except OSError:
        return False


class PostgreSQL:
    """A database server whose commits reach the disk, as in production. With a network it is at a place of its own there."""

    def __init__(self, directory, network=None):
        self.directory, self.network = directory, network
        self.address = network.address(directory.name) if network else "127.0.0.1"
        self.port = reserve_port()
        self.process = None
        # PostgreSQL's programs refuse to work for root.
        self.account = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}

    def create(self):
        self._make_directory()
        command = [programs() / "initdb", "-D", self.directory / "data", "-U", "throng", "-A", "trust", "-E", "UTF8"]
        self._run(*command, "--locale=C.UTF-8", "--no-sync")
        if self.network:
            with open(self.directory / "data/pg_hba.conf", "a") as rules:
                rules.write(f"host all all {self.network.subnet} trust\n")

    def copy(self, primary):
        """Makes it a replica of a running server. What it had before is lost."""
        shutil.rmtree(self.directory, ignore_errors=True)
        self._make_directory()
        command = [programs() / "pg_basebackup", "-h", primary.directory, "-p", str(primary.port), "-U", "throng"]
        self._run(*command, "-D", self.directory / "data", "--checkpoint=fast", "--write-recovery-conf", "--no-sync")

    def promote(self):
        """It takes writes when this returns."""
        self._run(programs() / "pg_ctl", "promote", "-D", self.directory / "data", "-t", str(PATIENCE))

    def _make_directory(self):
        self.directory.mkdir()
        if self.account:
            shutil.chown(self.directory, "postgres", "postgres")

    def _run(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", **self.account)
        if done.returncode:
            raise RuntimeError(f"{command[0]}: {done.stderr}")

    async def start(self):
        command = [programs() / "postgres", "-D", self.directory / "data", "-p", str(self.port), "-k", str(self.directory)]
        account = self.account
        if self.network and account:
            # Root alone enters a network.
            command, account = [*self.network.inside(self.directory.name, "postgres"), *command], {}
        for setting in (f"listen_addresses={self.address}", "max_connections=200", "shared_buffers=64MB", "max_wal_size=512MB"):
            command += ["-c", setting]
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", start_new_session=True, **account)
        await until(self._is_ready, "PostgreSQL serves")

    async def _is_ready(self):
        command = [programs() / "pg_isready", "-q", "-h", self.directory, "-p", str(self.port), "-U", "throng", "-d", "postgres"]
        return await asyncio.to_thread(lambda: subprocess.run(command).returncode == 0)

    def create_database(self):
        self._run(programs() / "createdb", "-h", self.directory, "-p", str(self.port), "-U", "throng", "throng")

    async def stop_immediately(self):
        """As pg_ctl stop -m immediate: connections break, and the next start recovers from the log."""
        self.process.send_signal(signal.SIGQUIT)
        await asyncio.to_thread(self.process.wait, PATIENCE)

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(PATIENCE)


class NATS:
    def __init__(self, directory, network=None):
        self.directory, self.network = directory, network
        self.address = network.address("nats") if network else "127.0.0.1"
        self.port = reserve_port()
        self.process = None

    async def start(self):
        command = ["nats-server", "-a", self.address, "-p", str(self.port)]
        if self.network:
            command = [*self.network.inside("nats"), *command]
        with open(self.directory / "nats.log", "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        await until(lambda: accepts(self.port, self.address), "nats-server listens")

    async def kill(self):
        self.process.kill()
        await asyncio.to_thread(self.process.wait, PATIENCE)

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)


class Tables:
    """Looks into the cluster's tables, past all proxies, by one psql that stays."""

    END = "--end--"

    def __init__(self, database):
        self.database = database
        self.psql = None
        # Faults at the same time ask one after the other.
        self._turn = asyncio.Lock()

    async def rows(self, query):
        """The rows as lists of texts; None while the database does not answer."""
        async with self._turn:
            return await self._rows(query)

    async def _rows(self, query):
        if self.psql is None or self.psql.returncode is not None:
            self.psql = await asyncio.create_subprocess_exec(
                "psql", "-XqAt", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h", str(self.database.directory), "-p",
                str(self.database.port), "-U", "throng", "-d", "throng", stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL)
        try:
            self.psql.stdin.write(f"{query};\n\\echo {self.END}\n".encode())
            await self.psql.stdin.drain()
            rows = []
            while line := (await self.psql.stdout.readline()).decode().rstrip("\n"):
                if line == self.END:
                    return rows
                rows.append(line.split("\t"))
        except OSError:
            pass  # psql has ended with its connection
        await self.psql.wait()
        return None

    async def run(self, statement):
        if await self.rows(statement) is None:
            raise RuntimeError(f"PostgreSQL refuses: {statement}")

    async def nodes(self):
        """The number and the last heartbeat (Unix seconds) of each node, by name; None: see `rows`."""
        rows = await self.rows("SELECT name, number, extract(epoch FROM heartbeat) FROM node")
        return rows and {name: (int(number), float(heartbeat)) for name, number, heartbeat in rows}

    async def owners(self):
        """The name of the node that owns each shard, by shard; a shard whose owner has gone is missing."""
        rows = await self.rows("SELECT s.number, n.name FROM shard AS s JOIN node AS n ON n.number = s.owner")
        return rows and {int(shard): name for shard, name in rows}

    async def end(self):
        if self.psql and self.psql.returncode is None:
            self.psql.kill()
            await self.psql.wait()


def shard_of(name):
    """FNV-1a with 64 bits, folded (Cluster.md, "Words")."""
    number = 0xCBF29CE484222325
    for byte in name.encode():
        number = (number ^ byte) * 0x100000001B3 % 2**64
    return (number ^ number >> 32) % 1024
