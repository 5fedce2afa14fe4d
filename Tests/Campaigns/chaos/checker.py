"""The promises that a cluster keeps under faults, each a function from a record to its violations."""
from collections import Counter, defaultdict
from dataclasses import dataclass

# The most evidence that one violation shows.
SHOWN = 5


@dataclass(frozen=True)
class Violation:
    promise: str
    evidence: str

    def __str__(self):
        return f"{self.promise}: {self.evidence}"


def violations(record, promises=None):
    """All violated promises of a record."""
    found = []
    for promise in PROMISES if promises is None else promises:
        found += [Violation(promise.__doc__.strip().rstrip("."), evidence) for evidence in promise(record)]
    return found


def stored(record):
    return [group for group in record.groups if not group.is_live]


def sample(values):
    values = list(values)
    more = f" and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
    return ", ".join(map(str, values[:SHOWN])) + more


def seqs_have_no_gap(record):
    """The seqs of a group's history begin at 1 and have no gap."""
    for group in stored(record):
        for expected, message in enumerate(group.history, 1):
            if message.seq != expected:
                yield f"{group.groupID}: {message.seq} ({message.msgID}) stands where {expected} belongs"
                break


def times_do_not_decrease(record):
    """The times of a group's messages do not decrease, whatever the clocks of nodes say."""
    for group in stored(record):
        for earlier, later in zip(group.history, group.history[1:]):
            if later.timestamp < earlier.timestamp:
                yield f"{group.groupID}: {earlier.seq} is of {earlier.timestamp}, and {later.seq} of {later.timestamp}"
                break


def acknowledged_is_there(record):
    """Every acknowledged message is in the history, as it was acknowledged."""
    for group in stored(record):
        by_seq = {message.seq: message for message in group.history}
        for ack in record.acks:
            if ack.group != group.groupID:
                continue
            if ack.seq is None:
                yield f"{ack.clientMsgID} in {group.groupID} was acknowledged without a seq"
                continue
            message = by_seq.get(ack.seq)
            if message is None:
                yield f"{ack.clientMsgID} was acknowledged as {group.groupID}/{ack.seq}, and is not there"
            elif (message.msgID, message.sender, message.clientMsgID) != (ack.msgID, ack.user, ack.clientMsgID):
                yield f"{ack.clientMsgID} was acknowledged as {group.groupID}/{ack.seq} {ack.msgID}; there is {message}"


def stored_once(record):
    """A message is stored once, however often its client repeats it."""
    for group in stored(record):
        places = defaultdict(list)
        for message in group.history:
            if message.clientMsgID is not None:
                places[message.sender, message.clientMsgID].append(message.seq)
        for (sender, clientMsgID), seqs in places.items():
            if len(seqs) > 1:
                yield f"{clientMsgID} of {sender} is in {group.groupID} as {sample(seqs)}"


def acknowledged_once(record):
    """All replies to one message name the same message."""
    msgIDs = defaultdict(set)
    for ack in record.acks:
        if ack.seq is not None:
            msgIDs[ack.user, ack.group, ack.clientMsgID].add((ack.seq, ack.msgID))
    for (user, group, clientMsgID), names in msgIDs.items():
        if len(names) > 1:
            yield f"{clientMsgID} of {user} in {group} was acknowledged as {sample(sorted(names))}"


def one_order(record):
    """Every session gets the events of a group in the order of their seqs, each once, as they are stored."""
    histories = {group.groupID: {m.seq: m.msgID for m in group.history} for group in stored(record)}
    for session in record.sessions:
        last = {}
        for event in session.events:
            if event.seq is None or event.group not in histories:
                continue
            where = f"{session.user} on {session.node} (session {session.number}), {event.group}"
            if event.seq <= last.get(event.group, 0):
                yield f"{where}: {event.seq} ({event.msgID}) came behind {last[event.group]}"
            last[event.group] = max(event.seq, last.get(event.group, 0))
            known = histories[event.group].get(event.seq)
            if known != event.msgID:
                yield f"{where}: {event.seq} came as {event.msgID}; stored is {known}"


def everybody_has_all(record):
    """Every member ends with the server's view, by events, and by syncGroups where it was cut off."""
    for group in stored(record):
        wanted = {message.seq: message.msgID for message in group.history}
        for user in sorted(group.members):
            view = group.views.get(user, {})
            missing = [seq for seq in wanted if seq not in view]
            other = [f"{seq}: {msgID}, not {wanted.get(seq)}" for seq, msgID in sorted(view.items()) if wanted.get(seq) != msgID]
            if missing:
                yield f"{user} misses {sample(missing)} of {len(wanted)} in {group.groupID}"
            if other:
                yield f"{user} has others in {group.groupID}: {sample(other)}"


