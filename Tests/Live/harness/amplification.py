"""Amplifications: how much more than a request one ordinary user can make the server do, measured
from outside.

An amplification is an asynchronous generator. What comes before its `yield` is the setup, by the
administrator and by accomplices; what comes after is done by one user, within the rates that one
user is allowed:

    @amplification(rows=4)
    async def rename_churn(attack):
        "setGroupInfo of a large group's name"
        group = attack.group("Public", members=attack.size(6000, 50))
        yield
        await attack.repeat(lambda n: ("setGroupInfo", {"groupID": group, "groupName": f"name {n}"}))"""
import asyncio
import math
import time
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass, field

from .bystander import GROUP, USER
from .flood import FloodSocket, Tally
from .footprint import MEBIBYTE, Database, Process, SeedRows, metric_now, rows_between
from .server import Server
from .tokens import make_token

ATTACKER = "attacker"

# The default rate (Protocol.md, "Request rate"). A little more is offered, so that the bucket
# limits.
RATE, BURST = 50, 100
RATE_EXCEEDED = 7008
OFFERED = 1.1
WINDOW = 64  # requests without an answer, in one session
ANSWER_PATIENCE = 5
IDLE_PATIENCE = 10
# The cost of any run: whole pages in the log, and once more by a checkpoint; a page begun in each
# table.
WRITTEN_BY_ITSELF = 4 * MEBIBYTE
FILLED_BY_ITSELF = MEBIBYTE // 4
# The bytes that one user may write at once, and each second (WriteAllowance).
FILLED_AT_ONCE, FILLED_A_SECOND = 1100 * 1024, 680_000
IDLE = 0.25  # of a core: a server that uses less has finished what was asked


@dataclass(frozen=True)
class Bounds:
    """The bounds of one accepted request. They hold for a slow server too."""

    rows: float = 3
    spare_rows: float = 60  # for the run as a whole: sign-ins, what the setup left to do
    written: float = 128 * 1024  # bytes to the disk, the log and checkpoints included; fewer where commits are shared
    filled: float = MEBIBYTE / RATE  # bytes of the database that stay: 1 MB a second at the rate of one user
    charged: float = 0  # bytes of the database, for the run as a whole, that were charged when the setup sent what goes now
    answered: float = 4096  # bytes, events included
    memory: float = 64 * MEBIBYTE  # for the run as a whole, at its peak
    cpu: float = math.inf  # seconds; given where a fault costs many times more than any machine needs without it


@dataclass(frozen=True)
class Amplification:
    name: str
    request: str  # what the user does, in words
    script: object
    bounds: Bounds
    settings: dict
    pending: str | None  # why a server is not held to the bounds yet
    small: float  # seconds of a short run
    full: float  # and of a full one
    is_anonymous: bool  # nobody signs in, and every request is refused

    def __repr__(self):
        return self.name


TABLE = {}


def amplification(settings=None, pending=None, small=0.4, full=4, anonymous=False, **bounds):
    """Puts a generator into the table, under its own name; its docstring says what the user
    does."""
    def note(script):
        assert script.__name__ not in TABLE, script.__name__
        TABLE[script.__name__] = Amplification(
            script.__name__, " ".join(script.__doc__.split()), script, Bounds(**bounds), settings or {}, pending, small, full,
            anonymous)
        return script
    return note


@dataclass
class Measurement:
    """One run. Times are of this machine; the rest is not."""

    name: str
    seconds: float  # from the attacker's first byte to the last answer
    sent: int
    accepted: int
    sign_ins: int
    sign_ins_refused: int
    refused: dict  # by code
    closed: dict  # by close code
    rows: int
    rows_by_table: dict
    rows_counted: float | None  # by the server itself
    written: int
    filled: int  # bytes of the database in use
    grown: int  # bytes of the database's files, the log included, at their largest
    answered: int
    told: int  # events that accomplices received
    cpu: float
    cpu_quiet: float  # seconds a second, with the bystander alone
    written_quiet: float  # bytes a second, likewise
    busy_after: float  # seconds until the server was idle again after the attacker had disconnected
    memory_peak: int
    memory_after: int
    bystander: dict = field(default_factory=dict)  # by phase: sends, signIns (seconds each), failed
    alive: bool = True

    @property
    def served(self):
        """The share of answers that were not errors, beside those of the rate."""
        errors = sum(count for code, count in self.refused.items() if code != RATE_EXCEEDED)
        return (self.accepted + self.sign_ins) / max(1, self.accepted + self.sign_ins + errors)

    @property
    def work(self):
        """By how many a bound is multiplied: accepted requests, or sign-ins where there are no
        requests."""
        return max(1, self.accepted or self.sign_ins)

    @property
    def attempts(self):
        """By how many a figure is divided that refused requests share."""
        return max(1, self.sent + self.sign_ins + self.sign_ins_refused)

    def excesses(self, bounds):
        """The exceeded bounds: a word for each, with the figure."""
        done = self.work + 1  # one may be done whose reply came too late
        allowed = {
            "requests": (self.accepted + self.sign_ins, BURST + RATE * self.seconds + 1),
            "rows": (self.rows, bounds.spare_rows + bounds.rows * done),
            "written": (self.written, WRITTEN_BY_ITSELF + bounds.written * done),
            "filled": (self.filled, FILLED_BY_ITSELF + bounds.filled * done),
            "filled, of what one user may": (
                self.filled, FILLED_BY_ITSELF + bounds.charged + FILLED_AT_ONCE + FILLED_A_SECOND * self.seconds),
            "answered": (self.answered, bounds.answered * self.attempts),
            "memory": (self.memory_peak, bounds.memory),
            "cpu": (self.cpu, 1 + bounds.cpu * self.attempts),
        }
        return {name: f"{figure:,.10g} over {most:,.10g}" for name, (figure, most) in allowed.items() if figure > most}

    def failed(self):
        """The bystander's requests that failed, in any phase."""
        return [line for phase in self.bystander.values() for line in phase["failed"]]

    def as_json(self):
        return asdict(self)


