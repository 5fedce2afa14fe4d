"""Two other servers from Debian's packages, configured as a user would for a big live room."""
from __future__ import annotations

import contextlib
import os
import pathlib
import random
import socket
import time
from dataclasses import dataclass
from typing import Iterator

import corpus
import packages
from processes import Failure, Process
from servers import EVENT, Running, Setup


def _free_port() -> int:
    """Below the range from which the kernel takes the ports of clients."""
    for _ in range(100):
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise Failure("no port is free")


def _wait_until_it_accepts(process: Process, port: int, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while process.running and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise Failure(f"{process.command[0]} does not accept connections: {process.tail()}")


@contextlib.contextmanager
def _state_directory(path: pathlib.Path = pathlib.Path("/var/lib/nginx")) -> Iterator[None]:
    """nchan 1.3.6 wants this directory whatever its own directive says; without an installed nginx it is made, and removed."""
    if path.exists():
        yield
        return
    try:
        path.mkdir()
    except OSError as error:
        raise Failure(f"nchan needs {path}: {error.strerror}") from None
    try:
        yield
    finally:
        for empty in (path / "body", path):
            with contextlib.suppress(FileNotFoundError):
                empty.rmdir()


@dataclass(frozen=True)
class Nchan:
    """nginx with the module nchan: one channel, publishers and subscribers over WebSocket."""

    label: str = "nginx + nchan"
    pinned: bool = True
    senders_receive: bool = True
    configuration: str = "1 worker, `nchan_pubsub websocket`, `nchan_store_messages off`, `access_log off`"

    def prepare(self, cache: pathlib.Path) -> str:
        root = packages.unpack("libnginx-mod-nchan", cache / "nchan")
        return f"nginx {packages.version(root, 'nginx')} + nchan {packages.version(root, 'libnginx-mod-nchan')}"

    @contextlib.contextmanager
    def start(self, setup: Setup) -> Iterator[Running]:
        root, port = setup.peers / "nchan/root", _free_port()
        configuration = setup.directory / "nginx.conf"
        configuration.write_text(self._configuration(root, setup.directory, port))
        nginx = packages.locate(root, "usr/sbin/nginx")
        with _state_directory():
            process = Process([nginx, "-p", setup.directory, "-e", "stderr", "-c", configuration], setup.server_core)
            try:
                _wait_until_it_accepts(process, port)
                yield Running(self._worker(process.pid), ["--url", f"ws://127.0.0.1:{port}/room", "--publish", "%t%p"])
            finally:
                process.end()

    @staticmethod
    def _worker(master: int) -> int:
        return int(pathlib.Path(f"/proc/{master}/task/{master}/children").read_text().split()[0])

    @staticmethod
    def _configuration(root: pathlib.Path, directory: pathlib.Path, port: int) -> str:
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        temporary = "\n  ".join(f"{kind}_temp_path {directory}/{kind};" for kind in kinds)
        return f"""
load_module {packages.locate(root, "usr/lib/nginx/modules/ngx_nchan_module.so")};
{"user root;" if os.geteuid() == 0 else ""}
daemon off;
worker_processes 1;
pid {directory}/nginx.pid;
error_log stderr error;
events {{ worker_connections 16384; }}
http {{
  access_log off;
  {temporary}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location = /room {{
      nchan_pubsub websocket;
      nchan_channel_id room;
      nchan_store_messages off;
      nchan_subscriber_first_message newest;
    }}
  }}
}}
"""


@dataclass(frozen=True)
class UWebSockets:
    """uWebSockets in PyPI's socketify: a topic whose messages go through its shared compressor."""

    label: str = "uWebSockets"
    pinned: bool = True
    senders_receive: bool = True

    @contextlib.contextmanager
    def start(self, setup: Setup) -> Iterator[Running]:
        if not setup.uwebsockets:
            raise Failure(f"{corpus.SOCKETIFY} could not be installed")
        process = Process([setup.uwebsockets, pathlib.Path(__file__).with_name("uwebsockets.py")], setup.server_core)
        try:
            address = process.wait_for_line("listening").split()[1]
            yield Running(process.pid, ["--url", f"ws://{address}/", "--publish", EVENT])
        finally:
            process.end()


def _xmpp(element: str) -> str:
    return element.replace("CLIENT", "xmlns='jabber:client'").replace("ROOM", "room@conference.localhost")


@dataclass(frozen=True)
class Ejabberd:
    """ejabberd's MUC over its WebSocket endpoint (RFC 7395): anonymous sign-in, bind, join, groupchat messages."""

    label: str = "ejabberd MUC"
    pinned: bool = True
    senders_receive: bool = True
    configuration: str = (
        "WebSocket, anonymous sign-in, no shapers, MUC without history, archive or presence broadcast, `loglevel: warning`")

    def prepare(self, cache: pathlib.Path) -> str:
        root = packages.unpack("ejabberd", cache / "ejabberd")
        return f"ejabberd {packages.version(root, 'ejabberd')}"

    @contextlib.contextmanager
    def start(self, setup: Setup) -> Iterator[Running]:
        root, port = setup.peers / "ejabberd/root", _free_port()
        (setup.directory / "ejabberd.yml").write_text(self._configuration(port))
        process = Process(self._command(root, setup.directory), setup.server_core, self._environment(root, setup.directory))
        try:
            _wait_until_it_accepts(process, port)
            yield Running(process.pid, ["--url", f"ws://127.0.0.1:{port}/ws", *self._conversation()])
        finally:
            process.end()

    @staticmethod
    def _command(root: pathlib.Path, directory: pathlib.Path) -> list[str]:
        """The command of `ejabberdctl foreground`, without a node name: no other Erlang node needs to find it."""
        erlexec = next(packages.locate(root, "usr/lib/erlang").glob("erts-*/bin/erlexec"))
        mnesia = ["-mnesia", "dir", f'"{directory}/spool"']
        return [str(erlexec), "+K", "true", "+P", "250000", "-noinput", *mnesia, "-s", "ejabberd"]

    @staticmethod
    def _environment(root: pathlib.Path, directory: pathlib.Path) -> dict[str, str]:
        erlang = packages.locate(root, "usr/lib/erlang")
        libraries = [*(root / "usr/lib").glob("*-linux-gnu"), *(root / "lib").glob("*-linux-gnu")]
        # Where Erlang is installed already, only some of its applications were unpacked.
        applications = [*(root / "usr/lib").glob("*-linux-gnu"), root / "usr/lib/erlang/lib"]
        return {
            "ROOTDIR": str(erlang), "BINDIR": str(next(erlang.glob("erts-*/bin"))), "EMU": "beam", "PROGNAME": "erl",
            "ERL_LIBS": ":".join(map(str, applications)), "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
            "EJABBERD_CONFIG_PATH": f"{directory}/ejabberd.yml", "EJABBERD_LOG_PATH": f"{directory}/ejabberd.log",
            "ERL_CRASH_DUMP": "/dev/null",
        }

    @staticmethod
    def _configuration(port: int) -> str:
        return f"""
hosts: [localhost]
loglevel: warning
auth_method: [anonymous]
anonymous_protocol: sasl_anon
allow_multiple_connections: true
listen:
  - port: {port}
    ip: "127.0.0.1"
    module: ejabberd_http
    backlog: 4096
    request_handlers:
      /ws: ejabberd_http_ws
modules:
  mod_muc:
    access: all
    access_create: all
    max_users: 20000
    history_size: 0
    default_room_options:
      max_users: 20000
      presence_broadcast: []
"""

    @staticmethod
    def _conversation() -> list[str]:
        opening = "<open xmlns='urn:ietf:params:xml:ns:xmpp-framing' to='localhost' version='1.0'/>"
        steps = (
            (opening, "features"),
            ("<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='ANONYMOUS'/>", "<success"),
            (opening, "xmpp-bind"),
            ("<iq CLIENT type='set' id='b1'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>", "b1"),
            ("<presence CLIENT to='ROOM/n%d'><x xmlns='http://jabber.org/protocol/muc'/></presence>", "<subject"),
        )
        words = ["--subprotocol", "xmpp"]
        for hello, ready in steps:
            words += ["--hello", _xmpp(hello), "--ready", ready]
        return words + ["--publish", _xmpp("<message CLIENT to='ROOM' type='groupchat'><body>%t%p</body></message>")]