def no_strangers(record):
    """Nobody gets an event of a group without being a member."""
    people = {group.groupID: group for group in record.groups}
    ranges = {}
    for group in stored(record):
        for user in group.visitors:
            ranges[group.groupID, user] = member_ranges(user, group.history)
    for session in record.sessions:
        for event in session.events:
            group = people.get(event.group)
            if group is None or session.user in group.members:
                continue
            where = f"{session.user} on {session.node} (session {session.number}) got {event.name} of {event.group}"
            if session.user not in group.visitors:
                yield where
            elif event.seq is not None and not any(a <= event.seq <= b for a, b in ranges.get((event.group, session.user), ())):
                yield f"{where}/{event.seq}, being a member from and to {sample(ranges[event.group, session.user])}"


def member_ranges(user, history):
    """From which seq to which a user was a member, by the tips in the history."""
    found, begin = [], None
    for message in history:
        if message.tip == "Join" and user in message.users and begin is None:
            begin = message.seq
        elif message.tip == "Quit" and user in message.users and begin is not None:
            found.append((begin, message.seq))
            begin = None
    return found + ([(begin, float("inf"))] if begin is not None else [])


def webhooks_tell_all_in_order(record):
    """The application is told of every message, and of those of a group in their order."""
    for group in stored(record):
        if group.told is None:
            continue
        wanted = [message.seq for message in group.history if message.tip is None]
        missing = sorted(set(wanted) - set(group.told))
        if missing:
            yield f"no webhook has told of {sample(missing)} of {len(wanted)} in {group.groupID}"
        for earlier, later in zip(group.told, group.told[1:]):
            if later < earlier:
                yield f"the webhook of {group.groupID}/{later} came behind that of {earlier}"
                break


def live_once(record):
    """A session gets a live message at most once."""
    for session, group, events in live_events(record):
        for msgID, count in Counter(event.msgID for event in events).items():
            if count > 1:
                yield f"{session.user} on {session.node} (session {session.number}) got {msgID} of {group} {count} times"


def live_order(record):
    """There is one order of live messages that all sessions agree with."""
    followers = defaultdict(lambda: defaultdict(set))
    for _, group, events in live_events(record):
        names = list(dict.fromkeys(event.msgID for event in events))
        for earlier, later in zip(names, names[1:]):
            followers[group][earlier].add(later)
    for group, graph in followers.items():
        cycle = cycle_in(graph)
        if cycle:
            yield f"{group}: sessions got {' before '.join(cycle)}"


def cycle_in(graph):
    """Names each of which comes before the next, the first again at the end; None where there are none."""
    done, path, on_path = set(), [], set()
    for start in list(graph):
        stack = [(start, iter(sorted(graph.get(start, ()))))] if start not in done else []
        if stack:
            path.append(start)
            on_path.add(start)
        while stack:
            name, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                stack.pop()
                path.pop()
                on_path.discard(name)
                done.add(name)
            elif following in on_path:
                return path[path.index(following):] + [following]
            elif following not in done:
                stack.append((following, iter(sorted(graph.get(following, ())))))
                path.append(following)
                on_path.add(following)
    return None


# Seconds in which a message that was acknowledged has reached all nodes, if none is lost.
ON_ITS_WAY = 1


def live_is_delivered(record):
    """A session that stays open gets every live message that is acknowledged as delivered, while no node is lost."""
    rooms = {group.groupID: group for group in record.groups if group.is_live}
    delivered = [
        ack for ack in record.acks if ack.group in rooms and ack.status == "Delivered" and not may_be_lost(record, ack)]
    for session in record.sessions:
        if session.ended is not None or session.resumed is None:
            continue
        got = {event.msgID for event in session.events}
        for group in rooms.values():
            if session.user not in group.members:
                continue
            missing = [
                ack.msgID for ack in delivered
                if ack.group == group.groupID and session.number not in ack.sessions and ack.msgID not in got
                and session.resumed < ack.began and ack.ended < record.settled]
            if missing:
                yield f"{session.user} on {session.node} (session {session.number}) misses {sample(missing)} of {group.groupID}"


def may_be_lost(record, ack):
    """Whether the node of a live room may have acknowledged a message, and gone before others had it."""
    return bool(record.sacrificed) and record.fault_began - ON_ITS_WAY < ack.ended and ack.began < record.fault_ended


def live_events(record):
    """Each session with the messages of each live room that it got."""
    rooms = {group.groupID for group in record.groups if group.is_live}
    for session in record.sessions:
        by_room = defaultdict(list)
        for event in session.events:
            if event.is_message and event.group in rooms:
                by_room[event.group].append(event)
        for group, events in by_room.items():
            yield session, group, events


def seat_has_one_holder(record):
    """A seat has one holder at a time, and all who hear of it see the same one."""
    for earlier in record.sittings:
        for later in record.sittings:
            # It was taken while it was surely held.
            if earlier.seat == later.seat and earlier is not later and earlier.ended <= later.began and later.ended <= earlier.until:
                yield f"{later.user} took {later.seat} while {earlier.user} had it"
    for session in record.sessions:
        if session.ended is None and session.seats is not None and session.seats != record.seats:
            where = f"{session.user} on {session.node} (session {session.number})"
            yield f"{where} sees {session.seats}; the seats are {record.seats}"


