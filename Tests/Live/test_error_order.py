"""Protocol.md, "Order of errors": when several things are wrong the order is envelope (unknown
method included), signed in, 7008, parameters, group exists, membership, rights, state."""
from harness.tokens import make_token


async def test_envelope_before_sign_in(world):
    client = await world.open()
    await client.refused(-32601, "noSuchMethod")
    frame = await client.exchange({"jsonrpc": "1.0", "id": 1, "method": "ping"})
    assert frame["error"]["code"] == -32600


async def test_sign_in_before_parameters(world):
    client = await world.open()
    await client.refused(6014, "createGroup", groupType="Secret")
    await client.refused(6014, "joinGroup", groupID="a b")


async def test_envelope_before_rate_and_rate_before_parameters(make_server, make_world):
    world = make_world(make_server({"limits.requestsPerSecond": 1, "limits.requestBurst": 10}, frozen=True))
    alice = await world.user("alice")
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    bad = {"jsonrpc": "2.0", "id": 2, "method": "joinGroup", "params": {"groupID": 5}}
    unknown = {"jsonrpc": "2.0", "id": 3, "method": "noSuchMethod"}
    frame = await alice.exchange([ping] * 14 + [bad, bad, unknown])
    codes = [reply.get("error", {}).get("code") for reply in frame]
    # The sign-in is one of the ten.
    assert codes == [None] * 9 + [7008] * 5 + [7008, 7008, -32601], codes


async def test_parameters_before_the_group(world):
    alice = await world.user("alice")
    nowhere = world.name("nowhere")
    await alice.refused(-32602, "sendGroupTextMessage", groupID=nowhere)
    await alice.refused(10004, "sendGroupTextMessage", groupID=nowhere, text="")
    await alice.refused(80002, "sendGroupTextMessage", groupID=nowhere, text="x" * 12289)
    await alice.refused(10004, "sendGroupTextMessage", groupID=nowhere, text="x", toUserIDList=[])
    await alice.refused(10004, "sendGroupTextMessage", groupID=nowhere, text="x", extension="e" * 4097)
    await alice.refused(10010, "sendGroupTextMessage", groupID=nowhere, text="x", toUserIDList=["u"], replyTo=1)
    await alice.refused(10004, "getGroupMemberList", groupID=nowhere, count=201)
    await alice.refused(8510, "getGroupMembersInfo", groupID=nowhere, userIDList=[])
    await alice.refused(8502, "setGroupInfo", groupID=nowhere, groupName="")
    await alice.refused(10010, "setGroupInfo", groupID=nowhere, groupName="x")


async def test_the_group_before_membership_and_membership_before_rights_and_state(world):
    alice, bob, carol = await world.users("alice", "bob", "carol")
    full = await world.group(alice, members=[bob], maxMemberNum=2)
    await bob.refused(10013, "joinGroup", groupID=full)
    await carol.refused(10014, "joinGroup", groupID=full)
    await carol.refused(10007, "quitGroup", groupID=full)
    await carol.refused(10007, "dismissGroup", groupID=full)
    await carol.refused(10010, "dismissGroup", groupID=full + "x")


async def test_what_a_send_names_is_judged_behind_a_repeated_one_and_before_the_mute(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    send = {"groupID": group, "text": "x", "clientMsgID": "c"}
    first = await bob.call("sendGroupTextMessage", **send)
    assert await bob.call("sendGroupTextMessage", **send, replyTo=99, toUserIDList=["nobody"]) == first
    await alice.call("muteGroup", groupID=group, mode="All")
    await bob.refused(10030, "sendGroupTextMessage", groupID=group, text="x", replyTo=99, toUserIDList=["nobody"])
    await bob.refused(10004, "sendGroupTextMessage", groupID=group, text="x", replyTo=1, toUserIDList=["nobody"])
    await bob.refused(10017, "sendGroupTextMessage", groupID=group, text="x", replyTo=1, toUserIDList=[alice.user])


async def test_rights_before_state(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    await bob.refused(10007, "setGroupInfo", groupID=group, maxMemberNum=1)
    await alice.refused(10038, "setGroupInfo", groupID=group, maxMemberNum=1)
    await alice.refused(-32602, "setGroupInfo", groupID=group, maxMemberNum="1")


async def test_a_login_with_wrong_parameters_signs_nobody_in(world):
    client = await world.open()
    await client.refused(-32602, "login", token=5)
    await client.refused(-32602, "login", token=make_token(world.name("a")), platform=5)
    await client.refused(6014, "ping")
