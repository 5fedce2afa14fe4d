"""The policy fields, their values, defaults and rights (Protocol.md, "Policies")."""
import pytest

from harness.client import Refused, has
from harness.world import info_of

TYPES = ["Work", "Public", "Meeting", "AVChatRoom"]

# field: (its values, {type: (default, may it be changed?)}): Protocol.md, "Policies".
TABLE = [
    ("joinMode", ["Any", "Auth", "Forbid"], [("Forbid", False), ("Auth", True), ("Any", True), ("Any", True)]),
    ("inviteMode", ["Any", "Admin", "Nobody"], [("Any", True), ("Nobody", True), ("Nobody", True), ("Nobody", False)]),
    ("beInviteMode", ["None", "Auth"], [("None", True), ("None", True), ("None", True), ("None", False)]),
    ("updateInfoMode", ["Any", "Admin", "Owner"], [("Any", True), ("Admin", True), ("Admin", True), ("Owner", True)]),
    ("updateCustomMode", ["Any", "Admin", "Owner"], [("Any", True), ("Admin", True), ("Admin", True), ("Owner", True)]),
    ("ownerQuitMode", ["Transfer", "Forbid"], [("Transfer", True), ("Forbid", True), ("Forbid", True), ("Forbid", False)]),
    ("memberChangeNotification", [True, False], [(True, True), (True, True), (False, True), (True, True)]),
    ("isSearchable", [True, False], [(False, False), (True, True), (True, True), (False, False)]),
    ("isMemberVisible", [True, False], [(True, True), (True, True), (True, True), (True, True)]),
    ("historyVisibility", ["Joined", "All"], [("Joined", True), ("Joined", True), ("All", True), ("All", False)]),
    ("slowMode", [0, 1, 86400], [(0, True), (0, True), (0, True), (0, True)]),
    ("attributeMode", ["Any", "Holder"], [("Any", False), ("Any", False), ("Any", False), ("Any", True)]),
]
POLICIES = {field: (values, dict(zip(TYPES, cells))) for field, values, cells in TABLE}
CASES = [(groupType, field) for groupType in TYPES for field in POLICIES]


@pytest.mark.parametrize("groupType", TYPES)
async def test_every_field_has_its_default(world, groupType):
    alice = await world.user("alice")
    group = (await alice.call("createGroup", groupType=groupType, groupName="g"))["groupID"]
    info = await info_of(alice, group)
    defaults = {field: of_type[groupType][0] for field, (_, of_type) in POLICIES.items()}
    assert {field: info.get(field) for field in POLICIES} == defaults


@pytest.mark.parametrize("groupType, field", CASES)
async def test_a_field_is_changed_where_the_table_says_s_and_fixed_elsewhere(world, groupType, field):
    alice = await world.user("alice")
    values, of_type = POLICIES[field]
    default, settable = of_type[groupType]
    group = (await alice.call("createGroup", groupType=groupType, groupName="g"))["groupID"]
    for value in [*values, default]:
        if settable or value == default:
            assert await alice.call("setGroupInfo", groupID=group, **{field: value}) == {}
            assert (await info_of(alice, group))[field] == value
        else:
            await alice.refused(10007, "setGroupInfo", groupID=group, **{field: value})
            assert (await info_of(alice, group))[field] == default


@pytest.mark.parametrize("groupType, field", CASES)
async def test_a_field_at_creation_follows_the_same_table(world, groupType, field):
    alice = await world.user("alice")
    values, of_type = POLICIES[field]
    default, settable = of_type[groupType]
    for value in values:
        params = {"groupType": groupType, "groupName": "g", field: value}
        if settable or value == default:
            group = (await alice.call("createGroup", **params))["groupID"]
            assert (await info_of(alice, group))[field] == value
        else:
            await alice.refused(10007, "createGroup", **params)


