"""The console beside a server at work: charts, nodes, busy groups, actions, and a live trace (Protocol.md,
"Observation" and "Pages"). Screenshots are in the test's directory; THRONG_SCREENSHOTS names another."""
import asyncio
import json
import os
import re
from pathlib import Path

import pytest

from harness.postgresql import PostgreSQL
from harness.tokens import make_token
from harness.world import eventually

KEY = "an-api-key-of-the-live-tests-0123456789"


async def sign_in(browser, own, view, frozen=False):
    page = await browser.open(f"http://{own.internal_address}/console#{view}", frozen=frozen)
    await page.write("#credential", KEY)
    await page.click("#sign-in-form button")
    await page.until("!document.querySelector('#console').hidden")
    return page


async def read_overview(page):
    """Lets the overview of a frozen page read once more; the list of groups is the last that it reads."""
    groups = "document.querySelector('#active-groups').firstElementChild"
    await page.run(f"{groups}.isOld = true")
    await page.advance(seconds=2)
    await page.until(f"!{groups}.isOld")


async def shots(page, tmp_path, name):
    """The page as people see it: wide and narrow, light and dark."""
    place = Path(os.environ.get("THRONG_SCREENSHOTS") or tmp_path / "screenshots")
    place.mkdir(parents=True, exist_ok=True)
    for width, height, scheme in ((1280, 1000, "light"), (1280, 1000, "dark"), (390, 844, "light"), (390, 844, "dark")):
        await page.show_as(width, height, scheme)
        await page.screenshot(place / f"{name}-{width}-{scheme}.png")
    await page.show_as()


class Busy:
    """A server with a live room and a group, and two of its three users. Its time stands still."""

    def __init__(self, own, alice, bob):
        self.own, self.alice, self.bob = own, alice, bob

    async def talk(self, times=4):
        """Messages in the live room, after once more than it delivers, and one in the group."""
        self.bob.forget()
        sent = [await self.alice.start("sendGroupTextMessage", groupID="busy-room", text="a secret text", priority=priority)
                for priority in ("Lowest", "Low", "Normal", "High") * times]
        assert all("result" in answer for answer in await asyncio.gather(*sent))
        await self.bob.expect("onRecvNewMessage", groupID="busy-room")
        await self.bob.call("sendGroupTextMessage", groupID="calm-club", text="another secret text")


@pytest.fixture
async def busy(make_server, make_world):
    own = make_server({"admin.apiKey": KEY, "limits.avChatRoom.messagesPerSecond": 5}, frozen=True)
    world = make_world(own)
    alice, bob, carol = [await world.session(name) for name in ("alice", "bob", "carol")]
    await world.group(alice, "AVChatRoom", members=[bob, carol], groupID="busy-room")
    await world.group(alice, members=[bob], groupID="calm-club")
    # The notices of who came have left.
    await own.advance(seconds=5)
    return Busy(own, alice, bob)


async def done(own, method, /, **params):
    """The result of an administrator's call."""
    answer = await asyncio.to_thread(own.rpc, method, **params)
    assert "error" not in answer, answer
    return answer["result"]


async def traced(own, trace, is_enough):
    """The entries of a trace from its begin on, as soon as they are enough."""
    seen, position = [], 0

    async def is_there():
        nonlocal position
        page = await done(own, "getTrace", traceID=trace["traceID"], nextSeq=position)
        assert page["lost"] == 0 and page["endTime"] == trace["endTime"] and page["nextSeq"] != 0
        seen.extend(page["entryList"])
        position = page["nextSeq"]
        return is_enough(seen)

    await eventually(is_there, True)
    return seen


def kinds(entries):
    return {entry["kind"] for entry in entries}


def of_kind(kind, entries):
    return [entry for entry in entries if entry["kind"] == kind]


# The methods


