"""searchGroups (Protocol.md, "Search")."""
import asyncio

import pytest

from harness.backend import all_of, done
from harness.waiting import within
from harness.world import info_of

PUBLIC_FIELDS = {
    "groupID", "groupName", "owner", "groupType", "createTime", "maxMemberNum", "memberCount", "introduction", "faceURL",
    "joinMode", "onlineCount", "customInfo",
}


async def found(client, *keywords, **params):
    """The groupIDs that a search finds, all pages."""
    rows = await all_of(client, "searchGroups", "groupList", keywordList=list(keywords), **params)
    ids = [row["groupID"] for row in rows]
    assert len(ids) == len(set(ids)), "a group comes once"
    return set(ids)


async def named(world, owner, word, groupType="Public", **fields):
    return await world.group(owner, groupType, groupName=word, **fields)


# Matches

async def test_a_keyword_is_a_substring_of_the_name_or_the_id(world):
    alice, bob = await world.users("alice", "bob")
    word = world.name("Qfish")
    by_name = await named(world, alice, f"a {word} b")
    by_id = await world.group(alice, groupID=f"x{word}y")
    await named(world, alice, "other")
    for client in (alice, bob):
        assert await found(client, word) == {by_name, by_id}
        assert await found(client, word, matchFields=["groupName"]) == {by_name}
        assert await found(client, word, matchFields=["groupID"]) == {by_id}
        assert await found(client, word, matchFields=["groupID", "groupName"]) == {by_name, by_id}
        assert await found(client, word, matchFields=[]) == {by_name, by_id}, "an empty optional list counts as absent"
        assert await found(client, word + "!") == set()
        assert await found(client, by_name) == {by_name}


async def test_any_of_five_keywords(world):
    alice = await world.user("alice")
    words = [world.name("Wany") for _ in range(5)]
    words = [word + "." for word in words]
    groups = [await named(world, alice, word) for word in words]
    both = await named(world, alice, words[0] + words[1])
    assert await found(alice, words[1], words[3]) == {groups[1], groups[3], both}
    assert await found(alice, *words) == {*groups, both}
    assert await found(alice, words[0], words[0]) == {groups[0], both}


async def test_case_is_ignored_unless_asked_for(world):
    alice = await world.user("alice")
    word = world.name("McAse")
    mixed, upper = await named(world, alice, word), await named(world, alice, word.upper())
    for keyword in (word, word.lower(), word.upper()):
        assert await found(alice, keyword) == await found(alice, keyword, ignoreCase=True) == {mixed, upper}
    assert await found(alice, word, ignoreCase=False) == {mixed}
    assert await found(alice, word.upper(), ignoreCase=False) == {upper}
    assert await found(alice, word.lower(), ignoreCase=False) == set()


async def test_case_is_ignored_beyond_ascii(world):
    alice = await world.user("alice")
    word = world.name("école")
    group = await named(world, alice, word)
    assert await found(alice, word.upper()) == {group}
    assert await found(alice, word.upper(), ignoreCase=False) == set()


async def test_no_character_is_a_wildcard(world):
    alice = await world.user("alice")
    word = world.name("wild")
    names = {sign: f"{word}{sign}x" for sign in ("%", "_", "*", "?", "\\", "'", '"', "[a]", "中")}
    groups = {sign: await named(world, alice, name) for sign, name in names.items()}
    for sign, group in groups.items():
        assert await found(alice, f"{word}{sign}") == {group}
    assert await found(alice, word) == set(groups.values())


async def test_members_are_found_by_id_and_by_name_card_in_joined_groups_only(world):
    alice, bob, outsider = await world.users("alice", "Zbob", "outsider")
    group = await world.group(alice, members=[bob])
    other = await world.group(bob)
    card = world.name("Ucard")
    await bob.call("setGroupMemberInfo", groupID=group, userID=bob.user, nameCard=card)
    for client in (alice, bob):
        assert await found(client, bob.user) == set(), "members are matched on request only"
        assert group in await found(client, bob.user, matchFields=["memberUserID"])
        assert await found(client, card, matchFields=["memberNameCard"]) == {group}
        assert await found(client, card.lower(), matchFields=["memberNameCard", "memberUserID"]) == {group}
        assert await found(client, card.lower(), matchFields=["memberNameCard"], ignoreCase=False) == set()
        assert await found(client, card, matchFields=["groupName", "groupID", "memberUserID"]) == set()
    assert await found(alice, bob.user, matchFields=["memberUserID"]) == {group}
    assert await found(bob, bob.user, matchFields=["memberUserID"]) == {group, other}
    for field in ("memberUserID", "memberNameCard"):
        for keyword in (bob.user, card):
            assert await found(outsider, keyword, matchFields=[field]) == set()


