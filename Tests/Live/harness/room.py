"""A group with its people: who is told what, and that a refused call changes nothing."""
from contextlib import asynccontextmanager

from .client import PATIENCE, Client, Refused
from .world import history_of

# Join and leave notices of an AVChatRoom may come late and merged: tests wait for them, and never
# count them (Protocol.md, "Join and leave notices").
MERGED = {"onMemberEnter", "onMemberLeave"}


class Backend:
    """The application's backend over POST /rpc: the administrator, or a user by `asUser`."""

    def __init__(self, server, user=None):
        self.server = server
        self.user = user or "administrator"
        self._as_user = {} if user is None else {"asUser": user}

    async def call(self, method, /, **params):
        answer = self.server.rpc(method, **params, **self._as_user)
        if "error" in answer:
            raise Refused(method, answer["error"])
        return answer["result"]

    # A request is the same for every caller.
    refused = Client.refused


class Room:
    """A group and the clients of a test: members, outsiders, further sessions. People are
    attributes: `room.owner`."""

    def __init__(self, world, group, groupType, **people):
        self.world = world
        self.group = group
        self.groupType = groupType
        self.clients = []
        self.administrator = Backend(world.server)
        for name, client in people.items():
            self.add(name, client)

    @classmethod
    async def make(cls, world, groupType="Public", **fields):
        """owner, admin (where the type has them), member, other, and an outsider; changes of
        members are told unless `fields` say otherwise, and everybody has heard of the beginning."""
        fields.setdefault("memberChangeNotification", True)
        people = {name: await world.user(name) for name in ("owner", "member", "other", "outsider")}
        if groupType in ("Public", "Meeting"):
            people["admin"] = await world.user("admin")
        admins = [people["admin"]] if "admin" in people else []
        group = await world.group(people["owner"], groupType, [people["member"], people["other"]], admins, **fields)
        room = cls(world, group, groupType, **people)
        await room.settle()
        room.forget()
        return room

    def add(self, name, client):
        setattr(self, name, client)
        self.clients.append(client)
        return client

    async def join(self, word):
        """A new user who has joined by application."""
        client = self.add(word, await self.world.user(word))
        await client.call("joinGroup", groupID=self.group)
        return client

    async def second(self, name):
        """A second session of one of the people, as `room.NAME_again`."""
        return self.add(f"{name}_again", await self.world.session(getattr(self, name).user))

    def actor(self, name):
        """The caller: one of the people, "administrator", or "as NAME" (the backend for that
        user)."""
        if name.startswith("as "):
            return Backend(self.world.server, getattr(self, name[3:]).user)
        return getattr(self, name)

    def sessions(self, *names):
        """All sessions of these people."""
        users = {getattr(self, name).user for name in names}
        return [client for client in self.clients if client.user in users]

    def sessions_but(self, *names):
        """All sessions of everybody else."""
        left_out = self.sessions(*names)
        return [client for client in self.clients if client not in left_out]

    @property
    def members(self):
        """All sessions of the people who were members at first."""
        return self.sessions_but("outsider")

    # Events

    async def settle(self):
        """Waits until all have the group's events: members by a marker ordered behind these
        (Protocol.md, "Order of events"), the others by a round trip."""
        mark, inside = self.world.name("mark"), set()
        try:
            await self.administrator.call("sendGroupSystemNotification", groupID=self.group, content=mark)
            inside = {user for user, role in (await self.roles()).items() if role != "NotMember"}
        except Refused as refusal:
            if refusal.code != 10010:
                raise
        for client in self.clients:
            if client.user in inside:
                await client.expect("onReceiveRESTCustomData", groupID=self.group, customData=mark)
            await client.round_trip(self.group)

    def forget(self):
        for client in self.clients:
            client.forget()

    async def told(self, event, to, **where):
        """Demands that each of `to` gets one such event, all the same one, and nobody else in the
        room; gives its params."""
        events = [await client.expect(event, groupID=self.group, **where) for client in to]
        await self.untold(event, **where)
        for params in events:
            assert {**params, "opTime": 0} == {**events[0], "opTime": 0}
        return events[0]

    async def listed(self, to):
        """Demands that each of `to` hears of one change in a list of applications, the same one,
        and nobody else in the room; gives the application as each sees it."""
        seen = [(await client.expect("onGroupApplicationListChanged", groupID=self.group))["application"] for client in to]
        await self.untold("onGroupApplicationListChanged")
        for application in seen:
            assert {**application, "handleStatus": "", "isRead": ""} == {**seen[0], "handleStatus": "", "isRead": ""}
        return seen

    async def untold(self, event, **where):
        """Demands that no session of the room has (another) such event."""
        await self.settle()
        for client in self.clients:
            found = client.received(event, groupID=self.group, **where)
            assert not found, f"{client.user} received {event}: {found}"

    async def tip(self, event, viewer=None):
        """The tip that is stored with an event, which carries its seq and msgID."""
        messages = {message["seq"]: message for message in await history_of(viewer or self.owner, self.group)}
        message = messages[event["seq"]]
        assert message["msgID"] == event["msgID"] and message["type"] == "GroupTips"
        return message["tips"]

    # State

    async def roles(self):
        """The role of everybody in the room, by userID."""
        users = list({client.user for client in self.clients})
        answer = await self.administrator.call("getGroupMemberRoles", groupID=self.group, userIDList=users)
        return {row["userID"]: row["role"] for row in answer["roleList"]}

    async def role(self, name):
        return (await self.roles())[getattr(self, name).user]

    async def info(self):
        """GroupInfo as the administrator reads it."""
        (row,) = (await self.administrator.call("getGroupsInfo", groupIDList=[self.group]))["resultList"]
        assert row["code"] == 0, row
        return row["info"]

    async def row(self, name):
        """One member's row of the member list, as the administrator reads it; None for somebody
        else."""
        rows = await self.rows()
        return rows.get(getattr(self, name).user)

    async def rows(self):
        """The member list by userID, as the administrator reads it."""
        if self.groupType == "BChatRoom":
            return {}
        rows, start = [], 0
        while True:
            page = await self.administrator.call("getGroupMemberList", groupID=self.group, nextSeq=start)
            rows += page["memberList"]
            start = page["nextSeq"]
            if start == 0:
                return {row["userID"]: row for row in rows}

    async def state(self):
        """Everything a refused call must leave as it was: GroupInfo with lastSeq, and the
        members."""
        return await self.info(), await self.rows()

    @asynccontextmanager
    async def unchanged(self):
        """The calls inside change nothing and send no event."""
        await self.settle()
        self.forget()
        before = await self.state()
        yield
        await self.silent()
        assert await self.state() == before

    async def silent(self):
        """No session has an event of the group, except notices that may be merged."""
        await self.settle()
        for client in self.clients:
            found = [(name, params) for name, params in client.inbox if params.get("groupID") == self.group]
            if self.groupType == "AVChatRoom":
                found = [event for event in found if event[0] not in MERGED]
            assert not found, f"{client.user} received {found}"

    async def refuses(self, code, who, method, **params):
        """The call is an error and changes nothing."""
        async with self.unchanged():
            return await who.refused(code, method, groupID=self.group, **params)


