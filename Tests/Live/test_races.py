"""Several users at the same group at the same moment: rules that hold in any order."""
import asyncio
import random

from harness.client import Refused, has
from harness.world import history_of, info_of


async def answers(clients, method, **params):
    """The same call of all at once: its result or error code, by client."""
    under_way = [await client.start(method, **params) for client in clients]
    frames = [await future for future in under_way]
    return [frame["error"]["code"] if "error" in frame else frame["result"] for frame in frames]


async def test_of_many_creators_of_one_id_one_wins(world):
    people = await world.users(*["racer"] * 8)
    for _ in range(10):
        group = world.name("g")
        given = await answers(people, "createGroup", groupType="Public", groupName="g", groupID=group)
        winners = [index for index, answer in enumerate(given) if isinstance(answer, dict)]
        assert len(winners) == 1 and set(map(str, given)) - {str(given[winners[0]])} == {"10021"}
        winner = people[winners[0]]
        assert (await info_of(winner, group))["owner"] == winner.user
        await winner.refused(10025, "createGroup", groupType="Public", groupName="g", groupID=group)


async def test_two_sessions_of_one_creator_make_one_group(world):
    alice = await world.user("alice")
    second = await world.session(alice.user)
    given = await answers([alice, second], "createGroup", groupType="Work", groupName="g", groupID=world.name("g"))
    assert sorted(isinstance(answer, dict) for answer in given) == [False, True] and 10025 in given


async def test_the_last_places_are_given_once(world):
    owner, *people = await world.users("owner", *["joiner"] * 10)
    group = await world.group(owner, maxMemberNum=4)
    given = await answers(people, "joinGroup", groupID=group)
    assert given.count({"status": "Joined"}) == 3 and given.count(10014) == 7
    info = await info_of(owner, group)
    assert info["memberCount"] == 4 and info["lastSeq"] == 3


async def test_two_sessions_of_one_user_join_and_quit_once(world):
    owner, bob = await world.users("owner", "bob")
    second = await world.session(bob.user)
    group = await world.group(owner)
    for _ in range(10):
        assert sorted(map(str, await answers([bob, second], "joinGroup", groupID=group))) == ["10013", "{'status': 'Joined'}"]
        assert sorted(map(str, await answers([bob, second], "quitGroup", groupID=group))) == ["10007", "{}"]
    assert [m["seq"] for m in await history_of(owner, group)] == list(range(1, 21))


async def test_when_all_quit_at_once_the_group_is_gone(world):
    people = await world.users(*["quitter"] * 6)
    group = await world.group(people[0], members=people[1:], ownerQuitMode="Transfer")
    assert await answers(people, "quitGroup", groupID=group) == [{}] * 6
    for client in people:
        await client.expect("onQuitFromGroup", groupID=group)
        await client.refused(10010, "joinGroup", groupID=group)
    await world.group(people[3], groupID=world.name("after"))


async def test_the_owner_disbands_while_all_send(world):
    people = await world.users(*["sender"] * 6)
    group = await world.group(people[0], members=people[1:], groupID=world.name("g"))
    under_way = [
        await client.start("sendGroupTextMessage", groupID=group, text=f"{n}") for n in range(10) for client in people[1:]]
    end = await people[0].start("dismissGroup", groupID=group)
    under_way += [await client.start("sendGroupTextMessage", groupID=group, text="late") for client in people[1:]]
    assert (await end)["result"] == {}
    for future in under_way:
        frame = await future
        assert "result" in frame or frame["error"]["code"] == 10010
    for client in people:
        await client.expect("onGroupDismissed", groupID=group)
        await client.round_trip(group)
        names = [frame["method"] for frame in client.frames if "method" in frame and frame["params"].get("groupID") == group]
        assert names[-1] == "onGroupDismissed" and names.count("onGroupDismissed") == 1


EXPECTED = {10007, 10009, 10010, 10013, 10021, 10025}