class Attack:
    """The parts of a script: the server, the administrator's groups, and the attacker's
    sessions."""

    def __init__(self, server, seconds, full):
        self.server = server
        self.seconds = seconds
        self.full = full
        self.attacker = ATTACKER
        self.tally = Tally()
        self.sockets = []
        self.listeners = []
        self.listening = Tally()  # of the accomplices
        self._groups = 0
        self._token = None

    def size(self, full, small):
        """How much of something a full run has, and a short one."""
        return full if self.full else small

    @property
    def few(self):
        """For requests that each do much: a short run begins with fewer of them."""
        return {} if self.full else {"burst": 15}

    # Setup, by the administrator

    def rpc(self, method, /, **params):
        answer = self.server.rpc(method, **params)
        assert "result" in answer, f"{method} answered {answer}"
        return answer["result"]

    def group(self, groupType="Public", owner=ATTACKER, admins=0, members=0, joined=True, **fields):
        """A group with so many admins and members; the attacker is its owner, or else a member,
        unless `joined` is False."""
        self._groups += 1
        group = fields.pop("groupID", f"group-{self._groups}")
        if groupType == "AVChatRoom":
            self.rpc("createGroup", groupID=group, groupType=groupType, groupName="room", ownerUserID=owner, **fields)
            return group
        if groupType == "Public":
            fields.setdefault("joinMode", "Any")
        self.rpc("importGroup", groupID=group, groupType=groupType, groupName="group", ownerUserID=owner, **fields)
        rows = [{"userID": f"admin-{n}", "role": "Admin"} for n in range(admins)]
        rows += [{"userID": f"member-{n}"} for n in range(members)]
        if owner != ATTACKER and joined:
            rows.insert(0, {"userID": ATTACKER})
        for start in range(0, len(rows), 300):
            self.rpc("importGroupMembers", groupID=group, memberList=rows[start:start + 300])
        return group

    def message(self, group, text="hello", sender="owner", **options):
        """One stored message, by a member."""
        return self.rpc("sendGroupTextMessage", asUser=sender, groupID=group, text=text, **options)

    def names(self, count, word="stranger"):
        return [f"{word}-{n}" for n in range(count)]

    @contextmanager
    def stopped(self):
        """The rows of the server while it is stopped; it starts again afterwards."""
        self.server.kill()
        rows = SeedRows(self.server)
        yield rows
        rows.close()
        self.server.start()

    async def listen(self, count, word="member"):
        """Accomplices who are signed in and read what comes."""
        tokens = [make_token(name) for name in self.names(count, word)]
        for start in range(0, count, 20):
            opening = (FloodSocket.sign_in(self.server, self.listening, token) for token in tokens[start:start + 20])
            self.listeners += await asyncio.gather(*opening)

    # The attacker

    @property
    def token(self):
        self._token = self._token or make_token(self.attacker)
        return self._token

    async def session(self, **options):
        socket = await FloodSocket.sign_in(self.server, self.tally, self.token, **options)
        self.sockets.append(socket)
        return socket

    async def connection(self, **options):
        """A connection that is not signed in."""
        socket = await FloodSocket.open(self.server, self.tally, **options)
        self.sockets.append(socket)
        return socket

    async def repeat(self, call, sessions=1, batch=1, answers=True, rate=RATE, burst=BURST, window=WINDOW, **options):
        """Sends what `call` gives for each number, for the time of the run, from each of so many
        sessions at the rate that one user is allowed, with at most `window` of them unanswered;
        then waits for the answers, unless `answers` is False."""
        opened = [await self.session(**options, **self.platform(n)) for n in range(sessions)]
        driving = (self._drive(socket, n * 1_000_000, call, batch, rate, burst, window) for n, socket in enumerate(opened))
        await asyncio.gather(*driving)
        if answers:
            await asyncio.gather(*(socket.answers(ANSWER_PATIENCE) for socket in opened))

    @staticmethod
    def platform(number):
        """One that has room for another session of the user: Unknown and Web have ten."""
        return {"platform": "Web"} if number >= 10 else {}

    async def _drive(self, socket, first, call, batch, rate, burst, window):
        start, number = time.monotonic(), 0
        while socket.is_open and (elapsed := time.monotonic() - start) < self.seconds:
            allowed = (burst + rate * elapsed) * OFFERED
            while number + batch <= allowed and socket.outstanding + batch <= max(window, batch) and socket.is_open:
                calls = [call(first + number + n) for n in range(batch)]
                if batch == 1:
                    socket.request(*calls[0])
                else:
                    socket.batch(calls)
                number += batch
            await asyncio.sleep(0.005)

    @property
    def deadline(self):
        """When this run has lasted as long as it should; for scripts that do not repeat one
        call."""
        return time.monotonic() + self.seconds

    def leave(self):
        """The attacker disconnects, without a word."""
        for socket in self.sockets:
            socket.cut()
        self.sockets.clear()


