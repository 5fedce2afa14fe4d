"""Every error code, each proved end to end, and the same in the OpenRPC document (Protocol.md,
"Errors")."""
from functools import partial

import pytest

from harness.backend import all_answers, done
from harness.client import Refused
from harness.server import IS_CLUSTER, POSTGRESQL
from harness.scenarios import FROZEN, SCENARIOS, Servers, error, raw_error, scenario
from harness.tokens import OTHER_SECRET, admin_token, make_token
from test_durability import limit_files

# Reference.md, "Errors", row by row.
JSON_RPC = {-32700, -32600, -32601, -32602}
TABLE = JSON_RPC | {
    6014, 10019, 6015, 10021, 10025, 7008, 10023, 70001, 70003, 70009, 70020, 70021, 10024, 8501, 10030, 10031, 10032, 10033,
    8502, 8503, 8504, 8505, 10036, 10037, 10038, 8506, 10045, 10046, 10047, 10048, 8507, 10049, 8508, 10050,
    8509, 10053, 10054, 10055, 10056, 10057, 10058, 10059, 10060, 10061,
    8510, 80002, 8511, 10004, 10017, 10007, 10013, 10014, 10009, 10015, 10010, 10002,
}
# A fault of the server that the JSON-RPC specification names; nothing that a client sends brings it
# about.
OF_THE_DOCUMENT_ALONE = {-32603}
# test_webhooks.py proves these: they need a receiver that refuses.
OF_WEBHOOKS = {10016} | set(range(10120, 10131))
# `retryAfterMs`: nothing has passed of the second, or of the five.
WITH_RETRY = {7008: 1000, 8511: 5000, 10023: 1000, 10049: 1000}


def refusals(answers):
    """The errors among the answers of `all_answers`."""
    return [{"code": row.code, "data": row.data} for row in answers if isinstance(row, Refused)]


# The envelope

@scenario(-32700)
async def parse_error(servers):
    alice = await servers.world.user("alice")
    return [await raw_error(alice, text) for text in ("{", '"\\ud800"', "[" * 33 + "]" * 33)]


@scenario(-32600)
async def invalid_request(servers):
    alice = await servers.world.user("alice")
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    return [await raw_error(alice, value) for value in ({**ping, "jsonrpc": "1.0"}, {**ping, "id": {}}, [], [ping] * 21, 5)]


@scenario(-32601)
async def method_not_found(servers):
    alice = await servers.world.user("alice")
    return [await error(alice, "noSuchMethod"), await error(alice, "getStats"), servers.by_backend("logout")]


@scenario(-32602)
async def invalid_params(servers):
    alice = await servers.world.user("alice")
    found = [await error(alice, "joinGroup"), await error(alice, "joinGroup", groupID=1), servers.by_backend("getJoinedGroupList")]
    assert [row["data"]["field"] for row in found] == ["groupID", "groupID", "asUser"]
    return found


# Signing in

@scenario(6014)
async def not_signed_in(servers):
    client = await servers.world.open()
    return [await error(client, "ping"), await error(client, "joinGroup", groupID="g")]


@scenario(6015)
async def another_user_is_signed_in(servers):
    alice = await servers.world.user("alice")
    return [await error(alice, "login", token=make_token("somebody-else"))]


async def bad_token(servers, token):
    client = await servers.world.open()
    found = await error(client, "login", token=token)
    assert str(found["code"]) in await client.closed(4500)
    return found


@scenario(70001)
async def token_expired(servers):
    return [await bad_token(servers, make_token("alice", ttl=-60))]


@scenario(70003)
async def token_malformed(servers):
    return [await bad_token(servers, token) for token in ("x", make_token("@alice"), make_token("alice", exp=None), admin_token())]


@scenario(70009)
async def token_of_another_key(servers):
    return [await bad_token(servers, make_token("alice", secret=OTHER_SECRET))]


@scenario(70020)
async def user_blocked(servers):
    user = servers.world.name("blocked")
    done(servers.server, "blockUser", userID=user)
    found = [await bad_token(servers, make_token(user))]
    assert found[0]["data"] == {"temporary": False}
    return found


@scenario(70021)
async def token_revoked(servers):
    user = servers.world.name("revoked")
    done(servers.server, "revokeTokens", userID=user)
    return [await bad_token(servers, make_token(user)), await bad_token(servers, make_token(user, iat=1))]


