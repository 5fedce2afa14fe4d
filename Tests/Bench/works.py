"""The works of Benchmarks.md's table: the runs of each, and its targets."""
from __future__ import annotations

import pathlib
from dataclasses import dataclass

from peers import Ejabberd, Nchan, UWebSockets
from servers import RawServer, System, Throng

CPU = ("CPU-µs per delivery", "server.cpuMicrosecondsPerDelivery")
P99 = ("p99", "latencyMs.p99")
BYTES = ("bytes received per delivery", "compression.wireBytesPerDelivery")


@dataclass(frozen=True)
class Run:
    """A server and the scenario that the generator runs against it."""

    system: System
    scenario: tuple[str, ...]
    # The messages are sentences of the corpus.
    has_texts: bool = False


@dataclass(frozen=True)
class Check:
    """A figure of a work and its targets.

    `most` and `least` bound the figure, `most_ratio` and `least_ratio` its ratio to the baseline's.
    """

    measure: str
    path: str
    unit: str = "µs"
    most: float | None = None
    least: float | None = None
    most_ratio: float | None = None
    least_ratio: float | None = None
    # The baseline has no such figure.
    is_throngs_own: bool = False
    # The ratio is to this figure of the same run, and not to the baseline's; what it is called.
    beside: str = ""
    beside_label: str = ""

    @property
    def bounds_ratio(self) -> bool:
        return self.most_ratio is not None or self.least_ratio is not None

    @property
    def scale(self) -> float:
        """From the generator's unit to the one that is shown."""
        return 1 / 1024 if self.unit == "KB" else 1


@dataclass(frozen=True)
class Work:
    """`baseline` is the run that Throng is compared with in the same round."""

    name: str
    title: str
    throng: Run
    checks: tuple[Check, ...]
    baseline: Run | None = None
    peers: tuple[Run, ...] = ()
    # Shown beside Throng in the table of compression.
    compressed: tuple[Run, ...] = ()
    connections: int = 0
    # With a given rate: the deliveries a second of a server that keeps up.
    deliveries: float = 0
    # It runs this many times longer than others: the kernel counts CPU in hundredths of a second.
    stretch: float = 1

    @property
    def is_paced(self) -> bool:
        return "--rate" in self.throng.scenario

    @property
    def runs(self) -> dict[str, Run]:
        runs = {"throng": self.throng}
        if self.baseline:
            runs["baseline"] = self.baseline
        return {**runs, **{run.system.label: run for run in (*self.peers, *self.compressed)}}


def _words(**options: object) -> tuple[str, ...]:
    return tuple(word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value)))


def _room(members: int, system: System, **options: object) -> Run:
    # Other servers know no group types.
    kind = {"type": "AVChatRoom"} if isinstance(system, Throng) else {}
    return Run(system, ("room", *_words(members=members, **{"publishers": 8, **options}, **kind)))


def _saturated(members: int, window: int, *checks: Check, peers: tuple[System, ...] = ()) -> Work:
    return Work(
        f"room-{members}", f"1 room × {members:,}, saturated (message limit off)", _room(members, Throng(), inflight=window), checks,
        _room(members, RawServer("batch"), inflight=window), tuple(_room(members, peer, inflight=window) for peer in peers),
        connections=members)


def _at_rate(members: int, rate: int, peers: tuple[System, ...]) -> Work:
    return Work(
        f"room-{members}-at-{rate}", f"1 room × {members:,} at {rate} msg/s", _room(members, Throng(), rate=rate),
        (Check(*CPU, most_ratio=1.25), Check(*P99, unit="ms", most_ratio=2)),
        _room(members, RawServer("send"), rate=rate), tuple(_room(members, peer, rate=rate) for peer in peers),
        connections=members, deliveries=members * rate)


def _saturated_tls() -> Work:
    return Work(
        "room-1000-wss", "1 room × 1,000 over wss, saturated (message limit off)", _room(1000, Throng(tls=True), inflight=32),
        (Check(*CPU),), _room(1000, RawServer("batch", tls=True), inflight=32), connections=1000)


def _at_rate_tls() -> Work:
    return Work(
        "room-1000-at-75-wss", "1 room × 1,000 over wss at 75 msg/s", _room(1000, Throng(tls=True), rate=75),
        (Check(*CPU), Check(*P99, unit="ms")), _room(1000, RawServer("send", tls=True), rate=75), connections=1000,
        deliveries=75_000)


def _groups_run(system: System, **options: object) -> Run:
    # Other servers know no group types.
    kind = {"type": "AVChatRoom"} if isinstance(system, Throng) else {}
    return Run(system, ("groups", *_words(**options, **kind)))


