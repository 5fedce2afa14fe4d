"""A server whose instructions are counted, and what one unit of some work costs it."""
from callgrind import Profile
from client import Client
from harness.server import Server

# No ping while something is counted, no refusal for the rate, no limit of the rooms.
SETTINGS = {
    "loops": 1, "heartbeat.interval": "3600s", "limits.requestsPerSecond": 1_000_000, "limits.requestBurst": 1_000_000,
    "limits.signInsPerSecond": 0, "limits.avChatRoom.messagesPerSecond": 0,
}
# CTransport's first function of every HTTP request: before it, callgrind writes down what was
# executed since the last time.
CUT = "http_begin"
REPEATS = 7


def nothing():
    """No work: what is left is the cost of counting."""


class CountedServer(Server):
    """`throng serve` under callgrind. With a `clock` its time stands still, as of a debug build it can."""

    def __init__(self, directory, clock=None, **settings):
        self.directory = directory
        options = f"-q --vgdb=no --callgrind-out-file={directory}/profile --dump-before={CUT}"
        # Swift seeds its hash tables by chance otherwise.
        environment = {"VALGRIND_OPTS": options, "SWIFT_DETERMINISTIC_HASHING": "1"}
        super().__init__(directory / "data", {**SETTINGS, **settings}, environment=environment, clock=clock)
        self.cuts = 0
        self.clients = []

    def kill(self):
        super().kill()
        for client in self.clients:
            client.close()

    def cut(self):
        """The instructions since the last cut."""
        assert self.http("GET", "/healthz").status == 200
        self.cuts += 1
        path = self.directory / f"profile.{self.cuts}"
        profile = Profile.read(path)
        path.unlink()
        return profile

    def least(self, work, before):
        """The cheapest of several turns, each prepared by `before`. What goes by time (ticks,
        checkpoints) only ever adds."""
        turns = []
        for _ in range(REPEATS):
            before()
            self.cut()
            work()
            turns.append(self.cut())
        return min(turns, key=lambda turn: turn.instructions)

    def cost(self, work, units, before=nothing, behind=nothing):
        """One unit of the work. What a cut costs is taken off, and so is `behind`, which ends the
        work."""
        def whole():
            work()
            behind()

        before()
        whole()  # the first time is dearer
        return (self.least(whole, before) - self.least(behind, nothing)) / units

    def session(self, user):
        """A connection of this user, which is not yet welcomed."""
        self.clients.append(Client(self, user))
        return self.clients[-1]

    def sessions(self, word, numbers):
        """Sessions of the users with these numbers."""
        clients = [self.session(f"{word}-{number:04}") for number in numbers]
        return [client.welcomed() for client in clients]

    def group(self, owner, members, groupType="AVChatRoom", **fields):
        """A group of these clients, without events of joining and leaving."""
        fields = {"groupName": "group", "memberChangeNotification": False, **fields}
        group = owner.call("createGroup", groupType=groupType, **fields)["groupID"]
        for member in members:
            member.send(member.request("joinGroup", groupID=group))
        for member in members:
            member.answer()
        for client in [owner, *members]:
            client.forget()
        return group


class Room:
    """A group, the session that speaks in it, and the sessions that listen."""

    def __init__(self, server, speaker, listeners, **fields):
        self.server = server
        self.speaker = speaker
        self.listeners = listeners
        self.text = "x" * 100
        self.group = server.group(speaker, listeners, **fields)

    def speak(self, count=1):
        """So many messages at once; each is answered and has reached everybody when this
        returns."""
        request = self.speaker.request
        self.speaker.send(*(request("sendGroupTextMessage", groupID=self.group, text=self.text) for _ in range(count)))
        statuses = {self.speaker.answer()["status"] for _ in range(count)}
        assert statuses <= {"Delivered", "Stored"}, statuses
        for listener in self.listeners:
            for _ in range(count):
                listener.expect("onRecvNewMessage")

    def signal(self):
        """A signal; it is answered and has reached everybody when this returns."""
        self.speaker.call("sendGroupSignal", groupID=self.group, name="typing", data="x" * 100)
        for listener in self.listeners:
            listener.expect("onGroupSignal")

    def message(self, count=10, at_once=1):
        """The cost of a message with all its deliveries."""
        def work():
            for _ in range(count):
                self.speak(at_once)

        return self.server.cost(work, count * at_once)
