"""A cluster of real processes (Operations.md, "Several nodes"): Scripts/cluster with PostgreSQL, NATS, three nodes and HAProxy."""
import asyncio
import json
import os
import re
import signal
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.client import Gone, Refused
from harness.footprint import metric_now
from harness.limits import can_start_clusters
from harness.nodes import SHARDS, asked, share_all
from harness.postgresql import PostgreSQL
from harness.receiver import Receiver
from harness.server import BINARY, CLUSTER, IS_CLUSTER, REPOSITORY, clean_environment, run_throng
from harness.tokens import SECRET, admin_token
from harness.world import eventually, history_of

# Over three nodes the environment names it already.
OWN_BINARY = {} if IS_CLUSTER else {"CLUSTER_BINARY": str(BINARY)}
# The seconds of cluster.leaseDuration.
LEASE = 3
# The after-events of a group that wait when its node ends.
WAITING = 100
pytestmark = pytest.mark.skipif(not can_start_clusters(), reason="PostgreSQL does not work for root, and user namespaces are off")


@pytest.fixture
def cluster(make_cluster):
    """A cluster that stays when one of its nodes ends."""
    return make_cluster({"drain.duration": 2}, CLUSTER_KEEP="1")


async def people_everywhere(own, world, count=12):
    """Sessions on all nodes, which know of all: the balancer chooses at random."""
    people = await world.users(*["user"] * count)
    while not all(await connections_of(own, own.node_addresses, len(people))):
        people.append(await world.user())
    for address in own.node_addresses:
        await asyncio.to_thread(own.metric_becomes, "throng_cluster_sessions", len(people), address)
    return people


async def connections_of(own, addresses, total):
    """How many connections these nodes have, who have so many together."""
    found = []

    def are_counted():
        found[:] = [metric_now(own, "throng_connections", address=address) for address in addresses]
        return sum(found) == total

    await asyncio.to_thread(own.wait_until, are_counted, lambda: f"{total} connections are counted, not {found}")
    return found


def test_the_nodes_share_all_shards_and_tell_about_each_other(cluster):
    def is_well(found):
        return share_all("node1", "node2", "node3")(found) and all(
            node["heartbeatAgeMs"] < 1000 * LEASE and not node["isDraining"] and node["isOnBus"] for node in found["nodes"])

    for address in cluster.node_addresses:
        found = cluster.cluster_becomes(is_well, "all nodes are well and share all shards", address=address)
        assert [node["address"] for node in sorted(found["nodes"], key=lambda node: node["name"])] == cluster.node_addresses
        assert [node["address"] for node in found["nodes"] if node["isOwn"]] == [address]
        cluster.wait_until(lambda: cluster.http("GET", "/readyz", address=address).status == 200, f"{address} is ready")

    arguments = ["--internal-listen", cluster.internal_address, "--data-dir", cluster.data_dir]
    table = run_throng("cluster", "status", *arguments)
    assert table.returncode == 0, table.stderr
    rows = [line.split() for line in table.stdout.splitlines()]
    assert rows[0][:5] == ["name", "number", "address", "release", "shards"]
    assert {row[0]: row[1] for row in rows[1:4]} == {node["name"]: str(node["number"]) for node in found["nodes"]}
    assert sorted(row[0] for row in rows[1:4]) == ["node1", "node2", "node3"]
    assert all(row[-1] == "serving" for row in rows[1:4])
    assert rows[-1] == ["shards", "without", "an", "owner:", "0"]
    printed = json.loads(run_throng("cluster", "status", "--json", *arguments).stdout)
    assert [node["number"] for node in printed["nodes"]] == sorted(node["number"] for node in found["nodes"])