@pytest.mark.parametrize("field", POLICIES)
async def test_a_value_outside_the_list_is_refused_before_rights(world, field):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "Public", [bob])
    code, wrong = {
        "slowMode": (10004, [-1, 86401]),
        **dict.fromkeys(["memberChangeNotification", "isSearchable", "isMemberVisible"], (-32602, ["true", 1])),
    }.get(field, (10004, ["any", "", "Everybody"]))
    for value in wrong:
        await alice.refused(code, "setGroupInfo", groupID=group, **{field: value})
        await bob.refused(code, "setGroupInfo", groupID=group, **{field: value})
        await alice.refused(code, "createGroup", groupType="Work", groupName="g", **{field: value})


RANK = {"outsider": 0, "member": 1, "admin": 2, "owner": 3}
MODES = {"Any": 1, "Admin": 2, "Owner": 3}
INFO_FIELDS = ["groupName", "introduction", "notification", "faceURL"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("groupType", TYPES)
async def test_update_info_mode_decides_who_edits_the_texts(world, groupType, mode):
    group, people = await world.group_of(groupType, updateInfoMode=mode, updateCustomMode="Owner")
    for role, client in people.items():
        for field in INFO_FIELDS:
            if RANK[role] >= MODES[mode]:
                await client.call("setGroupInfo", groupID=group, **{field: f"by {role}"})
            else:
                await client.refused(10007, "setGroupInfo", groupID=group, **{field: f"by {role}"})
            info = await info_of(people["owner"], group)
            assert (info[field] == f"by {role}") == (RANK[role] >= MODES[mode])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("groupType", TYPES)
async def test_update_custom_mode_decides_who_edits_custom_info(world, groupType, mode):
    group, people = await world.group_of(groupType, updateCustomMode=mode, updateInfoMode="Owner")
    for role, client in people.items():
        if RANK[role] >= MODES[mode]:
            await client.call("setGroupInfo", groupID=group, customInfo={role: "x"})
        else:
            await client.refused(10007, "setGroupInfo", groupID=group, customInfo={role: "x"})
        assert (role in (await info_of(people["owner"], group))["customInfo"]) == (RANK[role] >= MODES[mode])


POLICY_EDITORS = {"Work": 3, "Public": 2, "Meeting": 2, "AVChatRoom": 3}


@pytest.mark.parametrize("groupType", TYPES)
async def test_who_edits_policy_fields(world, groupType):
    """Owner in Work and AVChatRoom, Admin in Public and Meeting."""
    group, people = await world.group_of(groupType)
    for role, client in people.items():
        for field, (values, of_type) in POLICIES.items():
            default, settable = of_type[groupType]
            other = next(value for value in values if value != default) if settable else default
            if RANK[role] >= POLICY_EDITORS[groupType]:
                await client.call("setGroupInfo", groupID=group, **{field: other})
                await client.call("setGroupInfo", groupID=group, **{field: default})
            else:
                await client.refused(10007, "setGroupInfo", groupID=group, **{field: other})


@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting"])
async def test_who_edits_max_member_num(world, groupType):
    group, people = await world.group_of(groupType)
    for role, client in people.items():
        if RANK[role] >= POLICY_EDITORS[groupType]:
            await client.call("setGroupInfo", groupID=group, maxMemberNum=100 + RANK[role])
        else:
            await client.refused(10007, "setGroupInfo", groupID=group, maxMemberNum=100)


async def test_a_call_is_all_or_nothing_each_field_under_its_own_row(world):
    """In a Work group a member may edit the name (updateInfoMode Any) but not the policy."""
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "Work", [bob])
    before = await info_of(alice, group)
    await bob.refused(10007, "setGroupInfo", groupID=group, groupName="new", inviteMode="Nobody")
    await bob.refused(10007, "setGroupInfo", groupID=group, groupName="new", maxMemberNum=50)
    await alice.refused(10007, "setGroupInfo", groupID=group, groupName="new", joinMode="Any")
    await alice.refused(10038, "setGroupInfo", groupID=group, groupName="new", maxMemberNum=1)
    await alice.refused(10004, "setGroupInfo", groupID=group, groupName="new", customInfo={"a b": "x"})
    assert await info_of(alice, group) == before
    await bob.quiet("onGroupInfoChanged", group=group)


