"""One list of scenarios for every client library (harness/driven.py): what Protocol.md, "Reconnecting", "Close codes"
and "Repeated sends" ask of a client, through a proxy that cuts on command. Those of stores are in test_client_storage.py,
those of streams in test_client_streams.py."""
import asyncio
import json
import re

import pytest

from harness.client import has
from harness.client_scene import Peer
from harness.driven import Unanswered, clients_with
from harness.tokens import OTHER_SECRET, expiry_of, make_token

# Tests/ThrongClientTests prove the same of ThrongClient: each of these tests names its own.
with_clock = pytest.mark.parametrize("spawn", clients_with("clock"), indirect=True)


# Connecting


async def test_connect(scene):
    """A session, calls with typed errors, messages in both directions, and the end."""
    here = await scene()
    client = here.client
    assert client.told("ready")[0]["isFirst"] is True and client.told("ready")[0]["groups"] == []
    group = await here.group()
    await here.say(group, "hello")
    assert (await client.expect("onRecvNewMessage", groupID=group))["message"]["text"] == "hello"
    message = await client.do("send", groupID=group, text="hello yourself")
    assert message["state"] == "sending"
    stored = await client.settled(message)
    assert stored["state"] == "stored" and stored["seq"] > 0
    got = await here.other.expect("onRecvNewMessage", groupID=group)
    assert got["message"]["clientMsgID"] == message["clientMsgID"] and got["message"]["msgID"] == stored["msgID"]
    with pytest.raises(Unanswered) as refused:
        await client.call("joinGroup", groupID="no-such-group")
    assert refused.value.error["code"] == 10010 and refused.value.error["temporary"] is False
    failed = await client.settled(await client.do("send", groupID="no-such-group", text="to nobody"))
    assert failed["state"] == "failed" and failed["error"]["code"] == 10010
    await here.demand_view(group)
    await client.do("logout")
    await client.expect("state", state="closed")
    # That of `demand_view` is still there.
    await asyncio.to_thread(
        here.own.wait_until, lambda: len(here.own.rpc("listSessions", userID=here.user)["result"]["sessionList"]) == 1, "one session")
    with pytest.raises(Unanswered) as closed:
        await client.call("ping")
    assert closed.value.error["reason"] == "Closed"


async def test_it_sends_no_unknown_parameters(scene):
    """A strict server takes all that the client sends by itself: signing in, sending, coming back."""
    here = await scene({"strictParameters": "true", "log.level": "debug"})
    group = await here.group()
    message = await here.client.do("send", groupID=group, text="before")
    assert (await here.client.settled(message))["state"] == "stored"
    await here.lose()
    await here.say(group, "meanwhile")
    await here.come_back()
    await here.demand_view(group)
    assert "is no parameter of" not in here.own.log and "is no member of a request" not in here.own.log


async def test_a_bad_token_ends_it(scene):
    here = await scene(token=False)
    await here.client.open(here.proxy.url, make_token("user", secret=OTHER_SECRET))
    closed = await here.client.expect("state", state="closed")
    assert closed["code"] == 4500 and closed["error"]["code"] == 70009
    assert len(here.proxy.links) == 1


async def test_the_address_of_http_stands_for_that_of_the_websocket(spawn, peer):
    _, url = await peer()
    client = await spawn()
    await client.sign_in(url.replace("ws:", "HTTP:", 1), "a token")


async def test_an_address_that_is_none_ends_it(spawn):
    """It says what an address is such as, and nothing that may be secret in this one."""
    client = await spawn()
    await client.open("ftp://me:secret@chat.test/ws?token=secret", "a token")
    closed = await client.expect("state", state="closed")
    assert closed["reason"] == "not a WebSocket's address: ftp://chat.test/ws; one is such as wss://chat.example/ws"
    assert closed["code"] == 0


@pytest.mark.parametrize("what", ["token", "positions"])
async def test_what_no_server_would_take_ends_it(spawn, peer, what):
    class Odd(Peer):
        def answer(self, request):
            if request["method"] != "getJoinedGroupList":
                return super().answer(request)
            return {"result": {"groupList": [GROUP], "leftGroupIDList": [], "nextSeq": 0}}

    too_long = "x" * 70_000
    one, url = await peer(kind=Odd)
    client = await spawn()
    positions = [{"groupID": "group", "epoch": too_long, "seq": 1, "changeSeq": 0}] if what == "positions" else []
    await client.open(url, too_long if what == "token" else "a token", positions=positions)
    closed = await client.expect("state", state="closed")
    assert closed["error"]["reason"] == "TooLarge" and what in closed["reason"]
    assert len(one.tokens) == (1 if what == "positions" else 0)


async def test_calls_wait_for_the_connection(scene):
    """Calls that were not sent wait; a call that was sent and not answered is said to be unknown; nothing is lost in silence."""
    here = await scene()
    group = await here.group()
    here.proxy.hold("to client")
    sent = await here.client.begin("call", method="setGroupMemberInfo",
                                   params={"groupID": group, "userID": here.user, "nameCard": "Alice"})
    await here.proxy.holds("to client", b'"result":{}')
    await here.lose()
    here.proxy.hold()
    with pytest.raises(Unanswered) as lost:
        await here.client.ended(sent, "a call whose answer is lost")
    assert lost.value.error["reason"] == "ConnectionLost"
    waiting = await here.client.begin("call", method="getGroupsInfo", params={"groupIDList": [group]})
    with pytest.raises(Unanswered) as refused:
        await here.client.do("call", method="ping", params={}, queue=False)
    assert refused.value.error["reason"] == "NotConnected"
    await here.come_back()
    answer = await here.client.ended(waiting, "a call that waited")
    assert answer["resultList"][0]["info"]["selfInfo"]["nameCard"] == "Alice"


async def test_calls_that_wait_have_a_bound(scene):
    here = await scene(queueLimit=2)
    # With a connection they leave at once.
    online = [await here.client.begin("call", method="ping", params={}) for _ in range(5)]
    for call in online:
        await here.client.ended(call, "a call that leaves at once")
    await here.lose()
    waiting = [await here.client.begin("call", method="ping", params={}) for _ in range(3)]
    with pytest.raises(Unanswered) as refused:
        await here.client.ended(waiting.pop(), "a call beyond the bound")
    assert refused.value.error["reason"] == "QueueFull"
    await here.come_back()
    for call in waiting:
        await here.client.ended(call, "a call that waited")


# Presence, signals, slow mode, blocks


ROW = {"userID": "friend", "isOnline": True, "platformList": ["Web"], "customStatus": "", "lastOnlineTime": 0}


async def test_statuses_are_watched_across_connections(scene):
    """Rows come from the answer and from events, and after a reconnection again; a user who is watched no longer is not
    heard of."""
    here = await scene({"presence.grace": "0s"})
    client, friend = here.client, here.world.name("friend")
    await client.do("watch", userIDList=[friend])
    news = await client.expect("status")
    assert news == {"userList": [], "unknownUserIDList": [friend]}
    session = await here.world.session(friend)
    await client.expect("status", userList=lambda rows: [(row["userID"], row["isOnline"]) for row in rows] == [(friend, True)])
    await session.call("setSelfStatus", customStatus="at lunch")
    await client.expect("status", userList=lambda rows: [row["customStatus"] for row in rows] == ["at lunch"])
    assert (await client.do("statusOf", userID=friend))["customStatus"] == "at lunch"
    await here.lose()
    await session.call("setSelfStatus", customStatus="back")
    await here.come_back()
    await client.expect("status", userList=lambda rows: [row["customStatus"] for row in rows] == ["back"])
    await client.do("unwatch")
    assert await client.do("statusOf", userID=friend) is None
    other = await here.world.user("other-friend")
    # It is asked for behind the unsubscription.
    await client.do("watch", userIDList=[other.user])
    await client.expect("status", userList=lambda rows: [row["userID"] for row in rows] == [other.user])
    client.forget()
    await session.call("setSelfStatus", customStatus="unheard")
    await other.call("setSelfStatus", customStatus="heard")
    await client.expect("status", userList=lambda rows: [row["customStatus"] for row in rows] == ["heard"])
    assert not client.told("onUsersStatusChanged", userList=lambda rows: any(row["userID"] == friend for row in rows))


async def test_a_hundred_users_are_watched_with_one_request(spawn, peer):
    """A hundred and one with two, one after the other."""
    asked = []

    class Watched(Peer):
        def answer(self, request):
            if request["method"] != "subscribeUsersStatus":
                return super().answer(request)
            asked.append(request["params"]["userIDList"])
            return {"result": {"userList": []}}

    one, url = await peer(kind=Watched)
    client = await spawn()
    users = [f"user-{number:03}" for number in range(101)]
    await client.sign_in(url, "a token")
    await client.do("watch", userIDList=users)
    await client.until(lambda: sum(map(len, asked)) == 101, "all asked for")
    assert sorted(map(len, asked)) == [1, 100] and sorted(asked[0] + asked[1]) == users
    await client.until(lambda: len(client.told("status")) == 2, "both told")


