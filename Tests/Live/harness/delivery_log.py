"""The message rate of live types seen from outside: sent messages, their fates, and whether these
follow the rules (Protocol.md, "Message rate of live types").

The server's time stands still but for what the test lets pass, and its own instants are compared.
`timestamp` is the acceptance of a message, `opTime` of its event the delivery, `opTime` of
onMessageDropped the drop."""
import itertools

from .client import PATIENCE
from .waiting import within

PRIORITIES = ["Lowest", "Low", "Normal", "High"]
SECOND = 1000
_numbers = itertools.count(1)


class Sent:
    """One message: what was answered, and later when it was delivered or dropped."""

    def __init__(self, number, priority, answer):
        self.number = number
        self.priority = priority
        self.answer = answer
        self.status = answer["status"]
        self.accepted = answer["timestamp"]
        self.delivered = None
        self.dropped = self.accepted if self.status == "Dropped" else None

    @property
    def rank(self):
        return PRIORITIES.index(self.priority)

    @property
    def left(self):
        return self.delivered if self.dropped is None else self.dropped

    def waits_at(self, instant):
        """Surely: it came before and left after."""
        return self.status == "Queued" and self.accepted < instant < self.left

    def __repr__(self):
        return f"{self.number} {self.priority} {self.status}: {self.accepted} → {self.delivered} or dropped {self.dropped}"


async def burst(client, requests):
    """Sends (method, params) pairs at once, twenty a batch; gives their replies in order."""
    numbered = [(f"burst-{next(_numbers)}", method, params) for method, params in requests]
    batches = [numbered[start:start + 20] for start in range(0, len(numbered), 20)]
    for batch in batches:
        await client.send([{"jsonrpc": "2.0", "id": n, "method": method, "params": params} for n, method, params in batch])
    replies = {}
    for _ in batches:
        reply = await within(client.unclaimed.get(), PATIENCE)
        replies.update({part["id"]: part for part in reply})
    return [replies[number] for number, _, _ in numbered]


def messages(group, priorities):
    """The requests that send one message of each of these priorities."""
    return [("sendGroupTextMessage", {"groupID": group, "text": f"{n}", "priority": priority})
            for n, priority in enumerate(priorities)]


class DeliveryLog:
    """The messages of one group of a server of its own, in the order in which they were
    accepted."""

    def __init__(self, server, groupType, limit):
        self.server = server
        self.groupType = groupType
        self.limit = limit
        self.sent = []
        self.notices = []

    def note(self, priorities, replies):
        """The sent messages and their replies."""
        for priority, reply in zip(priorities, replies, strict=True):
            self.sent.append(Sent(len(self.sent), priority, reply["result"]))

    def counts(self, step, priority, count):
        """Demands that so many messages have been accepted, delivered or dropped."""
        self.server.metric_becomes(f"throng_messages_{step}_total", count, group_type=self.groupType, priority=priority)

    async def settle(self, group, *clients):
        """Everybody has what the group had for them: a message waits for one second, a notice for two."""
        await self.server.advance(seconds=2.2)
        mark = f"mark-{next(_numbers)}"
        assert "result" in self.server.rpc("sendGroupSystemNotification", groupID=group, content=mark)
        for client in clients:
            await client.expect("onReceiveRESTCustomData", customData=mark)

    def read(self, sender, *receivers):
        """The events of the sending session and of others' sessions: equal for all of these, and
        none repeated. A sender of None has no session."""
        by_id = {sent.answer["msgID"]: sent for sent in self.sent}
        assert len(by_id) == len(self.sent), "each message has a msgID of its own"
        seen = [[(e["message"]["msgID"], e["opTime"]) for e in receiver.received("onRecvNewMessage")] for receiver in receivers]
        assert all(events == seen[0] for events in seen), "all receivers get the same in the same order"
        for msgID, instant in seen[0]:
            assert by_id[msgID].left is None, f"{by_id[msgID]} was delivered twice, or though it was dropped"
            by_id[msgID].delivered = instant
        for receiver in receivers:
            assert not receiver.received("onMessageDropped"), "the receipt is for the sending session alone"
        for event in sender.received("onMessageDropped") if sender else []:
            sent = by_id[event["msgID"]]
            assert sent.status == "Queued" and sent.left is None, f"{sent} was dropped too"
            assert event["reason"] == "RateLimit" and event["priority"] == sent.priority
            sent.dropped = event["opTime"]
        assert not sender or not sender.received("onRecvNewMessage"), "not to the sending session"

    def read_notices(self, receiver):
        self.notices = [event["opTime"] for name in ("onMemberEnter", "onMemberLeave") for event in receiver.received(name)]

    def check(self):
        """The rule, sentence by sentence."""
        self.check_balance()
        self.check_window()
        self.check_waiting()
        self.check_order()

    def check_balance(self):
        for sent in self.sent:
            assert sent.left is not None, f"{sent} has vanished"
            assert sent.status != "Delivered" or sent.delivered == sent.accepted, f"{sent} was delayed"
        for priority in PRIORITIES:
            mine = [sent for sent in self.sent if sent.priority == priority]
            self.counts("accepted", priority, len(mine))
            self.counts("dropped", priority, sum(sent.dropped is not None for sent in mine))
            self.counts("delivered", priority, sum(sent.delivered is not None for sent in mine))

    def check_window(self):
        """"At most messagesPerSecond messages in any sliding one-second window", notices among
        them."""
        instants = sorted([sent.delivered for sent in self.sent if sent.delivered is not None] + self.notices)
        for older, newer in zip(instants, instants[self.limit:]):
            assert newer - older >= SECOND, f"{self.limit + 1} within {newer - older} ms"

    def check_waiting(self):
        for sent in self.sent:
            if sent.delivered is not None:
                assert sent.delivered - sent.accepted <= SECOND, f"{sent}: at most 1 s"
        for sent in self.sent:
            waiting = sum(other.waits_at(sent.accepted) for other in self.sent)
            assert waiting <= self.limit, f"{waiting} in a room for {self.limit}"

    def check_order(self):
        delivered = sorted((sent for sent in self.sent if sent.delivered is not None), key=lambda sent: sent.number)
        for priority in PRIORITIES:
            instants = [sent.delivered for sent in delivered if sent.priority == priority]
            assert instants == sorted(instants), f"first come first served among {priority}"
        for sent in delivered:
            passed_over = [o for o in self.sent if o.rank > sent.rank and o.waits_at(sent.delivered)]
            assert not passed_over, f"{sent} left before {passed_over}"
        for sent in self.sent:
            if sent.dropped is not None and sent.dropped - sent.accepted <= SECOND:
                preferred = [o for o in self.sent if o.rank < sent.rank and o.waits_at(sent.dropped) and o.delivered]
                assert not preferred, f"{sent} was dropped for want of room before {preferred}"
        for instant in self.notices:
            waiting = [sent for sent in self.sent if sent.waits_at(instant)]
            assert not waiting, f"a notice left at {instant} before {waiting}"
