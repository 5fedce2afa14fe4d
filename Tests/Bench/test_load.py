"""The figures read from one run's JSON."""
import pytest

from load import Measurement, _uncounted
from processes import Failure
from servers import RawServer, Throng
from works import Run

FIGURES = {
    "lost": 0, "messagesPerSecond": 75, "latencyMs": {"p99": 4.5, "p99.9": 9},
    "server": {"cpuMicrosecondsPerDelivery": 0.63, "cpuMicrosecondsPerMessage": 630},
    "statuses": {"Delivered": 300, "Dropped": 0, "droppedLater": 0, "errors": 0, "unanswered": 0}}


def measured(uncounted=1.0, **figures):
    return Measurement({**FIGURES, **figures}, others=0, uncounted=uncounted)


@pytest.mark.parametrize("path, value", [
    ("messagesPerSecond", 75), ("latencyMs.p99", 4.5), ("latencyMs.p99.9", 9), ("server.cpuMicrosecondsPerMessage", 630),
    ("established.duringMs.p99", 8), ("established.duringMs.p99.9", 12)])
def test_a_figure_is_found_by_its_path(path, value):
    assert measured(established={"duringMs": {"p99": 8, "p99.9": 12}}).value(path) == value


@pytest.mark.parametrize("path", ["storm.seconds", "latencyMs.p98", "latencyMs", "messagesPerSecond.p99"])
def test_what_was_not_measured_is_a_failure_and_no_zero(path):
    with pytest.raises(Failure, match=path):
        measured().value(path)


def test_the_deliveries_that_could_not_be_counted_lower_the_cost_of_one_and_nothing_else():
    one = measured(uncounted=1.05)
    assert one.value("server.cpuMicrosecondsPerDelivery") == pytest.approx(0.6)
    assert one.value("server.cpuMicrosecondsPerMessage") == 630 and one.value("latencyMs.p99") == 4.5


def test_a_server_that_sends_senders_their_own_makes_more_deliveries_than_are_counted():
    # 1,000 members are counted; 8 senders get each message, too.
    room = ("room", "--members", "1000", "--publishers", "8", "--inflight", "32")
    assert _uncounted(Run(RawServer("batch"), room)) == pytest.approx(1.008)
    assert _uncounted(Run(RawServer("send"), ("room", "--members", "1", "--publishers", "1"))) == 2
    assert _uncounted(Run(Throng(), room)) == 1
    assert _uncounted(Run(RawServer("send", rooms=True), ("groups", "--groups", "8", "--members", "2"))) == 1, "a reply, no delivery"
    assert _uncounted(Run(Throng(), ("groups", "--groups", "1000", "--members", "10"))) == 1


@pytest.mark.parametrize("name", ["Dropped", "droppedLater", "errors"])
def test_a_message_that_was_not_accepted_is_a_fault(name):
    assert measured(statuses={**FIGURES["statuses"], name: 3}).faults == {name: 3}


def test_a_lost_message_is_a_fault_and_nothing_else_is():
    assert measured(lost=7).faults == {"lost": 7}
    assert measured().faults == {}
    assert Measurement({"lost": 2}, 0, 1).faults == {"lost": 2}, "another server says nothing of its messages"
    assert Measurement({}, 0, 1).faults == {}, "where nothing is sent"