async def test_a_row_that_is_older_than_its_event_is_none(spawn, peer):
    """An answer that was under way as an event came has nothing to say of that event's user."""
    class Crossed(Peer):
        async def handle(self, socket):
            async for text in socket:
                request = json.loads(text)
                if request["method"] == "subscribeUsersStatus":
                    event = {"opTime": 1, "userList": [{**ROW, "customStatus": "newer"}]}
                    await socket.send(json.dumps({"jsonrpc": "2.0", "method": "onUsersStatusChanged", "params": event}))
                await socket.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], **self.answer(request)}))

        def answer(self, request):
            if request["method"] != "subscribeUsersStatus":
                return super().answer(request)
            return {"result": {"userList": [{**ROW, "customStatus": "older"}, {**ROW, "userID": "other"}]}}

    _, url = await peer(kind=Crossed)
    client = await spawn()
    await client.sign_in(url, "a token")
    await client.do("watch", userIDList=["friend", "other"])
    await client.expect("status", userList=lambda rows: [row["userID"] for row in rows] == ["other"])
    assert (await client.do("statusOf", userID="friend"))["customStatus"] == "newer"
    assert [row["customStatus"] for news in client.told("status") for row in news["userList"]] == ["newer", ""]


async def test_more_users_than_the_server_allows_are_said_not_to_be_watched(scene):
    here = await scene({"limits.statusSubscriptions": "1"})
    await here.client.do("watch", userIDList=["one", "two"])
    failed = await here.client.expect("watchFailed")
    assert failed["error"]["code"] == 10060 and sorted(failed["userIDList"]) == ["one", "two"]
    await here.client.do("watch", userIDList=["one"])
    await here.client.expect("status", unknownUserIDList=["one"])


async def test_a_refusal_for_now_is_asked_again(spawn, peer):
    busy = {"error": {"code": 7008, "message": "busy", "data": {"temporary": True, "retryAfterMs": 1}}}
    rows = {"result": {"userList": [ROW]}}
    _, url = await peer(replies={"subscribeUsersStatus": [busy, busy, rows]})
    client = await spawn()
    await client.sign_in(url, "a token", random=0)
    await client.do("watch", userIDList=["friend"])
    await client.expect("status", userList=[ROW])
    assert not client.told("watchFailed")


async def test_signals(scene):
    """A signal is told to the others, and never sent a second time; a hint is sent once in three seconds."""
    here = await scene()
    group = await here.group()
    await here.client.do("signal", groupID=group, name="wave", data="1")
    got = await here.other.expect("onGroupSignal", groupID=group)
    assert (got["name"], got["data"], got["sender"]) == ("wave", "1", here.user)
    await here.other.call("sendGroupSignal", groupID=group, name="back")
    assert (await here.client.expect("onGroupSignal", groupID=group))["sender"] == here.other.user
    for _ in range(3):
        await here.client.do("typing", groupID=group)
    await here.client.do("signal", groupID=group, name="end")
    await here.other.expect("onGroupSignal", groupID=group, name="typing")
    await here.other.expect("onGroupSignal", groupID=group, name="end")
    await here.other.quiet("onGroupSignal", group)
    await here.lose()
    with pytest.raises(Unanswered) as refused:
        await here.client.do("signal", groupID=group, name="late")
    assert refused.value.error["reason"] == "NotConnected"
    await here.come_back()
    await here.client.do("signal", groupID=group, name="after")
    await here.other.expect("onGroupSignal", groupID=group, name="after")
    await here.other.quiet("onGroupSignal", group)


async def test_slow_mode_holds_up_its_group_alone(spawn, peer):
    """A message that the group does not take yet waits; messages to other groups do not."""
    wait = {"error": {"code": 10023, "message": "slow mode", "data": {"temporary": True, "retryAfterMs": 60_000}}}
    sent = []

    class Slow(Peer):
        def answer(self, request):
            if request["method"] != "sendGroupTextMessage":
                return super().answer(request)
            sent.append(request["params"]["groupID"])
            return wait if sent[-1] == "slow" else {"result": {"msgID": f"m{len(sent)}", "seq": 1, "timestamp": 1, "status": "Stored"}}

    _, url = await peer(kind=Slow)
    client = await spawn()
    await client.sign_in(url, "a token", random=0)
    slow = await client.do("send", groupID="slow", text="first")
    await client.until(lambda: sent == ["slow"], "the refusal")
    await client.settled(await client.do("send", groupID="quick", text="second"))
    again = await client.do("send", groupID="slow", text="third")
    await client.settled(await client.do("send", groupID="quick", text="fourth"))
    assert sent == ["slow", "quick", "quick"], "no second try before the minute is over"
    assert await client.do("mayWrite", groupID="slow") is False and await client.do("mayWrite", groupID="quick") is True
    assert all(one["state"] == "sending" for one in client.told("message", clientMsgID=slow["clientMsgID"]))
    assert all(one["state"] == "sending" for one in client.told("message", clientMsgID=again["clientMsgID"]))


async def test_a_wait_of_hours_is_the_users(spawn, peer):
    wait = {"error": {"code": 10023, "message": "slow mode", "data": {"temporary": True, "retryAfterMs": 3_600_000}}}
    _, url = await peer(replies={"sendGroupTextMessage": [wait]})
    client = await spawn()
    await client.sign_in(url, "a token")
    failed = await client.settled(await client.do("send", groupID="slow", text="now or never"))
    assert failed["state"] == "failed" and failed["error"]["code"] == 10023 and failed["error"]["retryAfterMs"] == 3_600_000
    assert await client.do("mayWrite", groupID="slow") is False


async def test_a_block_is_final(scene):
    here = await scene()
    assert "result" in here.own.rpc("blockUser", userID=here.user, reason="spam")
    kicked = await here.client.expect("onKickedOffline")
    assert (kicked["reason"], kicked["message"]) == ("Blocked", "spam")
    assert (await here.client.expect("state", state="closed"))["code"] == 4503
    await here.client.open(here.proxy.url, here.token())
    closed = await here.client.expect("state", state="closed")
    assert closed["code"] == 4500 and closed["error"]["code"] == 70020


@pytest.mark.parametrize("temporary", [False, True])
async def test_a_block_that_is_temporary_is_not(spawn, peer, temporary):
    """As long as the user is being deleted, a later sign-in may succeed."""
    blocked = {"code": 70020, "message": "blocked", "data": {"temporary": temporary, "retryAfterMs": 0}}
    one, url = await peer(login_error=blocked, code=4500)
    client = await spawn()
    await client.open(url, "a token", random=0)
    state = await client.expect("state", state=lambda state: state in ("waiting", "closed"))
    assert state["state"] == ("waiting" if temporary else "closed")


async def test_a_revoked_token_is_replaced_once(spawn, peer):
    """A second later, since `iat` has whole seconds; a function whose next token is revoked too has no other."""
    revoked = {"code": 70021, "message": "revoked", "data": {"temporary": False, "retryAfterMs": 0}}
    one, url = await peer(login_error=revoked, code=4500)
    client = await spawn()
    await client.open(url, random=0)
    await client.expect("tokenWanted")
    await client.do("token", token="first")
    waiting = await client.expect("state", state="waiting")
    assert waiting["retryInMs"] == 1_000 and waiting["error"]["code"] == 70021
    await client.do("reconnectNow")
    await client.expect("tokenWanted")
    await client.do("token", token="second")
    assert (await client.expect("state", state="closed"))["error"]["code"] == 70021
    assert one.tokens == ["first", "second"]


async def test_a_fixed_token_that_is_revoked_ends_the_client(spawn, peer):
    revoked = {"code": 70021, "message": "revoked", "data": {"temporary": False, "retryAfterMs": 0}}
    one, url = await peer(login_error=revoked, code=4500)
    client = await spawn()
    await client.open(url, "a token")
    assert (await client.expect("state", state="closed"))["error"]["code"] == 70021
    assert one.tokens == ["a token"]


