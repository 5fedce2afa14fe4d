"""The checker of Scripts/chaos finds what a broken cluster would do: each test breaks a good history
in one way."""
import pytest
from chaos.checker import Closes, closed_elsewhere, only_who_missed_was_closed, violations
from chaos.records import Ack, Block, Event, GroupRecord, News, Record, Request, SessionLog, Sitting, Stored


def good():
    """Ann and Bob are members of a group and a live room, Eve visits the group from seq 2 to 4."""
    history = [
        Stored(1, "m1", "ann", "c1"), Stored(2, "t2", "eve", tip="Join", users=("eve",)), Stored(3, "m3", "bob", "c3"),
        Stored(4, "t4", "eve", tip="Quit", users=("eve",)), Stored(5, "m5", "ann", "c5"),
    ]
    view = {message.seq: message.msgID for message in history}
    group = GroupRecord("g", {"ann", "bob"}, {"eve"}, history=history, views={"ann": dict(view), "bob": dict(view)}, told=[1, 3, 5])
    room = GroupRecord("room", {"ann", "bob", "cat"}, is_live=True)
    ann, bob, eve, cat = (SessionLog(number, user, "node1", 0, 1) for number, user in enumerate(("ann", "bob", "eve", "cat"), 1))

    def message(seq, msgID):
        return Event("onRecvNewMessage", "g", seq, msgID, True)

    def live(msgID):
        return Event("onRecvNewMessage", "room", None, msgID, True)

    enter, leave = Event("onMemberEnter", "g", 2, "t2"), Event("onMemberLeave", "g", 4, "t4")
    ann.events = [enter, message(3, "m3"), leave, live("l2"), live("l3")]
    bob.events = [message(1, "m1"), enter, leave, message(5, "m5"), live("l1"), live("l3")]
    eve.events = [enter, message(3, "m3"), Event("onQuitFromGroup", "g")]
    cat.events = [live("l1"), live("l2"), live("l3")]
    acks = [
        Ack("ann", "g", "c1", "m1", 1, "Stored", 2, 3, {1}), Ack("bob", "g", "c3", "m3", 3, "Stored", 4, 5, {2}),
        Ack("ann", "g", "c5", "m5", 5, "Stored", 6, 7, {1}), Ack("ann", "room", "d1", "l1", None, "Delivered", 2, 3, {1}),
        Ack("bob", "room", "d2", "l2", None, "Delivered", 3, 4, {2}),
        Ack("eve", "room", "d3", "l3", None, "Queued", 4, 5, {3})]
    # Ann had the seat, then Bob; Cat watches Ann; Dan was blocked, and had signed in before.
    sittings = [Sitting("ann", "seat1", 1, 2, 4), Sitting("bob", "seat1", 3, 5, 6)]
    bob.seats = cat.seats = {"seat2": "ann"}
    status = {"isOnline": True, "platformList": ["Web"], "customStatus": "at lunch"}
    cat.statuses = {"ann": {"userID": "ann", **status, "lastOnlineTime": 0}, "nobody": None}
    dan = SessionLog(5, "dan", "node1", 0, ended=4, code=4503, asked=1, welcomed=2)
    return Record([group, room], acks, [ann, bob, eve, cat, dan], 10, sittings, {"seat2": "ann"}, {"ann": status}, [Block("dan", 3)])


def test_a_good_history_has_no_violation():
    assert violations(good()) == []


def lose_an_acknowledged_message(record):
    group = record.groups[0]
    group.history[4] = Stored(5, "m6", "bob", "c6")
    for view in group.views.values():
        view[5] = "m6"
    record.sessions[1].events[3].msgID = "m6"


def lose_the_last_message(record):
    group = record.groups[0]
    del group.history[4]
    for view in group.views.values():
        del view[5]
    group.told.remove(5)
    del record.sessions[1].events[3]


def store_twice(record):
    group = record.groups[0]
    group.history.append(Stored(6, "m6", "ann", "c5"))
    for view in group.views.values():
        view[6] = "m6"


def acknowledge_twice(record):
    record.acks.append(Ack("ann", "g", "c1", "m9", 9, "Stored", 2, 8, {1}))


def leave_a_gap(record):
    record.groups[0].history[4].seq = 6


