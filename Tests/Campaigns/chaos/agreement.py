"""What is not messages: profiles, counters, and who is online, which all nodes must agree on."""
import asyncio
import time
from collections import defaultdict

from .checker import Violation

PATIENCE = 20


class Agreement:
    """A repeated request may be performed twice, and an old one late: then several answers are right."""

    def __init__(self, load):
        self.load = load
        self.names = defaultdict(lambda: {""})
        self.least = self.most = 0
        self._last = 0

    async def change(self, member):
        """Sets the user's name and increments a counter."""
        self._last += 1
        name, doubts = f"name{self._last}", member.doubts
        await member.request("setSelfInfo", nickName=name)
        # Before the doubt is over, an earlier name may come back.
        self.names[member.user] = self.names[member.user] | {name} if member.doubts > doubts else {name}
        doubts = member.doubts
        self.most += 1
        if await member.request("increaseGroupCounter", (8511,), groupID=self.load.public, key="sent", value=1) is not None:
            self.least += 1
        self.most += member.doubts - doubts

    async def violations(self):
        found = []
        for check in (self._names, self._counter, self._presence):
            deadline = time.monotonic() + PATIENCE
            while (evidence := await check()) and time.monotonic() < deadline:
                await asyncio.sleep(0.1)
            if evidence:
                found.append(Violation(check.__doc__, evidence))
        return found

    async def _answers(self, method, **params):
        """By the node's name."""
        answers = {}
        for node in self.load.cluster.nodes:
            answer = await node.call(method, **params)
            if "result" not in answer:
                return {node.name: answer}
            answers[node.name] = answer["result"]
        return answers

    async def _names(self):
        """All nodes show the profiles that were set last"""
        users = [member.user for member in self.load.senders]
        answers = await self._answers("getUsersInfo", userIDList=users)
        shown = {node: {row["userID"]: row["nickName"] for row in answer.get("userList", [])} for node, answer in answers.items()}
        for user in users:
            names = {names.get(user) for names in shown.values()}
            if len(names) > 1 or not names <= self.names[user]:
                return f"{user} is {({node: names.get(user) for node, names in shown.items()})}, not {sorted(self.names[user])}"
        return None

    async def _counter(self):
        """Every acknowledged increment is counted"""
        answers = await self._answers("getGroupCounters", groupID=self.load.public)
        values = {answer.get("counters", {}).get("sent", 0) for answer in answers.values()}
        if len(values) == 1 and self.least <= min(values) <= self.most:
            return None
        return f"{answers}, not {self.least} to {self.most}"

    async def _presence(self):
        """All nodes count the members who are online"""
        group = next(group for group in self.load.groups if group.groupID == self.load.public)
        online = sum(member.session is not None for member in self.load.members if member.user in group.members)
        answers = await self._answers("getGroupOnlineMemberCount", groupID=self.load.public)
        # Visitors may be members for the moment.
        if all(online <= answer.get("count", -1) <= online + len(group.visitors) for answer in answers.values()):
            return None
        return f"{answers}, not {online}"