async def test_the_session_of_a_revoked_token_goes_on_with_another(scene):
    here = await scene(token=False)
    await here.client.open(here.proxy.url, random=0)
    await here.client.expect("tokenWanted")
    await here.client.do("token", token=here.token())
    await here.client.expect("ready")
    now = here.own.rpc("ping")["result"]["serverTime"]
    # As every token of before: the next one is of a later second than this instant.
    assert "result" in here.own.rpc("revokeTokens", userID=here.user, before=now + 1_000)
    assert (await here.client.expect("state", state="waiting"))["code"] == 4006
    await here.client.expect("tokenWanted")
    await here.client.do("token", token=make_token(here.user, iat=now // 1000 + 2))
    assert (await here.client.expect("ready"))["isFirst"] is False


# Close codes and delays


@pytest.mark.parametrize("renews", [False, True])
async def test_close_codes(server, spawn, peer, renews):
    """Each code does what the server's own table says; 4006 comes back with a new token only."""
    table = server.rpc("rpc.discover")["result"]["x-close-codes"]
    assert {4001, 4002, 4003, 4004, 4005, 4006, 4007, 4008, 4500, 4501, 4502, 4503, 1013} < {row["code"] for row in table}
    rows = [(row["code"], row["reconnect"]) for row in table if row["code"] != 1000]
    # A proxy's codes, and ones that a later version may have.
    rows += [(1001, True), (1011, True), (1012, True), (4499, True), (4999, False)]
    client = await spawn()
    for code, reconnects in rows:
        one, url = await peer(code=code)
        await client.open(url, *([] if renews else ["a token"]), random=0)
        if renews:
            await client.expect("tokenWanted")
            await client.do("token", token="first")
        state = await client.expect("state", state=lambda state: state in ("waiting", "closed"))
        assert state["code"] == code
        assert (state["state"] == "waiting") == (reconnects and (code != 4006 or renews)), code
        if code == 4006 and renews:
            await client.expect("tokenWanted")
            await client.do("token", token="second")
            await client.until(lambda: len(one.tokens) == 2, "a second sign-in")
            assert one.tokens == ["first", "second"]
        elif state["state"] == "waiting":
            await client.until(lambda: len(one.tokens) > 1, "a second sign-in")
            assert len(client.told("tokenWanted")) == (1 if renews else 0), "the token is good as it was"
        if state["state"] == "waiting":
            await client.do("close")
            await client.expect("state", state="closed")
        # The next client is another one.
        client.forget()


async def test_the_delay_grows_up_to_its_bound(spawn, through):
    client, proxy = await spawn(), await through("127.0.0.1:1")
    proxy.refuse()
    await client.open(proxy.url, "a token", random=1)
    delays = []
    for _ in range(8):
        delays.append((await client.expect("state", state="waiting"))["retryInMs"])
        await client.do("reconnectNow")
    assert delays == [500, 1000, 2000, 4000, 8000, 16000, 20000, 20000]


async def test_the_delay_is_random_above_its_least(spawn, through):
    client, proxy = await spawn(), await through("127.0.0.1:1")
    proxy.refuse()
    await client.open(proxy.url, "a token")
    delays = []
    for index in range(12):
        delays.append((await client.expect("state", state="waiting"))["retryInMs"])
        assert delays[-1] <= min(20_000, 500 * 2 ** index)
        await client.do("reconnectNow")
    assert len(set(delays[6:])) > 3
    await client.do("close")
    # "Full jitter" above a least delay.
    client = await spawn()
    await client.open(proxy.url, "a token", random=0)
    await client.until(lambda: len(client.told("state", state="waiting")) > 5, "six tries")
    assert {state["retryInMs"] for state in client.told("state", state="waiting")} == {100}


async def test_a_client_says_that_no_server_answers(spawn, peer, through):
    """Where, why and when the next is tried, without what is secret; and that there is one again."""
    _, url = await peer()
    client, proxy = await spawn(), await through(url.split("/")[2])
    proxy.refuse()
    await client.open(f"{proxy.url}?key=secret", "a token", random=1)
    for delay in ("0.5", "1.0"):
        line = (await client.expect("log"))["line"]
        assert re.fullmatch(rf"throng: not connected to {re.escape(proxy.url)}: .*\w.*; next try in {delay} s", line), line
        assert "secret" not in line and "a token" not in line
        await client.do("reconnectNow")
    proxy.refuse(False)
    await client.expect("log", line=f"throng: connected to {proxy.url}")
    await client.do("close")
    await client.expect("state", state="closed")
    assert client.told("log")[-1]["line"] == f"throng: connected to {proxy.url}", "the application knows that it has closed"


async def test_a_client_says_that_the_server_has_ended_it(spawn, peer):
    _, url = await peer(code=4503)
    client = await spawn()
    await client.open(url, "a token")
    await client.expect("state", state="closed")
    assert client.told("log") == [{"line": f"throng: the connection to {url} is closed for good: as the test says (4503)"}]
    # `connect` says why there was no first session.
    client.forget()
    _, url = await peer(login_error={"code": 70009, "message": "no", "data": {"temporary": False}}, code=4500)
    await client.open(url, "a token")
    await client.expect("state", state="closed")
    assert client.told("log") == []


async def test_a_network_that_is_back_ends_only_the_clients_own_delay(spawn, peer, through, request):
    """A browser tells of it by the event `online`."""
    if "throng.js" not in request.node.callspec.id:
        pytest.skip("only browsers tell of their network")
    client, proxy = await spawn(), await through("127.0.0.1:1")
    proxy.refuse()
    await client.open(proxy.url, "a token", random=1)
    for tries in range(1, 8):
        await client.expect("state", state="waiting")
        await client.do("online")
        await proxy.connected(tries + 1)
    await client.do("close")
    _, url = await peer(code=4001, events=[("onServerDraining", {"retryAfterMs": 3_600_000})])
    client = await spawn()
    await client.open(url, "a token", random=0)
    await client.expect("state", state="waiting")
    await client.do("online")
    assert (await client.do("state"))["state"] == "waiting"
    await client.do("pass", seconds=3600)
    await client.do("online")
    await client.until(lambda: len(client.told("state", state="waiting")) == 2, "another session")


@with_clock
async def test_the_wait_that_the_server_asks_for_is_kept(spawn, peer):
    """By an error of `login`, and by onServerDraining. (ConnectionTests.theServersWaitIsKept)"""
    refusal = {"code": 7008, "message": "too fast", "data": {"temporary": True, "retryAfterMs": 1200}}
    for options in ({"code": 4004, "login_error": refusal}, {"code": 4001, "events": [("onServerDraining", {"retryAfterMs": 1200})]}):
        one, url = await peer(**options)
        client = await spawn()
        await client.open(url, "a token", random=0, frozen=True)
        assert (await client.expect("state", state="waiting"))["retryInMs"] == 1200
        await client.do("pass", seconds=1.1)
        assert len(client.told("state", state="connecting")) == 1
        await client.do("pass", seconds=0.2)
        await client.expect("state", state="waiting")
        assert len(one.tokens) == 2


async def test_drain(scene):
    """A server that stops, and the next one: nothing is lost, and the client waits as long as it was asked to."""
    here = await scene({"drain.duration": "10s"}, frozen=True)
    group = await here.group()
    here.own.terminate()
    asked = (await here.client.expect("onServerDraining"))["retryAfterMs"]
    await here.own.advance(seconds=10.2)
    waiting = await here.client.expect("state", state="waiting")
    assert waiting["code"] == 4001 and waiting["retryInMs"] == asked
    message = await here.client.do("send", groupID=group, text="between two servers")
    await asyncio.to_thread(here.own.wait)
    here.own.start()
    here.proxy.target = here.own.address
    await here.come_back()
    assert (await here.client.settled(message))["state"] == "stored"
    await here.demand_view(group)


async def test_restart(scene):
    """The server is killed: what was acknowledged is there, what was not is sent again, once."""
    here = await scene(random=0.1)
    group = await here.group()
    stored = await here.client.settled(await here.client.do("send", groupID=group, text="before"))
    here.own.kill()
    await here.client.expect("state", state="waiting")
    messages = [await here.client.do("send", groupID=group, text=f"while it is away {number}") for number in range(5)]
    here.own.start()
    here.proxy.target = here.own.address
    ready = await here.client.expect("ready")
    assert ready["isFirst"] is False and group in ready["recovered"]
    for message in messages:
        assert (await here.client.settled(message))["state"] == "stored"
    texts = [one["text"] for one in await here.history(group) if one["type"] == "Text"]
    assert texts == ["before"] + [f"while it is away {number}" for number in range(5)] and stored["seq"] > 0
    await here.demand_view(group)


@with_clock
async def test_a_connection_without_a_sign_of_life_is_given_up(scene):
    """(ConnectionTests.silenceIsAskedAboutAndThenGivenUp)"""
    here = await scene({"heartbeat.interval": "20s"}, frozen=True, frozen_client=True, random=1)
    here.proxy.hold("to client", "to server")
    # The client has heard something in the first interval, asks at the end of the second, and waits 10 s for an answer.
    for seconds in (20, 20, 9.9):
        await here.client.do("pass", seconds=seconds)
    assert not here.client.told("state", state="waiting")
    await here.client.do("pass", seconds=0.2)
    assert (await here.client.expect("state", state="waiting"))["code"] == 4003
    here.proxy.hold()
    await here.come_back()


# Tokens


async def test_a_token_is_renewed_before_it_ends(scene):
    here = await scene(token=False, frozen=True)
    client, old, new = here.client, here.token(ttl=50), here.token()
    await client.open(here.proxy.url)
    await client.expect("tokenWanted")
    await client.do("token", token=old)
    await client.expect("ready")
    await here.warned()
    await client.expect("tokenWanted")
    await client.do("token", token=new)
    assert (await client.expect("renewed"))["tokenExpiresAt"] == expiry_of(new)
    await here.own.advance(seconds=60)
    await client.call("ping")
    assert len(here.proxy.links) == 1 and not client.told("state", state="waiting")


@with_clock
async def test_a_token_near_its_end_is_not_asked_for_in_a_row(scene):
    """The server warns of each session with a minute left, also behind a renewal that brought no better token.
    (TokenTests.aTokenThatIsNoBetterIsNotAskedForInARow)"""
    here = await scene(token=False, frozen=True)
    client, only = here.client, here.token(ttl=50)
    await client.open(here.proxy.url, frozen=True)
    for event in ("ready", "renewed"):
        await client.expect("tokenWanted")
        await client.do("token", token=only)
        await client.expect(event)
        await here.warned()
    await client.do("pass", seconds=9.9)
    await client.call("ping")
    assert len(client.told("tokenWanted")) == 2
    await client.do("pass", seconds=0.2)
    await client.expect("tokenWanted")


async def test_a_renewal_that_fails_is_made_up_for(scene):
    """The session ends with 4006, and the next begins with a new token."""
    here = await scene(token=False, frozen=True)
    client = here.client
    await client.open(here.proxy.url, random=0)
    await client.expect("tokenWanted")
    await client.do("token", token=here.token(ttl=2))
    await client.expect("ready")
    await here.warned()
    await client.expect("tokenWanted")
    await client.do("token")
    await client.expect("renewalFailed")
    await here.own.advance(seconds=2.2)
    assert (await client.expect("state", state="waiting"))["code"] == 4006
    await client.expect("tokenWanted")
    await client.do("token", token=here.token())
    await client.until(lambda: len(client.told("ready")) == 2, "two sessions")


async def test_a_renewal_that_comes_too_late_is_used(scene):
    """The token that was asked for meanwhile signs in the next session: it is not asked for again."""
    here = await scene(token=False, frozen=True)
    client = here.client
    await client.open(here.proxy.url, random=0)
    await client.expect("tokenWanted")
    await client.do("token", token=here.token(ttl=2))
    await client.expect("ready")
    await here.warned()
    await client.expect("tokenWanted")
    await here.own.advance(seconds=2.2)
    await client.expect("state", state="waiting", code=4006)
    await client.do("token", token=here.token())
    await client.until(lambda: len(client.told("ready")) == 2, "two sessions")
    assert len(client.told("tokenWanted")) == 2


async def test_a_fixed_token_ends_the_client(scene):
    here = await scene(token=False, frozen=True)
    await here.client.sign_in(here.proxy.url, here.token(ttl=2))
    await here.warned()
    await here.own.advance(seconds=2.2)
    assert (await here.client.expect("state", state="closed"))["code"] == 4006


async def test_an_expired_token_is_replaced_at_sign_in(scene):
    here = await scene(token=False)
    await here.client.open(here.proxy.url, random=0)
    for token in (make_token(here.user, ttl=-60), make_token(here.user)):
        await here.client.expect("tokenWanted")
        await here.client.do("token", token=token)
    await here.client.expect("ready")


async def test_replaced(scene):
    """Another device with the same deviceID takes the session: the client stays away, and says what has become of
    its messages."""
    here = await scene(frozen=True, platform="iOS", deviceID="phone")
    here.proxy.hold("to server")
    message = await here.client.do("send", groupID="a-group", text="too late")
    await here.world.session(here.user, platform="iOS", deviceID="phone")
    assert (await here.client.expect("onKickedOffline"))["reason"] == "OtherDevice"
    # The server does not wait for the client's end of the connection for long: the proxy holds that back, too.
    await here.own.advance(seconds=10)
    assert (await here.client.expect("state", state="closed"))["code"] == 4502
    failed = await here.client.settled(message)
    assert failed["state"] == "failed" and failed["error"]["reason"] == "Closed"
    with pytest.raises(Unanswered) as refused:
        await here.client.do("connect")
    assert refused.value.error["reason"] == "Closed", "a closed client makes no second session"
    assert (await here.client.do("resend", clientMsgID=message["clientMsgID"]))["state"] == "failed"
    assert len(here.client.told("message", state="failed")) == 1, "an application that sends again what fails would not end"
    await here.client.do("reconnectNow")
    assert len(here.proxy.links) == 1


# Sending


@pytest.mark.parametrize("lost", ["to client", "to server"])
async def test_a_cut_in_the_middle_of_a_send(scene, lost):
    """The answer is lost, or the request: the message is there once, and the client knows it."""
    here = await scene()
    group = await here.group()
    here.proxy.hold(lost)
    message = await here.client.do("send", groupID=group, text="once")
    behind = await here.client.do("send", groupID=group, text="behind it")
    await here.proxy.holds(lost, b"Stored" if lost == "to client" else b"")
    await here.lose()
    here.proxy.hold()
    await here.say(group, "in between")
    await here.come_back()
    for one in (message, behind):
        assert (await here.client.settled(one))["state"] == "stored"
    history = await here.history(group)
    assert [one["text"] for one in history if one["sender"] == here.user and one["type"] == "Text"] == ["once", "behind it"]
    await here.demand_view(group)


async def test_a_cut_in_the_middle_of_a_send_to_a_live_room(scene):
    here = await scene()
    group = await here.group("AVChatRoom")
    here.proxy.hold("to client")
    message = await here.client.do("send", groupID=group, text="once")
    await here.proxy.holds("to client", b"Delivered")
    await here.lose()
    here.proxy.hold()
    ready = await here.come_back()
    assert group in ready["notRecovered"]
    assert (await here.client.settled(message))["state"] == "delivered"
    await here.other.round_trip(group)
    assert len(here.other.received("onRecvNewMessage", groupID=group)) == 1


@pytest.mark.parametrize("queued", [True, False])
async def test_an_own_message_that_comes_as_an_event_is_told_as_a_message(spawn, peer, queued):
    """The server kept it back until the connection was cut, and sends it to the session that came after."""
    one, url = await peer(kind=LatePeer, queued=queued)
    client = await spawn()
    await client.open(url, "a token", random=0)
    await client.expect("ready")
    message = await client.do("send", groupID="room", text="mine", clientMsgID="mine")
    assert (await client.settled(message))["state"] == "delivered"
    await client.expect("onRecvNewMessage", message=has(sender="other"))
    assert [event["message"]["sender"] for event in client.told("onRecvNewMessage")] == ["other"]
    assert len(client.told("message", state="delivered")) == 1 and len(one.tokens) == 2


async def test_a_late_answer_is_that_of_its_own_try(spawn, peer):
    """News of a drop may come before the reply, and the application sends again at once."""
    class Hasty(Peer):
        async def handle(self, socket):
            numbers = []
            async for line in socket:
                request = json.loads(line)
                if request["method"] != "sendGroupTextMessage":
                    await socket.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], **self.answer(request)}))
                    continue
                numbers.append(request["id"])
                if len(numbers) == 1:
                    event = {"groupID": "room", "opTime": 1, "msgID": "m1", "clientMsgID": "mine", "reason": "RateLimit", "priority": "Normal"}
                    await socket.send(json.dumps({"jsonrpc": "2.0", "method": "onMessageDropped", "params": event}))
                    continue
                for number, status in zip(numbers, ("Queued", "Dropped")):
                    result = {"msgID": "m1", "timestamp": 1, "status": status}
                    await socket.send(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}))

    _, url = await peer(kind=Hasty)
    client = await spawn()
    await client.sign_in(url, "a token")
    message = await client.do("send", groupID="room", text="hello", clientMsgID="mine")
    assert (await client.settled(message))["state"] == "dropped"
    await client.do("resend", clientMsgID="mine")
    assert (await client.settled(message))["state"] == "dropped"
    await client.call("getJoinedGroupList")
    assert [one["state"] for one in client.told("message")] == ["sending", "dropped", "sending", "dropped"]