@scenario(7008)
async def request_rate(servers):
    world = servers.own({"limits.requestsPerSecond": 1, "limits.requestBurst": 2}, frozen=True)
    alice = await world.user("alice")
    refused = refusals(await all_answers(alice, [("ping", {})] * 12))
    assert len(refused) == 11, "the sign-in and one request pass"
    return refused


# Groups

@scenario(8501)
async def new_group_id(servers):
    alice = await servers.world.user("alice")
    base = {"groupType": "Public", "groupName": "g"}
    return [await error(alice, "createGroup", **base, groupID=group) for group in ("@TGS#x", "a b", "x" * 49, "é")]


async def texts(servers, field, values):
    """Texts that are refused at creation and by setGroupInfo alike."""
    alice = await servers.world.user("alice")
    group = await servers.world.group(alice)
    found = []
    for value in values:
        found.append(await error(alice, "createGroup", **{"groupType": "Public", "groupName": "g", field: value}))
        found.append(await error(alice, "setGroupInfo", **{"groupID": group, field: value}))
    return found


for code, field, values in [
    (8502, "groupName", ["", "é" * 15 + "x"]), (8503, "introduction", ["é" * 120 + "x"]),
    (8504, "notification", ["é" * 150 + "x"]), (8505, "faceURL", ["é" * 50 + "x"]),
]:
    scenario(code)(partial(texts, field=field, values=values))


@scenario(8506)
async def name_card(servers):
    alice = await servers.world.user("alice")
    group = await servers.world.group(alice)
    return [await error(alice, "setGroupMemberInfo", groupID=group, userID=alice.user, nameCard="é" * 25 + "x")]


@scenario(8507)
async def members_over_the_cap(servers):
    alice = await servers.world.user("alice")
    group, base = await servers.world.group(alice), {"groupType": "Public", "groupName": "g"}
    return [
        await error(alice, "createGroup", **base, maxMemberNum=1, memberList=[{"userID": "x"}]),
        await error(alice, "createGroup", **base, maxMemberNum=6001),
        await error(alice, "setGroupInfo", groupID=group, maxMemberNum=6001),
    ]


@scenario(8508)
async def join_work(servers):
    alice, bob = await servers.world.users("alice", "bob")
    return [await error(bob, "joinGroup", groupID=await servers.world.group(alice, "Work"))]


@scenario(8509)
async def owner_in_member_list(servers):
    alice = await servers.world.user("alice")
    rows = [{"userID": "x", "role": "Owner"}]
    return [await error(alice, "createGroup", groupType="Public", groupName="g", memberList=rows)]


@scenario(8510)
async def empty_user_list(servers):
    alice = await servers.world.user("alice")
    group = await servers.world.group(alice)
    methods = ("getGroupMembersInfo", "inviteUserToGroup", "kickGroupMember", "getGroupMemberInviters", "getGroupMemberRoles")
    found = [await error(alice, method, groupID=group, userIDList=[]) for method in methods]
    return [*found, servers.by_backend("importUsers", userIDList=[])]


@scenario(10004)
async def value_outside_its_domain(servers):
    alice, bob = await servers.world.users("alice", "bob")
    group, long = await servers.world.group(alice, members=[bob]), "é" * 513
    calls = [
        ("createGroup", {"groupType": "Secret", "groupName": "g"}),
        ("createGroup", {"groupType": "Public", "groupName": "a\nb"}),
        ("sendGroupTextMessage", {"groupID": group, "text": ""}),
        ("sendGroupCustomMessage", {"groupID": group, "data": ""}),
        ("joinGroup", {"groupID": group, "message": long}),
        ("kickGroupMember", {"groupID": group, "userIDList": [bob.user], "reason": long}),
        ("inviteUserToGroup", {"groupID": group, "userIDList": ["x"], "attach": long}),
        ("searchGroups", {"keywordList": [long]}),
        ("searchGroups", {"keywordList": []}),
        ("getJoinedGroupList", {"count": 0}),
        ("setGroupInfo", {"groupID": group, "customInfo": {"k": "x" * 513}}),
        ("setGroupInfo", {"groupID": group, "maxMemberNum": -1}),
        ("setGroupMemberInfo", {"groupID": group, "userID": alice.user, "customInfo": {"k": "x" * 65}}),
        ("setGroupMemberRole", {"groupID": group, "userID": bob.user, "role": "Owner"}),
        ("acceptGroupApplication", {"applicationID": "unknown"}),
        ("muteGroup", {"groupID": group, "mode": "Custom"}),
        ("setGroupAttributes", {"groupID": group, "attributes": {"": "v"}}),
    ]
    client = await servers.world.open()
    found = [await error(alice, method, **params) for method, params in calls]
    return [
        *found, await error(client, "login", token=make_token("carol"), platform="Amiga"),
        await error(client, "login", token=make_token("carol"), deviceID=long),
        servers.by_backend("sendGroupSystemNotification", groupID=group, content="x" * 4097),
    ]