async def test_who_has_left_is_found_no_more(world):
    alice, bob = await world.users("alice", "Ybob")
    group = await world.group(alice, members=[bob])
    card = world.name("Ycard")
    await alice.call("setGroupMemberInfo", groupID=group, userID=bob.user, nameCard=card)
    assert await found(alice, card, matchFields=["memberNameCard"]) == {group}
    await bob.call("quitGroup", groupID=group)
    assert await found(alice, card, matchFields=["memberNameCard"]) == set()
    assert await found(alice, bob.user, matchFields=["memberUserID"]) == set()
    assert await found(bob, alice.user, matchFields=["memberUserID"]) == set()


async def test_invisible_members_are_found_by_managers_only(world):
    """With isMemberVisible false only managers may list or read other members (Protocol.md, "Member
    lists")."""
    group, people = await world.group_of("Public", isMemberVisible=False)
    target = await world.user("Xtarget")
    await target.call("joinGroup", groupID=group)
    card = world.name("Xcard")
    await target.call("setGroupMemberInfo", groupID=group, userID=target.user, nameCard=card)
    for field, keyword in (("memberUserID", target.user), ("memberNameCard", card)):
        for role in ("owner", "admin"):
            assert await found(people[role], keyword, matchFields=[field]) == {group}
        for role in ("member", "outsider"):
            assert await found(people[role], keyword, matchFields=[field]) == set()


async def test_among_invisible_members_one_finds_oneself(world):
    """The rule is about other members: one's own userID and name card match in a joined group as
    always."""
    alice, bob = await world.users("alice", "Vbob")
    group = await world.group(alice, members=[bob], isMemberVisible=False)
    await bob.call("setGroupMemberInfo", groupID=group, userID=bob.user, nameCard=(card := world.name("Vcard")))
    assert await found(bob, bob.user, matchFields=["memberUserID"]) == {group}
    assert await found(bob, card, matchFields=["memberNameCard"]) == {group}


# Which groups

@pytest.mark.parametrize("groupType, searchable", [("Work", False), ("Public", True), ("Meeting", True), ("AVChatRoom", False)])
async def test_joined_groups_and_searchable_ones(world, groupType, searchable):
    group, people = await world.group_of(groupType, groupName=(word := world.name("Jgrp")))
    for role, client in people.items():
        assert await found(client, word) == ({group} if searchable or role != "outsider" else set()), role


@pytest.mark.parametrize("groupType", ["Public", "Meeting"])
async def test_a_group_that_is_not_searchable_is_found_by_members_only(world, groupType):
    group, people = await world.group_of(groupType, groupName=(word := world.name("Hgrp")), isSearchable=False)
    for role, client in people.items():
        assert await found(client, word) == (set() if role == "outsider" else {group})
        assert await found(client, group, matchFields=["groupID"]) == (set() if role == "outsider" else {group})
    await people["owner"].call("setGroupInfo", groupID=group, isSearchable=True)
    assert await found(people["outsider"], word) == {group}
    await people["owner"].call("setGroupInfo", groupID=group, isSearchable=False)
    assert await found(people["outsider"], word) == set()


async def test_strangers_get_the_public_fields_and_members_everything(world):
    group, people = await world.group_of("Public", groupName=(word := world.name("Fgrp")), introduction="i",
                                         notification="for members", customInfo={"k": "v"})
    await people["owner"].call("sendGroupTextMessage", groupID=group, text="for members")
    for role, client in people.items():
        (row,) = (await client.call("searchGroups", keywordList=[word]))["groupList"]
        assert row == await info_of(client, group)
        assert (set(row) == PUBLIC_FIELDS) == (role == "outsider")
        assert ("selfInfo" in row) == (role != "outsider")


async def test_changes_are_seen_at_once(world):
    alice, bob = await world.users("alice", "bob")
    old, new = world.name("Oldie"), world.name("Newie")
    group = await named(world, alice, old)
    assert await found(bob, old) == {group}
    await alice.call("setGroupInfo", groupID=group, groupName=new)
    assert await found(bob, old) == set() and await found(bob, new) == {group}
    await alice.call("dismissGroup", groupID=group)
    for client in (alice, bob):
        assert await found(client, new) == set() and await found(client, group) == set()


async def test_who_has_quit_a_hidden_group_finds_it_no_more(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob], groupName=(word := world.name("Kgrp")), isSearchable=False)
    assert await found(bob, word) == {group}
    await bob.call("quitGroup", groupID=group)
    assert await found(bob, word) == set()