def last_status_is_true(record):
    """The last status that a session was told is the true one."""
    for session in record.sessions:
        for user, row in session.statuses.items():
            told = row and {name: row[name] for name in ("isOnline", "platformList", "customStatus")}
            if session.ended is None and told != record.statuses.get(user):
                where = f"{session.user} on {session.node} (session {session.number})"
                yield f"{where} has {user} as {told}; it is {record.statuses.get(user)}"


def blocked_stay_out(record):
    """Nobody signs in as a user who is blocked."""
    answered = {block.user: block.answered for block in record.blocks}
    for session in record.sessions:
        if session.welcomed is not None and session.asked > answered.get(session.user, float("inf")):
            yield f"{session.user} was signed in on {session.node} (session {session.number}), being blocked"


def codes_say_come_back(record):
    """A fault closes sessions with codes that mean: reconnect."""
    blocked = {block.user for block in record.blocks}
    for session in record.sessions:
        if session.code is not None and session.code >= 4500 and session.user not in blocked:
            yield f"{session.user} on {session.node} (session {session.number}) closed with {session.code}"


# Nodes close a user's sessions for news that another has not confirmed for so long (seconds).
UNHEARD = 4.5


@dataclass(frozen=True)
class Closes:
    """Of the sessions on nodes that a fault spares: how many there were when it began, how many of them were closed with
    4008, and how many of these without a reason; and how many that came later were, too."""

    there: int = 0
    closed: int = 0
    needless: int = 0
    came: int = 0

    def __add__(self, other):
        return Closes(self.there + other.there, self.closed + other.closed, self.needless + other.needless, self.came + other.came)


def closed_elsewhere(record):
    found = Closes()
    for session in spared(record):
        is_closed = session.code == 4008
        found += Closes(1, int(is_closed), int(is_closed and not reason_to_close(record, session)))
    return found + Closes(came=sum(
        session.code == 4008 and session.node not in record.sacrificed and session.asked > record.fault_began
        # One that was not answered has missed nothing.
        and (session.welcomed is None or not reason_to_close(record, session)) for session in record.sessions))


def spared(record):
    """The sessions that were there when the fault began, on nodes that it leaves alone."""
    return [session for session in record.sessions if session.node not in record.sacrificed
            and session.welcomed is not None and session.welcomed <= record.fault_began
            and (session.ended is None or session.ended > record.fault_began)]


def only_who_missed_was_closed(record):
    """A session that missed nothing, and waited for nothing that cannot be repeated, was not closed."""
    for session in spared(record):
        if session.code == 4008 and not reason_to_close(record, session):
            yield (f"{session.user} on {session.node} (session {session.number}) closed with 4008 "
                   f"{session.ended - record.fault_began:.1f} s behind the fault, having missed nothing")


def reason_to_close(record, session):
    """Why a session was closed, in a word; None where there is no reason."""
    live = {group.groupID for group in record.groups if group.is_live}
    if any(request.method != "ping" and not is_repeatable(request, live) for request in session.pending):
        return "a request in flight"
    if any(news.user == session.user and news.began < session.ended and (news.ended or float("inf")) - news.began > UNHEARD
           for news in record.news):
        return "its user's news was not heard everywhere"
    if any(block.user == session.user for block in record.blocks):
        return "its user was blocked"
    return "a message that it missed" if any(missed(record, group, session) for group in stored(record)) else None


def is_repeatable(request, live):
    """The next owner answers it as the lost one would have."""
    return request.method == "sendGroupTextMessage" and request.clientMsgID is not None and request.group not in live


def missed(record, group, session):
    """Whether something of others was stored in a group while the session was there that it did not get."""
    if session.user not in group.members | group.visitors:
        return False
    known = {event.seq for event in session.events if event.group == group.groupID}
    known |= {ack.seq for ack in record.acks if ack.group == group.groupID and session.number in ack.sessions}
    ranges = [(0, float("inf"))] if session.user in group.members else member_ranges(session.user, group.history)
    return any(
        session.welcomed < message.timestamp / 1000 - record.wall < session.ended and message.seq not in known
        and message.sender != session.user and any(first <= message.seq <= last for first, last in ranges) for message in group.history)


PROMISES = [
    seqs_have_no_gap, times_do_not_decrease, acknowledged_is_there, stored_once, acknowledged_once, one_order, everybody_has_all,
    no_strangers, webhooks_tell_all_in_order, live_once, live_order, live_is_delivered, seat_has_one_holder,
    last_status_is_true, blocked_stay_out, codes_say_come_back, only_who_missed_was_closed,
]
