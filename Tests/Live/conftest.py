"""Fixtures: one server shared by most tests, servers of one's own, and the world of a test."""
import os
import shutil

import pytest

from harness.browser import browser, chromium  # noqa: F401 - fixtures
from harness.client_scene import peer, phone, scene, spawn, through  # noqa: F401 - fixtures
from harness.clock import TestClock
from harness.limits import can_start_clusters
from harness.proxy import SETTINGS, Proxy, make_certificate
from harness.server import BINARY, CLUSTER, IS_CLUSTER, POSTGRESQL, Server
from harness.tcp_proxy import make_tcp_proxy  # noqa: F401 - a fixture
from harness.tutorial import reader  # noqa: F401 - a fixture
from harness.world import World

# The tests of one process share an address and are quick: the limits of rates and of failed
# sign-ins have tests of their own.
SHARED = {"limits.requestsPerSecond": 100000, "limits.requestBurst": 100000, "auth.failureDelay": 0,
          "limits.deliveriesPerSecond": 0, "limits.deliveredBytesPerSecond": 0, "limits.strangersPerDay": 0}

# Of a browser, and of several nodes.
HEAVY_FIXTURES = {"browser", "make_cluster", "cluster"}
FROZEN_ALONE = "a test's clock is that of one process"


def pytest_configure(config):
    if not BINARY.exists():
        pytest.exit(f"no server at {BINARY}: build it (swift build) or name it in THRONG_BINARY", returncode=1)


def is_heavy(item):
    """Whether a test takes a good part of the machine: one such test runs at a time (pytest --dist loadgroup)."""
    return not HEAVY_FIXTURES.isdisjoint(item.fixturenames) or item.get_closest_marker("heavy") is not None


# Before pytest-xdist's own, which reads the groups of tests.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    # The group of one worker begins first: the others do the rest beside it.
    items.sort(key=lambda item: not is_heavy(item))
    for item in items:
        if is_heavy(item):
            item.add_marker(pytest.mark.xdist_group("heavy"))
        single = item.get_closest_marker("one_process")
        if (POSTGRESQL or IS_CLUSTER) and item.get_closest_marker("files"):
            item.add_marker(pytest.mark.skip(reason="about a store in a file"))
        elif IS_CLUSTER and single:
            item.add_marker(pytest.mark.skip(reason=f"about one process: {single.args[0]}"))


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    directory, kind = tmp_path_factory.mktemp("shared"), os.environ.get("THRONG_LIVE_THROUGH")
    shared = Server(directory / "data", {**SHARED, **(SETTINGS if kind else {})}).start()
    if kind:
        # Clients connect to the proxy; what a test asks by HTTP or raw goes to the server itself.
        shared.front = Proxy(kind, directory / "proxy", shared.address, make_certificate(directory))
    yield shared
    if shared.front:
        shared.front.end()
    assert shared.running, f"the shared server ended by itself:\n{shared.log[-8000:]}"
    shared.kill()


@pytest.fixture
async def world(server):
    current = World(server)
    yield current
    await current.close()


@pytest.fixture(scope="session")
def shared_clock_server(tmp_path_factory):
    if IS_CLUSTER:
        pytest.skip(FROZEN_ALONE)
    clock = TestClock()
    # Its sign-ins a second are all that a worker's tests have together.
    settings = {**SHARED, "limits.signInsPerSecond": 1_000_000}
    shared = Server(tmp_path_factory.mktemp("frozen") / "data", settings, clock=clock).start()
    yield shared
    assert shared.running, f"the shared server ended by itself:\n{shared.log[-8000:]}"
    shared.kill()
    clock.remove()


@pytest.fixture
async def frozen_world(shared_clock_server):
    """A world on a server that many tests share, and whose time stands still but for `world.server.advance(seconds=…)`."""
    current = World(shared_clock_server)
    yield current
    await current.close()


@pytest.fixture
def make_server(tmp_path):
    """Starts servers of one's own: `make_server(settings, data_dir=…)`. With `frozen=True` its time stands still but
    for `advance(seconds=…)`."""
    made, clocks = [], []

    def make(settings=None, start=True, data_dir=None, frozen=False, **options):
        if frozen:
            if options.get("binary", BINARY) == CLUSTER:
                pytest.skip(FROZEN_ALONE)
            clocks.append(TestClock())
            options["clock"] = clocks[-1]
        own = Server(data_dir or tmp_path / f"data-{len(made)}", {**SHARED, **(settings or {})}, **options)
        made.append(own)
        return own.start() if start else own

    yield make
    for own in made:
        if own.running:
            own.kill()
        if own.binary == CLUSTER:
            # 40 MB of each cluster; its engines may be ending.
            shutil.rmtree(own.data_dir / "engines", ignore_errors=True)
    for clock in clocks:
        clock.remove()


@pytest.fixture
def make_cluster(make_server):
    """Starts clusters of real processes, whatever the suite runs against: `make_cluster(settings, CLUSTER_NODES=…)`."""
    if not can_start_clusters():
        pytest.skip("PostgreSQL does not work for root, and user namespaces are off")

    def make(settings=None, start=True, listen="127.0.0.1:0", **variables):
        own = {} if IS_CLUSTER else {"CLUSTER_BINARY": str(BINARY)}
        environment = {"CLUSTER_FSYNC": "off", **own, **variables}
        return make_server(settings, binary=CLUSTER, environment=environment, start=start, listen=listen)

    return make


@pytest.fixture
def quick_server(make_server):
    """A server whose live rooms take any number of messages."""
    return make_server({"limits.avChatRoom.messagesPerSecond": 0})


@pytest.fixture
async def make_world():
    """Worlds on servers of one's own."""
    made = []

    def make(own):
        made.append(World(own))
        return made[-1]

    yield make
    for current in made:
        await current.close()


def pytest_terminal_summary(terminalreporter):
    """Prints what a test recorded as its summary, also when the tests run in several processes; notes what has failed."""
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties:
            if name == "summary":
                terminalreporter.write_line(value)
    if os.environ.get("THRONG_FAILED"):
        part = "cluster" if IS_CLUSTER else "postgresql" if POSTGRESQL else "live"
        failed = [report.nodeid.removesuffix("@heavy") for kind in ("failed", "error") for report in terminalreporter.stats.get(kind, [])]
        with open(os.environ["THRONG_FAILED"], "a") as file:
            file.writelines(f"{part}\tTests/Live/{test}\n" for test in dict.fromkeys(failed))
