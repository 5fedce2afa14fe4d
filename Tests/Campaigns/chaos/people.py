"""What people do besides talking: they take seats, say something of their presence, and one of them is blocked now and then."""
import asyncio
import http.client
import time

from .records import Block, Sitting

SEATS = ("seat1", "seat2", "seat3")
# Seconds in which the last statuses come: a grace of presence, the news of a node that is gone, and one event a second.
PATIENCE = 30


class People:
    """`sittings` and `blocks` are what was acknowledged since the last time."""

    def __init__(self, load):
        self.load, self.random = load, load.random
        self.sittings, self.blocks = [], []
        self._last = 0

    # Seats

    async def sit(self, member):
        """Takes a seat if it is free, and leaves it again. A request that is repeated may find its own seat taken: the end
        frees it in any case, where it is the user's."""
        seat, began = self.random.choice(SEATS), time.monotonic()
        answer = await member.request(
            "setGroupAttributes", (10058,), groupID=self.load.room, attributes={seat: member.user}, expect={seat: None},
            isDeleteAfterHolderLeft=True)
        if answer is not None:
            ended = time.monotonic()
            await asyncio.sleep(self.random.uniform(0, 0.5))
            self.sittings.append(Sitting(member.user, seat, began, ended, time.monotonic()))
        await member.request("deleteGroupAttributes", (10050, 10059), groupID=self.load.room, keys=[seat])

    # Presence

    async def say(self, member):
        """Changes the user's own words."""
        self._last += 1
        await member.request("setSelfStatus", customStatus=f"status {self._last}")

    async def statuses(self, sessions):
        """What the server says of those who are watched, when all sessions know it or the time is up."""
        users = sorted({user for session in sessions for user in session.statuses})
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = await self.random.choice(self.load.cluster.nodes).call("getUsersStatus", userIDList=users) if users else {}
            rows = {row["userID"]: row for row in answer.get("result", {}).get("userList", [])}
            is_told = all(known(row) == known(rows.get(user)) for session in sessions for user, row in session.statuses.items())
            if is_told or time.monotonic() > deadline:
                return {user: known(row) for user, row in rows.items()}
            await asyncio.sleep(0.2)

    # Blocks

    async def block(self):
        """Blocks a user who has a session: from the answer on nobody signs in as that user. Each is another one, because a
        request that is repeated may be done late."""
        self._last += 1
        member = self.load.make(f"{self.load.prefix}blocked{self._last}")
        try:
            await member.there()
            await self._administer("blockUser", userID=member.user)
            answered = time.monotonic()
            await asyncio.sleep(self.random.uniform(0.2, 1))
            self.blocks.append(Block(member.user, answered))
        finally:
            await member.leave()

    async def _administer(self, method, **params):
        """Repeated at another node where one is away."""
        while True:
            node = self.load.choose()
            if node is not None:
                try:
                    answer = await node.call(method, **params)
                except (OSError, http.client.HTTPException, AssertionError):
                    # The node is away, or draining.
                    answer = {}
                if "result" in answer:
                    return
            await asyncio.sleep(0.2)


def known(row):
    """What sessions and the server have to agree on: the time of an end travels between nodes."""
    return row and {name: row[name] for name in ("isOnline", "platformList", "customStatus")}
