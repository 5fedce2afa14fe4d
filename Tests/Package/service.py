"""A server in a chroot as its unit runs it, and two people who chat there."""
import json
import re
import signal
import subprocess
import time

import websockets.sync.client

from harness.ports import reserve_port

PATIENCE = 60
CONFIGURATION = "/etc/throng/throng.yaml"


class Service:
    """The server that a unit starts. Where systemd does not run, the test does what the unit says: the same command,
    user and mask."""

    def __init__(self, system, unit="/lib/systemd/system/throng.service"):
        self.system = system
        lines = dict(line.split("=", 1) for line in system.file(unit).read_text().splitlines() if re.match(r"[A-Z]\w+=", line))
        self.user, self._words = lines["User"], lines["ExecStart"].split()
        (self.program,) = re.findall(r"until (\S+) health", lines["ExecStartPost"])
        # Every command beside the service takes its file.
        self.options = ["--config", *re.findall(r"--config (\S+)", lines["ExecStart"])]
        self._mask = lines["UMask"]
        self.port, self.internal = reserve_port(), reserve_port()
        self._process = None

    def as_user(self, *words):
        return ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups", *words]

    def __enter__(self):
        variables = {"THRONG_LISTEN": f"127.0.0.1:{self.port}", "THRONG_INTERNAL_LISTEN": f"127.0.0.1:{self.internal}"}
        command = self.as_user("sh", "-c", f'umask {self._mask}; exec "$@"', "sh", *self._words)
        self._log = open(self.system.root.parent / "service.log", "a")
        self._process = self.system.start(*command, environment=variables, stdout=self._log, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + PATIENCE
        health = [self.program, "health", *self.options, "--internal-listen", f"127.0.0.1:{self.internal}"]
        while self.system.try_to_run(*self.as_user(*health)).returncode != 0:
            if self._process.poll() is not None or time.monotonic() > deadline:
                self._process.kill()
                self._process.wait()
                self._log.close()
                raise AssertionError(self.log())
        return self

    def __exit__(self, kind, *_):
        """It ends as systemd ends it; behind a failed test just somehow."""
        with self._log:
            self._process.send_signal(signal.SIGTERM if kind is None else signal.SIGKILL)
            status = self._process.wait(PATIENCE)
        assert status == 0 or kind is not None, self.log()

    def log(self):
        return (self.system.root.parent / "service.log").read_text()[-5000:]

    def token(self, user):
        return self.system.run(*self.as_user(self.program, "token", user, *self.options)).strip()

    def sign_in(self, user):
        return Person(f"ws://127.0.0.1:{self.port}/ws?token={self.token(user)}")


class Person:
    def __init__(self, address):
        self._connection = websockets.sync.client.connect(address, proxy=None, open_timeout=PATIENCE)
        self._events, self._number = [], 0

    def __enter__(self):
        self._socket = self._connection.__enter__()
        self.event("onConnectSuccess")
        return self

    def __exit__(self, *error):
        self._connection.__exit__(*error)

    def call(self, method, **params):
        self._number += 1
        self._socket.send(json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}))
        while "id" not in (got := self._read()):
            self._events.append(got)
        assert got["id"] == self._number and "error" not in got, got
        return got["result"]

    def event(self, name):
        """The next event of this name."""
        while True:
            for index, got in enumerate(self._events):
                if got["method"] == name:
                    return self._events.pop(index)["params"]
            self._events.append(self._read())

    def _read(self):
        return json.loads(self._socket.recv(timeout=PATIENCE))


def chat(service, group, text):
    """Alice and Bob come into a group, she says something, and he reads it."""
    with service.sign_in("alice") as alice, service.sign_in("bob") as bob:
        alice.call("createGroup", groupType="Meeting", groupName="g", groupID=group)
        bob.call("joinGroup", groupID=group)
        sent = alice.call("sendGroupTextMessage", groupID=group, text=text)
        assert sent["status"] == "Stored"
        assert bob.event("onRecvNewMessage")["message"]["text"] == text


def history(service, group):
    with service.sign_in("alice") as alice:
        messages = alice.call("getGroupHistoryMessageList", groupID=group, count=20)["messageList"]
    return [message["text"] for message in messages if message.get("text")]