def turn_a_clock_back(record):
    for message in record.groups[0].history[:3]:
        message.timestamp = 3_600_000


def change_the_order(record):
    events = record.sessions[0].events
    events[0], events[1] = events[1], events[0]


def repeat_an_event(record):
    record.sessions[1].events.insert(1, record.sessions[1].events[0])


def invent_an_event(record):
    record.sessions[1].events.insert(4, Event("onRecvNewMessage", "g", 6, "m6", True))


def miss_silently(record):
    del record.groups[0].views["bob"][3]


def see_something_else(record):
    record.groups[0].views["ann"][3] = "m7"


def do_not_tell_the_application(record):
    record.groups[0].told.remove(3)


def tell_the_application_in_another_order(record):
    record.groups[0].told = [1, 5, 3]


def tell_a_stranger(record):
    record.sessions[3].events.append(Event("onRecvNewMessage", "g", 3, "m3", True))


def tell_a_former_member(record):
    record.sessions[2].events.append(Event("onRecvNewMessage", "g", 5, "m5", True))


def tell_a_later_member(record):
    record.sessions[2].events.insert(0, Event("onRecvNewMessage", "g", 1, "m1", True))


def deliver_live_twice(record):
    record.sessions[1].events.append(Event("onRecvNewMessage", "room", None, "l1", True))


def change_the_live_order(record):
    # Each pair of sessions agrees but two of three.
    record.sessions[0].events[3:] = [Event("onRecvNewMessage", "room", None, name, True) for name in ("l3", "l2")]


def lose_live(record):
    del record.sessions[3].events[1]


def give_a_seat_twice(record):
    record.sittings[1].ended = 4


def show_another_seat(record):
    record.sessions[1].seats = {"seat2": "bob"}


def show_an_old_status(record):
    record.sessions[3].statuses["ann"]["customStatus"] = "at breakfast"


def show_a_status_of_nobody(record):
    record.sessions[3].statuses["nobody"] = record.sessions[3].statuses["ann"]


def let_the_blocked_in(record):
    record.sessions.append(SessionLog(6, "dan", "node2", 5, asked=4, welcomed=5))


def close_for_good(record):
    record.sessions[3].ended, record.sessions[3].code = 9, 4500


def close_for_nothing(record):
    """A fault closes Bob's session when it has got everything."""
    record.fault_began, bob = 6, record.sessions[1]
    bob.welcomed, bob.ended, bob.code = 1, 9, 4008
    for message in record.groups[0].history:
        message.timestamp = 7000


@pytest.mark.parametrize("damage, promise", [
    (lose_an_acknowledged_message, "acknowledged message is in the history"),
    (lose_the_last_message, "acknowledged message is in the history"), (store_twice, "stored once"),
    (acknowledge_twice, "name the same message"), (leave_a_gap, "no gap"), (turn_a_clock_back, "times"), (change_the_order, "in the order"),
    (repeat_an_event, "each once"), (invent_an_event, "as they are stored"), (miss_silently, "the server's view"),
    (see_something_else, "the server's view"), (do_not_tell_the_application, "told of every message"),
    (tell_the_application_in_another_order, "told of every message"), (tell_a_stranger, "without being a member"),
    (tell_a_former_member, "without being a member"), (tell_a_later_member, "without being a member"),
    (deliver_live_twice, "at most once"), (change_the_live_order, "one order of live"), (lose_live, "stays open"),
    (give_a_seat_twice, "one holder"), (show_another_seat, "one holder"), (show_an_old_status, "true one"),
    (show_a_status_of_nobody, "true one"), (let_the_blocked_in, "who is blocked"),
    (close_for_good, "codes that mean: reconnect"), (close_for_nothing, "missed nothing")])
def test_a_broken_history_is_found(damage, promise):
    record = good()
    damage(record)
    assert any(promise in violation.promise for violation in violations(record)), violations(record)


def test_closed_sessions_may_have_old_news():
    record = good()
    show_another_seat(record)
    show_an_old_status(record)
    for session in (record.sessions[1], record.sessions[3]):
        session.ended, session.code = 9, 4008
    assert violations(record) == []


