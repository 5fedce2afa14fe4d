"""Words that users may not write, and the questions about infos that come behind them (Protocol.md, "Words" and
"Before-events")."""
import asyncio
import json
import signal
import unicodedata

import pytest

from harness.backend import denied, done
from harness.client import has
from harness.receiver import Answer, Receiver
from harness.server import run_throng
from harness.world import info_of

READ, NOT_READ = "the list of words was read", "the list of words was not read again"


@pytest.fixture
def receiver():
    with Receiver() as made:
        yield made


@pytest.fixture
def worded(make_server, make_world, tmp_path):
    """A server with a list, its world and the file: `worded("bad", action="mask")`."""
    def make(*terms, action=None, settings=None, frozen=False):
        path = tmp_path / "words.txt"
        path.write_text("\n".join(terms) + "\n")
        chosen = {"moderation.action": action} if action else {}
        own = make_server({"moderation.wordsFile": path, **chosen, **(settings or {})}, frozen=frozen)
        return own, make_world(own), path

    return make


def lines(own):
    return [line for line in map(json.loads, filter(lambda text: text.startswith("{"), own.log.splitlines()))
            if line["message"] in (READ, NOT_READ)]


def reload(own):
    """SIGHUP, and the line that tells of the list. All nodes say the same."""
    before = len(lines(own))
    own.process.send_signal(signal.SIGHUP)
    own.wait_until(lambda: len(lines(own)) == before + len(own.node_addresses), "the lines of the reload")
    told = lines(own)[before:]
    assert len({line["message"] for line in told}) == 1
    return told[0]


async def text_of(reader, group):
    """The text of the next message that a member hears."""
    return (await reader.expect("onRecvNewMessage", groupID=group))["message"]["text"]


# Refuse and mask

async def test_a_refused_text_is_10016_with_its_parameter(worded):
    own, world, _ = worded("bad")
    owner, member = await world.users("owner", "member")
    group = await world.group(owner, "Public", [member])
    sent = await owner.call("sendGroupTextMessage", groupID=group, text="fine")
    assert await text_of(member, group) == "fine"
    for method, field, params in [
        ("sendGroupTextMessage", "text", {"groupID": group}),
        ("modifyGroupMessage", "text", {"groupID": group, "seq": sent["seq"]}),
        ("setGroupInfo", "groupName", {"groupID": group}), ("setGroupInfo", "introduction", {"groupID": group}),
        ("setGroupInfo", "notification", {"groupID": group}),
        ("setGroupMemberInfo", "nameCard", {"groupID": group, "userID": owner.user}),
        ("setSelfInfo", "nickName", {}),
        ("createGroup", "groupName", {"groupType": "Work"}),
        ("createGroup", "introduction", {"groupType": "Work", "groupName": "n"}),
        ("createGroup", "notification", {"groupType": "Work", "groupName": "n"}),
    ]:
        data = await owner.refused(10016, method, **params, **{field: "so BAD!"})
        assert data == {"temporary": False, "field": field}, method
    # Nobody has heard of any of it.
    await owner.call("sendGroupTextMessage", groupID=group, text="marker")
    assert await text_of(member, group) == "marker"
    info = await info_of(owner, group)
    assert info["groupName"] == "group" and info["introduction"] == "" and info["notification"] == ""
    own.metric_becomes("throng_words_matched_total", 10, action="refuse")
    own.metric_becomes("throng_words_matched_total", 2, action="refuse", field="groupName")
    own.metric_becomes("throng_words", len(own.node_addresses))


async def test_a_mask_is_what_is_sent_kept_and_shown(worded):
    own, world, _ = worded("bad", "=ass", action="mask")
    owner, member = await world.users("owner", "member")
    group = await world.group(owner, "Public", [member], groupName="bad class")
    assert (await info_of(member, group))["groupName"] == "*** class"
    sent = await owner.call("sendGroupTextMessage", groupID=group, text="a ＢＡＤ ass")
    assert "text" not in sent
    assert await text_of(member, group) == "a *** ***"
    await owner.call("modifyGroupMessage", groupID=group, seq=sent["seq"], text="assbad")
    await member.expect("onRecvMessageModified", groupID=group, message=has(text="ass***"))
    kept = (await member.call("getGroupMessages", groupID=group, seqList=[sent["seq"]]))["messageList"]
    assert [message["text"] for message in kept] == ["ass***"]
    await owner.call("setGroupMemberInfo", groupID=group, userID=owner.user, nameCard="bad")
    await member.expect("onGroupMemberInfoChanged", groupID=group)
    rows = (await member.call("getGroupMembersInfo", groupID=group, userIDList=[owner.user]))["memberList"]
    assert rows[0]["nameCard"] == "***"
    await owner.call("setSelfInfo", nickName="bad one")
    assert (await member.call("getUsersInfo", userIDList=[owner.user]))["userList"][0]["nickName"] == "*** one"