def names(rows):
    """The userIDs of a list of members."""
    return [row["userID"] for row in rows]


def results(answer):
    """A bulk answer as userID → result; one row per user."""
    rows = answer["memberList"]
    assert len({row["userID"] for row in rows}) == len(rows) and all(set(row) == {"userID", "result"} for row in rows)
    return {row["userID"]: row["result"] for row in rows}


def naming(*users):
    """A condition for `expect` on a memberList: exactly these users."""
    return lambda rows: sorted(names(rows)) == sorted(users)


def including(user):
    """A condition for `expect` on a memberList: this user, perhaps among others."""
    return lambda rows: user in names(rows)


async def clock(client):
    return (await client.call("ping"))["serverTime"]


async def later(client, instant):
    """Asks until the server's clock is past an instant: what comes next has a later time."""
    while (now := await clock(client)) <= instant:
        assert instant - now < PATIENCE * 1000, "too far away to wait for"
    return now


async def pages_of(client, method, list_name, **params):
    """All pages of a paged method: (the rows, the answers)."""
    rows, answers, start = [], [], 0
    while True:
        answer = await client.call(method, nextSeq=start, **params)
        rows += answer[list_name]
        answers.append(answer)
        start = answer["nextSeq"]
        if start == 0:
            return rows, answers
        assert len(answers) < 200, "nextSeq never became 0"


async def notifications_of(client, **where):
    """The system notifications of a user, newest first, that have these members; without the
    markers of `settle`."""
    rows, _ = await pages_of(client, "getSystemNotificationList", "notificationList", count=100)
    return [row for row in rows if row["type"] != "Custom" and all(row.get(name) == value for name, value in where.items())]