async def test_the_end_of_a_client_leaves_what_has_ended(spawn, peer):
    """The news of a drop comes before the reply, which never does."""
    class Hasty(Peer):
        async def handle(self, socket):
            async for line in socket:
                request = json.loads(line)
                frame = {"id": request["id"], **self.answer(request)}
                if request["method"] == "sendGroupTextMessage":
                    event = {"groupID": "room", "opTime": 1, "msgID": "m1", "clientMsgID": "mine", "reason": "RateLimit", "priority": "Normal"}
                    frame = {"method": "onMessageDropped", "params": event}
                await socket.send(json.dumps({"jsonrpc": "2.0", **frame}))

    _, url = await peer(kind=Hasty)
    client = await spawn()
    await client.sign_in(url, "a token")
    message = await client.do("send", groupID="room", text="hello", clientMsgID="mine")
    assert (await client.settled(message))["state"] == "dropped"
    await client.do("close")
    await client.expect("state", state="closed")
    assert [one["state"] for one in client.told("message")] == ["sending", "dropped"]


async def test_a_message_that_has_arrived_is_not_sent_again(spawn, peer):
    """Also where the client has forgotten it."""
    class Counting(Peer):
        sent = []

        def answer(self, request):
            if request["method"] != "sendGroupTextMessage":
                return super().answer(request)
            self.sent.append(request["params"]["clientMsgID"])
            return {"result": {"msgID": "m", "seq": len(self.sent), "timestamp": 1, "status": "Stored"}}

    one, url = await peer(kind=Counting)
    client = await spawn()
    await client.sign_in(url, "a token")
    first = await client.do("send", groupID="group", text="first")
    assert (await client.settled(first))["state"] == "stored"
    for _ in range(32):
        messages = [await client.do("send", groupID="group", text="another") for _ in range(100)]
        await client.settled(messages[-1])
        await client.do("resend", clientMsgID=first["clientMsgID"])
    # An ID of the application's own that is under way, or has arrived.
    for _ in range(2):
        mine = await client.do("send", groupID="group", text="mine", clientMsgID="mine")
    assert (await client.settled(mine))["state"] == "stored"
    assert (await client.do("send", groupID="group", text="mine", clientMsgID="mine"))["state"] == "stored"
    await client.call("ping")
    assert one.sent.count(first["clientMsgID"]) == 1 and len(one.sent) == len(set(one.sent)) == 3202