@scenario(10007)
async def no_right(servers):
    group, people = await servers.world.group_of("Public")
    room, owner = await servers.room()
    return [
        await error(people["member"], "setGroupInfo", groupID=group, groupName="role too low"),
        await error(people["outsider"], "sendGroupTextMessage", groupID=group, text="not a member"),
        await error(owner, "transferGroupOwner", groupID=room, userID="anybody"),
        await error(owner, "createGroup", groupType="BChatRoom", groupName="g"),
        servers.by_backend("getStats", asUser="somebody"),
    ]


@scenario(10009)
async def owner_may_not_quit(servers):
    alice = await servers.world.user("alice")
    return [await error(alice, "quitGroup", groupID=await servers.world.group(alice, kind)) for kind in ("Public", "AVChatRoom")]


@scenario(10010)
async def no_such_group(servers):
    alice = await servers.world.user("alice")
    gone = await servers.world.group(alice)
    await alice.call("dismissGroup", groupID=gone)
    return [await error(alice, "joinGroup", groupID=group) for group in (gone, servers.world.name("nowhere"))]


@scenario(10013)
async def already_member(servers):
    alice = await servers.world.user("alice")
    return [await error(alice, "joinGroup", groupID=await servers.world.group(alice, kind)) for kind in ("Work", "Public")]


async def application_for(world, **fields):
    """A group with joinMode Auth, its owner, and an open application of a third user."""
    owner, applicant = await world.users("owner", "applicant")
    group = await world.group(owner, joinMode="Auth", **fields)
    await applicant.call("joinGroup", groupID=group)
    return group, owner, (await owner.expect("onReceiveJoinApplication", groupID=group))["applicationID"]


@scenario(10014)
async def group_full(servers):
    group, owner, application = await application_for(servers.world, maxMemberNum=2)
    await owner.call("setGroupInfo", groupID=group, joinMode="Any")
    await (await servers.world.user("second")).call("joinGroup", groupID=group)
    late = await servers.world.user("late")
    return [await error(late, "joinGroup", groupID=group),
            await error(owner, "acceptGroupApplication", applicationID=application)]


@scenario(10015)
async def group_id_elsewhere(servers):
    alice = await servers.world.user("alice")
    return [await error(alice, "joinGroup", groupID=group) for group in ("", "a b", "x" * 49, "é")]


@scenario(10017)
async def muted(servers):
    group, people = await servers.world.group_of("Public")
    await people["admin"].call("muteGroupMember", groupID=group, userID=people["member"].user, muteTime=3600)
    found = [await error(people["member"], "sendGroupTextMessage", groupID=group, text="x")]
    await people["owner"].call("muteGroup", groupID=group, mode="All")
    found += [await error(people[role], "sendGroupCustomMessage", groupID=group, data="x") for role in ("owner", "admin")]
    return found


@scenario(10019)
async def user_unknown(servers):
    own = servers.make_server({"users.requireKnown": "true"})
    base = {"groupType": "Public", "groupName": "g", "ownerUserID": "stranger"}
    return [own.rpc(method, **base)["error"] for method in ("createGroup", "importGroup")]


@scenario(10021)
async def group_id_taken(servers):
    alice, bob = await servers.world.users("alice", "bob")
    group = await servers.world.group(alice, groupID=servers.world.name("g"))
    return [await error(bob, "createGroup", groupType="Public", groupName="g", groupID=group)]