class Observer:
    """Reads what a server uses, from when it was made until `figures`."""

    def __init__(self, server):
        self.server = server
        self.process, self.database = Process(server.process.pid), Database(server)
        self._tables, self._counted = self.database.tables(), rows_counted(server)
        self._used, self._size = self.database.used, self.database.size
        self.process.forget_peak()
        self._cpu, self._written, self._memory = self.process.cpu, self.process.written, self.process.memory
        self._largest = self._size
        self._sampling = asyncio.ensure_future(self._sample())

    async def _sample(self):
        while True:
            with suppress(OSError):  # the log is made and removed by the server
                self._largest = max(self._largest, self.database.size)
            await asyncio.sleep(0.1)

    async def figures(self):
        """By the names of a measurement."""
        self._sampling.cancel()
        await asyncio.gather(self._sampling, return_exceptions=True)
        process, rows = self.process, rows_between(self._tables, self.database.tables())
        return {
            "rows": sum(rows.values()), "rows_by_table": rows,
            "rows_counted": None if self._counted is None else rows_counted(self.server) - self._counted,
            "written": process.written - self._written, "filled": self.database.used - self._used,
            "grown": self._largest - self._size, "cpu": process.cpu - self._cpu,
            "memory_peak": process.peak - self._memory, "memory_after": process.memory - self._memory,
        }


async def idle(process):
    """Waits until the server has little to do; gives the seconds that it had more."""
    start, last = time.monotonic(), time.monotonic()
    while time.monotonic() - start < IDLE_PATIENCE:
        before = process.cpu
        await asyncio.sleep(0.1)
        if process.cpu - before < IDLE * 0.1:
            return last - start
        last = time.monotonic()
    return last - start


@asynccontextmanager
async def attacking(one, data_dir, seconds, full, binary=None):
    """A server on which the setup of an amplification is done, and the script that goes on with the
    attack."""
    server = Server(data_dir, one.settings, binary=binary).start()
    attack = Attack(server, seconds, full)
    try:
        attack.rpc("importGroup", groupID=GROUP, groupType="Public", groupName="bystanders", ownerUserID=USER)
        script = one.script(attack)
        await anext(script)
        yield attack, script
    finally:
        attack.leave()
        for socket in attack.listeners:
            socket.cut()
        if server.running:
            server.kill()


async def quiet_costs(process, seconds):
    """CPU seconds and bytes to the disk, a second, that the bystander alone causes."""
    await idle(process)
    cpu, written = process.cpu, process.written
    await asyncio.sleep(seconds)
    return ((process.cpu - cpu) / seconds, (process.written - written) / seconds) if seconds else (0.0, 0.0)


async def measure(one, data_dir, bystander, full=False, seconds=None, quiet=0.0, after=0.0, binary=None):
    """Runs one amplification on a server of its own: `quiet` seconds of the bystander alone, the
    attack, and `after` seconds more when the server is idle again."""
    seconds = seconds or (one.full if full else one.small)
    async with attacking(one, data_dir, seconds, full, binary) as (attack, script):
        bystander.begin(attack.server)
        try:
            cpu_quiet, written_quiet = await quiet_costs(Process(attack.server.process.pid), quiet)
            observer = Observer(attack.server)
            bystander.phase("during")
            start = time.monotonic()
            with suppress(StopAsyncIteration):
                await anext(script)
            elapsed = time.monotonic() - start
            bystander.phase("after")
            attack.leave()
            busy = await idle(observer.process)
            await asyncio.sleep(after)
        finally:
            phases = bystander.end()
        tally = attack.tally
        return Measurement(
            name=one.name, seconds=elapsed, sent=tally.sent, accepted=tally.accepted, sign_ins=tally.sign_ins,
            sign_ins_refused=tally.sign_ins_refused, refused=dict(tally.refused), closed=dict(tally.closed),
            answered=tally.bytes, told=attack.listening.events,
            cpu_quiet=cpu_quiet, written_quiet=written_quiet, busy_after=busy, bystander=phases, alive=attack.server.running,
            **await observer.figures())


def rows_counted(server):
    """The bytes written by the server's own count; None where it does not tell."""
    name = "throng_store_rows_written_total"
    text = server.http("GET", "/metrics").text
    return metric_now(server, name) if name in text else None
