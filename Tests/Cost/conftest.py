"""Fixtures: the counted servers, and the judgement over what was counted."""
import os
import random
import resource
from pathlib import Path

import pytest

import bounds
from counting import CountedServer
from harness.clock import TestClock
from harness.server import BINARY

OPEN_FILES = 4096
# Scripts/cost --debug
IS_DEBUG = os.environ.get("COUNTED_BUILD") == "debug"
BOUNDS = bounds.DEBUG_BOUNDS if IS_DEBUG else bounds.BOUNDS
# A count so far below its bound needs a lower bound.
CHEAPER = 0.9


def pytest_configure(config):
    if BINARY != Path(__file__).with_name("counted") or not os.path.exists(os.environ.get("COUNTED_BINARY", "")):
        pytest.exit("run Scripts/cost: it makes what is counted, and names it in the environment", returncode=1)


def pytest_collection_modifyitems(items):
    """Only messages and deliveries have bounds of the debug build."""
    if IS_DEBUG:
        items[:] = [item for item in items if item.name in ("test_live_message", "test_stored_message", "test_delivery")]


def pytest_sessionstart():
    """All sessions of a run are open at the same time."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def counted_server(tmp_path_factory, name, **settings):
    # Nothing ticks then, however long a busy machine takes for a turn. A release has no such clock.
    clock = TestClock() if IS_DEBUG else None
    server = CountedServer(tmp_path_factory.mktemp(name), clock, **settings).start()
    yield server
    assert server.running, f"the server ended by itself:\n{server.log[-8000:]}"
    server.kill()
    if clock:
        clock.remove()


@pytest.fixture(scope="session")
def start(tmp_path_factory):
    """The server without a limit for its rooms, and what its start cost."""
    for server in counted_server(tmp_path_factory, "free"):
        yield server, server.cut()


@pytest.fixture(scope="session")
def server(start):
    return start[0]


@pytest.fixture(scope="session")
def limited_server(tmp_path_factory):
    """A server whose rooms have a limit that nothing here reaches."""
    yield from counted_server(tmp_path_factory, "limited", **{"limits.avChatRoom.messagesPerSecond": 100_000})


@pytest.fixture(scope="session")
def remembering_server(tmp_path_factory):
    """The same, and its rooms remember so few messages that each one takes the place of another."""
    yield from counted_server(
        tmp_path_factory, "remembering", **{"limits.avChatRoom.messagesPerSecond": 100_000, "avChatRoom.recentMessages": 20})


@pytest.fixture(scope="session")
def worded_server(tmp_path_factory):
    """A server that compares texts with 10,000 words, and with 100 terms that begin alike."""
    chance = random.Random(1)
    words = {"".join(chance.choice("etaoinshrdlucmfw") for _ in range(chance.randint(5, 15))) + "q" for _ in range(10_000)}
    alike = {"a" * length + "b" for length in range(1, 101)}
    path = tmp_path_factory.mktemp("words") / "words.txt"
    path.write_text("\n".join(sorted(words | alike)) + "\n")
    yield from counted_server(tmp_path_factory, "worded", **{"moderation.wordsFile": path})


@pytest.fixture(scope="session")
def owner(server):
    return server.session("owner").welcomed()


@pytest.fixture(scope="session")
def settle(server):
    """Waits until the store has written what waits for its next transaction: it goes with this
    message."""
    clerk = server.session("clerk").welcomed()
    group = server.group(clerk, [], "Public")
    return lambda: clerk.call("sendGroupTextMessage", groupID=group, text="x" * 100)


@pytest.fixture
def bounded(record_property):
    """Demands that the counts of a work keep within their bounds, and has them printed."""
    def judge(work, **counts):
        over = []
        for kind, count in counts.items():
            name = f"{work}.{kind}"
            bound = BOUNDS[name]
            record_property("cost", (name, count))
            if count > bound.most:
                over.append(f"{name}: {count:,.2f}, at most {bound.most:,.2f}")
        assert not over, "\n".join(over)

    return judge


def pytest_terminal_summary(terminalreporter):
    """Prints the counts beside their bounds."""
    reports = terminalreporter.stats.get("passed", []) + terminalreporter.stats.get("failed", [])
    counts = dict(value for report in reports if report.when == "call" for key, value in report.user_properties if key == "cost")
    terminalreporter.write_line(f"\n{'':30}{'counted':>12}{'at most':>12}{'before':>12}")
    for name, bound in BOUNDS.items():
        if name in counts:
            cheaper = 0 < bound.counted and counts[name] < bound.counted * CHEAPER
            mark = "  OVER" if counts[name] > bound.most else "  lower it" if cheaper else ""
            terminalreporter.write_line(f"{name:30}{counts[name]:12,.2f}{bound.most:12,.2f}{bound.counted:12,.2f}{mark}")
    for key, value in (pair for report in reports if report.when == "call" for pair in report.user_properties):
        if key == "compared":
            terminalreporter.write_line(value)