class LatePeer(Peer):
    """A live room's server: the first connection is cut behind the message, the second begins with it, and with
    another user's of the same clientMsgID."""

    def __init__(self, queued):
        answer = {"result": {"msgID": "m1", "timestamp": 1, "status": "Queued"}} if queued else None
        super().__init__(replies={"sendGroupTextMessage": [answer, {"result": {"msgID": "m1", "timestamp": 1, "status": "Delivered"}}]})

    async def handle(self, socket):
        async for line in socket:
            request = json.loads(line)
            if request["method"] == "sendGroupTextMessage" and len(self.tokens) == 1:
                if answer := self.answer(request):
                    await socket.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}))
                return await socket.close(1012)
            if request["method"] == "getJoinedGroupList" and len(self.tokens) == 2:
                for sender in ("user", "other"):
                    message = {"msgID": "m1", "groupID": "room", "sender": sender, "timestamp": 1, "type": "Text", "text": "mine",
                               "priority": "Normal", "platform": "Web", "clientMsgID": "mine"}
                    event = {"groupID": "room", "opTime": 1, "message": message}
                    await socket.send(json.dumps({"jsonrpc": "2.0", "method": "onRecvNewMessage", "params": event}))
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], **self.answer(request)}))


async def test_a_repeat_that_is_refused_does_not_forget_the_first_try(spawn, peer):
    """A refusal for the rate says nothing of the try that was not answered: it may have been taken. Each later one says
    when the first was."""
    sent = []

    class Silent(Peer):
        async def handle(self, socket):
            async for line in socket:
                request = json.loads(line)
                if answer := self.answer(request):
                    await socket.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}))
                if request["method"] == "sendGroupTextMessage":
                    sent.append(request["params"])
                    # The client comes back when the test says.
                    draining = {"jsonrpc": "2.0", "method": "onServerDraining", "params": {"retryAfterMs": 3_600_000}}
                    await socket.send(json.dumps(draining))
                    return await socket.close(4001)

    unknown = {"error": {"code": 10033, "message": "nothing tells", "data": {"temporary": False, "field": "firstSentAt"}}}
    refusal = {"error": {"code": 7008, "message": "too fast", "data": {"temporary": True, "retryAfterMs": 1}}}
    one, url = await peer(kind=Silent, replies={"sendGroupTextMessage": [None, refusal, unknown]})
    client = await spawn()
    await client.open(url, "a token", random=0)
    message = await client.do("send", groupID="room", text="once")
    for seconds in (0, 300):
        await client.expect("state", state="waiting")
        await client.do("pass", seconds=seconds)
        await client.do("reconnectNow")
    failed = await client.settled(message)
    assert failed["state"] == "failed" and failed["error"]["reason"] == "OutcomeUnknown"
    assert "firstSentAt" not in sent[0] and sent[1]["firstSentAt"] == sent[2]["firstSentAt"]
    # The peer's clock stands still: the client's has gone on by a little.
    assert 1_766_000_000_000 <= sent[1]["firstSentAt"] < 1_766_000_060_000
    assert len({row["clientMsgID"] for row in sent}) == 1


async def test_half_of_a_surrogate_pair_is_sent_as_browsers_do(scene, request):
    """A text that was cut within an emoji: no UTF-8 holds it, and the server would not know whom to answer."""
    here = await scene()
    if "ThrongClient" in request.node.callspec.id:
        pytest.skip("no String of Swift holds one")
    group = await here.group()
    message = await here.client.do("send", groupID=group, text="cut \ud83d")
    assert (await here.client.settled(message))["state"] == "stored"
    assert (await here.other.expect("onRecvNewMessage", groupID=group))["message"]["text"] == "cut \ufffd"
    await here.client.call("setGroupMemberInfo", groupID=group, userID=here.user, nameCard="\udc00\\ud83d")
    (row,) = (await here.client.call("getGroupsInfo", groupIDList=[group]))["resultList"]
    assert row["info"]["selfInfo"]["nameCard"] == "\ufffd\\ud83d"


@pytest.mark.parametrize("lost", ["to client", "to server"])
async def test_an_answer_that_is_lost_for_longer_than_the_server_remembers(scene, lost):
    """Where the history tells, the message is there once; where nothing can tell, it is not sent twice, and the
    application decides."""
    here = await scene({"avChatRoom.offlineGrace": "1h"}, frozen=True)
    group, room = await here.group(), await here.group("AVChatRoom")
    here.proxy.hold(lost)
    told = await here.client.do("send", groupID=group, text="the history tells")
    untold = await here.client.do("send", groupID=room, text="nothing tells")
    # No history holds it.
    passing = await here.client.do("send", groupID=group, text="nor of this", onlineUserOnly=True)
    await here.proxy.holds(lost, b"Delivered" if lost == "to client" else b"", times=2)
    if lost == "to client":
        # The answers are gone for good; an event that comes behind them moves the client's position on.
        here.proxy.hold()
        assert "error" not in here.own.rpc("sendGroupTextMessage", groupID=group, text="behind it")
        await here.client.expect("onRecvNewMessage", groupID=group)
    await here.lose()
    here.proxy.hold()
    await here.own.advance(seconds=301)
    await here.come_back()
    assert (await here.client.settled(told))["state"] == "stored"
    for message in (untold, passing):
        failed = await here.client.settled(message)
        assert failed["state"] == "failed" and failed["error"]["reason"] == "OutcomeUnknown"
    assert [one["text"] for one in await here.history(group) if one["sender"] == here.user and "text" in one] == ["the history tells"]
    await here.client.do("resend", clientMsgID=untold["clientMsgID"])
    await here.client.expect("message", clientMsgID=untold["clientMsgID"], state="delivered")
    await here.other.round_trip(room)
    heard = len(here.other.received("onRecvNewMessage", groupID=room))
    assert heard == (2 if lost == "to client" else 1), "the user wants it sent, whatever became of the first"


async def test_messages_wait_up_to_a_bound(scene):
    here = await scene(queueLimit=5)
    group = await here.group()
    await here.lose()
    messages = [await here.client.do("send", groupID=group, text=str(number)) for number in range(8)]
    assert [one["state"] for one in messages] == ["sending"] * 5 + ["failed"] * 3
    assert messages[-1]["error"]["reason"] == "QueueFull"
    await here.come_back()
    for message in messages[:5]:
        assert (await here.client.settled(message))["state"] == "stored"
    for message in messages[5:]:
        await here.client.do("resend", clientMsgID=message["clientMsgID"])
        await here.client.expect("message", clientMsgID=message["clientMsgID"], state="stored")
    assert [one["text"] for one in await here.history(group) if one["type"] == "Text"] == list("01234567")


@with_clock
async def test_every_message_to_a_busy_room_has_an_end(scene):
    """Delivered or dropped, also those that waited at the server; the other members got the delivered ones.
    (MessageTests.queuedThenDelivered and queuedThenDropped)"""
    here = await scene({"limits.avChatRoom.messagesPerSecond": 5}, frozen=True, frozen_client=True)
    group = await here.group("AVChatRoom")
    # The notice of who came has taken a place.
    await here.own.advance(seconds=2)
    messages = [await here.client.do("send", groupID=group, text=priority, priority=priority)
                for priority in ["Low"] * 20 + ["High"] * 20]
    # 5 leave at once, and 5 wait, whose places those of higher priority take.
    await here.client.until(lambda: len(here.client.told("message", state="dropped")) == 30, "30 dropped")
    # A drop that comes with the answer may be told before it, so those 5 need not have waited for the app.
    assert 5 <= len(here.client.told("message", state="queued")) <= 10
    assert len(here.client.told("onMessageDropped")) == 5
    await here.own.advance(seconds=1)
    await here.client.do("pass", seconds=1.6)
    ends = [(await here.client.settled(message))["state"] for message in messages]
    assert ends == ["delivered"] * 5 + ["dropped"] * 15 + ["delivered"] * 5 + ["dropped"] * 15
    await here.other.round_trip(group)
    received = [event["message"]["text"] for event in here.other.received("onRecvNewMessage", groupID=group)]
    assert received == ["Low"] * 5 + ["High"] * 5