@scenario(10025)
async def group_id_taken_by_oneself(servers):
    alice = await servers.world.user("alice")
    group = await servers.world.group(alice, groupID=servers.world.name("g"))
    return [await error(alice, "createGroup", groupType="Public", groupName="g", groupID=group)]


@scenario(10024)
async def application_handled(servers):
    _, owner, application = await application_for(servers.world)
    await owner.call("refuseGroupApplication", applicationID=application)
    return [await error(owner, method, applicationID=application)
            for method in ("acceptGroupApplication", "refuseGroupApplication")]


@scenario(10036)
async def live_rooms_of_the_server(servers):
    world = servers.own({"limits.avChatRooms": 1})
    alice, bob = await world.users("alice", "bob")
    await world.group(alice, "AVChatRoom")
    return [await error(client, "createGroup", groupType="AVChatRoom", groupName="g") for client in (alice, bob)]


@scenario(10037)
async def groups_of_the_user(servers):
    world = servers.own({"limits.groupsPerUser": 1})
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice)
    await world.group(bob, "Work")
    return [await error(alice, "createGroup", groupType="Work", groupName="g"), await error(bob, "joinGroup", groupID=group)]


@scenario(10038)
async def max_member_num_below_the_count(servers):
    alice, bob = await servers.world.users("alice", "bob")
    return [await error(alice, "setGroupInfo", groupID=await servers.world.group(alice, members=[bob]), maxMemberNum=1)]


# Attributes

@scenario(8511, frozen=True)
async def attribute_calls(servers):
    room, owner = await servers.room()
    writes = [("setGroupAttributes", {"groupID": room, "attributes": {"k": "v"}})] * 11
    reads = [("getGroupAttributes", {"groupID": room})] * 21
    answers = [*await all_answers(owner, writes), *await all_answers(owner, reads)]
    refused = refusals(answers)
    assert len(refused) == 2
    return refused


@scenario(10054)
async def too_many_for_read_receipts(servers):
    world = servers.make_world(servers.make_server({"limits.readReceiptMembers": 1}))
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    return [await error(alice, "sendGroupTextMessage", groupID=group, text="x", needReadReceipt=True)]


@scenario(10061)
async def too_many_for_signals(servers):
    world = servers.make_world(servers.make_server({"limits.signalMembers": 1}))
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    return [await error(client, "sendGroupSignal", groupID=group, name="typing") for client in (alice, bob)]


@scenario(10060)
async def too_many_watched(servers):
    world = servers.own({"limits.statusSubscriptions": 2})
    alice = await world.user("alice")
    await alice.call("subscribeUsersStatus", userIDList=["a", "b"])
    return [await error(alice, "subscribeUsersStatus", userIDList=["b", "c"])]


@scenario(10057)
async def too_many_counters(servers):
    room, owner = await servers.room()
    await owner.call("setGroupCounters", groupID=room, counters={f"k{n}": 1 for n in range(20)})
    return [
        await error(owner, "increaseGroupCounter", groupID=room, key="more", value=1),
        await error(owner, "setGroupCounters", groupID=room, counters={"more": 1}),
    ]


@scenario(10049, frozen=True)
async def attribute_writes_by_administrators(servers):
    room, _ = await servers.room()
    batch = [{"jsonrpc": "2.0", "id": n, "method": "setGroupAttributes",
              "params": {"groupID": room, "attributes": {"k": f"{n}"}}} for n in range(6)]
    refused = [row["error"] for row in servers.server.post_rpc(batch).json() if "error" in row]
    assert len(refused) == 1
    return refused


async def attributes(servers, *values):
    room, owner = await servers.room()
    return [await error(owner, method, groupID=room, attributes=value)
            for value in values for method in ("initGroupAttributes", "setGroupAttributes")]


@scenario(10045)
async def attribute_key(servers):
    return await attributes(servers, {"é" * 16 + "x": "v"})


@scenario(10046)
async def attribute_value(servers):
    return await attributes(servers, {"k": "é" * 2048 + "x"})


@scenario(10047)
async def attribute_count(servers):
    return await attributes(servers, {f"{n}": "v" for n in range(17)})


@scenario(10048)
async def attribute_size(servers):
    return await attributes(servers, {f"{n}": "x" * 4096 for n in range(5)})