async def test_texts_are_compared_as_unicode_folds_them(worded):
    """The oracle is Python's own `unicodedata`."""
    terms = ["bad", "straße", "é", "ガ", "각", "ﬁn", "ǆ", "ŉ", "Ꭰ"]
    own, world, _ = worded(*terms)
    owner = await world.user("owner")
    group = await world.group(owner, "AVChatRoom")

    def fold(text):
        folded = "".join(scalar.casefold() for scalar in unicodedata.normalize("NFKC", text))
        return unicodedata.normalize("NFKC", folded)

    texts = ["BAD", "ｂａｄ", "𝐛𝐚𝐝", "b\u0430d", "STRASSE", "straẞe", "strase", "e\u0301", "E\u0301", "e", "x\u0301", "ｶﾞ", "カ",
             "\u1100\u1161\u11a8", "가", "FIN", "ﬁＮ", "fn", "Ǆ", "ǅ", "ʼn", "ꭰ", "Ꭱ", "中文", "ℬad", "ba\u200dd", "①", "ſtraſſe"]
    found = []
    for text in texts:
        answer = own.rpc("sendGroupTextMessage", asUser=owner.user, groupID=group, text=text)
        found.append(answer.get("error", {}).get("code", 0) == 10016)
    assert found == [any(fold(term) in fold(text) for term in terms) for text in texts]


async def test_application_administrators_are_not_compared(worded):
    own, world, _ = worded("bad")
    owner, member = await world.users("owner", "member")
    group = await world.group(owner, "Public", [member])
    done(own, "sendGroupTextMessage", groupID=group, text="bad")
    assert await text_of(member, group) == "bad"
    done(own, "setGroupInfo", groupID=group, groupName="bad")
    done(own, "setUserInfo", userID=member.user, nickName="bad")
    done(own, "importUsers", userList=[{"userID": world.name(), "nickName": "bad"}])
    done(own, "createGroup", groupType="Work", groupName="bad", ownerUserID=owner.user)
    assert denied(own, 10016, "sendGroupTextMessage", asUser=owner.user, groupID=group, text="bad")["field"] == "text"
    # The application's own data are not compared for anybody.
    await owner.call("sendGroupCustomMessage", groupID=group, data="bad", extension="bad")
    await owner.call("setGroupInfo", groupID=group, customInfo={"bad": "bad"})


async def test_words_come_behind_rights_state_and_rate(worded):
    own, world, _ = worded("bad", settings={"limits.public.messagesPerSecond": 2}, frozen=True)
    owner, member, stranger = await world.users("owner", "member", "stranger")
    group = await world.group(owner, "Public", [member])
    await stranger.refused(10007, "sendGroupTextMessage", groupID=group, text="bad")
    await member.refused(10007, "setGroupInfo", groupID=group, groupName="bad")
    await owner.call("muteGroupMember", groupID=group, userID=member.user, muteTime=60)
    await member.refused(10017, "sendGroupTextMessage", groupID=group, text="bad")
    for _ in range(3):
        await owner.refused(10016, "sendGroupTextMessage", groupID=group, text="bad")
    # They have counted for no rate.
    for _ in range(2):
        await owner.call("sendGroupTextMessage", groupID=group, text="x")
    await owner.refused(10023, "sendGroupTextMessage", groupID=group, text="bad")


# The file

@pytest.mark.parametrize("content, says", [
    (None, "cannot be read"), (b"\xff\n", "line 1 is not UTF-8"), (b"fine\n=\n", "line 2 has no word"),
    (b"\n" * ((1 << 20) + 1), "more than 1 MiB"), (b"x" * 129, "more than 128 characters"),
], ids=["gone", "no UTF-8", "no word", "too large", "too long"])
def test_a_bad_file_stops_the_start(tmp_path, content, says):
    path = tmp_path / "words.txt"
    if content is not None:
        path.write_bytes(content)
    arguments = ("--set", f"moderation.wordsFile={path}", "--set", f"dataDir={tmp_path}/data")
    for command in (["serve", "--listen", "127.0.0.1:0", "--internal-listen", "127.0.0.1:0"], ["config", "check"]):
        ended = run_throng(*command, *arguments)
        assert ended.returncode == 1 and str(path) in ended.stderr + ended.stdout, ended
        if content is not None:
            assert says in ended.stderr + ended.stdout, ended