@with_clock
async def test_a_queued_message_has_an_end_where_the_question_about_it_is_refused(spawn, peer):
    """The server tells of drops alone, so the client asks; a refusal, for the rate as a rule, is no answer.
    (MessageTests.aQuestionThatIsRefusedIsAskedAgain)"""
    queued = {"result": {"msgID": "one", "timestamp": 1, "status": "Queued"}}
    refusal = {"error": {"code": 7008, "message": "too fast", "data": {"temporary": True, "retryAfterMs": 2000}}}
    one, url = await peer(replies={"sendGroupTextMessage": [queued], "ping": [refusal, {"result": {"serverTime": 1}}]})
    client = await spawn()
    await client.sign_in(url, "a token", frozen=True)
    await client.do("send", groupID="room", text="hello")
    await client.expect("message", state="queued")
    for seconds, questions in ((1.4, 0), (0.2, 1), (1.8, 1), (0.3, 2)):
        await client.do("pass", seconds=seconds)
        # Its answer comes behind that of the question.
        await client.call("getJoinedGroupList")
        assert len(one.replies["ping"]) == 2 - questions
        assert len(client.told("message", state="delivered")) == questions // 2


async def test_the_request_rate_delays_messages(scene):
    """A message that is refused for the user's rate is sent again when the server says, and arrives once."""
    here = await scene({"limits.requestsPerSecond": 2, "limits.requestBurst": 20}, frozen=True)
    group = await here.group()
    # The sign-in and the group have taken a few of the burst.
    messages = [await here.client.do("send", groupID=group, text=str(number)) for number in range(20)]
    await asyncio.to_thread(
        here.own.metric_becomes, "throng_requests_total", lambda refused: refused > 0, method="sendGroupTextMessage", code="7008")
    await here.own.advance(seconds=10)
    for message in messages:
        assert (await here.client.settled(message))["state"] == "stored"
    page = here.own.rpc("getGroupHistoryMessageList", groupID=group, count=100)["result"]["messageList"]
    texts = [one["text"] for one in page if one["type"] == "Text"]
    assert sorted(texts, key=int) == [str(number) for number in range(20)]


# Resuming


async def test_slow_consumer(scene):
    """A connection that is read too slowly ends with 4002; what it could not take comes with the next."""
    here = await scene({"limits.sendQueueBytes": 65536})
    group = await here.group()
    here.proxy.stall()
    for number in range(4000):
        await here.say(group, f"{number} " + "x" * 12_000)
        if number % 20 == 0 and not here.own.rpc("listSessions", userID=here.user)["result"]["sessionList"]:
            break
    here.proxy.flow()
    await here.client.expect("state", state="waiting")
    here.own.metric_becomes("throng_connections_closed_total", 1, code="4002")
    ready = await here.client.expect("ready")
    assert group in ready["recovered"]
    await here.demand_view(group)


async def change_some(here, group, seqs):
    """An edit, a recall, reactions, a pin: of messages that the client has, or has not."""
    first, second, third, fourth, *_ = seqs
    await here.other.call("modifyGroupMessage", groupID=group, seq=first, text="edited")
    await here.other.call("revokeGroupMessage", groupID=group, seq=second)
    await here.other.call("addMessageReaction", groupID=group, seq=third, reaction="👍")
    await here.other.call("pinGroupMessage", groupID=group, seq=fourth, isPinned=True)


async def test_resume_with_a_gap(scene):
    """More than a page of messages and changes; the view is the server's, whatever came while the rows were on their
    way."""
    here = await scene()
    group = await here.group()
    before = [(await here.say(group, f"before {number}"))["seq"] for number in range(8)]
    await here.client.expect("onRecvNewMessage", message=has(seq=before[-1]))
    await here.lose()
    meanwhile = [(await here.say(group, f"meanwhile {number}"))["seq"] for number in range(230)]
    await change_some(here, group, before)
    await change_some(here, group, meanwhile)
    here.proxy.hold("to client")
    # The proxy keeps the first pages back while more happens, which comes as events.
    await here.reconnect(here.proxy.holds("to client"))
    here.proxy.hold()
    here.proxy.links[-1].writer.write(bytes(here.proxy.links[-1].held["to client"]))
    after = [(await here.say(group, f"after {number}"))["seq"] for number in range(20)]
    await change_some(here, group, before[4:])
    await change_some(here, group, after)
    ready = await here.client.expect("ready")
    assert ready["recovered"] == [group] and not ready["isFirst"]
    rows = here.client.told("sync", groupID=group)
    assert len(rows) >= 3 and all(row["recovered"] for row in rows) and [row["more"] for row in rows][-1] is False
    # The last change: the others' events come before it.
    await here.other.call("addMessageReaction", groupID=group, seq=after[5], reaction="🎉")
    await here.client.expect("onRecvMessageReactionsChanged", seq=after[5])
    await here.demand_view(group)


GROUP = {"groupID": "group", "groupType": "Public", "groupName": "group", "introduction": "", "faceURL": "", "owner": "other",
         "createTime": 1, "memberCount": 2, "onlineCount": 2, "maxMemberNum": 0, "customInfo": {}, "epoch": "one", "lastSeq": 10,
         "changeSeq": 0, "selfInfo": {"role": "Member", "joinTime": 1, "nameCard": "", "muteUntil": 0, "readSeq": 0,
                                      "receiveMessageOpt": "Receive", "unreadCount": 0, "customInfo": {}}}


def text(seq):
    return {"msgID": f"m{seq}", "groupID": "group", "seq": seq, "sender": "other", "timestamp": 1, "type": "Text",
            "text": str(seq), "priority": "Normal", "platform": "Web"}


class BusyPeer(Peer):
    """Sends more events than may wait, before it answers the first syncGroups of a second connection."""

    def __init__(self):
        super().__init__()
        self.asked, self.events = [], [("onRecvNewMessage", {"groupID": "group", "opTime": 1, "message": text(seq)})
                                       for seq in range(11, 10_020)]

    async def handle(self, socket):
        async for line in socket:
            request = json.loads(line)
            if request["method"] == "syncGroups":
                self.asked.append(request["params"]["groups"][0]["seq"])
                for method, params in self.events:
                    await socket.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))
                self.events = []
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], **self.answer(request)}))
            if request["method"] == "getJoinedGroupList" and len(self.tokens) == 1:
                return await socket.close(1001)

    def answer(self, request):
        if request["method"] == "getJoinedGroupList" and len(self.tokens) == 1:
            return {"result": {"groupList": [GROUP], "leftGroupIDList": [], "nextSeq": 0}}
        if request["method"] == "syncGroups":
            seq = request["params"]["groups"][0]["seq"]
            return {"result": {"groups": [{
                "groupID": "group", "code": 0, "epoch": "one", "lastSeq": 10_019, "recovered": True, "changeList": [],
                "changeSeq": 0, "messageList": [text(seq + 1)] if seq == 10 else [], "more": seq == 10}]}}
        return super().answer(request)


async def test_more_events_than_may_wait_are_asked_for_once_more(spawn, peer):
    """Events that wait while a resume is under way have a bound; beyond it the history is read again."""
    one, url = await peer(kind=BusyPeer)
    client = await spawn()
    await client.open(url, "a token", random=0)
    await client.expect("ready", isFirst=True)
    # Ten thousand frames from a server in Python.
    ready = await client.expect("ready", patience=120, isFirst=False)
    assert ready["recovered"] == ["group"] and ready["notRecovered"] == []
    # The page with `more`, the end of the history, and once more for what could not wait.
    assert one.asked == [10, 11, 10_019]
    assert not client.told("onRecvNewMessage"), "all of them are told by the history"


class RefusingPeer(Peer):
    """A member of 51 groups, which two requests resume: the second is refused once, and while the first is asked
    again an event comes that it holds, too."""

    def __init__(self):
        super().__init__()
        self.syncs = 0

    async def handle(self, socket):
        async for line in socket:
            request = json.loads(line)
            if request["method"] == "syncGroups":
                self.syncs += 1
                if self.syncs == 3:
                    event = {"groupID": "group", "opTime": 1, "message": text(11)}
                    await socket.send(json.dumps({"jsonrpc": "2.0", "method": "onRecvNewMessage", "params": event}))
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], **self.answer(request)}))
            if request["method"] == "getJoinedGroupList" and len(self.tokens) == 1:
                return await socket.close(1001)

    def answer(self, request):
        if request["method"] == "getJoinedGroupList" and len(self.tokens) == 1:
            groups = [GROUP, *({**GROUP, "groupID": f"other {number:02}"} for number in range(50))]
            return {"result": {"groupList": groups, "leftGroupIDList": [], "nextSeq": 0}}
        if request["method"] == "syncGroups":
            if self.syncs == 2:
                return {"error": {"code": 10002, "message": "later", "data": {"temporary": True, "retryAfterMs": 1}}}
            return {"result": {"groups": [self.row(one) for one in request["params"]["groups"]]}}
        return super().answer(request)

    def row(self, asked):
        has_news = asked["groupID"] == "group" and self.syncs > 2 and asked["seq"] == 10
        return {"groupID": asked["groupID"], "code": 0, "epoch": "one", "lastSeq": 11 if has_news else asked["seq"],
                "recovered": True, "changeList": [], "changeSeq": 0, "messageList": [text(11)] if has_news else [], "more": False}