async def test_a_trace_has_what_its_user_does_and_never_contents(busy):
    trace = await done(busy.own, "trace", userID="bob", duration=60)
    await busy.talk()
    seen = await traced(busy.own, trace, lambda entries: "sendGroupTextMessage" in {entry["name"] for entry in of_kind("request", entries)}
                        and "busy-room" in {entry["groupID"] for entry in of_kind("event", entries)})
    # The administrator's own call names the user, too.
    (request,) = [entry for entry in of_kind("request", seen) if entry["name"] != "trace"]
    assert {key: request[key] for key in ("userID", "groupID", "name", "code")} == {
        "userID": "bob", "groupID": "calm-club", "name": "sendGroupTextMessage", "code": 0}
    # The time stands still.
    assert request["microseconds"] == 0 and request["bytes"] > 0
    assert "onRecvNewMessage" in {entry["name"] for entry in of_kind("event", seen)}
    assert "secret" not in json.dumps(seen)
    assert await done(busy.own, "endTrace", traceID=trace["traceID"]) == {}
    for method in ("getTrace", "endTrace"):
        assert (await asyncio.to_thread(busy.own.rpc, method, traceID=trace["traceID"]))["error"]["code"] == 10004


async def test_a_trace_names_unknown_parameters(busy):
    trace = await done(busy.own, "trace", userID="bob", duration=60)
    await busy.bob.call("getGroupMemberList", groupID="calm-club", filtr="a secret")
    seen = await traced(
        busy.own, trace, lambda entries: "getGroupMemberList" in {entry["name"] for entry in of_kind("request", entries)})
    (request,) = [entry for entry in seen if entry["name"] == "getGroupMemberList"]
    assert request["unknownParameters"] == "filtr (the nearest is filter)" and "a secret" not in str(seen)


async def test_a_trace_of_a_group_has_nothing_of_others(busy):
    trace = await done(busy.own, "trace", groupID="calm-club")
    await busy.talk()
    await busy.bob.refused(10007, "dismissGroup", groupID="calm-club")
    seen = await traced(
        busy.own, trace, lambda entries: "event" in kinds(entries) and "dismissGroup" in {entry["name"] for entry in entries})
    assert {entry["groupID"] for entry in seen} == {"calm-club"}
    (refused,) = [entry for entry in seen if entry["name"] == "dismissGroup"]
    assert refused["code"] == 10007 and refused["userID"] == "bob" and refused["sessionID"]


async def test_a_trace_sees_a_sign_in_a_close_and_an_administrator(make_server, make_world):
    own = make_server()
    trace = await done(own, "trace", userID="dora")
    dora = await make_world(own).session("dora")
    await done(own, "setUserInfo", userID="dora", nickName="D")
    await done(own, "kickUser", userID="dora")
    await dora.closed(4503)
    seen = await traced(own, trace, lambda entries: {"signIn", "close"} <= kinds(entries))
    assert [entry["code"] for entry in of_kind("close", seen)] == [4503]
    assert {"setUserInfo", "kickUser"} <= {entry["name"] for entry in seen}
    assert make_token("dora").split(".")[0] not in json.dumps(seen), "the token of the sign-in"


async def test_a_trace_ends_by_itself(busy):
    trace = await done(busy.own, "trace", userID="bob", duration=1)
    await busy.talk(times=1)
    await busy.own.advance(seconds=0.9)
    assert (await done(busy.own, "getTrace", traceID=trace["traceID"]))["nextSeq"] > 0
    await busy.own.advance(seconds=0.2)
    await busy.talk(times=1)
    page = await done(busy.own, "getTrace", traceID=trace["traceID"])
    assert page["nextSeq"] == 0 and page["entryList"]
    assert all(entry["time"] < trace["endTime"] for entry in page["entryList"])


def test_what_is_no_subject_is_refused(server):
    for params in ({}, {"userID": "a", "groupID": "b"}, {"groupID": ""}, {"userID": "a b"}, {"userID": "a", "duration": 601}):
        assert server.rpc("trace", **params)["error"]["code"] in (-32602, 10004, 10015), params
    for method in ("getTrace", "endTrace"):
        assert server.rpc(method, traceID="unknown")["error"]["code"] == 10004


