"""Traces of several services: `traceparent` on the application interface and in webhooks, and the spans that the
server sends to a collector (Protocol.md, "Trace context"; Operations.md, "Tracing")."""
import asyncio
import json
import secrets
import threading

import pytest

from harness.collector import Collector
from harness.http_peer import HTTPAnswer, HTTPPeer
from harness.receiver import Answer, Receiver
from harness.tokens import admin_token
from harness.world import has


class Trace:
    """A trace that a backend has begun."""

    def __init__(self, sampled=True):
        self.id = secrets.token_hex(16)
        self.span = secrets.token_hex(8)
        self.flags = "01" if sampled else "00"

    @property
    def header(self):
        return f"00-{self.id}-{self.span}-{self.flags}"


@pytest.fixture
def receiver():
    with Receiver() as made:
        yield made


@pytest.fixture
def collector():
    with Collector() as made:
        yield made


def call(own, method, traceparent=None, **params):
    """One call of a backend, with this header."""
    headers = {"Authorization": f"Bearer {admin_token()}", "Content-Type": "application/json"}
    if traceparent is not None:
        headers["traceparent"] = traceparent
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    answer = own.http("POST", "/rpc", body, headers)
    assert answer.status == 200, answer.text
    return answer.json()


def make_group(own, group, traceparent=None, groupType="Work"):
    answer = call(own, "createGroup", traceparent, groupType=groupType, groupName="g", groupID=group, asUser="olga")
    assert "result" in answer, answer


def trace_of(request):
    """The trace-id and the flags of a webhook; None = it has no traceparent."""
    text = request.headers.get("traceparent")
    if text is None:
        return None
    version, trace, span, flags = text.split("-")
    assert version == "00" and len(trace) == 32 and len(span) == 16
    return trace, flags


# In webhooks and log lines


async def test_a_trace_goes_on_in_the_webhooks_that_its_request_caused(make_server, receiver):
    own = make_server(receiver.settings("beforeSendMessage", "messageSent", "memberJoined", "beforeCreateGroup"))
    trace, other = Trace(), Trace(sampled=False)
    make_group(own, "g", other.header)
    call(own, "sendGroupTextMessage", trace.header, groupID="g", text="one", asUser="olga")
    call(own, "sendGroupTextMessage", None, groupID="g", text="two", asUser="olga")
    before = await receiver.expect("beforeSendMessage", 2)
    after = await receiver.expect("messageSent", 2)
    assert [trace_of(request) for request in before] == [trace_of(request) for request in after] == [(trace.id, "01"), None]
    assert trace_of((await receiver.expect("beforeCreateGroup"))[0]) == (other.id, "00")
    assert before[0].headers["traceparent"] == trace.header, "nothing is recorded here: the caller's span is the parent"


@pytest.mark.parametrize("text", [
    "", "x", "00-" + "0" * 32 + "-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
    "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", "x" * 1000])
async def test_a_malformed_one_is_ignored(make_server, receiver, text):
    own = make_server(receiver.settings("messageSent"))
    make_group(own, "g", text)
    call(own, "sendGroupTextMessage", text, groupID="g", text="one", asUser="olga")
    assert trace_of((await receiver.expect("messageSent"))[0]) is None


async def test_what_a_batch_causes_is_of_its_trace(make_server, receiver):
    own, trace = make_server(receiver.settings("messageSent")), Trace()
    make_group(own, "g")
    rows = [{"jsonrpc": "2.0", "id": number, "method": "sendGroupTextMessage",
             "params": {"groupID": "g", "text": str(number), "asUser": "olga"}} for number in range(5)]
    headers = {"Authorization": f"Bearer {admin_token()}", "traceparent": trace.header}
    assert own.http("POST", "/rpc", json.dumps(rows), headers).status == 200
    assert {trace_of(request) for request in await receiver.expect("messageSent", 5)} == {(trace.id, "01")}


@pytest.mark.one_process("the store is kept over a start")
async def test_the_outbox_keeps_it_over_a_restart(make_server, receiver):
    own, traces = make_server(receiver.settings("messageSent", "memberJoined")), [Trace(), Trace()]
    make_group(own, "g", groupType="Public")
    receiver.stop()
    for trace in traces:
        call(own, "sendGroupTextMessage", trace.header, groupID="g", text="x", asUser="olga")
    call(own, "inviteUserToGroup", traces[0].header, groupID="g", userIDList=["mary"])
    own.kill()
    receiver.start()
    own.start()
    sent = await receiver.expect("messageSent", 2)
    assert [trace_of(request) for request in sent] == [(trace.id, "01") for trace in traces]
    assert trace_of((await receiver.expect("memberJoined"))[0]) == (traces[0].id, "01")