async def wander(client, groups, dice, turns):
    """One session's random walk; gives the seq of every acknowledged message by (groupID,
    msgID)."""
    sent = {}
    for turn in range(turns):
        group, chance = dice.choice(groups), dice.random()
        try:
            if chance < 0.10:
                await client.call("createGroup", groupType=dice.choice(["Public", "Meeting"]), groupName="g", groupID=group,
                                  joinMode="Any", ownerQuitMode="Transfer", memberChangeNotification=True)
            elif chance < 0.35:
                await client.call("joinGroup", groupID=group)
            elif chance < 0.50:
                await client.call("quitGroup", groupID=group)
            elif chance < 0.52:
                await client.call("dismissGroup", groupID=group)
            elif chance < 0.57:
                await client.call("setGroupInfo", groupID=group, introduction=str(turn))
            else:
                result = await client.call("sendGroupTextMessage", groupID=group, text=f"{turn}")
                sent[group, result["msgID"]] = result["seq"]
        except Refused as refusal:
            assert refusal.code in EXPECTED, refusal
    return sent


def check_walk(user, events, own):
    """No event outside a membership, seq without gap inside one (what this session sent itself,
    `own`, is not pushed)."""
    inside, last = False, None
    for name, params in events:
        if name == "onGroupCreated" or name == "onMemberEnter" and any(has(userID=user)(row) for row in params["memberList"]):
            assert inside is not True, f"{name} of a member"
            inside, last = True, None
        elif name == "onQuitFromGroup":
            assert inside is True, "onQuitFromGroup of somebody who was no member"
            inside = "just quit"
        elif name == "onGroupDismissed":
            assert inside, "onGroupDismissed to a stranger"
            inside = False
        else:
            assert inside is True, f"{name} to somebody who is no member: {params}"
        told = params.get("message", params)
        if "seq" in told:
            if last is not None:
                assert told["seq"] > last
                missing = set(range(last + 1, told["seq"])) - own
                assert not missing, f"{missing} never came, {told['seq']} did"
            last = told["seq"]


async def test_a_random_walk_of_many_keeps_the_rules(world):
    users = [world.name("walker") for _ in range(8)]
    clients = [await world.session(user) for user in users for _ in range(2)]
    groups = [world.name("walked") for _ in range(3)]
    walks = await asyncio.gather(*(
        wander(client, groups, random.Random(number), 150) for number, client in enumerate(clients)))
    for group in groups:
        for client in clients:
            await client.round_trip(group)
    for client, sent in zip(clients, walks):
        for group in groups:
            own = {seq for (where, _), seq in sent.items() if where == group}
            check_walk(client.user, [event for event in client.inbox if event[1].get("groupID") == group], own)
    for group in groups:
        await check_group(group, clients, walks)


async def check_group(group, clients, walks):
    """Members, owner and counts agree, and the history has no gap and nothing that was not
    acknowledged."""
    joined = {
        client.user for client in clients
        if group in [info["groupID"] for info in (await client.call("getJoinedGroupList"))["groupList"]]
    }
    if not joined:
        await clients[0].refused(10010, "joinGroup", groupID=group)
        return
    member = next(client for client in clients if client.user in joined)
    info = await info_of(member, group)
    rows = (await member.call("getGroupMemberList", groupID=group))["memberList"]
    assert {row["userID"] for row in rows} == joined and len(rows) == info["memberCount"]
    assert [row["userID"] for row in rows if row["role"] == "Owner"] == [info["owner"]]
    messages = await history_of(member, group)
    if info["groupType"] == "Meeting":
        assert [message["seq"] for message in messages] == list(range(1, info["lastSeq"] + 1))
    acknowledged = {key: seq for walk in walks for key, seq in walk.items()}
    for message in messages:
        if message["type"] == "Text":
            assert acknowledged[group, message["msgID"]] == message["seq"]