async def test_a_resume_that_is_tried_again_tells_nothing_twice(spawn, peer):
    """Groups that the first try has brought into step wait again in the second."""
    one, url = await peer(kind=RefusingPeer)
    client = await spawn()
    await client.open(url, "a token", random=0)
    await client.expect("ready", isFirst=True)
    ready = await client.expect("ready", isFirst=False)
    assert len(ready["recovered"]) == 51 and one.syncs == 4
    assert [seq["seq"] for row in client.told("sync", groupID="group") for seq in row["messageList"]] == [11]
    assert not client.told("onRecvNewMessage")


async def test_events_before_the_first_resume_wait_for_it(spawn, peer):
    """A client that begins at positions: an event that comes before the history must not move the position on."""
    class Early(BusyPeer):
        def __init__(self):
            super().__init__()
            self.tokens = ["as of a session before"]
            self.events = [("onRecvNewMessage", {"groupID": "group", "opTime": 1, "message": text(10_019)})]

        async def handle(self, socket):
            async for line in socket:
                request = json.loads(line)
                if request["method"] == "syncGroups":
                    self.asked.append(request["params"]["groups"][0]["seq"])
                await socket.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], **self.answer(request)}))
                if request["method"] == "login":
                    for method, params in self.events:
                        await socket.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

        def answer(self, request):
            if request["method"] == "getJoinedGroupList":
                return {"result": {"groupList": [GROUP], "leftGroupIDList": [], "nextSeq": 0}}
            return super().answer(request)

    one, url = await peer(kind=Early)
    client = await spawn()
    await client.open(url, "a token", positions=[{"groupID": "group", "epoch": "one", "seq": 10, "changeSeq": 0}])
    await client.expect("ready")
    assert one.asked == [10, 11]
    assert not client.told("onRecvNewMessage"), "the history tells it"


@pytest.mark.parametrize("group", ["new", "x" * 70_000])
async def test_a_group_that_is_entered_while_the_first_resume_is_under_way(spawn, peer, group):
    """It is new to the application, not a group whose history is lost. One with an ID that no request holds is left alone."""
    class Quick(Peer):
        async def handle(self, socket):
            async for line in socket:
                request = json.loads(line)
                if request["method"] == "getJoinedGroupList":
                    entry = {"groupID": group, "opTime": 1, "platform": "Web"}
                    await socket.send(json.dumps({"jsonrpc": "2.0", "method": "onGroupCreated", "params": entry}))
                await socket.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], **self.answer(request)}))

        def answer(self, request):
            if request["method"] != "getGroupsInfo":
                return super().answer(request)
            row = {"groupID": "new", "code": 0, "info": {**GROUP, "groupID": "new"}}
            return {"result": {"resultList": [row]}}

    _, url = await peer(kind=Quick)
    client = await spawn()
    ready = await client.sign_in(url, "a token")
    assert ready["notRecovered"] == ready["recovered"] == [] and not client.told("sync")
    await client.call("getJoinedGroupList")
    assert [one["groupID"] for one in await client.do("positions")] == (["new"] if group == "new" else [])


async def test_a_resume_that_is_cut_goes_on(scene):
    here = await scene()
    group = await here.group()
    await here.lose()
    for number in range(250):
        await here.say(group, f"meanwhile {number}")
    await here.reconnect(here.client.expect("sync", groupID=group, more=True))
    await here.lose()
    for number in range(10):
        await here.say(group, f"again {number}")
    await here.come_back()
    await here.demand_view(group)


async def test_groups_joined_and_left_meanwhile(scene):
    here = await scene()
    kept, left = await here.group(), await here.group()
    room = await here.group("AVChatRoom")
    await here.lose()
    assert "error" not in here.own.rpc("kickGroupMember", groupID=left, userIDList=[here.user])
    joined = await here.world.group(here.other)
    assert "error" not in here.own.rpc("joinGroup", asUser=here.user, groupID=joined)
    ready = await here.come_back()
    assert ready["joined"] == [joined] and ready["left"] == [left]
    assert ready["recovered"] == [kept] and ready["notRecovered"] == [room]
    assert {one["groupID"] for one in await here.client.do("positions")} == {kept, joined}
    await here.say(joined, "welcome")
    await here.client.expect("onRecvNewMessage", groupID=joined)


REMEMBERS = {"avChatRoom.recentMessages": 20}


async def hear(here, room, text):
    """The other says something, and the client is told."""
    message = await here.say(room, text)
    await here.client.expect("onRecvNewMessage", groupID=room, message=has(text=text, seq=message["seq"]))
    return message


async def follow(here, **fields):
    """A live room that the client follows: it knows the room's place."""
    room = await here.group("AVChatRoom", **fields)
    await hear(here, room, "before")
    # Behind the client's own question, which the news of its join has caused.
    await here.client.call("getGroupsInfo", groupIDList=[room])
    return room


async def test_a_live_room_that_remembers_is_recovered(scene):
    """What was said meanwhile comes once, and in order; recalls that were missed as well."""
    here = await scene(REMEMBERS)
    room = await follow(here)
    recalled = await hear(here, room, "to be recalled")
    own = await here.client.settled(await here.client.do("send", groupID=room, text="mine"))
    assert own["state"] == "delivered" and own["seq"] == recalled["seq"] + 1
    await here.lose()
    missed = [await here.say(room, f"missed {number}") for number in range(5)]
    await here.other.call("revokeGroupMessage", groupID=room, msgID=recalled["msgID"])
    ready = await here.come_back()
    assert ready["recovered"] == [room] and ready["notRecovered"] == [] and ready["groups"] == []
    (row,) = here.client.told("sync", groupID=room)
    assert [one["seq"] for one in row["messageList"]] == [one["seq"] for one in missed]
    assert [(one["seq"], one["isRevoked"], one.get("text")) for one in row["changeList"]] == [(recalled["seq"], True, None)]
    assert row["info"]["lastSeq"] == missed[-1]["seq"] and "firstSeq" not in row["info"]
    await hear(here, room, "after")
    texts = [one["message"]["text"] for one in here.client.told("onRecvNewMessage", groupID=room)]
    assert texts == ["before", "to be recalled", "after"], "nothing is told a second time"
    assert await here.client.do("positions") == [], "a room's memory does not outlive its server"


async def test_more_than_a_live_room_remembers_is_said_to_be_lost(scene):
    here = await scene({**REMEMBERS, "limits.avChatRoom.messagesPerSecond": 0})
    room = await follow(here)
    await here.lose()
    for number in range(25):
        last = await here.say(room, f"missed {number}")
    assert (await here.come_back())["notRecovered"] == [room]
    (row,) = here.client.told("sync", groupID=room)
    assert row["recovered"] is False and row["messageList"] == []
    page = await here.client.call("getGroupHistoryMessageList", groupID=room, count=50)
    assert len(page["messageList"]) == 20 and page["messageList"][0]["seq"] == last["seq"]
    await hear(here, room, "after")


async def test_a_cut_in_the_middle_of_a_send_to_a_room_that_remembers(scene):
    """The room's memory brings the answer that was lost: the message is neither sent nor told again."""
    here = await scene(REMEMBERS)
    room = await follow(here)
    here.proxy.hold("to client")
    message = await here.client.do("send", groupID=room, text="once")
    await here.proxy.holds("to client", b"Delivered")
    await here.lose()
    here.proxy.hold()
    assert (await here.come_back())["recovered"] == [room]
    settled = await here.client.settled(message)
    assert settled["state"] == "delivered" and settled["seq"] == 2
    await here.other.round_trip(room)
    assert len(here.other.received("onRecvNewMessage", groupID=room)) == 1
    assert here.client.told("sync", groupID=room)[-1]["messageList"] == []


class ForgetfulPeer(Peer):
    """A server with one live room, whose memory is lost while the connection lives."""

    def __init__(self):
        super().__init__()
        self.epoch, self.lastSeq, self.asked = "one", 10, 0

    async def handle(self, socket):
        async for line in socket:
            request = json.loads(line)
            method = request["method"]
            if method == "getGroupsInfo":
                self.asked += 1
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], **self.answer(request)}))
            if method == "getJoinedGroupList":
                event = {"groupID": "group", "opTime": 1, "memberList": [{"userID": "user"}], "memberCount": 2}
                await socket.send(json.dumps({"jsonrpc": "2.0", "method": "onMemberEnter", "params": event}))
            if method == "ping":
                # Another node leads the room now.
                self.epoch, self.lastSeq = "two", 2
                for seq in (1, 2, 3):
                    event = {"groupID": "group", "opTime": 1, "message": text(seq)}
                    await socket.send(json.dumps({"jsonrpc": "2.0", "method": "onRecvNewMessage", "params": event}))

    def answer(self, request):
        if request["method"] == "getGroupsInfo":
            info = {**GROUP, "groupType": "AVChatRoom", "epoch": self.epoch, "lastSeq": self.lastSeq}
            return {"result": {"resultList": [{"groupID": "group", "code": 0, "message": "", "info": info}]}}
        if request["method"] == "ping":
            return {"result": {"serverTime": 1_766_000_000_000}}
        return super().answer(request)