async def test_as_user_finds_what_the_user_finds(server, world):
    alice, bob = await world.users("alice", "bob")
    word = world.name("Rgrp")
    hidden, public = await named(world, alice, word, "Work"), await named(world, alice, word)

    def ids(**params):
        return {row["groupID"] for row in done(server, "searchGroups", keywordList=[word], **params)["groupList"]}

    assert ids(asUser=alice.user) == {hidden, public}
    assert ids(asUser=bob.user) == {public}
    assert public in ids()


# Pages and parameters

@pytest.mark.parametrize("count", [1, 7, 20, 50])
async def test_pages_until_next_seq_is_zero(world, count):
    alice, bob = await world.users("alice", "bob")
    word = world.name("Pgrp") + "."
    groups = {await named(world, alice if n % 2 else bob, f"{word}{n}") for n in range(23)}
    for client in (alice, bob):
        assert await found(client, word, count=count) == groups
    answer = await bob.call("searchGroups", keywordList=[word])
    assert len(answer["groupList"]) == 20 and answer["nextSeq"] != 0, "20 without count"
    rest = await bob.call("searchGroups", keywordList=[word], nextSeq=answer["nextSeq"])
    assert len(rest["groupList"]) == 3 and rest["nextSeq"] == 0


async def test_hidden_groups_between_do_not_end_the_pages(world):
    """Many groups that the caller may not see stand between those it may."""
    alice, bob = await world.users("alice", "bob")
    word, seen = world.name("Bgrp") + ".", set()
    for n in range(30):
        group = await named(world, alice, f"{word}{n}", "Public" if n % 10 == 9 else "Work")
        if n % 10 == 9:
            seen.add(group)
    for count in (1, 2, 20):
        assert await found(bob, word, count=count) == seen


async def test_groups_made_meanwhile_bring_nobody_twice(world):
    alice = await world.user("alice")
    word, seen, nextSeq = world.name("Mgrp") + ".", [], 0
    groups = {await named(world, alice, f"{word}{n}") for n in range(9)}
    for _ in range(20):
        answer = await alice.call("searchGroups", keywordList=[word], count=2, nextSeq=nextSeq)
        seen += [row["groupID"] for row in answer["groupList"]]
        nextSeq = answer["nextSeq"]
        if nextSeq == 0:
            break
        await named(world, alice, f"{word}new")
    assert nextSeq == 0 and len(seen) == len(set(seen)) and groups <= set(seen)


async def test_the_parameters(world):
    alice = await world.user("alice")
    assert (await alice.refused(-32602, "searchGroups"))["field"] == "keywordList"
    await alice.refused(-32602, "searchGroups", keywordList="x")
    await alice.refused(-32602, "searchGroups", keywordList=[1])
    await alice.refused(-32602, "searchGroups", keywordList=["x"], ignoreCase="yes")
    await alice.refused(-32602, "searchGroups", keywordList=["x"], matchFields="groupName")
    for wrong in ({"keywordList": []}, {"keywordList": list("abcdef")}, {"keywordList": ["é" * 256 + "x"]},
                  {"matchFields": ["introduction"]}, {"matchFields": ["groupName", ""]},
                  {"count": 0}, {"count": 51}, {"count": -1}):
        await alice.refused(10004, "searchGroups", **{"keywordList": ["x"], **wrong})
    assert await found(alice, "é" * 256) == set()


async def test_many_searches_at_once_are_answered_or_put_off(world):
    """Searches wait for one another in a bounded line, 10002 behind it; nothing else waits for
    them."""
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob], groupName=(word := world.name("Lgrp")))
    searches = [await alice.start("searchGroups", keywordList=[word]) for _ in range(40)]
    assert (await bob.call("getGroupsInfo", groupIDList=[group]))["resultList"][0]["code"] == 0
    answers = await within(asyncio.gather(*searches), 60)
    pages = [answer["result"]["groupList"] for answer in answers if "result" in answer]
    assert pages and all([row["groupID"] for row in page] == [group] for page in pages)
    errors = [answer["error"] for answer in answers if "error" in answer]
    assert all(error["code"] == 10002 and error["data"]["temporary"] for error in errors), errors
    assert await found(alice, word) == {group}


async def test_a_search_outlives_the_server(make_server, make_world):
    own = make_server()
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob], groupName="Salamander", isSearchable=False)
    await alice.call("setGroupMemberInfo", groupID=group, userID=bob.user, nameCard="Newt")
    room = await world.group(alice, "AVChatRoom", [bob], groupName="Salamanders live")
    own.kill()
    own.start()
    world.clients.clear()
    bob, outsider = await world.session(bob.user), await world.user("outsider")
    assert await found(bob, "salamander") == {group, room}
    assert await found(bob, "newt", matchFields=["memberNameCard"]) == {group}
    assert await found(outsider, "salamander") == set()