@pytest.mark.parametrize("groupType", TYPES)
async def test_fixed_fields_stay_fixed_for_an_application_administrator(server, world, groupType):
    """An application administrator is not bound by policies (Protocol.md, "Rights")."""
    alice = await world.user("alice")
    group = await world.group(alice, groupType)
    for field, (values, of_type) in POLICIES.items():
        default, settable = of_type[groupType]
        other = next(value for value in values if value != default)
        answer = server.rpc("setGroupInfo", groupID=group, **{field: other})
        assert answer.get("error", {}).get("code") == (None if settable else 10007), field


@pytest.mark.parametrize("groupType", TYPES)
async def test_is_member_visible_false_leaves_the_lists_to_managers(world, groupType):
    """With isMemberVisible false only managers may list or read other members (Protocol.md, "Member
    lists")."""
    group, people = await world.group_of(groupType, isMemberVisible=False)
    for role, client in people.items():
        calls = [
            ("getGroupMemberList", {"groupID": group}),
            ("getGroupMembersInfo", {"groupID": group, "userIDList": [people["owner"].user]}),
        ]
        for method, params in calls:
            try:
                await client.call(method, **params)
                assert RANK[role] >= 2, (role, method)
            except Refused as refusal:
                assert RANK[role] < 2 and refusal.code == 10007, (role, method)


async def test_the_tables_are_told_as_data(world):
    """getServerInfo.groupTypes (Protocol.md, "Server information")."""
    alice = await world.user("alice")
    info = await alice.call("getServerInfo")
    assert info["protocol"] == "throng.v1" and info["name"] and info["version"]
    assert len(info["groupTypes"]) == 5
    wanted = has(**{"limits.requestBurst": 100000, "limits.revokeWindow": 120, "limits.sendQueueBytes": 1048576,
                    "limits.statusSubscriptions": 300, "limits.signalMembers": 500})
    assert wanted(info["limits"]), info["limits"]
    policies = {row["groupType"]: row["policy"] for row in info["groupTypes"]}
    assert policies["Work"]["slowMode"] == {"default": 0, "settable": True, "min": 0, "max": 86400}
    for groupType in TYPES:
        told = {"default": "Any", "settable": groupType == "AVChatRoom", "values": ["Any", "Holder"]}
        assert policies[groupType]["attributeMode"] == told
    assert policies["BChatRoom"] == {}


async def test_attribute_mode_is_a_choice_wherever_attributes_are(make_server, make_world):
    world = make_world(make_server({"attributes.groupTypes": "Work,Meeting"}))
    alice = await world.user("alice")
    for groupType in TYPES:
        group = await world.group(alice, groupType)
        if groupType in ("Work", "Meeting"):
            await alice.call("setGroupInfo", groupID=group, attributeMode="Holder")
        else:
            await alice.refused(10007, "setGroupInfo", groupID=group, attributeMode="Holder")
        expected = "Holder" if groupType in ("Work", "Meeting") else "Any"
        assert (await info_of(alice, group))["attributeMode"] == expected


@pytest.mark.parametrize("groupType", TYPES)
async def test_a_change_of_slow_mode_is_told_as_a_number(world, groupType):
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, groupType, [bob])
    await alice.call("setGroupInfo", groupID=group, slowMode=30)
    entry = {"type": "slowMode", "value": 30}
    await bob.expect("onGroupInfoChanged", groupID=group, changeInfoList=[entry])
    assert (await info_of(bob, group))["slowMode"] == 30
    await alice.call("setGroupInfo", groupID=group, slowMode=30)
    await bob.quiet("onGroupInfoChanged", group=group)
    await carol.quiet("onGroupInfoChanged", group=group)