async def test_metrics_of_all_nodes_have_one_text(cluster, make_world):
    """What the console and `throng top` show, whichever node the balancer gives them."""
    people = await people_everywhere(cluster, make_world(cluster))
    numbers = sorted(str(node["number"]) for node in cluster.http("GET", "/cluster").json()["nodes"])

    def text():
        return cluster.http("GET", "/metrics?nodes=all").text

    def connections():
        return dict(re.findall(r'^throng_connections\{instance="(\d+)"\} (\d+)$', text(), re.MULTILINE))
    # A node that does not answer within 2 s is left out.
    await asyncio.to_thread(cluster.wait_until, lambda: sorted(connections()) == numbers, "all nodes answer")
    found = connections()
    assert set(found) <= set(numbers) and all(int(count) for count in found.values())
    await asyncio.to_thread(cluster.wait_until, lambda: sum(map(int, connections().values())) == len(people), "all are counted")
    assert text().count("# TYPE throng_connections ") == 1
    assert "instance=" not in cluster.http("GET", "/metrics").text
    arguments = ["--internal-listen", cluster.internal_address, "--data-dir", cluster.data_dir]
    shown = None

    def shows_all():
        nonlocal shown
        top = run_throng("top", *arguments, "--interval", "0.2", "--count", "2")
        assert top.returncode == 0, top.stderr
        shown = [dict(part.split("=") for part in line.split(" ")) for line in top.stdout.splitlines()]
        assert len(shown) == 2
        return any(line["connections"] == line["sessions"] == str(len(people)) and line["ready"] == "1" for line in shown)

    await asyncio.to_thread(cluster.wait_until, shows_all, lambda: f"it shows the sessions of all nodes: {shown}")


def processes_of(own):
    """All that runs of a cluster: its words name the data directory, or the sockets beside it."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended
        if any(str(own.data_dir).encode() in word for word in words):
            found.append(int(path.parent.name))
    return found


def test_nothing_is_left_behind_a_kill(make_cluster):
    own = make_cluster()
    pids = processes_of(own)
    # The script itself, three nodes and PostgreSQL at least.
    assert own.process.pid in pids and len(pids) >= 5
    own.kill()
    own.wait_until(lambda: not processes_of(own), "the end of all of them")


@pytest.mark.one_process("it has a database of its own")
def test_a_node_whose_lease_cannot_be_renewed_is_not_ready(make_server):
    """Orchestrators and balancers send it nobody: it names what it misses."""
    engine = PostgreSQL()
    try:
        url = f"postgres://throng@/postgres?host={engine.directory}"
        own = make_server({"cluster.enabled": "true", "store.url": url}, binary=BINARY)
        own.wait_until(lambda: own.http("GET", "/readyz").status == 200, "it is ready")
    finally:
        engine.stop()
    said = ""

    def is_not_ready():
        nonlocal said
        answer = own.http("GET", "/readyz")
        said = answer.text
        return answer.status == 503

    own.wait_until(is_not_ready, "the end of its lease")
    # The bus is in the database, too.
    assert "lease" in said or "bus" in said, said
    assert own.http("GET", "/healthz").status == 200 and own.running


def run_script(*words):
    return subprocess.run(
        [str(CLUSTER), *map(str, words)], env=clean_environment(OWN_BINARY), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def test_commands_about_the_store_mean_the_clusters(cluster, tmp_path):
    data = ["--data-dir", cluster.data_dir]
    # An older store of one process lies there, too.
    (cluster.data_dir / "throng.db").write_bytes(b"")
    for command in (["backup", tmp_path / "copy"], ["export", tmp_path / "copy"], ["export", "-"], ["store", "check"]):
        done = run_script(*command, *data)
        assert done.returncode == 1 and "PostgreSQL" in done.stderr and done.stdout == "", (command, done)
    assert not (tmp_path / "copy").exists()
    examined = run_script("doctor", "--internal-listen", cluster.internal_address, *data)
    assert " PostgreSQL " in examined.stdout and "database" not in examined.stdout, examined
    # A store that is named is meant.
    named = run_script("export", tmp_path / "named", "--set", f"store.url=sqlite:{tmp_path / 'other.db'}", *data)
    assert named.returncode == 1 and "PostgreSQL" not in named.stderr, named

    assert cluster.stop() == 0
    for command in (["backup", tmp_path / "copy"], ["export", "-"], ["store", "check"], ["doctor"]):
        done = run_script(*command, f"--data-dir={cluster.data_dir}")
        assert done.returncode == 1 and "start it (Scripts/cluster serve)" in done.stderr and done.stdout == "", (command, done)
    # Others need no store.
    assert run_script("token", "alice", *data).returncode == 0
    assert "usage: throng backup" in run_script("backup", "--help").stdout.lower()


def test_an_address_that_is_taken_ends_the_script(tmp_path):
    """At once, and nothing is made: a client of that address would reach the other process."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        for public, internal in ((address, "127.0.0.1:0"), ("127.0.0.1:0", address), (f"0.0.0.0:{address.split(':')[1]}", "127.0.0.1:0")):
            done = run_script("serve", "--listen", public, "--internal-listen", internal, "--data-dir", tmp_path / "data")
            assert (done.returncode, done.stdout) == (1, ""), done
            named = internal if internal == address else public
            assert done.stderr == f"cluster: cannot listen at {named}: another process listens there (ss -ltnp names it)\n"
    assert not (tmp_path / "data").exists()


