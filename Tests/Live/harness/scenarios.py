"""How a test provokes error codes: a registry of scenarios, and calls that give the error object."""

from .client import PATIENCE
from .waiting import within

SCENARIOS = {}
# The codes whose scenarios need that the time of the shared server stands still.
FROZEN = set()


def scenario(code, frozen=False):
    """Names a coroutine that provokes a code and gives the error objects that it was answered
    with."""
    def note(coroutine):
        assert code not in SCENARIOS
        SCENARIOS[code] = coroutine
        if frozen:
            FROZEN.add(code)
        return coroutine
    return note


class Servers:
    """The servers of a scenario: a shared server and its world, or servers of its own."""

    def __init__(self, server, world, make_server, make_world):
        self.server = server
        self.world = world
        self.make_server = make_server
        self.make_world = make_world

    def own(self, settings=None, **options):
        """A world on a server with these settings."""
        return self.make_world(self.make_server(settings, **options))

    def by_backend(self, method, /, **params):
        """The error of an administrator's call."""
        return self.server.rpc(method, **params)["error"]

    async def room(self):
        """An AVChatRoom and its owner."""
        owner = await self.world.user("owner")
        return await self.world.group(owner, "AVChatRoom"), owner


async def error(client, method, /, **params):
    """The error object of a reply; a success fails the test."""
    frame = await within(await client.start(method, **params), PATIENCE)
    assert "error" in frame, frame
    return frame["error"]


async def raw_error(client, value):
    """The error object that anything sent is answered with, its id being null."""
    frame = await client.exchange(value)
    assert frame["id"] is None
    return frame["error"]
