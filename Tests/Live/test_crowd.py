"""Many members who act at once in a large group, and one whose requests reach many (Protocol.md,
"Crowds" and "Delivery rate"). Time stands still: what waits, waits until it passes."""
import asyncio


async def large_group(world, owner, **fields):
    """A Public group of 120 members, of whom two are online."""
    bob = await world.user("bob")
    group = await world.group(owner, members=[bob], **fields)
    names = [world.name("member") for _ in range(118)]
    world.server.rpc("importGroupMembers", groupID=group, memberList=[{"userID": name} for name in names])
    return group, bob


def names(event):
    return [row["userID"] for row in event["memberList"]]


def names_user(user):
    return lambda rows: user in [row["userID"] for row in rows]


async def test_joins_and_quits_of_a_crowd_share_tips_and_events(frozen_world):
    alice = await frozen_world.user("alice")
    group, bob = await large_group(frozen_world, alice)
    outsider = await frozen_world.user("outsider")
    fans = await frozen_world.users(*["fan"] * 60)
    last = (await bob.call("getGroupsInfo", groupIDList=[group]))["resultList"][0]["info"]["lastSeq"]
    for method, event, tip in (("joinGroup", "onMemberEnter", "Join"), ("quitGroup", "onMemberLeave", "Quit")):
        calls = [asyncio.ensure_future(fan.call(method, groupID=group)) for fan in fans]
        # The requests have come when the members are told of those that stand alone.
        told = [await bob.expect(event, groupID=group) for _ in range(20)]
        while not all(call.done() for call in calls):
            await frozen_world.server.advance(seconds=0.05)
        await asyncio.gather(*calls)
        named = [user for found in told for user in names(found)]
        while len(named) < len(fans):
            told.append(await bob.expect(event, groupID=group))
            named += names(told[-1])
        assert sorted(named) == sorted(fan.user for fan in fans), "each once"
        assert len(told) < 40, [len(names(found)) for found in told]
        # lastSeq grows by one for each event.
        assert [found["seq"] for found in told] == list(range(last + 1, last + 1 + len(told)))
        last += len(told)
        await bob.quiet(event, group=group)
        await outsider.quiet(event, group=group)
        history = await bob.call("getGroupHistoryMessageList", groupID=group, count=len(told))
        tips = [message["tips"] for message in history["messageList"]]
        assert all(row["type"] == tip for row in tips)
        assert sorted(user for row in tips for user in names(row)) == sorted(named)
        if method == "joinGroup":
            for fan in fans:
                own = await fan.expect(event, groupID=group, memberList=names_user(fan.user))
                assert names(own).count(fan.user) == 1
        else:
            for fan in fans:
                await fan.expect("onQuitFromGroup", groupID=group)
        await frozen_world.server.advance(seconds=1)


async def test_who_has_reached_too_many_waits(make_server, make_world):
    world = make_world(make_server({"limits.deliveriesPerSecond": 10}, frozen=True))
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    for number in range(5):
        await alice.call("sendGroupTextMessage", groupID=group, text=f"{number}")
    for method, params in (
        ("sendGroupTextMessage", {"text": "x"}), ("setGroupInfo", {"groupName": "x"}),
        ("setGroupMemberInfo", {"userID": alice.user, "nameCard": "x"}), ("increaseGroupCounter", {"key": "k", "value": 1}),
    ):
        data = await alice.refused(7008, method, groupID=group, **params)
        assert data == {"temporary": True, "retryAfterMs": 1}, method
    await alice.call("getGroupMemberList", groupID=group)
    await bob.call("sendGroupTextMessage", groupID=group, text="another user")
    await world.server.advance(seconds=0.001)
    await alice.call("sendGroupTextMessage", groupID=group, text="again")
    world.server.metric_becomes("throng_requests_total", 1, method="sendGroupTextMessage", code="7008")
