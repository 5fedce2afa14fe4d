"""Fixtures: one server shared by most tests, servers of one's own, and the world of a test."""
import os
import shutil

import pytest

from harness.limits import can_start_clusters
from harness.proxy import SETTINGS, Proxy, make_certificate
from harness.server import BINARY, CLUSTER, IS_CLUSTER, POSTGRESQL, Server
from harness.world import World

# The tests of one process share an address and are quick: the limits of rates and of failed
# sign-ins have tests of their own.
SHARED = {"limits.requestsPerSecond": 100000, "limits.requestBurst": 100000, "auth.failureDelay": 0}


def pytest_configure(config):
    if not BINARY.exists():
        pytest.exit(f"no server at {BINARY}: build it (swift build) or name it in THRONG_BINARY", returncode=1)


def pytest_collection_modifyitems(items):
    for item in items:
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


@pytest.fixture
def make_server(tmp_path):
    """Starts servers of one's own: `make_server(settings, data_dir=…)`."""
    made = []

    def make(settings=None, start=True, data_dir=None, **options):
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


@pytest.fixture
def make_cluster(make_server):
    """Starts clusters of real processes, whatever the suite runs against: `make_cluster(settings, CLUSTER_NODES=…)`."""
    if not can_start_clusters():
        pytest.skip("PostgreSQL does not work for root, and user namespaces are off")

    def make(settings=None, **variables):
        own = {} if IS_CLUSTER else {"CLUSTER_BINARY": str(BINARY)}
        return make_server(settings, binary=CLUSTER, environment={"CLUSTER_FSYNC": "off", **own, **variables})

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
    """Prints what a test recorded as its summary, also when the tests run in several processes."""
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties:
            if name == "summary":
                terminalreporter.write_line(value)