@scenario(10050)
async def attribute_unknown(servers):
    room, owner = await servers.room()
    return [await error(owner, "deleteGroupAttributes", groupID=room, keys=["nothing"])]


@scenario(10058)
async def attributes_that_are_not_as_expected(servers):
    room, owner = await servers.room()
    return [await error(owner, "setGroupAttributes", groupID=room, attributes={"k": "v"}, expect={"k": "another"})]


@scenario(10059)
async def somebody_elses_attribute(servers):
    room, owner = await servers.room()
    bob = await servers.world.user("bob")
    await bob.call("joinGroup", groupID=room)
    await owner.call("setGroupInfo", groupID=room, attributeMode="Holder")
    await owner.call("setGroupAttributes", groupID=room, attributes={"k": "v"})
    return [
        await error(bob, "setGroupAttributes", groupID=room, attributes={"k": "w"}),
        await error(bob, "initGroupAttributes", groupID=room, attributes={}),
        await error(bob, "deleteGroupAttributes", groupID=room, keys=["k"]),
    ]


# Messages

@scenario(80002)
async def message_too_long(servers):
    alice = await servers.world.user("alice")
    group = await servers.world.group(alice)
    return [await error(alice, method, **{"groupID": group, field: "中" * 4096 + "x"})
            for method, field in (("sendGroupTextMessage", "text"), ("sendGroupCustomMessage", "data"))]


@scenario(10053)
async def too_many_mentions(servers):
    alice = await servers.world.user("alice")
    group = await servers.world.group(alice)
    return [await error(alice, "sendGroupTextMessage", groupID=group, text="x", atUserIDList=[f"u{n}" for n in range(31)])]


@scenario(10023)
async def message_rate_of_the_group(servers):
    """For types that store messages, where the configuration sets a limit (Protocol.md, "Group
    message rate")."""
    world = servers.own({"limits.public.messagesPerSecond": 2}, frozen=True)
    alice = await world.user("alice")
    group = await world.group(alice)
    answers = await all_answers(alice, [("sendGroupTextMessage", {"groupID": group, "text": "x"})] * 6)
    refused = refusals(answers)
    assert len(refused) == 4
    info = (await alice.call("getGroupsInfo", groupIDList=[group]))["resultList"][0]["info"]
    assert info["lastSeq"] == 2, "what was refused is not stored"
    return refused


@scenario(10030)
async def recall_of_an_unknown_message(servers):
    alice, bob = await servers.world.users("alice", "bob")
    group = await servers.world.group(alice)
    await alice.call("sendGroupTextMessage", groupID=group, text="before bob")
    await bob.call("joinGroup", groupID=group)
    return [await error(alice, "revokeGroupMessage", groupID=group, seq=99),
            await error(bob, "revokeGroupMessage", groupID=group, seq=1)]


@scenario(10031, frozen=True)
async def recall_too_late(servers):
    alice = await servers.world.user("alice")
    group = await servers.world.group(alice)
    sent = await alice.call("sendGroupTextMessage", groupID=group, text="x")
    await servers.server.advance(seconds=121)
    return [await error(alice, "revokeGroupMessage", groupID=group, seq=sent["seq"])]


@scenario(10032)
async def recall_of_somebody_elses(servers):
    group, people = await servers.world.group_of("Public")
    await people["owner"].call("sendGroupTextMessage", groupID=group, text="x")
    await people["owner"].call("setGroupInfo", groupID=group, groupName="a tip")
    return [await error(people["member"], "revokeGroupMessage", groupID=group, seq=1),
            await error(people["owner"], "revokeGroupMessage", groupID=group, seq=2)]


@scenario(10033)
async def recall_where_there_is_none(servers):
    room, owner = await servers.room()
    news = done(servers.server, "createGroup", groupType="BChatRoom", groupName="g", ownerUserID=owner.user)["groupID"]
    found = [await error(owner, "revokeGroupMessage", groupID=group, seq=1) for group in (room, news)]
    done(servers.server, "dismissGroup", groupID=news)
    return found