async def test_users_have_none_of_these_methods(make_server, make_world):
    alice = await make_world(make_server()).user("alice")
    for method in ("trace", "getTrace", "endTrace", "listActiveGroups", "listAdministratorActions"):
        await alice.refused(-32601, method, userID="bob", traceID="x")


async def test_the_busiest_group_comes_first(busy):
    await busy.talk(times=1)
    await busy.own.advance(seconds=1)
    groups = (await done(busy.own, "listActiveGroups"))["groupList"]
    assert [[group[key] for key in ("groupID", "events", "connections", "deliveries")] for group in groups] == [
        ["busy-room", 4, 3, 12], ["calm-club", 1, 2, 2]]
    assert (await done(busy.own, "listActiveGroups", count=1))["groupList"] == groups[:1]
    await busy.own.advance(seconds=2)
    assert (await done(busy.own, "listActiveGroups"))["groupList"] == []


async def test_actions_of_administrators_are_kept_the_newest_first(make_server):
    own = make_server({"admin.apiKey": KEY}, frozen=True)
    assert await done(own, "listAdministratorActions") == {"actionList": [], "nextSeq": 0}
    await done(own, "createGroup", groupType="Public", groupName="g", groupID="g", ownerUserID="olga")
    await own.advance(seconds=1)
    own.rpc("dismissGroup", groupID="nowhere")
    await done(own, "getStats")
    actions = (await done(own, "listAdministratorActions"))["actionList"]
    assert [(action["method"], action["code"], action.get("groupID")) for action in actions] == [
        ("dismissGroup", 10010, "nowhere"), ("createGroup", 0, "g")]
    assert all(action["by"] for action in actions) and actions[0]["time"] == actions[1]["time"] + 1000
    page = await done(own, "listAdministratorActions", count=1)
    assert page["actionList"] == actions[:1]
    assert await done(own, "listAdministratorActions", nextSeq=page["nextSeq"]) == {"actionList": actions[1:], "nextSeq": 0}


# The page


@pytest.mark.one_process("the page has charts of shards, too")
async def test_the_overview_is_alive(busy, browser, tmp_path):
    own = busy.own
    page = await sign_in(browser, own, "overview", frozen=True)
    await page.run("addEventListener('securitypolicyviolation', (event) => (window.violation = event.violatedDirective))")
    drawn = await page.run("[...document.querySelectorAll('#charts article')].map((one) => one.dataset.chart)")
    assert drawn == ["connections", "messages", "deliveries", "sends", "drops", "lag", "commits", "webhooks"]
    # The first reading has nothing to compare with; each later one is a point of every line.
    await page.sees("Nothing has happened in the last second.", "#active-groups")
    for points in range(1, 4):
        # A loop tells of its lag by a timer of the system's.
        ticks = own.metric_grows("throng_loop_lag_seconds_count", lambda more: more > 0)
        with ticks, own.metric_grows("throng_messages_delivered_total", 11):
            await busy.talk()
            await own.advance(seconds=2)
        await read_overview(page)
        assert await page.run("[...document.querySelectorAll('[data-chart] path.line-0')].map((one) =>"
                              " one.getAttribute('d').split('L').length - 1)") == [points] * 8
    says = dict(await page.run("[...document.querySelectorAll('[data-chart] svg')].map((one) => one.ariaLabel.split(': '))"))
    assert says["Connections"] == "connections 3, sessions 3"
    assert says["Messages in"] == "accepted 8.5/s, delivered 5.5/s"
    assert says["Dropped, by priority"] == "High 0/s, Normal 0.5/s, Low 1.5/s, Lowest 1/s"
    assert re.fullmatch("deliveries [0-9.]*[1-9][0-9.]*/s", says["Messages out"])
    assert re.match("p99 [0-9.]*[1-9]", says["Time of a send"])
    assert says["Webhooks pending"] == "pending 0"
    await busy.talk()
    await own.advance(seconds=1)
    await read_overview(page)
    assert "busy-room" in await page.text("#active-groups")
    await done(own, "createGroup", groupType="Public", groupName="g", groupID="made-here", ownerUserID="olga")
    await page.run("location.hash = '#groups'")
    await page.sees("calm-club", "#groups-table")
    await page.run("location.hash = '#overview'")
    await page.sees("made-here", "#actions")
    await page.demand_usable()
    await shots(page, tmp_path, "overview")
    assert await page.run("window.violation") is None
    await page.click("#sign-out")
    assert "busy-room" not in await page.run("document.querySelector('#console').textContent")