@pytest.mark.heavy
def test_without_serve_it_says_how_to_chat(tmp_path):
    """Words of `throng serve` alone start it as no words do. It says who ends, and the log who speaks."""
    environment = clean_environment({**OWN_BINARY, "CLUSTER_FSYNC": "off", "CLUSTER_NODES": "2"})
    arguments = [str(CLUSTER), "--demo", "--data-dir", str(tmp_path / "the data"), "--set", "drain.duration=1"]
    with subprocess.Popen(
            arguments, cwd=REPOSITORY, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True) as process:
        try:
            lines = iter(process.stdout.readline, "")
            said = ""
            for line in lines:
                said += line
                if " --admin" in line:
                    break
            listening = json.loads(re.search(r'^{.*"message":"listening".*$', said, re.MULTILINE)[0])
            assert f"ws://{listening['listen']}/ws" in said and f"open http://{listening['listen']}/ in two tabs" in said
            assert f"http://{listening['internalListen']}/console" in said
            names = {json.loads(line)["nodeName"] for line in said.split("\n") if '"level"' in line}
            assert names == {"node1", "node2"}
            token = re.search(r"token=\$\((.* token alice .*)\)", said)[1]
            made = subprocess.run(["bash", "-c", token], cwd=REPOSITORY, env=environment, capture_output=True, text=True)
            assert made.stdout.startswith("eyJ"), made.stderr
            os.kill(listening["processes"][1], signal.SIGKILL)
            assert "cluster: node2 has ended, by SIGKILL\n" in lines
        finally:
            process.terminate()
            process.stdout.read()


async def test_metrics_of_nodes_links_and_the_bus(cluster, make_world):
    people = await people_everywhere(cluster, make_world(cluster))
    world = make_world(cluster)
    group = await world.group(people[0], members=people[1:])
    for client in people:
        await client.call("sendGroupTextMessage", groupID=group, text="hello")
    await asyncio.to_thread(cluster.metric_becomes, "throng_cluster_shards", SHARDS)

    def demand_metrics(address):
        def becomes(name, expected, **labels):
            cluster.metric_becomes(name, expected, address, **labels)

        becomes("throng_cluster_sessions", len(people))
        becomes("throng_cluster_nodes", 3)
        becomes("throng_cluster_lease_seconds", lambda left: 0 < left <= LEASE)
        for direction in ("published", "received"):
            for name in ("throng_bus_messages_total", "throng_bus_bytes_total"):
                becomes(name, lambda count: count > 0, direction=direction)
        for direction in ("sent", "received"):
            for name in ("throng_link_frames_total", "throng_link_bytes_total"):
                becomes(name, lambda count: count > 0, direction=direction)
        becomes("throng_link_entries_total", lambda count: count > 0)
        for name in ("throng_bus_refused_total", "throng_bus_gaps_total"):
            becomes(name, 0)
        # A machine that is busy for 2 s makes a gap, and the link goes on.
        becomes("throng_link_gaps_total", lambda count: count >= 0)
        becomes("throng_follow_unsure", 0)
        becomes("throng_link_silence_seconds", lambda silence: 0 <= silence < 2 * LEASE)

    for address in cluster.node_addresses:
        await asyncio.to_thread(demand_metrics, address)


async def test_a_new_user_is_known_to_all_nodes_with_the_answer_to_the_sign_in(cluster, make_world):
    world = make_world(cluster)
    for client in [await world.user() for _ in range(10)]:
        for address in cluster.node_addresses:
            found = asked(cluster, address, "getUsersInfo", userIDList=[client.user, world.name("nobody")])["userList"]
            assert [row["userID"] for row in found] == [client.user]


