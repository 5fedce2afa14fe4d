"""What a hostile server sends, made of a seed: answers that are nearly right, events, floods and closes. The players in
Tests/Live/clients (hostile.mjs, hostile.py) hold a client against them, without a network and in a time of their own.

A round is {"seed", "steps", "endless"?, "calls"?}: the client's nth request gets what the nth step has for its method, a
list of {"text", "times"?} and {"close": code}; `$id` stands for the request's number, `$n` for the number of requests so
far, `$k` for the number of this text among its `times`. An `endless` round begins its steps again until its `endless`
connections have ended, and what its last step does not have is answered as by a good server. Then the server is a good
one, and the client has to come back to it. `calls` are made at each sign-in, and answered only by what the steps have.
"""
import copy
import json
import random

GROUP = {"groupID": "g", "groupType": "Public", "groupName": "g", "introduction": "", "faceURL": "", "owner": "bob",
         "createTime": 1, "memberCount": 2, "onlineCount": 2, "maxMemberNum": 0, "customInfo": {}, "epoch": "e", "lastSeq": 10,
         "changeSeq": 0, "selfInfo": {"role": "Member", "joinTime": 1, "nameCard": "", "muteUntil": 0, "readSeq": 0,
                                      "receiveMessageOpt": "Receive", "unreadCount": 0, "customInfo": {}}}
# A live room that remembers nothing: it has a firstSeq.
ROOM = {**GROUP, "groupID": "room", "groupType": "AVChatRoom", "firstSeq": 1}
# A word in JSON that `json` does not write.
RAW = {"@1e999@": "1e999", "@-1e999@": "-1e999", "@1e15@": "1e15"}


def message(seq):
    return {"msgID": f"m{seq}", "groupID": "g", "seq": seq, "sender": "bob", "timestamp": 1, "type": "Text", "text": str(seq),
            "priority": "Normal", "platform": "Web"}


RESULTS = {
    "login": {"userID": "me", "sessionID": "s", "serverTime": 1_766_000_000_000, "tokenExpiresAt": 1_766_003_600_000,
              "heartbeat": 25},
    "getJoinedGroupList": {"groupList": [GROUP, ROOM],
                           "leftGroupIDList": ["old"], "nextSeq": 0},
    "getGroupsInfo": {"resultList": [{"groupID": "room", "code": 0, "info": ROOM}]},
    "syncGroups": {"groups": [{"groupID": "g", "code": 0, "epoch": "e", "lastSeq": 12, "recovered": True, "changeList": [],
                               "changeSeq": 0, "messageList": [message(11), message(12)], "more": True}]},
    "sendGroupTextMessage": {"msgID": "own", "seq": 13, "timestamp": 1, "status": "Stored"},
    "ping": {"serverTime": 1_766_000_000_000},
    "joinGroup": {"status": "Joined"},
}
EVENTS = {
    "onRecvNewMessage": {"groupID": "g", "opTime": 1, "message": message(14)},
    "onMemberEnter": {"groupID": "new", "opTime": 1, "memberList": [{"userID": "me", "nameCard": "", "role": "Member"}], "memberCount": 2,
                      "seq": 15, "msgID": "t15"},
    "onMemberKicked": {"groupID": "g", "opTime": 1, "opUser": {"userID": "bob"}, "memberList": [{"userID": "me"}], "memberCount": 1,
                       "reason": "", "seq": 16, "msgID": "t16"},
    "onGroupCreated": {"groupID": "new", "opTime": 1, "platform": "Web"},
    "onGroupDismissed": {"groupID": "g", "opTime": 1, "opUser": {"userID": "bob"}},
    "onRecvMessageRevoked": {"groupID": "g", "opTime": 1, "msgID": "m11", "seq": 11, "opUser": {"userID": "bob"}, "changeSeq": 3},
    "onMessageDropped": {"groupID": "room", "opTime": 1, "msgID": "own", "clientMsgID": "first", "priority": "Low", "reason": "RateLimit"},
    "onUserSigExpired": {"expiresAt": 1},
    "onServerDraining": {"retryAfterMs": 1200},
    "onKickedOffline": {"reason": "OtherDevice", "message": "no"},
    "onSomethingNew": {"value": {"a": [1, 2, 3]}},
}
ERROR = {"code": 10002, "message": "later", "data": {"temporary": True, "retryAfterMs": 100}}
VALUES = [
    None, True, False, "", "soon", "NaN", [], {}, [[]], [None], 0, -1, 1.5, 2 ** 31 - 1, 2 ** 31, 2 ** 53, 2 ** 53 + 2, 2 ** 63 - 1,
    -2 ** 63, 2 ** 64, 10 ** 400, float("nan"), float("inf"), "@1e999@", "@-1e999@", "@1e15@", "x" * 300, "\x00", "\ud800",
    "__proto__", "constructor", {"__proto__": 1}, "Queued", "g", "room",
]
FRAMES = ["", "null", "[]", "7", '"text"', "{}", "{", '{"id":', '{"id":$id}', '{"id":$id,"result":null}', '{"id":[$id],"result":{}}',
          '{"id":{},"error":[]}', '{"id":$id,"error":"no"}', '{"method":"onRecvNewMessage"}', '{"method":["x"],"params":{}}',
          '{"method":"onMemberEnter","params":[]}', "\ufeff{}", "NaN", '{"id":$id,"result":NaN}', '{"id":"$id","result":{}}',
          '{"id":$id,"result":{},"error":{}}', '{"id":99999,"result":{"serverTime":1e308}}']
