"""Applications and invitations as the tests make and read them."""
from .room import Room, pages_of, results

CONSENTING = ["Public", "Meeting", "AVChatRoom"]

# method, isAgreeJoin of the event, handleResult
VERBS = [("acceptGroupApplication", True, "Agree"), ("refuseGroupApplication", False, "Refuse")]


async def applications(client, group=None, **params):
    """All applications that this client may decide (of one group); demands that they come newest
    first."""
    rows, _ = await pages_of(client, "getGroupApplicationList", "applicationList", **params)
    times = [row["addTime"] for row in rows]
    assert times == sorted(times, reverse=True), "newest first"
    return [row for row in rows if group in (None, row["groupID"])]


async def unread_applications(client):
    return (await client.call("getGroupApplicationList"))["unreadCount"]


async def apply(room, client, message="let me in"):
    """A join request that waits; gives its applicationID as the owner is told it."""
    assert await client.call("joinGroup", groupID=room.group, message=message) == {"status": "Pending"}
    return (await room.owner.expect("onReceiveJoinApplication", groupID=room.group))["applicationID"]


async def ask(room, inviter, client, **params):
    """An invitation that waits; gives its applicationID as the invited user is told it."""
    answer = await inviter.call("inviteUserToGroup", groupID=room.group, userIDList=[client.user], **params)
    assert results(answer) == {client.user: "Pending"}
    return (await client.expect("onReceiveGroupInvitation", groupID=room.group))["applicationID"]


async def asking_room(world, groupType="Public"):
    """A group that asks whom it invites, and a guest."""
    room = await Room.make(world, groupType, inviteMode="Any", beInviteMode="Auth")
    return room, room.add("guest", await world.user("guest"))


async def auth_room(world, groupType="Public", **fields):
    """A group that is joined by application; the members of an AVChatRoom were there before the
    mode."""
    if groupType != "AVChatRoom":
        return await Room.make(world, groupType, joinMode="Auth", **fields)
    room = await Room.make(world, groupType, **fields)
    await room.owner.call("setGroupInfo", groupID=room.group, joinMode="Auth")
    await room.settle()
    room.forget()
    return room


def managers(room):
    """All sessions of those who decide applications to join."""
    return room.sessions("owner", "admin") if hasattr(room, "admin") else room.sessions("owner")