def _compression(members: int, window: int, rate: int = 0, tls: bool = False) -> Work:
    """The same room with Throng's compression, without it, and with each message deflated by itself."""
    load = {"rate": rate} if rate else {"inflight": window}
    # The goals are those of 1,000 members without TLS, and of whatever has a rate: no dearer, and no later. A p99 of two
    # runs in turn differs by a fifth by itself here: that much counts as equal.
    is_goal = members == 1000 and not tls
    checks = [Check(*BYTES, unit="B", most_ratio=0.25 if is_goal and rate == 40 else None),
              Check(*CPU, most_ratio=1.03 if rate and members <= 1000 else 0.6 if is_goal else None)]
    # With 9,000 inflaters the generator itself is the slowest part.
    if rate and members <= 1000:
        checks.append(Check(*P99, unit="ms", most_ratio=1.2))

    def run(system: System) -> Run:
        return Run(system, (*_room(members, system, **load).scenario, "--compress"), has_texts=True)

    off = Throng({"compression": "off"}, tls=tls, label="Throng, compression off")
    once = RawServer("send" if rate else "batch", tls=tls, deflate=True)
    title = f"at {rate} msg/s" if rate else "saturated (message limit off)"
    return Work(
        f"compression-{members}{f'-at-{rate}' if rate else ''}{'-wss' if tls else ''}",
        f"1 room × {members:,}{' over wss' if tls else ''}, {title}", run(Throng(tls=tls)),
        tuple(checks), run(off),
        compressed=tuple(run(system) for system in ((once,) if tls else (once, UWebSockets()))), connections=members,
        stretch=2 if rate else 1)


def _compressions() -> tuple[Work, ...]:
    rooms = ((100, 64, False), (1000, 32, False), (9000, 16, False), (1000, 32, True))
    return tuple(_compression(members, window, rate, tls) for members, window, tls in rooms for rate in (0, 40, 75))


def _flush_window() -> Work:
    return Work(
        "flush-window", "1 room × 1,000 at 300 msg/s, `fanout.flushWindow` 20 ms",
        _room(1000, Throng({"fanout.flushWindow": 20}), rate=300), (Check(*CPU, most=1.1),),
        _room(1000, RawServer("send"), rate=300), connections=1000)


def _groups() -> Work:
    options = {"groups": 1000, "members": 10, "rate": 2000}
    return Work(
        "groups", "10,000 connections in 1,000 groups of 10, 2,000 msg/s, AVChatRoom", _groups_run(Throng(), **options),
        (Check(*CPU, most=6), Check(*P99, unit="ms", most=1)),
        _groups_run(RawServer("send", rooms=True), **options), connections=10_000)


def _one_message() -> Work:
    # 32 in flight, so that the kernel's cost of waking a process does not hide that of a message.
    options = {"publishers": 1, "inflight": 32}
    return Work(
        "one-message", "one message to a room of 1 (a sender and a receiver, 32 messages in flight)", _room(1, Throng(), **options),
        (Check("CPU-µs per message, parse to send", "server.cpuMicrosecondsPerMessage", most=15),),
        _room(1, RawServer("batch", ", to sender and receiver"), **options), connections=2)


def _compared_with_words() -> Work:
    # Terms of 6 to 15 random letters: sentences hold the beginnings of many, and none of them.
    options = {"publishers": 1, "inflight": 32}

    def run(system: System) -> Run:
        return Run(system, _room(1, system, **options).scenario, has_texts=True)

    return Work(
        "words", "one message to a room of 1 (sentences of the corpus, 32 in flight), compared with 10,000 words",
        run(Throng(words=10_000)),
        (Check("CPU-µs per message, parse to send", "server.cpuMicrosecondsPerMessage"),),
        run(Throng(label="Throng without words")), connections=2)


def _rare_message() -> Work:
    options = {"groups": 8, "members": 2, "rate": 2000}
    return Work(
        "rare-message", "the same, the server asleep between messages (2,000 msg/s over eight such rooms)",
        _groups_run(Throng(), **options), (Check("CPU-µs per message", "server.cpuMicrosecondsPerMessage"),),
        _groups_run(RawServer("send", rooms=True), **options), connections=16, stretch=2)


STORED = {"store.sync": "full"}
WITHOUT_WEBHOOKS = Throng(STORED, pinned=False, label="Throng without webhooks")