async def test_a_failure_that_is_retried_keeps_it(make_server, receiver):
    own, trace = make_server(receiver.settings("messageSent", retention="1s")), Trace()
    receiver.answer = lambda request: Answer(status=500)
    make_group(own, "g")
    call(own, "sendGroupTextMessage", trace.header, groupID="g", text="x", asUser="olga")

    def has_failed():
        return call(own, "listWebhookFailures").get("result", {}).get("failureList")

    await asyncio.to_thread(own.wait_until, has_failed, "the failure")
    receiver.answer = lambda request: None
    call(own, "retryWebhooks")
    assert trace_of((await receiver.expect("messageSent"))[0]) == (trace.id, "01")


async def test_log_lines_of_a_request_name_its_trace(make_server):
    own, trace = make_server({"log.level": "debug"}), Trace()
    make_group(own, "g", trace.header)
    make_group(own, "h")
    assert call(own, "getGroupMemberList", trace.header, groupID="g", asUser="eve")["error"]

    def lines(message, **fields):
        rows = [json.loads(line) for line in own.log.splitlines() if f'"{message}"' in line]
        return [row for row in rows if all(row.get(name) == value for name, value in fields.items())]

    await asyncio.to_thread(own.wait_until, lambda: lines("request refused"), "the refusal")
    assert [row.get("traceID") for row in lines("audit", method="createGroup")] == [trace.id, None]
    assert [row.get("traceID") for row in lines("request refused")] == [trace.id]


@pytest.mark.heavy
async def test_another_node_carries_it_out(make_cluster, receiver):
    own = make_cluster(receiver.settings("messageSent", "beforeSendMessage"), CLUSTER_NODES="2")
    traces = {}
    for number in range(16):
        group = f"g{number}"
        make_group(own, group)
        for node in own.node_addresses:
            trace = Trace()
            headers = {"Authorization": f"Bearer {admin_token()}", "traceparent": trace.header}
            params = {"groupID": group, "text": f"{group} at {node}", "asUser": "olga"}
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "sendGroupTextMessage", "params": params})
            answer = own.http("POST", "/rpc", body, headers, address=node).json()
            assert "result" in answer, answer
            traces[params["text"]] = (trace.id, "01")
    for type_ in ("messageSent", "beforeSendMessage"):
        found = {request.data["message"]["text"]: trace_of(request) for request in await receiver.expect(type_, len(traces))}
        assert found == traces


# Spans


def tracing(collector, **more):
    return {"tracing.otlpEndpoint": collector.endpoint, **{f"tracing.{name}": value for name, value in more.items()}}


async def test_the_spans_of_a_request(make_server, receiver, collector):
    own = make_server({**receiver.settings("beforeSendMessage", "messageSent"), **tracing(collector, sampling=0)})
    trace = Trace()
    make_group(own, "g")
    call(own, "sendGroupTextMessage", trace.header, groupID="g", text="x", asUser="olga")
    request, decide, commit, _ = await asyncio.to_thread(
        collector.wait_for_spans, trace.id, "sendGroupTextMessage", "decide", "commit", "POST")
    assert request.parent == trace.span and request.kind == 2 and not request.is_error
    assert request.attributes["rpc.system"] == "jsonrpc" and request.attributes["rpc.method"] == "sendGroupTextMessage"
    assert request.attributes["throng.group.id"] == "g" and request.attributes["network.protocol.name"] == "http"
    assert decide.parent == commit.parent == request.id
    assert request.start <= decide.start <= commit.start and commit.end <= request.end
    assert commit.attributes["db.operation.batch.size"] >= 1 and commit.attributes["db.system.name"] in ("sqlite", "postgresql")
    assert request.resource["service.name"] == "throng" and request.resource["service.version"]

    def hooks():
        found = [span for span in collector.of(trace.id) if span.name == "POST"]
        return found if len(found) == 2 else None

    for hook in await asyncio.to_thread(collector.wait_for, hooks, "two webhooks"):
        assert hook.parent == request.id and hook.kind == 3 and not hook.is_error
        assert hook.attributes["http.response.status_code"] == 200 and hook.attributes["server.port"] == receiver.port
        # The receiver's spans hang on the attempt.
        type_ = hook.attributes["throng.webhook.type"]
        assert receiver.of(type_)[0].headers["traceparent"] == f"00-{trace.id}-{hook.id}-01"
    assert not any("olga" in str(span.attributes) for span in collector.spans), "no userID"
    own.metric_becomes("throng_spans_total", len(collector.spans), result="sent")


async def test_a_request_that_fails_says_so(make_server, collector):
    own, trace = make_server(tracing(collector)), Trace()
    call(own, "getGroupMemberList", trace.header, groupID="none", asUser="eve")
    span, = await asyncio.to_thread(collector.wait_for_spans, trace.id, "getGroupMemberList")
    assert span.attributes["rpc.jsonrpc.error_code"] == 10010 and span.attributes["error.type"] == "10010"
    assert not span.is_error, "the caller's fault"


