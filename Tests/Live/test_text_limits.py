"""The bytes of texts by configuration, the application's own text of a group, and searches in joined
groups alone (Protocol.md, "Texts", "Group info" and "Search")."""
import pytest

from harness.room import Room
from harness.world import info_of

LIMITS = {"groupName": 7, "introduction": 8, "notification": 9, "faceURL": 10, "nameCard": 11, "message": 12, "extension": 13}


@pytest.fixture
async def bounded(make_server, make_world):
    return make_world(make_server({f"limits.text.{name}": bytes_ for name, bytes_ in LIMITS.items()}))


async def test_each_text_has_its_key(bounded):
    owner = await bounded.user("owner")
    group = await bounded.group(owner, groupName="n" * 7)
    limits = (await owner.call("getServerInfo"))["limits"]
    assert {name: limits[f"limits.text.{name}"] for name in LIMITS} == LIMITS
    for name, code in (("groupName", 8502), ("introduction", 8503), ("notification", 8504), ("faceURL", 8505)):
        await owner.call("setGroupInfo", groupID=group, **{name: "x" * LIMITS[name]})
        await owner.refused(code, "setGroupInfo", groupID=group, **{name: "x" * (LIMITS[name] + 1)})
    await owner.refused(8502, "createGroup", groupType="Work", groupName="n" * 8)
    await owner.refused(8502, "createGroup", groupType="Work", groupName="")
    await owner.call("setGroupMemberInfo", groupID=group, userID=owner.user, nameCard="c" * 11)
    await owner.refused(8506, "setGroupMemberInfo", groupID=group, userID=owner.user, nameCard="c" * 12)
    for method, name in (("sendGroupTextMessage", "text"), ("sendGroupCustomMessage", "data")):
        await owner.call(method, groupID=group, **{name: "m" * 12})
        await owner.refused(80002, method, groupID=group, **{name: "m" * 13})
        await owner.refused(10004, method, groupID=group, **{name: ""})
        await owner.call(method, groupID=group, extension="e" * 13, **{name: "m"})
        await owner.refused(10004, method, groupID=group, extension="e" * 14, **{name: "m"})


async def test_the_longest_texts_may_be_long(make_server, make_world):
    world = make_world(make_server({"limits.text.groupName": 65536, "limits.text.message": 60000}))
    owner, other = await world.users("owner", "other")
    group = await world.group(owner, members=[other], groupName="n" * 2000)
    await owner.call("sendGroupTextMessage", groupID=group, text="m" * 60000)
    event = await other.expect("onRecvNewMessage", groupID=group)
    assert len(event["message"]["text"]) == 60000 and len((await info_of(other, group))["groupName"]) == 2000


# serverCustomInfo


@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting", "AVChatRoom"])
async def test_the_application_alone_sets_its_text(world, groupType):
    room = await Room.make(world, groupType)
    assert (await info_of(room.member, room.group))["serverCustomInfo"] == ""
    for name in ("owner", "admin", "member", "as owner"):
        if hasattr(room, name.split()[-1]):
            await room.refuses(10007, room.actor(name), "setGroupInfo", serverCustomInfo="s")
    await room.refuses(10004, room.administrator, "setGroupInfo", serverCustomInfo="s" * 4097)
    assert await room.administrator.call("setGroupInfo", groupID=room.group, serverCustomInfo="s" * 4096) == {}
    event = await room.told("onGroupInfoChanged", room.members)
    assert event["changeInfoList"] == [{"type": "ServerCustomInfo", "value": "s" * 4096}]
    if groupType != "AVChatRoom":
        assert (await room.tip(event))["changeInfoList"] == event["changeInfoList"]
    assert (await info_of(room.member, room.group))["serverCustomInfo"] == "s" * 4096
    if groupType != "Work":
        assert "serverCustomInfo" not in await info_of(room.outsider, room.group)
    async with room.unchanged():
        await room.administrator.call("setGroupInfo", groupID=room.group, serverCustomInfo="s" * 4096)
    (listed,) = [row for row in world.server.rpc("listGroups", count=200, groupType=groupType)["result"]["groupList"]
                 if row["groupID"] == room.group] or [await room.info()]
    assert listed["serverCustomInfo"] == "s" * 4096


async def test_it_is_set_when_the_group_is_made(world):
    owner = await world.user("owner")
    for groupType in ("Work", "Public", "Meeting", "AVChatRoom"):
        await owner.refused(10007, "createGroup", groupType=groupType, groupName="g", serverCustomInfo="s")
    for method in ("createGroup", "importGroup"):
        params = dict(groupType="Public", groupName="g", ownerUserID=owner.user, serverCustomInfo="s")
        group = world.server.rpc(method, **params)["result"]["groupID"]
        assert (await info_of(owner, group))["serverCustomInfo"] == "s"
    refused = world.server.rpc("createGroup", groupType="Public", groupName="g", serverCustomInfo="s", asUser=owner.user)
    assert refused["error"]["code"] == 10007


# joinedOnly


async def test_joined_groups_alone(world):
    owner, other = await world.users("owner", "other")
    word = world.name("word")
    open_, own = await world.group(owner, groupName=word), await world.group(owner, "Work", [other], groupName=word)

    async def found(client, **params):
        answer = await client.call("searchGroups", keywordList=[word], **params)
        return [row["groupID"] for row in answer["groupList"]]

    assert await found(other) == await found(other, joinedOnly=False) == [open_, own]
    assert await found(other, joinedOnly=True) == [own]
    assert await found(owner, joinedOnly=True) == [open_, own]
    assert await found(await world.user("stranger"), joinedOnly=True) == []
    await other.refused(-32602, "searchGroups", keywordList=[word], joinedOnly="yes")