def _stored() -> Work:
    scenario = ("durable", *_words(senders=256, senders_per_group=10, members=10, type="Public"))
    return Work(
        "stored", "stored sends, Public groups of 10, 256 senders, `store.sync=full`, both cores",
        Run(Throng(STORED, pinned=False), scenario),
        (Check("messages per second", "messagesPerSecond", unit="", least=20_000), Check(*P99, unit="ms", most=50)),
        connections=260)


def _stored_apart() -> Work:
    scenario = ("durable", *_words(senders=256, members=10, type="Public"))
    return Work(
        "stored-apart", "the same, one sender to a group: nine sends for each message",
        Run(Throng(STORED, pinned=False), scenario),
        (Check("messages per second", "messagesPerSecond", unit=""), Check(*P99, unit="ms")), connections=2560)


def _webhooks(name: str, title: str, senders: int, members: int, senders_per_group: int) -> Work:
    options = {"senders": senders, "senders_per_group": senders_per_group, "members": members, "type": "Public"}
    scenario = ("durable", *_words(**options))
    return Work(
        name, f"{title}, `store.sync=full`, both cores: all after-events on, the receiver answers at once",
        Run(Throng(STORED, pinned=False, receiver="answers"), scenario),
        (Check("messages per second", "messagesPerSecond", unit="", least_ratio=0.6), Check(*P99, unit="ms"),
         Check("posted when the senders stop, of all after-events", "webhooks.deliveredShare", unit="", is_throngs_own=True)),
        Run(WITHOUT_WEBHOOKS, scenario), connections=senders)


def _hanging_receiver() -> Work:
    options = {"senders": 256, "senders_per_group": 10, "members": 10, "rate": 4000, "type": "Public"}
    scenario = ("durable", *_words(**options))
    return Work(
        "webhooks-hanging", "4,000 stored sends a second, Public groups of 10, `store.sync=full`, both cores: the receiver hangs",
        Run(Throng(STORED, pinned=False, receiver="hangs"), scenario),
        (Check(*P99, unit="ms", most_ratio=1.2), Check("p50", "latencyMs.p50", unit="ms")),
        Run(WITHOUT_WEBHOOKS, scenario), connections=260, stretch=2)


def _counters() -> Work:
    # A user may do four a second: 10,000 need 2,500 members.
    options = {"members": 2600, "publishers": 8, "rate": 10}
    without = Throng(STORED, pinned=False, label="Throng without increments")
    return Work(
        "counters", "1 room × 2,600 at 10 msg/s beside 10,000 increments of a counter a second, `store.sync=full`, both cores",
        Run(Throng(STORED, pinned=False), ("room", *_words(**options, type="AVChatRoom", increments=10_000))),
        (Check("increments answered per second", "increments.perSecond", unit="", least=9_900, is_throngs_own=True),
         Check("p99 of an increment, due to answered", "increments.p99", unit="ms", is_throngs_own=True),
         Check("p99 of the chat", P99[1], unit="ms", most_ratio=1.2)),
        Run(without, ("room", *_words(**options, type="AVChatRoom"))), connections=2608, stretch=2)


def _presence() -> Work:
    # Each of the 10,000 changes its status once in 20 s, and is watched by 100.
    options = {"sessions": 10_000, "watch": 100, "rate": 20}
    without = Throng(STORED, pinned=False, label="Throng without changes")
    return Work(
        "presence",
        "10,000 sessions, each watches 100 others, 500 statuses change a second, rooms of 100 at 20 msg/s, `store.sync=full`, both cores",
        Run(Throng(STORED, pinned=False), ("presence", *_words(**options, flap=500))),
        (Check("p99 of the chat", P99[1], unit="ms", most_ratio=1.2), Check("server CPU", "server.cpuSeconds", unit="s"),
         Check("changes answered per second", "increments.perSecond", unit="", least=495, is_throngs_own=True),
         Check("onUsersStatusChanged per second", "statusEvents.eventsPerSecond", unit="", is_throngs_own=True),
         Check("statuses in them per second", "statusEvents.rowsPerSecond", unit="", is_throngs_own=True)),
        Run(without, ("presence", *_words(**options, flap=0))), connections=10_000, stretch=2)


def _searched() -> Work:
    scenario = ("durable", *_words(senders=256, senders_per_group=10, members=10, type="Public"))
    without = Throng(STORED, pinned=False, label="Throng without search")
    return Work(
        "searched", "stored sends, Public groups of 10, 256 senders, `store.sync=full`, both cores: `search.messages` on",
        Run(Throng({**STORED, "search.messages": True}, pinned=False), scenario),
        (Check("messages per second", "messagesPerSecond", unit=""), Check(*P99, unit="ms")), Run(without, scenario),
        connections=260)


