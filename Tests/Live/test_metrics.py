"""The metrics (Operations.md, "Metrics")."""
import json
import re
import time

import pytest

from harness.tokens import OTHER_SECRET, make_token


async def test_the_metrics_count_what_happened(make_server, make_world):
    own = make_server()
    world = make_world(own)
    alice, bob = await world.users("alice-secret", "bob-secret")
    group = await world.group(alice, members=[bob], groupID="group-secret")
    await world.group(alice, "AVChatRoom")
    for n in range(3):
        await alice.call("sendGroupTextMessage", groupID=group, text=f"{n}", priority="High")
        await bob.expect("onRecvNewMessage", groupID=group)
    await alice.call("sendGroupTextMessage", groupID=group, text="x")
    await bob.expect("onRecvNewMessage", groupID=group)
    await alice.refused(10010, "joinGroup", groupID="nowhere-secret")
    labels = {"group_type": "Public", "priority": "High"}
    own.metric_becomes("throng_messages_accepted_total", 3, **labels)
    own.metric_becomes("throng_messages_delivered_total", 3, **labels)
    own.metric_becomes("throng_messages_accepted_total", 1, group_type="Public", priority="Normal")
    own.metric_becomes("throng_messages_dropped_total", 0)
    own.metric_becomes("throng_fanout_deliveries_total", lambda count: count >= 4)
    own.metric_becomes("throng_sessions", 2)
    own.metric_becomes("throng_connections", 2)
    for address in own.node_addresses:
        for kind, count in (("Public", 1), ("AVChatRoom", 1), ("Work", 0)):
            own.metric_becomes("throng_groups", count, address=address, group_type=kind)
    own.metric_becomes("throng_requests_total", 4, method="sendGroupTextMessage", code="0")
    own.metric_becomes("throng_requests_total", 1, method="joinGroup", code="10010")
    own.metric_becomes("throng_request_duration_seconds_count", lambda count: count >= 5)
    text = "".join(own.http("GET", "/metrics", address=address).text for address in own.node_addresses)
    assert "throng_request_duration_seconds_bucket" in text and "# TYPE throng_request_duration_seconds histogram" in text
    assert "-secret" not in text, "a group or user ID is never a label"


async def test_tables_in_memory_are_counted_and_emptied(make_server, make_world):
    own = make_server()
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    await world.group(alice, members=[bob])
    own.metric_becomes("throng_table_entries", 2, table="users")
    own.metric_becomes("throng_table_entries", lambda count: count >= 2, table="budgets")
    own.metric_becomes("throng_table_entries", lambda count: count >= 1, table="groups")
    # Each with a row, once.
    text = own.http("GET", "/metrics").text
    names = re.findall(r'^throng_table_entries\{table="(\w+)"\} \d+$', text, re.M)
    assert len(names) == len(set(names)) and {"profiles", "addresses", "waitingReads", "series"} <= set(names)
    for client in (alice, bob):
        await client.call("logout")
        await client.closed(1000)
    own.metric_becomes("throng_table_entries", 0, table="users")


async def test_an_unknown_method_is_no_label_of_its_own(make_server, make_world):
    own = make_server()
    alice = await make_world(own).user("alice")
    for n in range(5):
        await alice.refused(-32601, f"inventedMethod{n}")
    own.metric_becomes("throng_requests_total", 5, code="-32601")
    assert "inventedMethod" not in own.http("GET", "/metrics").text


async def test_closed_connections_are_counted_by_code(make_server, make_world):
    own = make_server()
    world = make_world(own)
    alice = await world.user("alice")
    await alice.call("logout")
    await alice.closed(1000)
    client = await world.open(query={"token": make_token("bob", secret=OTHER_SECRET)})
    await client.closed(4500)
    for code in ("1000", "4500"):
        own.metric_becomes("throng_connections_closed_total", 1, code=code)
    own.metric_becomes("throng_connections", 0)
    own.metric_becomes("throng_sessions", 0)


async def test_a_close_code_that_a_client_invents_is_no_label_of_its_own(make_server, make_world):
    own = make_server()
    world = make_world(own)
    for code in (3000, 3999, 4009, 4999, 1001):
        client = await world.open()
        await client.socket.close(code)
    own.metric_becomes("throng_connections_closed_total", 4, code="other")
    own.metric_becomes("throng_connections_closed_total", 1, code="1001")
    own.metric_becomes("throng_connections_closed_total", 5)


async def test_calls_without_a_credential_are_counted_and_a_few_are_logged(make_server):
    """Five lines in a second; the next one says how many were left out."""
    own = make_server(frozen=True)
    assert "\nthrong_http_unauthorized_total 0\n" in own.http("GET", "/metrics").text
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    for credential in (None, make_token("alice"), *["wrong-secret"] * 40):
        assert own.post_rpc(ping, credential).status == 401
    await own.advance(seconds=1)
    assert own.post_rpc(ping, "wrong-secret").status == 401
    assert own.post_rpc(ping).status == 200
    own.metric_becomes("throng_http_unauthorized_total", 43)
    assert own.stop() == 0
    lines = [json.loads(line) for line in own.log.splitlines() if '"unauthorized call"' in line]
    assert all(line["address"] == "127.0.0.1" and line["level"] == "warning" for line in lines)
    assert [line.get("dropped", 0) for line in lines] == [0] * 5 + [37] and "wrong-secret" not in own.log


async def test_every_family_says_what_it_is(make_server, make_world):
    own = make_server()
    alice = await make_world(own).user("alice")
    await alice.refused(-32601, "noSuchMethod")
    lines = own.http("GET", "/metrics").text.splitlines()
    types = {line.split()[2]: line.split()[3] for line in lines if line.startswith("# TYPE ")}
    helped = {line.split()[2] for line in lines if line.startswith("# HELP ") and len(line.split()) > 3}
    samples = {line.split("{")[0].split()[0] for line in lines if not line.startswith("#")}
    families = {
        next((name.removesuffix(end) for end in ("_bucket", "_sum", "_count") if types.get(name.removesuffix(end)) == "histogram"), name)
        for name in samples}
    assert families - set(types) == set() and set(types) - helped == set()
    assert len(types) > 15


@pytest.mark.one_process("start times are not added up")
def test_the_process_and_the_build_are_measured(make_server):
    before = time.time()
    own = make_server()
    for name in ("process_cpu_seconds_total", "process_resident_memory_bytes", "process_virtual_memory_bytes", "process_open_fds",
                 "process_max_fds", "process_start_time_seconds", "process_threads"):
        own.metric_becomes(name, lambda value: value > 0)
    own.metric_becomes("throng_start_time_seconds", lambda instant: int(before) <= instant <= time.time())
    most = own.metric_becomes("process_max_fds", lambda count: count > 0)
    own.metric_becomes("process_open_fds", lambda count: count < most)
    (line,) = [line for line in own.http("GET", "/metrics").text.splitlines() if line.startswith("throng_build_info")]
    assert 'version="' in line and 'swift="' in line and line.endswith(" 1")