async def test_conversations_reach_the_users_own_sessions_on_all_nodes(cluster, make_world):
    """onConversationChanged goes to one user's sessions, on whichever nodes they are, and to nobody else."""
    world = make_world(cluster)
    alice, *others = await people_everywhere(cluster, world)
    first = await world.user("bob")
    # The balancer chooses at random; a platform takes ten.
    more = [await world.session(first.user) for _ in range(9)]
    group = await world.group(alice, members=[first, *others])
    await first.call("setConversation", groupID=group, isHidden=True, marks=["later"])
    for client in more:
        event = await client.expect("onConversationChanged", groupID=group)
        assert event["isHidden"] is True and event["marks"] == ["later"]
    assert await first.call("clearGroupHistory", groupID=group) == {"clearedSeq": 0}, "there is nothing to clear"
    await alice.call("sendGroupTextMessage", groupID=group, text="x")
    for client in (first, *more):
        await client.expect("onConversationChanged", groupID=group, isHidden=False)
    assert await more[0].call("clearGroupHistory", groupID=group) == {"clearedSeq": 1}
    for client in (first, *more[1:]):
        await client.expect("onConversationChanged", groupID=group, clearedSeq=1)
    await alice.call("setGroupInfo", groupID=group, historyVisibility="All")
    for client in (first, *more, *others):
        await client.expect("onGroupInfoChanged", groupID=group)
    assert [message["type"] for message in await history_of(first, group)] == ["GroupTips"]
    assert [message["seq"] for message in await history_of(others[0], group)] == [1, 2]
    for client in (alice, first, *more, *others):
        assert not client.received("onConversationChanged"), client.user


async def test_a_node_drains_by_a_command(cluster, make_world):
    """Its sessions are told, and close with 4001; the others go on with its groups, and nobody misses a message."""
    world = make_world(cluster)
    people = await people_everywhere(cluster, world)
    group = await world.group(people[0], members=people[1:])
    command = ["--internal-listen", cluster.internal_address, "--data-dir", cluster.data_dir, "--set", f"auth.secret={SECRET}"]
    wrong = run_throng("cluster", "drain", "node7", *command)
    assert wrong.returncode != 0 and "no node, or more than one, has this name" in wrong.stderr
    refused = cluster.http("POST", "/cluster", json.dumps({"drain": "node2"}))
    assert refused.status == 401
    done = await asyncio.to_thread(run_throng, "cluster", "drain", "node2", *command)
    # The numbers are given in the order of joining: that of node2 may be another.
    assert done.returncode == 0 and re.fullmatch(r"node2 \(number \d+\) drains\n", done.stdout), done

    acknowledged = []
    draining = Path(f"/proc/{cluster.processes[1]}")

    async def talk(client):
        """Says one thing after the other until the node has ended; gives whether the connection has closed."""
        while draining.exists():
            try:
                result = await client.call("sendGroupTextMessage", groupID=group, text=f"from {client.user}")
            except Gone:
                return True
            except Refused as refusal:
                assert refusal.code == 10002, refusal
                continue
            acknowledged.append(result["msgID"])
        try:
            await client.call("ping")
        except Gone:
            return True
        return False

    has_closed = await asyncio.gather(*(talk(client) for client in people))
    assert any(has_closed) and not all(has_closed)
    for client, is_closed in zip(people, has_closed):
        if is_closed:
            await client.closed(4001)
            assert client.received("onServerDraining")
        else:
            assert not client.received("onServerDraining")
    first = cluster.node_addresses[0]
    await asyncio.to_thread(
        cluster.cluster_becomes, share_all("node1", "node3"), "the others have its shards", address=first)
    # Those whose node has gone come back on another one.
    for client, is_closed in zip(people, has_closed):
        if is_closed:
            await world.session(client.user)
    reader = people[has_closed.index(False)]
    stored = [message["msgID"] for message in await history_of(reader, group) if message["type"] == "Text"]
    assert sorted(stored) == sorted(acknowledged)