async def test_numbers_are_no_older_than_five_seconds(busy, browser):
    own = busy.own
    await done(own, "setGroupCounters", groupID="calm-club", counters={"likes": 1})
    page = await sign_in(browser, own, "groups", frozen=True)
    members = "document.querySelectorAll('[data-group=calm-club] td')[3].innerText"
    await page.until(f"{members} === '2'")
    await page.sees("2", "#groups-total")
    await done(own, "joinGroup", asUser="carol", groupID="calm-club")
    await done(own, "createGroup", groupType="Work", groupName="g", groupID="third", ownerUserID="olga")
    await page.advance(seconds=5)
    await page.until(f"{members} === '3'")
    await page.sees("3", "#groups-total")
    await page.sees("1 Work", "#stats")
    await page.run("location.hash = '#group/calm-club'")
    await page.sees("3, 3 online", "#info")
    await page.until("document.querySelector('#counters .numeric')?.innerText === '1'")
    await page.run("document.querySelector('#counters tr button').focus()")
    await done(own, "quitGroup", asUser="carol", groupID="calm-club")
    await done(own, "setGroupCounters", groupID="calm-club", counters={"likes": 1234})
    await page.advance(seconds=5)
    await page.sees("2, 2 online", "#info")
    await page.until("document.querySelector('#counters .numeric').innerText === '1,234'")
    # What was read again has not taken the focus away, and the button knows the new value.
    assert await page.run("document.activeElement === document.querySelector('#counters tr button')")
    await page.press("Enter", 13)
    await page.until("document.querySelector('dialog [name=value]')?.value === '1234'")


async def test_numbers_that_have_become_old_are_called_so(make_server, browser):
    own = make_server({"admin.apiKey": KEY})
    page = await sign_in(browser, own, "groups", frozen=True)
    await page.sees("No groups", "#groups-table")
    is_fresh = "document.querySelector('#numbers-fault').hidden"
    # An answer that waits.
    await page.run("void (window.ask = fetch, window.fetch = (...all) => new Promise((go) =>"
                   " (window.release = () => go(ask(...all)))))")
    await page.advance(seconds=7)
    await page.sees("The numbers here are old. The server has not answered yet.", "#numbers-fault")
    await page.run("void (window.fetch = ask, release())")
    await page.until(is_fresh)
    # No server.
    await page.run("void (window.fetch = async () => { throw new TypeError('away'); })")
    await page.advance(seconds=5)
    await page.sees("The server cannot be reached", "#numbers-fault")
    await page.run("void (window.fetch = ask)")
    await page.advance(seconds=5)
    await page.until(is_fresh)


@pytest.fixture
def database():
    """The URL of an empty database of the test's own."""
    try:
        server = PostgreSQL()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    yield f"postgres://throng@/postgres?host={server.directory}"
    server.stop()