async def test_a_memory_that_is_lost_while_connected_is_said_to_be_lost(spawn, peer):
    """seq begins anew: the client asks once, and the application is told to read the history."""
    one, url = await peer(kind=ForgetfulPeer)
    client = await spawn()
    await client.sign_in(url, "a token")
    # The place of a room that was entered is read once.
    await client.until(lambda: one.asked == 1, "the place is asked for")
    await client.call("getServerInfo")
    await client.call("ping")
    await client.expect("onRecvNewMessage", message=has(seq=3))
    (row,) = client.told("sync", groupID="group")
    assert row["recovered"] is False and row["info"]["epoch"] == "two"
    assert [event["message"]["seq"] for event in client.told("onRecvNewMessage")] == [3], "the history holds those before"
    assert one.asked == 2


async def test_replies_and_extensions_are_in_the_own_message(scene):
    """An application shows its own message at once, with what it answers and the application's data."""
    here = await scene()
    group = await here.group()
    question = await here.say(group, "who comes?")
    await here.client.expect("onRecvNewMessage", groupID=group)
    message = await here.client.do(
        "send", groupID=group, text="I do", replyTo=question["seq"], extension='{"colour":"red"}', isExcludedFromUnreadCount=True)
    assert message["state"] == "sending" and message["replyTo"] == question["seq"] and message["extension"] == '{"colour":"red"}'
    stored = await here.client.settled(message)
    assert stored["state"] == "stored" and stored["extension"] == '{"colour":"red"}'
    got = (await here.other.expect("onRecvNewMessage", groupID=group, message=has(text="I do")))["message"]
    assert got["replyTo"] == {"seq": question["seq"], "sender": here.other.user} and got["extension"] == '{"colour":"red"}'
    assert got["isExcludedFromUnreadCount"] is True
    refused = await here.client.do("send", groupID=group, text="to nobody", replyTo=10_000)
    failed = await here.client.settled(refused)
    assert failed["state"] == "failed" and failed["error"]["code"] == 10030 and failed["replyTo"] == 10_000


async def test_a_message_for_others_is_no_gap(scene):
    """The seq of a targeted message is passed over: neither told nor said to be lost."""
    here = await scene()
    group = await here.group()
    third = await here.world.user("third")
    await third.call("joinGroup", groupID=group)
    await here.lose()
    targeted = await here.other.call("sendGroupTextMessage", groupID=group, text="for the third", toUserIDList=[third.user])
    await here.say(group, "for all")
    assert (await here.come_back())["recovered"] == [group]
    (row,) = here.client.told("sync", groupID=group)
    assert [one.get("text") for one in row["messageList"] if one["type"] == "Text"] == ["for all"]
    assert targeted["seq"] not in [one["seq"] for one in row["messageList"]]
    await here.demand_view(group)


async def test_a_conversation_is_changed_by_another_session(scene):
    """onConversationChanged comes to the user's other sessions, and the list of groups that a resume tells has it."""
    here = await scene()
    group = await here.group()
    last = (await here.say(group, "to be cleared"))["seq"]
    await here.client.expect("onRecvNewMessage", groupID=group)
    other_device = await here.world.session(here.user, platform="iOS")
    await other_device.call("setConversation", groupID=group, isPinned=True, marks=["work"])
    changed = await here.client.expect("onConversationChanged", groupID=group)
    assert changed["isPinned"] is True and changed["marks"] == ["work"] and "isHidden" not in changed
    await here.lose()
    await other_device.call("setConversation", groupID=group, isPinned=False, isMarkedUnread=True, marks=[])
    assert (await other_device.call("clearGroupHistory", groupID=group))["clearedSeq"] == last
    ready = await here.come_back()
    (info,) = [one for one in ready["groups"] if one["groupID"] == group]
    assert "isPinned" not in info["selfInfo"] and "marks" not in info["selfInfo"]
    assert info["selfInfo"]["isMarkedUnread"] is True and info["firstSeq"] == last + 1
    assert len(here.client.told("onConversationChanged")) == 1, "the list tells what was missed"
    # Neither the session that asked nor anybody else is told.
    for one in (other_device, here.other):
        await one.round_trip(group)
        assert one.received("onConversationChanged") == []


class OvertakenPeer(Peer):
    """Tells of a change of the conversation behind the list that was read before it."""

    async def handle(self, socket):
        async for line in socket:
            request = json.loads(line)
            if request["method"] == "syncGroups":
                change = {"groupID": "group", "opTime": 1, "isPinned": True, "marks": [], "clearedSeq": 10}
                await socket.send(json.dumps({"jsonrpc": "2.0", "method": "onConversationChanged", "params": change}))
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], **self.answer(request)}))

    def answer(self, request):
        if request["method"] == "getJoinedGroupList":
            return {"result": {"groupList": [GROUP], "leftGroupIDList": [], "nextSeq": 0}}
        if request["method"] == "syncGroups":
            return {"result": {"groups": [{"groupID": "group", "code": 0, "epoch": "one", "lastSeq": 10, "recovered": True,
                                           "changeList": [], "changeSeq": 0, "messageList": [], "more": False}]}}
        return super().answer(request)


async def test_the_list_of_groups_has_what_was_told_before_it(spawn, peer):
    _, url = await peer(kind=OvertakenPeer)
    client = await spawn()
    positions = [{"groupID": "group", "epoch": "one", "seq": 10, "changeSeq": 0}]
    ready = await client.sign_in(url, "a token", positions=positions)
    assert [name for name, _ in client.events if name in ("onConversationChanged", "ready")] == ["onConversationChanged", "ready"]
    (info,) = ready["groups"]
    assert info["selfInfo"]["isPinned"] is True and "marks" not in info["selfInfo"] and info["firstSeq"] == 11


async def test_a_live_room_that_has_forgotten_its_member(scene):
    here = await scene({"avChatRoom.offlineGrace": "100ms"})
    room = await here.group("AVChatRoom")
    await here.lose()
    await here.other.expect("onMemberLeave", groupID=room)
    ready = await here.come_back()
    assert ready["left"] == [room] and ready["notRecovered"] == []


@pytest.mark.parametrize("cause", ["epoch", "retention"])
async def test_a_history_that_cannot_be_had_is_said_to_be_lost(scene, cause):
    """recovered:false: the group was disbanded and made again, or its messages were removed."""
    settings = {"history.maxMessages.public": 3} if cause == "retention" else {}
    here = await scene(settings, frozen=cause == "retention")
    group = await here.group(groupID=here.world.name("again"))
    await here.say(group, "old")
    await here.client.expect("onRecvNewMessage", groupID=group)
    await here.lose()
    if cause == "epoch":
        await here.other.call("dismissGroup", groupID=group)
        await here.other.expect("onGroupDismissed", groupID=group)
        fields = {"groupType": "Public", "groupName": "again", "groupID": group, "memberList": [{"userID": here.user}]}
        await here.other.call("createGroup", **fields)
        last = (await here.say(group, "new"))["seq"]
    else:
        for number in range(10):
            last = (await here.say(group, f"new {number}"))["seq"]
        await here.own.advance(seconds=6)
        (row,) = here.own.rpc("getGroupsInfo", groupIDList=[group])["result"]["resultList"]
        assert row["info"]["firstSeq"] == last - 2
    ready = await here.come_back()
    assert ready["notRecovered"] == [group] and ready["recovered"] == []
    assert here.client.told("sync", groupID=group)[-1]["recovered"] is False
    (position,) = [one for one in await here.client.do("positions") if one["groupID"] == group]
    assert position["seq"] == last
    # From there on everything comes again.
    await here.say(group, "newer")
    await here.client.expect("onRecvNewMessage", groupID=group, message=has(text="newer"))
    await here.lose()
    await here.say(group, "newest")
    assert (await here.come_back())["recovered"] == [group]
    assert here.client.told("sync", groupID=group)[-1]["messageList"][0]["text"] == "newest"


async def test_the_next_client_resumes_where_the_last_one_ended(scene, spawn):
    here = await scene()
    group = await here.group()
    await here.say(group, "told")
    await here.client.expect("onRecvNewMessage", groupID=group)
    positions = await here.client.do("positions")
    await here.client.do("close")
    await here.say(group, "missed")
    second = await spawn()
    ready = await second.sign_in(here.proxy.url, make_token(here.user), positions=positions)
    assert ready["isFirst"] is True and ready["recovered"] == [group] and ready["joined"] == []
    (row,) = second.told("sync", groupID=group)
    assert [one["text"] for one in row["messageList"]] == ["missed"]