def test_the_last_node_drains_when_that_is_asked_for(make_cluster):
    own = make_cluster({"drain.duration": 0}, CLUSTER_NODES="2", CLUSTER_KEEP="1")
    headers = {"Authorization": f"Bearer {admin_token()}"}

    def ask(node):
        return own.http("POST", "/cluster", json.dumps({"drain": f"node{node + 1}"}), headers, address=own.node_addresses[node])

    # Of two drains at the same instant one is refused.
    with ThreadPoolExecutor() as threads:
        statuses = [answer.status for answer in threads.map(ask, (0, 1))]
    assert sorted(statuses) == [202, 409]
    index = statuses.index(409)
    last, address = f"node{index + 1}", own.node_addresses[index]
    own.cluster_becomes(share_all(last), "it has all shards", address=address)

    command = ["--internal-listen", address, "--data-dir", own.data_dir, "--set", f"auth.secret={SECRET}"]
    refused = run_throng("cluster", "drain", last, *command)
    assert (refused.returncode, refused.stdout) == (1, ""), refused
    assert "no other node serves" in refused.stderr and "--last" in refused.stderr
    assert ask(index).status == 409
    (node,) = own.http("GET", "/cluster", address=address).json()["nodes"]
    assert not node["isDraining"] and own.running
    done = run_throng("cluster", "drain", last, "--last", *command)
    # With a drain of no length the node is about to end when it answers.
    assert (done.returncode, done.stdout) == (0, f"{last} (number {node['number']}) drains\n"), done
    own.wait_until(lambda: not own.running, "the end of the cluster with its last node")


async def test_members_on_other_nodes_go_on_when_a_node_is_killed(cluster, make_world):
    world = make_world(cluster)
    people = await people_everywhere(cluster, world)
    # A node makes groups of its own shards: each has four of them, the one that ends, too.
    fields = {"groupType": "Public", "groupName": "group", "ownerUserID": people[0].user,
              "memberList": [{"userID": client.user} for client in people[1:]]}
    groups = [asked(cluster, address, "createGroup", **fields)["groupID"] for address in cluster.node_addresses for _ in range(4)]
    for group in groups:
        await world.settle(group, people[0], *people[1:])
    os.kill(cluster.processes[2], signal.SIGKILL)
    left = cluster.node_addresses[:2]

    def are_alone(address):
        cluster.cluster_becomes(share_all("node1", "node2"), "the others have its shards", address=address)
        # A node forgets another one's sessions behind its notices to its own, of which some end by them.
        cluster.wait_until(
            lambda: metric_now(cluster, "throng_cluster_sessions", address=address)
            == sum(metric_now(cluster, "throng_connections", address=other) for other in left), "it has forgotten the sessions")

    for address in left:
        await asyncio.to_thread(are_alone, address)

    async def end_of(client):
        """The close code of a client that was cut; None where it goes on."""
        try:
            # A notice that was on its way at the first is there before the second.
            await client.call("ping")
            await client.call("ping")
        except Gone:
            await client._reader
            return client.socket.close_code
        return None

    ends = await asyncio.gather(*(end_of(client) for client in people))
    # 1006: its node has gone. All others have missed nothing.
    assert set(ends) == {None, 1006}, ends
    again = [client if end is None else await world.session(client.user) for client, end in zip(people, ends)]
    for group in groups:
        result = await again[0].call("sendGroupTextMessage", groupID=group, text="after")
        for client in again[1:]:
            await client.expect("onRecvNewMessage", groupID=group, message=lambda message: message["msgID"] == result["msgID"])
    for address in left:
        await asyncio.to_thread(
            cluster.wait_until, lambda: cluster.http("GET", "/readyz", address=address).status == 200, f"{address} is ready")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
async def test_webhooks_of_a_group_keep_their_order_when_another_node_takes_it_over(make_cluster, make_world, how):
    """Entries wait when the node of their groups ends; the new owner hears of each group by a new message."""
    with Receiver() as receiver:
        own = make_cluster({"drain.duration": 0, **receiver.settings("messageSent")}, CLUSTER_KEEP="1")
        receiver.stop()
        world = make_world(own)
        owner = await world.user("owner")
        groups = [await world.group(owner, "Work") for _ in range(24)]
        for _ in range(WAITING):
            await asyncio.gather(*(owner.call("sendGroupTextMessage", groupID=group, text="before") for group in groups))
        receiver.start()
        os.kill(own.processes[2], how)
        # The group's new owner has it as soon as it may decide for it.
        await asyncio.gather(*(
            eventually(lambda group=group: send_by_backend(own, owner.user, group), True, patience=90) for group in groups))
        await receiver.expect("messageSent", len(groups) * (WAITING + 1), patience=90)
        for group in groups:
            told = [request.data["message"]["seq"] for request in receiver.of() if request.data["groupID"] == group]
            assert told == list(range(1, WAITING + 2)), group