def test_closed_sessions_may_miss_live_messages():
    record = good()
    lose_live(record)
    record.sessions[3].ended, record.sessions[3].code = 9, 4008
    assert violations(record) == []


def lose_a_node(began, ended):
    def change(record):
        record.sacrificed, record.fault_began, record.fault_ended = {"node2"}, began, ended

    return change


# The message that is lost was under way from 3 to 4.
@pytest.mark.parametrize("began, ended, is_found", [
    (3.5, 6, False), (2, 3.5, False), (4.5, 6, False), (6, 8, True), (1, 2, True)])
def test_open_sessions_may_miss_the_live_messages_of_a_node_that_is_lost(began, ended, is_found):
    record = good()
    lose_live(record)
    lose_a_node(began, ended)(record)
    assert bool(violations(record)) == is_found
    # Where every node goes on, its links do, too.
    record.sacrificed = set()
    assert len(violations(record)) == 1


# Who may be closed


def send(group="g", clientMsgID="c9"):
    return Request("sendGroupTextMessage", group, clientMsgID)


def wait_for(*requests):
    def change(record):
        record.sessions[1].pending = list(requests)

    return change


def miss(time):
    """The last message was stored at this time, and Bob's session has not got it."""
    def change(record):
        record.groups[0].history[4].timestamp = time
        del record.sessions[1].events[3]

    return change


def wait_for_its_own_message(record):
    """Bob's is stored, and the next owner would say so."""
    record.acks.remove(next(ack for ack in record.acks if ack.clientMsgID == "c3"))
    wait_for(send(clientMsgID="c3"))(record)


def tell(began, ended, user="bob"):
    def change(record):
        record.news.append(News(user, began, ended))

    return change


def block(record):
    record.blocks.append(Block("bob", 8))


def sign_in_later(record):
    record.sessions[1].welcomed = 7


def sacrifice(record):
    record.sacrificed = {"node1"}


@pytest.mark.parametrize("change", [
    miss(8000), wait_for(Request("joinGroup", "g")), wait_for(send(), send(clientMsgID=None)), wait_for(send("room")),
    tell(5, None), tell(3, 8), block, sign_in_later, sacrifice])
def test_a_session_may_be_closed_for_a_reason(change):
    record = good()
    close_for_nothing(record)
    change(record)
    assert violations(record) == []


@pytest.mark.parametrize("change", [
    miss(10_000), wait_for(send()), wait_for_its_own_message, wait_for(Request("ping"), send()), tell(5, 6), tell(5, None, "ann"),
    tell(9.5, None)])
def test_what_is_no_reason_to_close_a_session(change):
    record = good()
    close_for_nothing(record)
    change(record)
    assert len(list(only_who_missed_was_closed(record))) == 1


def test_closes_are_counted_on_the_nodes_that_were_spared():
    record = good()
    assert closed_elsewhere(record) == Closes(0, 0, 0)
    close_for_nothing(record)
    # Ann's session stays, Eve's had ended before, Cat's is at another node, and ends by itself.
    ann, _, eve, cat, _ = record.sessions
    ann.welcomed = eve.welcomed = cat.welcomed = 1
    eve.ended, eve.code = 5, 4008
    cat.node, cat.ended, cat.code = "node2", 8, 1006
    assert closed_elsewhere(record) == Closes(3, 1, 1)
    record.sessions[1].pending = [Request("joinGroup", "g")]
    assert closed_elsewhere(record) == Closes(3, 1, 0)
    record.sacrificed = {"node1"}
    assert closed_elsewhere(record) + Closes(1, 1, 1) == Closes(2, 1, 1)


def test_closes_of_sessions_that_came_later_are_counted():
    record = good()
    close_for_nothing(record)
    bob = record.sessions[1]
    assert closed_elsewhere(record).came == 0
    bob.asked = bob.welcomed = record.fault_began + 1
    assert closed_elsewhere(record).came == 1
    bob.pending = [Request("joinGroup", "g")]
    assert closed_elsewhere(record).came == 0
    # Its sign-in was not answered.
    bob.welcomed = None
    assert closed_elsewhere(record).came == 1
    record.sacrificed = {"node1"}
    assert closed_elsewhere(record) == Closes(0, 0, 0, 0)
