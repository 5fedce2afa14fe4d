"""The application's backend (POST /rpc), and answers that come in pages."""

from .client import Refused
from .waiting import within
from .world import info_of


def done(server, method, /, **params):
    """The result of an administrator's call, which must succeed."""
    answer = server.rpc(method, **params)
    assert "result" in answer, f"{method} answered {answer}"
    return answer["result"]


def denied(server, code, method, /, **params):
    """Demands that an administrator's call is answered with this error code; gives the error's
    data."""
    answer = server.rpc(method, **params)
    assert answer.get("error", {}).get("code") == code, f"{method} answered {answer}, not {code}"
    return answer["error"]["data"]


async def all_of(client, method, key, /, **params):
    """The rows of every page; demands that no page is longer than `count` and that the pages
    end."""
    rows, nextSeq = [], 0
    for _ in range(1000):
        answer = await client.call(method, nextSeq=nextSeq, **params)
        assert len(answer[key]) <= params.get("count", 200), answer
        rows += answer[key]
        nextSeq = answer["nextSeq"]
        if nextSeq == 0:
            return rows
    raise AssertionError(f"{method} does not end; {len(rows)} rows so far")


async def unread_of(client, group):
    """The unread count of one group; demands that GroupInfo says the same."""
    answer = await client.call("getGroupUnreadCount", groupIDList=[group])
    (row,) = answer["groups"]
    assert row["groupID"] == group and answer["totalCount"] == row["unreadCount"], answer
    assert (await info_of(client, group))["selfInfo"]["unreadCount"] == row["unreadCount"]
    return row["unreadCount"]


async def notifications_of(client, group=None):
    """The system notifications of a user, oldest first; of one group, when it is named."""
    rows = await all_of(client, "getSystemNotificationList", "notificationList", count=100)
    return [row for row in reversed(rows) if group in (None, row["groupID"])]


async def all_answers(client, calls):
    """Sends these (method, params) at once; gives each one's result, or the `Refused` it was
    answered with."""
    under_way = [await client.start(method, **params) for method, params in calls]
    answers = []
    for (method, _), future in zip(calls, under_way):
        frame = await within(future, 60)
        answers.append(Refused(method, frame["error"]) if "error" in frame else frame["result"])
    return answers


async def lost(world, client):
    """Ends a client's TCP connection without a close frame, and waits until no node has the session
    any more."""
    client.socket.transport.abort()
    await client.close()
    session, own = client.welcome["sessionID"], world.server
    question = {"jsonrpc": "2.0", "id": 1, "method": "listSessions", "params": {"userID": client.user}}

    def ended(address):
        rows = own.post_rpc(question, address=address).json()["result"]["sessionList"]
        return session not in [row["sessionID"] for row in rows]

    # The node of the session tells the others that it has ended before it answers them.
    for address in own.node_addresses:
        own.wait_until(lambda: ended(address), f"the session of {client.user} has ended at {address}")