async def send_by_backend(own, user, group):
    """Whether the message is stored; False while the group is on its way to another node."""
    params = {"asUser": user, "groupID": group, "text": "after", "clientMsgID": "after"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "sendGroupTextMessage", "params": params}
    answer = (await asyncio.to_thread(own.post_rpc, body, address=own.node_addresses[0])).json()
    assert "result" in answer or answer["error"]["code"] == 10002, answer
    return "result" in answer


async def test_any_node_answers_for_all(cluster, make_world):
    world = make_world(cluster)
    people = await people_everywhere(cluster, world)
    group = await world.group(people[0], members=people[1:], groupID="everywhere")
    first, second, third = cluster.node_addresses
    trace = asked(cluster, first, "trace", groupID=group, duration=60)["traceID"]
    result = await people[0].call("sendGroupTextMessage", groupID=group, text="secret")
    for client in people[1:]:
        await client.expect("onRecvNewMessage", groupID=group, message=lambda message: message["msgID"] == result["msgID"])
        await client.call("markGroupMessageAsRead", groupID=group)
    readers = {client.user for client in people[1:]}
    for address in cluster.node_addresses:
        async def entries():
            return asked(cluster, address, "getTrace", traceID=trace, count=200)["entryList"]

        async def seen():
            """How often there was the event, which is one, however many nodes it has reached; and who has read it, as
            their sessions' nodes have noted."""
            found = [(entry["name"], entry.get("userID")) for entry in await entries()]
            return ([name for name, _ in found].count("onRecvNewMessage"),
                    {user for name, user in found if name == "markGroupMessageAsRead"})

        assert asked(cluster, address, "getStats")["sessions"] == len(people)
        assert len(asked(cluster, address, "listSessions", userID=people[0].user)["sessionList"]) == 1
        await eventually(seen, (1, readers))
        assert "secret" not in json.dumps(await entries())
    assert asked(cluster, third, "endTrace", traceID=trace) == {}

    for address in cluster.node_addresses:
        asked(cluster, address, "setUserInfo", userID=people[0].user, nickName=address)
    pages = [asked(cluster, address, "listAdministratorActions", count=100)["actionList"] for address in cluster.node_addresses]
    assert [action["method"] for action in pages[0]].count("setUserInfo") == 3
    assert pages[0] == pages[1] == pages[2]

    async def active_groups():
        await people[0].call("sendGroupTextMessage", groupID=group, text="again")
        return [(row["groupID"], row["connections"]) for row in asked(cluster, second, "listActiveGroups")["groupList"]]

    await eventually(active_groups, [(group, len(people))])
    assert asked(cluster, second, "kickUser", userID=people[1].user)["kicked"] == 1
    await people[1].closed(4503)


async def test_a_list_over_many_groups_takes_few_messages(cluster, make_world):
    world = make_world(cluster)
    alice = await world.user()
    groups = [f"club-{number}" for number in range(300)]
    for group in groups:
        asked(cluster, cluster.node_addresses[0], "createGroup", groupType="Public", groupName=group, groupID=group,
              ownerUserID=alice.user)
    clock = asyncio.get_running_loop().time
    for address in cluster.node_addresses:
        before, begin = metric_now(cluster, "throng_bus_messages_total", address=address, direction="published"), clock()
        rows = asked(cluster, address, "getGroupUnreadCount", asUser=alice.user)["groups"]
        assert [row["groupID"] for row in rows] == groups
        sent = metric_now(cluster, "throng_bus_messages_total", address=address, direction="published") - before
        # Four a second are heartbeats of links.
        assert sent < 40 + 5 * (clock() - begin)
    found, position = [], 0
    while True:
        page = await alice.call("getJoinedGroupList", nextSeq=position)
        found += [group["groupID"] for group in page["groupList"]]
        position = page["nextSeq"]
        if position == 0:
            break
    assert found == groups


def test_a_command_needs_an_administrator_and_a_cluster(server):
    if "nodes" in server.listening:
        pytest.skip("about a server that is alone")
    headers = {"Authorization": f"Bearer {admin_token()}"}
    assert server.http("GET", "/cluster").status == 404
    assert server.http("POST", "/cluster", json.dumps({"drain": "node2"}), headers).status == 404
