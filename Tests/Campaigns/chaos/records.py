"""What clients and the server know after a while of load: plain values, which `checker` judges."""
from dataclasses import dataclass, field


@dataclass
class Ack:
    """A message that the server has acknowledged."""

    user: str
    group: str
    clientMsgID: str
    msgID: str
    # None: a live message.
    seq: int | None
    status: str
    # Monotonic: of the first attempt, and of the reply.
    began: float
    ended: float
    # The numbers of all sessions that tried to send it: none of these gets the event.
    sessions: set = field(default_factory=set)


@dataclass
class Event:
    """An event of a group, as it came."""

    name: str
    group: str
    seq: int | None = None
    msgID: str | None = None
    is_message: bool = False


@dataclass
class Request:
    """A request of a session that had no answer when the session ended."""

    method: str
    group: str | None = None
    clientMsgID: str | None = None


@dataclass
class News:
    """A change of a user that all nodes must hear of. Monotonic; `ended` is None where no answer came."""

    user: str
    began: float
    ended: float | None = None


@dataclass
class SessionLog:
    """One session: what came, in its order. Monotonic times."""

    number: int
    user: str
    node: str
    began: float
    # From then on its groups are resumed.
    resumed: float | None = None
    ended: float | None = None
    code: int | None = None
    events: list = field(default_factory=list)
    # When the connection was begun, and when the session was signed in.
    asked: float = 0
    welcomed: float | None = None
    # The last row of each user whom the session watches; None: it has none.
    statuses: dict = field(default_factory=dict)
    # The last set of seats that an event has told; None: no event has.
    seats: dict | None = None
    # The requests in flight at its end.
    pending: list = field(default_factory=list)


@dataclass
class Stored:
    """A message in a group's history."""

    seq: int
    msgID: str
    sender: str
    clientMsgID: str | None = None
    # The kind of a tip, and the users whom it names.
    tip: str | None = None
    users: tuple = ()
    # Unix milliseconds, by the clock of the node that has accepted it.
    timestamp: int = 0


@dataclass
class GroupRecord:
    """A group and its people. `visitors` come and go; `members` are there all the time."""

    groupID: str
    members: set
    visitors: set = field(default_factory=set)
    is_live: bool = False
    # The server's history, ascending; empty for a live room.
    history: list = field(default_factory=list)
    # Each member's messages in the end: msgIDs by seq.
    views: dict = field(default_factory=dict)
    # The seqs of the messages of which webhooks have told, in the order of their coming, each once. None: not looked at.
    told: list | None = None


@dataclass
class Sitting:
    """A user who had a seat. Monotonic: the seat was taken between `began` and `ended`, and held until `until` at least."""

    user: str
    seat: str
    began: float
    ended: float
    until: float


@dataclass
class Block:
    """A user who was blocked, from the answer on."""

    user: str
    answered: float


@dataclass
class Record:
    groups: list = field(default_factory=list)
    acks: list = field(default_factory=list)
    sessions: list = field(default_factory=list)
    # When everything had settled: live messages that were acknowledged before have been delivered.
    settled: float = 0
    sittings: list = field(default_factory=list)
    # The seats as the server has them in the end: users by seat.
    seats: dict = field(default_factory=dict)
    # The statuses as the server has them, by user, of those who are watched.
    statuses: dict = field(default_factory=dict)
    blocks: list = field(default_factory=list)
    news: list = field(default_factory=list)
    # The nodes whose own sessions the fault may end, when it began, and when all nodes served again (monotonic).
    sacrificed: set = field(default_factory=set)
    fault_began: float = 0
    fault_ended: float = 0
    # Unix seconds less monotonic ones.
    wall: float = 0