async def test_every_attempt_of_a_webhook_is_a_span(make_server, receiver, collector):
    own, trace = make_server({**receiver.settings("messageSent"), **tracing(collector)}), Trace()
    answers = iter([Answer(status=503)])
    receiver.answer = lambda request: next(answers, None)
    make_group(own, "g", Trace(sampled=False).header)
    call(own, "sendGroupTextMessage", trace.header, groupID="g", text="x", asUser="olga")

    def attempts():
        found = [span for span in collector.of(trace.id) if span.name == "POST"]
        return found if len(found) == 2 else None

    first, second = await asyncio.to_thread(collector.wait_for, attempts, "two attempts")
    assert first.is_error and first.attributes["http.response.status_code"] == 503 and not second.is_error
    assert first.id != second.id and [r.headers["traceparent"].split("-")[2] for r in receiver.requests] == [first.id, second.id]


async def test_the_parents_decision_is_honoured(make_server, receiver, collector):
    own = make_server({**receiver.settings("messageSent"), **tracing(collector, sampling=1)})
    unsampled, sampled = Trace(sampled=False), Trace()
    make_group(own, "g", unsampled.header)
    call(own, "sendGroupTextMessage", unsampled.header, groupID="g", text="x", asUser="olga")
    call(own, "sendGroupTextMessage", sampled.header, groupID="g", text="y", asUser="olga")
    await asyncio.to_thread(collector.wait_for_spans, sampled.id, "sendGroupTextMessage", "POST")
    assert not collector.of(unsampled.id)
    assert trace_of((await receiver.expect("messageSent", 2))[0]) == (unsampled.id, "00"), "it is passed on"


async def test_sampling_begins_traces_of_sessions(make_server, make_world, receiver, collector):
    own = make_server({**receiver.settings("messageSent"), **tracing(collector, sampling=1)})
    world = make_world(own)
    olga = await world.user("olga")
    group = await world.group(olga)
    await olga.call("sendGroupTextMessage", groupID=group, text="x")
    sent = (await receiver.expect("messageSent"))[0]
    trace, flags = trace_of(sent)
    request, _, _, hook = await asyncio.to_thread(
        collector.wait_for_spans, trace, "sendGroupTextMessage", "decide", "commit", "POST")
    assert flags == "01" and request.parent is None and hook.parent == request.id
    assert request.attributes["network.protocol.name"] == "websocket"


async def test_a_share_of_zero_begins_none(make_server, make_world, receiver, collector):
    own = make_server({**receiver.settings("messageSent"), **tracing(collector, sampling=0)})
    world = make_world(own)
    olga = await world.user("olga")
    group = await world.group(olga)
    await olga.call("sendGroupTextMessage", groupID=group, text="x")
    assert trace_of((await receiver.expect("messageSent"))[0]) is None
    trace = Trace()
    call(own, "getStats", trace.header)
    await asyncio.to_thread(collector.wait_for_spans, trace.id, "getStats")
    assert {span.trace for span in collector.spans} == {trace.id}


# A collector that is away


async def test_a_collector_that_is_away_costs_spans_and_nothing_else(make_server, make_world, collector):
    collector.stop()
    own = make_server(tracing(collector, sampling=1))
    world = make_world(own)
    olga, mary = await world.user("olga"), await world.user("mary")
    group = await world.group(olga, members=[mary])
    for number in range(200):
        await olga.call("sendGroupTextMessage", groupID=group, text=str(number))
        await mary.expect("onRecvNewMessage", message=has(text=str(number)))
    await asyncio.to_thread(
        own.wait_until, lambda: "the collector of traces does not take spans" in own.log, "the log tells of it")
    own.metric_becomes("throng_spans_waiting", lambda count: count > 0)
    collector.start()
    await asyncio.to_thread(own.wait_until, lambda: "the collector of traces takes spans again" in own.log, "it is back")
    own.metric_becomes("throng_spans_total", lambda count: count > 0, result="sent")
    assert own.log.count("the collector of traces does not take spans") <= len(own.node_addresses), "once"


async def test_what_a_collector_refuses_is_counted(make_server, collector):
    own = make_server(tracing(collector))
    collector.given = HTTPAnswer(status=400)
    call(own, "getStats", Trace().header)
    own.metric_becomes("throng_spans_total", 1, result="refused")
    body = json.dumps({"partialSuccess": {"rejectedSpans": "1", "errorMessage": "too old"}}).encode()
    collector.given = HTTPAnswer(body)
    call(own, "getStats", Trace().header)
    own.metric_becomes("throng_spans_total", 2, result="refused")
    assert own.log.count("the collector of traces does not take spans") == 1


async def test_the_end_of_the_process_sends_what_waits(make_server, collector):
    own, trace = make_server(tracing(collector)), Trace()
    call(own, "getStats", trace.header)
    assert own.stop() == 0
    assert [span.name for span in collector.of(trace.id)] == ["getStats"]


async def test_a_silent_collector_does_not_hold_up_the_end(make_server):
    with HTTPPeer(lambda *request: HTTPAnswer(when=threading.Event())) as silent:
        own = make_server({"tracing.otlpEndpoint": silent.url("")})
        call(own, "getStats", Trace().header)
        assert own.stop() == 0


def test_without_an_endpoint_there_are_no_metrics_of_spans(server):
    assert "throng_spans" not in server.http("GET", "/metrics").text