@scenario(10055)
async def too_many_different_reactions(servers):
    alice = await servers.world.user("alice")
    group = await servers.world.group(alice)
    seq = (await alice.call("sendGroupTextMessage", groupID=group, text="x"))["seq"]
    for number in range(10):
        await alice.call("addMessageReaction", groupID=group, seq=seq, reaction=f"r{number}")
    return [await error(alice, "addMessageReaction", groupID=group, seq=seq, reaction="one more")]


@scenario(10056)
async def too_many_pinned(servers):
    alice = await servers.world.user("alice")
    group = await servers.world.group(alice)
    for number in range(11):
        await alice.call("sendGroupTextMessage", groupID=group, text=f"m{number}")
    for seq in range(1, 11):
        await alice.call("pinGroupMessage", groupID=group, seq=seq, isPinned=True)
    return [await error(alice, "pinGroupMessage", groupID=group, seq=11, isPinned=True)]


# The store

@scenario(10002)
async def store_cannot_be_written(servers):
    if IS_CLUSTER or POSTGRESQL:
        pytest.skip("its files are those of the process")
    world = servers.own(preexec=limit_files)
    alice = await world.user("alice")
    group = await world.group(alice)
    for _ in range(1000):
        try:
            await alice.call("sendGroupTextMessage", groupID=group, text="x" * 12000)
        except Refused as refusal:
            return [{"code": refusal.code, "data": refusal.data}]
    raise AssertionError("12 MB in files of at most 3 MB")


# The tests

@pytest.fixture(scope="module")
def document(server):
    return server.http("GET", "/openrpc.json").json()


def test_there_is_a_scenario_for_every_code_of_section_7():
    assert set(SCENARIOS) == TABLE


@pytest.mark.parametrize("code", sorted(set(SCENARIOS) - FROZEN))
async def test_the_code_is_answered(server, world, make_server, make_world, document, code):
    await provoke(code, Servers(server, world, make_server, make_world), document)


@pytest.mark.parametrize("code", sorted(FROZEN))
async def test_the_code_is_answered_at_its_time(frozen_world, make_server, make_world, document, code):
    await provoke(code, Servers(frozen_world.server, frozen_world, make_server, make_world), document)


async def provoke(code, servers, document):
    found = await SCENARIOS[code](servers)
    assert found and [row["code"] for row in found] == [code] * len(found), found
    for row in found:
        assert isinstance(row["data"]["temporary"], bool)
        if code in WITH_RETRY:
            assert row["data"]["retryAfterMs"] == WITH_RETRY[code] and row["data"]["temporary"] is True
    if code == 10002:
        assert found[0]["data"]["temporary"] is True
    (listed,) = [row for row in document["components"]["errors"].values() if row["code"] == code]
    assert {row["data"]["temporary"] for row in found} == {listed["data"]["temporary"]}


def test_the_document_lists_the_same_codes(document):
    listed = [row["code"] for row in document["components"]["errors"].values()]
    assert len(listed) == len(set(listed))
    assert set(listed) == TABLE | OF_THE_DOCUMENT_ALONE | OF_WEBHOOKS
    assert all(row["message"] for row in document["components"]["errors"].values())


def test_the_errors_of_every_method_are_among_them(document):
    errors = {row["code"]: row["message"] for row in document["components"]["errors"].values()}
    for method in document["methods"]:
        codes = [row["code"] for row in method["errors"]]
        assert len(codes) == len(set(codes)), method["name"]
        assert set(codes) <= set(errors), method["name"]


async def test_a_place_below_the_first_names_no_message(world, document):
    """"A `seq` or an entry of `seqList` below 1 is 10004", in every method that names messages."""
    owner = await world.user("owner")
    group = await world.group(owner)
    given = {"groupID": group, "text": "x", "data": "x", "reaction": "+", "isPinned": True}
    wrong = {"seq": (0, -1), "replyTo": (0, -1), "seqList": ([0], [1, -1])}
    named = 0
    for method in document["methods"]:
        parameters = {parameter["name"]: parameter for parameter in method["params"]}
        for name in wrong.keys() & parameters.keys():
            others = {other: given[other] for other, parameter in parameters.items() if parameter["required"] and other != name}
            if method["name"] == "modifyGroupMessage":
                others["text"] = "x"
            for value in wrong[name]:
                data = await owner.refused(10004, method["name"], **others, **{name: value})
                assert data["field"] == name, method["name"]
            named += 1
    assert named >= 15