def test_an_unknown_action_stops_the_start(tmp_path):
    ended = run_throng("config", "check", "--set", "moderation.action=hide", "--set", f"dataDir={tmp_path}/data")
    assert ended.returncode == 1 and "moderation.action" in ended.stderr + ended.stdout, ended


async def test_sighup_reads_the_list_again(worded):
    own, world, path = worded("bad")
    owner, member = await world.users("owner", "member")
    group = await world.group(owner, "Public", [member])
    # The nodes of a cluster have each said it at their start.
    assert [line["message"] for line in lines(own)] == [READ] * len(own.node_addresses)
    assert all(str(line["words"]) == "1" for line in lines(own))
    await owner.refused(10016, "sendGroupTextMessage", groupID=group, text="bad")
    path.write_text("# other\nworse\n")
    line = await asyncio.to_thread(reload, own)
    assert line["message"] == READ and line["level"] == "info" and line["file"] == str(path)
    await owner.refused(10016, "sendGroupTextMessage", groupID=group, text="worse")
    await owner.refused(10016, "setSelfInfo", nickName="worse")
    await owner.call("sendGroupTextMessage", groupID=group, text="bad")
    assert await text_of(member, group) == "bad"


@pytest.mark.parametrize("content, says", [
    (None, "cannot be read"), (b"worse\n\xff\n", "line 2 is not UTF-8"), (b"=\n", "line 1 has no word"),
    (b"\n" * ((1 << 20) + 1), "more than 1 MiB"),
], ids=["gone", "no UTF-8", "no word", "too large"])
async def test_a_bad_file_keeps_the_old_list_and_says_why(worded, content, says):
    own, world, path = worded("bad")
    owner = await world.user("owner")
    group = await world.group(owner, "Public")
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    line = await asyncio.to_thread(reload, own)
    assert line["message"] == NOT_READ and line["level"] == "error" and str(path) in line["error"] and says in line["error"]
    await owner.refused(10016, "sendGroupTextMessage", groupID=group, text="bad")
    await owner.call("sendGroupTextMessage", groupID=group, text="worse")
    own.metric_becomes("throng_words", len(own.node_addresses))
    path.write_text("worse\n")
    assert (await asyncio.to_thread(reload, own))["message"] == READ
    await owner.refused(10016, "sendGroupTextMessage", groupID=group, text="worse")


async def test_a_server_without_a_list_compares_nothing(make_server, make_world):
    own = make_server({"moderation.action": "mask"})
    world = make_world(own)
    owner, member = await world.users("owner", "member")
    group = await world.group(owner, "Public", [member])
    await owner.call("sendGroupTextMessage", groupID=group, text="bad")
    assert await text_of(member, group) == "bad"


# Questions about infos

async def test_infos_are_asked_about_behind_the_words(worded, receiver):
    events = ("beforeSetGroupInfo", "beforeSetMemberInfo", "beforeSetSelfInfo")
    own, world, _ = worded("bad", action="mask", settings=receiver.settings(*events))
    owner, member = await world.users("owner", "member")
    group = await world.group(owner, "Public", [member])
    await owner.call("setGroupInfo", groupID=group, groupName="a bad name", customInfo={"k": "bad"}, joinMode="Auth")
    await owner.call("setGroupMemberInfo", groupID=group, userID=member.user, nameCard="bad", role="Admin")
    await member.call("setGroupMemberInfo", groupID=group, userID=member.user, nameCard="mine")
    await member.call("setSelfInfo", nickName="bad one", faceURL="f")
    by = lambda client: {"userID": client.user, "platform": "Unknown"}
    assert [(request.type, request.data) for request in receiver.requests] == [
        ("beforeSetGroupInfo", {
            **by(owner), "groupID": group, "groupName": "a *** name", "customInfo": {"k": "bad"}, "joinMode": "Auth"}),
        ("beforeSetMemberInfo", {
            **by(owner), "groupID": group, "memberUserID": member.user, "nameCard": "***", "role": "Admin"}),
        ("beforeSetMemberInfo", {**by(member), "groupID": group, "memberUserID": member.user, "nameCard": "mine"}),
        ("beforeSetSelfInfo", {**by(member), "nickName": "*** one", "faceURL": "f"}),
    ]
    # What rights refuse is not asked about, nor is the application itself.
    await world.settle(group, owner, member)
    stranger = await world.user("stranger")
    await stranger.refused(10007, "setGroupInfo", groupID=group, groupName="x")
    done(own, "setGroupInfo", groupID=group, groupName="bad")
    done(own, "setUserInfo", userID=member.user, nickName="bad")
    await owner.call("muteGroup", groupID=group, mode="Ordinary")
    assert len(receiver.requests) == 4


