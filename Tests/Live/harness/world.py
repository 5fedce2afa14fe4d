"""Users and groups of one test: fresh names on a server that many tests share."""
import asyncio
import itertools

from .client import Client, Gone, Refused, has
from .raw import RawSocket
from .server import IS_CLUSTER
from .waiting import within

_numbers = itertools.count(1)
# Seconds for `eventually`, where one node has to hear of another what one process knows at once.
OVER_NODES = 20 if IS_CLUSTER else 0


class World:
    """Makes users, connections and groups, and closes every connection at the end."""

    def __init__(self, server):
        self.server = server
        self.clients = []
        self.raws = []

    def name(self, word="user"):
        """A userID (or groupID) that no other test uses."""
        return f"{word}-{next(_numbers)}"

    async def open(self, **options):
        """A connection that is not signed in."""
        client = await Client.open(self.server, **options)
        self.clients.append(client)
        return client

    async def login_code(self, token):
        """0 where the token signs in, else the error's code."""
        client = await self.open()
        frame = await client.exchange({"jsonrpc": "2.0", "id": "v", "method": "login", "params": {"token": token}})
        return frame["error"]["code"] if "error" in frame else 0

    async def user(self, word="user", **options):
        """A session of a new user."""
        return await self.session(self.name(word), **options)

    async def session(self, user, **options):
        """A further session of a user."""
        client = await Client.sign_in(self.server, user, **options)
        self.clients.append(client)
        return client

    async def users(self, *words):
        return [await self.user(word) for word in words]

    async def raw(self, **options):
        socket = await RawSocket.open(self.server, **options)
        self.raws.append(socket)
        return socket

    async def group(self, owner, groupType="Public", members=(), admins=(), **fields):
        """A group with these clients as members. Public groups are open to join, unless `fields`
        say otherwise."""
        if groupType == "Public":
            fields.setdefault("joinMode", "Any")
        rows = [{"userID": client.user, "role": "Admin"} for client in admins]
        rows += [{"userID": client.user} for client in members]
        if rows and groupType != "AVChatRoom":
            fields["memberList"] = rows
        fields.setdefault("groupName", "group")
        if fields.get("beInviteMode") == "Auth" and "memberList" in fields:
            # Those whom a user names would be asked first.
            answer = self.server.rpc("createGroup", groupType=groupType, ownerUserID=owner.user, **fields)
            return answer["result"]["groupID"]
        group = (await owner.call("createGroup", groupType=groupType, **fields))["groupID"]
        if groupType == "AVChatRoom":
            for client in members:
                await client.call("joinGroup", groupID=group)
        return group

    async def group_of(self, groupType, **fields):
        """A group with its people by role: owner, admin (where the type has initial admins),
        member, outsider."""
        people = {role: await self.user(role) for role in ("owner", "member", "outsider")}
        if groupType in ("Public", "Meeting"):
            people["admin"] = await self.user("admin")
        admins = [people["admin"]] if "admin" in people else []
        group = await self.group(people["owner"], groupType, [people["member"]], admins, **fields)
        return group, people

    async def settle(self, group, speaker, *listeners):
        """A marker message: events of one group reach every session in the same order,
        so an event that has not come before the marker will not come at all."""
        text = self.name("marker")
        await speaker.call("sendGroupTextMessage", groupID=group, text=text)
        for listener in listeners:
            await listener.expect("onRecvNewMessage", groupID=group, message=has(text=text))

    async def close(self):
        for raw in self.raws:
            await raw.cut()
        await asyncio.gather(*(client.close() for client in self.clients))
        violations = [line for client in self.clients for line in client.violations]
        assert not violations, "\n".join(violations)


def is_end_of(end):
    """Whether a client's work has ended with its server: nodes of a cluster outlive their database by a moment."""
    return isinstance(end, Gone) or IS_CLUSTER and isinstance(end, Refused) and end.code == 10002


async def kill_during(world, writing, reached):
    """Kills the server of a world when `reached` is set, while its clients go on writing; gives a
    world on the server that was started again."""
    running = [asyncio.ensure_future(work) for work in writing]
    await within(reached.wait(), 60)
    world.server.kill()
    for end in await asyncio.gather(*running, return_exceptions=True):
        assert end is None or is_end_of(end), end
    await world.close()
    world.server.start()
    return World(world.server)


async def eventually(question, answer, patience=20):
    """Repeats a request until this is the answer, for states that come at no fixed time. Without
    patience it asks once."""
    deadline = asyncio.get_running_loop().time() + patience
    while True:
        given = await question()
        if given == answer:
            return
        assert asyncio.get_running_loop().time() < deadline, f"still {given}, not {answer}"


async def info_of(client, group):
    """GroupInfo as this client sees it."""
    (row,) = (await client.call("getGroupsInfo", groupIDList=[group]))["resultList"]
    assert row["code"] == 0, row
    return row["info"]


async def history_of(client, group):
    """Everything in a group that this client may see, oldest first."""
    messages, start = [], {}
    while True:
        page = await client.call("getGroupHistoryMessageList", groupID=group, direction="Newer", count=100, **start)
        messages += page["messageList"]
        if page["isFinished"]:
            return messages
        start = {"fromSeq": messages[-1]["seq"]}
