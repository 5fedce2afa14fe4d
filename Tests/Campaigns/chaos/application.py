"""The application that is told of every message by webhooks, and fails now and then."""
import asyncio
import threading
from collections import defaultdict

from harness.receiver import Answer, Receiver

# Seconds after the last message in which every webhook must have come: a failed one is tried again after 1, 2, 4 s.
PATIENCE = 60


class Application:
    """Refuses a part of the requests, so that some wait when a node ends."""

    def __init__(self, random, share=0.05):
        self.random, self.share = random, share
        self._lock = threading.Lock()
        self.receiver = Receiver(self._answer)

    @property
    def settings(self):
        return self.receiver.settings("messageSent", timeout="5s")

    def _answer(self, request):
        with self._lock:
            return Answer(status=503) if self.random.random() < self.share else None

    def told(self):
        """By group: the seqs of its messages in the order of their coming, each once."""
        found = defaultdict(list)
        for request in self.receiver.of("messageSent"):
            message = request.data["message"]
            if "seq" in message:
                found[request.data["groupID"]].append(message["seq"])
        return found

    async def wait_for(self, groups):
        """Returns what was told when it is all of these groups' messages, or when the time is up."""
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while True:
            told = await asyncio.to_thread(self.told)
            is_whole = all(
                {message.seq for message in group.history if message.tip is None} <= set(told[group.groupID]) for group in groups)
            if is_whole or asyncio.get_running_loop().time() > deadline:
                return told
            await asyncio.sleep(0.1)
