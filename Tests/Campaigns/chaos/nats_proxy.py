"""A proxy before NATS that can lose single messages: it knows where one ends."""
from .fault_proxy import FaultProxy

# What is followed by a payload, and where its length stands: the last word of the line.
WITH_PAYLOAD = {b"PUB", b"HPUB", b"MSG", b"HMSG"}


class Messages:
    """Cuts a stream of NATS' protocol into its messages and its other lines."""

    def __init__(self):
        self._buffer = bytearray()

    def feed(self, data):
        """What is whole now: pairs of a message's subject, or None for another line, and all of its bytes."""
        self._buffer += data
        found, start = [], 0
        while (end := self._buffer.find(b"\r\n", start)) >= 0:
            words = bytes(self._buffer[start:end]).split()
            subject, rest = None, end + 2
            if words and words[0].upper() in WITH_PAYLOAD:
                subject, rest = words[1].decode(), rest + int(words[-1]) + 2
                if len(self._buffer) < rest:
                    break
            found.append((subject, bytes(self._buffer[start:rest])))
            start = rest
        del self._buffer[:start]
        return found


class NATSProxy(FaultProxy):
    """`loses(subject, is_to_engine)` says which messages do not pass; None: all do."""

    def __init__(self, target):
        super().__init__(target)
        self.loses = None
        # How many have not passed.
        self.lost = 0

    def _reader(self, is_to_engine):
        messages = Messages()

        def read(data):
            kept = []
            for subject, whole in messages.feed(data):
                if subject is not None and self.loses is not None and self.loses(subject, is_to_engine):
                    self.lost += 1
                else:
                    kept.append(whole)
            return b"".join(kept)

        return read