async def test_the_nodes_of_a_cluster_and_their_shards(make_server, database, browser, tmp_path):
    settings = {"admin.apiKey": KEY, "cluster.enabled": "true", "store.url": database}
    first = make_server({**settings, "cluster.name": "eu-1", "cluster.address": "10.0.0.5:8081"})
    page = await sign_in(browser, first, "overview")
    await page.sees("eu-1", "#nodes-list")
    await page.sees("1,024", "#nodes-list td:nth-child(4)")
    for words in ("10.0.0.5:8081", "which answers here", "s ago", "serving"):
        await page.sees(words, "#nodes-list tbody tr")
    await page.sees("Every shard has an owner.", "#ownerless")
    shards = "document.querySelector('[data-chart=shards] svg').getAttribute('aria-label')"
    await page.until(f"{shards} === 'Shards with an owner: shards 1,024'")
    second = make_server({**settings, "cluster.name": "eu-2"})
    await page.sees("eu-2", "#nodes-list")
    # The charts are those of both, whichever of them answers.
    nodes = "document.querySelector('[data-chart=nodes] svg').getAttribute('aria-label')"
    await page.until(f"{nodes} === 'Nodes that answer: nodes 2'")
    await page.until(f"{shards} === 'Shards with an owner: shards 1,024'")
    await page.until("!document.querySelector('#nodes-list tr:last-child td:nth-child(4)').innerText.endsWith('1,024')")
    await page.demand_usable()
    await page.run("document.querySelector('#nodes').scrollIntoView()")
    await shots(page, tmp_path, "nodes")
    assert await asyncio.to_thread(second.stop) == 0
    await page.until("!document.querySelector('#nodes-list').innerText.includes('eu-2')")


@pytest.mark.one_process("it is not alone")
async def test_a_server_that_is_alone_shows_no_nodes(busy, browser):
    page = await sign_in(browser, busy.own, "overview")
    await page.until("document.querySelector('#active-groups').innerText")
    assert await page.run("document.querySelector('#nodes').hidden && !document.querySelector('[data-chart=shards]')")


async def test_a_trace_is_begun_and_ended_by_keyboard(busy, browser, tmp_path):
    page = await sign_in(browser, busy.own, "trace", frozen=True)
    await page.until("!document.querySelector('#trace').hidden")
    await page.run("document.querySelector('#trace-id').focus()")
    await page.write("#trace-id", "bob")
    await page.press("Enter", 13)
    await page.sees("Tracing bob", "#trace-state")
    await busy.talk()
    await page.advance(seconds=2)
    await page.sees("sendGroupTextMessage", "#trace-entries")
    await page.sees("onRecvNewMessage", "#trace-entries")
    assert "secret" not in await page.text()
    await page.demand_usable()
    await shots(page, tmp_path, "trace")
    # From the field by Tab over the duration and the first button.
    for expected in ("trace-duration", "", "trace-end"):
        await page.press("Tab", 9)
        assert await page.run("document.activeElement.id") == expected
    await page.press("Enter", 13)
    await page.until("document.querySelector('#trace-end').hidden")
    await page.sees("The trace of bob has ended", "#trace-state")

    async def actions():
        return [action["method"] for action in (await done(busy.own, "listAdministratorActions", count=2))["actionList"]]
    await eventually(actions, ["endTrace", "trace"])


async def test_a_trace_that_has_run_out_is_told(busy, browser):
    page = await sign_in(browser, busy.own, "trace", frozen=True)
    await page.until("!document.querySelector('#trace').hidden")
    await page.run("document.querySelector('#trace-duration').append(new Option('1 second', '1', true, true))")
    await page.write("#trace-id", "bob")
    await page.click("#trace-form .primary")
    await page.sees("Tracing bob", "#trace-state")
    await busy.own.advance(seconds=1)
    await page.advance(seconds=2)
    await page.sees("The trace of bob has ended", "#trace-state")
    assert await page.run("document.querySelector('#trace-end').hidden")


async def test_a_trace_that_cannot_be_is_told(busy, browser):
    page = await sign_in(browser, busy.own, "trace")
    await page.write("#trace-id", "a b")
    await page.click("#trace-form .primary")
    await page.sees("10004", "#trace-fault")