def _retention() -> Work:
    # Three rounds of retention in a run; nearly all messages go.
    options = {"senders": 256, "senders_per_group": 10, "members": 10, "rate": 4000, "type": "Public"}
    scenario = ("durable", *_words(**options))
    without = Throng(STORED, pinned=False, label="Throng without retention")
    return Work(
        "retention", "4,000 stored sends a second, Public groups of 10, `store.sync=full`, both cores: 10 messages of each group are kept",
        Run(Throng({**STORED, "history.maxMessages.public": 10}, pinned=False), scenario),
        (Check("the longest hold of the writer", "retention.longestHoldMs", unit="ms", most=5, is_throngs_own=True),
         Check("messages removed", "retention.removed", unit="", least=1, is_throngs_own=True),
         Check(*P99, unit="ms", most_ratio=1.5)),
        Run(without, scenario), connections=260, stretch=4)


def _sign_ins() -> Work:
    return Work(
        "sign-ins", "10,000 sign-ins by `?token=`", Run(Throng(), ("connect", *_words(connections=10_000))),
        (Check("server CPU", "server.cpuSeconds", unit="s", most=1.5),
         Check("RSS per idle session", "server.rssBytesPerConnection", unit="KB", most=8)), connections=10_000)


def _storm(limit: int) -> Work:
    # 10,000 are cut off and come back, 100 others talk in a room of theirs.
    options = {"connections": 10_000, "established": 100, "rate": 50}
    return Work(
        f"storm-{limit}", f"10,000 come back at once, `limits.signInsPerSecond` {limit:,}, beside 100 others at 50 msg/s",
        Run(Throng({"limits.signInsPerSecond": limit}), ("storm", *_words(**options))),
        (Check("p99 of the others", "established.duringMs.p99", unit="ms", most_ratio=2, beside="established.beforeMs.p99",
               beside_label="that before"),
         Check("all are back after", "storm.seconds", unit="s"), Check("server CPU meanwhile", "server.cpuSeconds", unit="s")),
        connections=10_100)


def _stalled_reader() -> Work:
    queue, size, rate = 131_072, 12_000, 10
    # The warm-up fills the kernel's buffer of one connection, three quarters of it text, and Throng's queue.
    largest = int(pathlib.Path("/proc/sys/net/ipv4/tcp_wmem").read_text().split()[2])
    warm_up = round(1.1 * (0.75 * largest + queue) / (size * rate)) + 1
    options = {"rate": rate, "size": size, "warm_up": warm_up}
    settings = {"limits.sendQueueBytes": queue}
    return Work(
        "stalled-reader", f"1 stalled reader in a room of 5,000 ({rate} msg/s of 12 KB, so that its buffers fill)",
        _room(5000, Throng(settings, skips=True), stalled=1, **options),
        (Check("p99 of the others", P99[1], unit="ms", most_ratio=1.2),),
        _room(5000, Throng(settings, label="Throng without it"), **options), connections=5009, stretch=2)


PEERS = (Nchan(), Ejabberd())

WORKS = (
    _saturated(1000, 32, Check(*CPU, most=0.30, most_ratio=1.4), peers=PEERS),
    _saturated(100, 64, Check(*CPU, most=0.25)),
    _saturated(10_000, 16, Check(*CPU, most=0.50, most_ratio=1.2)),
    _at_rate(1000, 75, PEERS),
    _saturated_tls(),
    _at_rate_tls(),
    *_compressions(),
    _flush_window(),
    _groups(),
    _one_message(),
    _compared_with_words(),
    _rare_message(),
    _stored(),
    _stored_apart(),
    _webhooks("webhooks", "stored sends, one Public group of 64, all of them senders", 64, 64, 64),
    _webhooks("webhooks-groups", "stored sends, Public groups of 10, 256 senders", 256, 10, 10),
    _hanging_receiver(),
    _counters(),
    _presence(),
    _searched(),
    _retention(),
    _sign_ins(),
    *(_storm(limit) for limit in (2000, 3000, 4000, 6000)),
    _stalled_reader(),
)


@dataclass(frozen=True)
class Rise:
    """The rise of a delivery's cost from a smaller room to a larger one, compared with the baseline's."""

    smaller: str
    larger: str
    measure: str
    title: str = "cost against members"


RISES = (
    Rise("room-100", "room-1000", "CPU-µs per delivery, 100 → 1,000"),
    Rise("room-1000", "room-10000", "CPU-µs per delivery, 1,000 → 10,000"),
)