CLOSES = [1000, 1001, 1005, 1006, 1011, 4001, 4002, 4003, 4006, 4008, 4499]
FINAL = [4500, 4503]


def encoded(value):
    text = json.dumps(value)
    for mark, word in RAW.items():
        text = text.replace(f'"{mark}"', word)
    return text


def places(value, path=()):
    """The path of each node."""
    yield path
    for key, child in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(child, (*path, key))


class Generator:
    def __init__(self, seed):
        self.seed, self.random = seed, random.Random(seed)

    def chance(self, part):
        return self.random.random() < part

    def hostile(self):
        if self.chance(0.05):
            depth = self.random.choice([25, 40, 2000])
            return f"@{'[' * depth}{']' * depth}@"
        return copy.deepcopy(self.random.choice(VALUES))

    def changed(self, value):
        """The value with a few of its nodes replaced, removed, or doubled."""
        value = copy.deepcopy(value)
        for _ in range(self.random.choice([0, 0, 0, 0, 0, 1, 1, 1, 2, 4])):
            path = self.random.choice([*places(value)])
            if not path:
                continue
            inside = value
            for key in path[:-1]:
                inside = inside[key]
            if isinstance(inside, list) and self.chance(0.3):
                inside.append(copy.deepcopy(inside[path[-1]]))
            elif self.chance(0.2):
                del inside[path[-1]]
            else:
                inside[path[-1]] = self.hostile()
        return value

    def text(self, head, value):
        text = encoded(value)
        # Levels that would end a recursion of this generator too.
        for depth in (25, 40, 2000):
            nested = f"{'[' * depth}{']' * depth}"
            text = text.replace(f'"@{nested}@"', nested)
        return f"{head}{text}}}"

    def event(self):
        name = self.random.choice([*EVENTS])
        text = self.text(f'{{"jsonrpc":"2.0","method":"{name}","params":', self.changed(EVENTS[name]))
        return {"text": text, "times": 300 if self.chance(0.03) else 1}

    def answer(self, method):
        """To the request, as a rule."""
        if self.chance(0.04):
            return []
        if self.chance(0.08):
            return [{"text": self.random.choice(FRAMES)}]
        if self.chance(0.15):
            return [{"text": self.text('{"jsonrpc":"2.0","id":$id,"error":', self.changed(ERROR))}]
        return [{"text": self.text('{"jsonrpc":"2.0","id":$id,"result":', self.changed(RESULTS[method]))}]

    def step(self):
        events = [self.event() for _ in range(self.random.choice([0, 0, 0, 1, 3]))]
        close = [{"close": self.random.choice(FINAL if self.chance(0.02) else CLOSES)}] if self.chance(0.1) else []
        step = {}
        for method in RESULTS:
            answer = self.answer(method)
            step[method] = [*events, *answer, *close] if self.chance(0.5) else [*answer, *events, *close]
        return step

    def round(self):
        return {"seed": self.seed, "steps": [self.step() for _ in range(self.random.choice([3, 8, 20]))]}