async def test_a_refused_info_is_the_error_of_the_call(worded, receiver):
    own, world, _ = worded("bad", settings=receiver.settings("beforeSetGroupInfo", "beforeSetMemberInfo", "beforeSetSelfInfo"))
    owner, member = await world.users("owner", "member")
    group = await world.group(owner, "Public", [member])
    receiver.answer = lambda request: Answer({"action": "Refuse", "code": 10125})
    for method, params in [
        ("setGroupInfo", {"groupID": group, "groupName": "x"}),
        ("setGroupMemberInfo", {"groupID": group, "userID": owner.user, "nameCard": "x"}), ("setSelfInfo", {"nickName": "x"}),
    ]:
        assert (await owner.refused(10125, method, **params))["temporary"] is False
    assert len(receiver.requests) == 3
    # What the words refuse is not asked about.
    await owner.refused(10016, "setGroupInfo", groupID=group, groupName="bad")
    await owner.refused(10016, "setSelfInfo", nickName="bad")
    assert len(receiver.requests) == 3
    # A Drop makes no sense for an info: it is the receiver's failure, which lets it happen by default.
    receiver.answer = lambda request: Answer({"action": "Drop"})
    await owner.call("setGroupInfo", groupID=group, groupName="y")
    event = await member.expect("onGroupInfoChanged", groupID=group)
    assert event["changeInfoList"] == [{"type": "GroupName", "value": "y"}]


@pytest.mark.parametrize("policy", ["allow", "refuse"])
async def test_a_receiver_that_fails_is_decided_by_policy(worded, receiver, policy):
    own, world, _ = worded("bad", settings=receiver.settings("beforeSetSelfInfo", onFailure=policy))
    owner = await world.user("owner")
    receiver.answer = lambda request: Answer(status=500)
    if policy == "allow":
        await owner.call("setSelfInfo", nickName="x")
        assert (await owner.call("getUsersInfo", userIDList=[owner.user]))["userList"][0]["nickName"] == "x"
    else:
        assert (await owner.refused(10016, "setSelfInfo", nickName="x"))["temporary"] is True
        assert (await owner.call("getUsersInfo", userIDList=[owner.user]))["userList"][0]["nickName"] == ""


async def test_the_answer_is_not_compared(worded, receiver):
    own, world, _ = worded("bad", settings=receiver.settings("beforeSendMessage"))
    owner, member = await world.users("owner", "member")
    group = await world.group(owner, "Public", [member])
    receiver.answer = lambda request: Answer({"action": "Allow", "text": "a bad word"})
    await owner.call("sendGroupTextMessage", groupID=group, text="fine")
    assert await text_of(member, group) == "a bad word"
    await owner.refused(10016, "sendGroupTextMessage", groupID=group, text="bad")
    assert len(receiver.requests) == 1


# Three nodes

async def test_every_node_compares_and_reads_again(make_cluster, make_world, tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("bad\n")
    own = make_cluster({"moderation.wordsFile": path}, CLUSTER_NODES="3")
    world = make_world(own)
    users = await world.users(*(f"user{number}" for number in range(6)))
    groups = [await world.group(user, "Public", [other for other in users if other is not user]) for user in users]
    for user in users:
        for group in groups:
            await user.refused(10016, "sendGroupTextMessage", groupID=group, text="bad")
        await user.refused(10016, "setSelfInfo", nickName="bad")
    path.write_text("worse\n")
    await asyncio.to_thread(reload, own)
    for user in users:
        for group in groups:
            await user.refused(10016, "sendGroupTextMessage", groupID=group, text="worse")
            await user.call("sendGroupTextMessage", groupID=group, text="bad")
