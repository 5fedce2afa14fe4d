"""What connections without a whole request cost a member: the worst answer to a ping while thousands of them
come, end by their time limit, and are reset at once.

    Tests/Campaigns/run-package half_heads [--connections 10000] [--addresses 200] [--rounds 3]
"""
import argparse
import asyncio
import json
import multiprocessing
import resource
import socket
import struct
import tempfile
import time
from pathlib import Path

from harness.raw import RawSocket
from harness.server import Server
from harness.tokens import make_token

HEAD = b"GET /ws HTTP/1.1\r\nHost: somewhere\r\nX-Long: " + b"x" * 200
TIME_LIMIT = 10  # seconds for a head
RESET_AT_CLOSE = struct.pack("ii", 1, 0)


class Address:
    """What the member's process needs to know of the server."""

    def __init__(self, server):
        self.address, self.path = server.address, server.path


async def ping(server, pipe):
    """A member that pings all the time; the worst answer since it was last asked goes through the pipe."""
    raw = await RawSocket.open(server, path=f"{server.path}?token={make_token('member')}")
    await raw.read()
    pipe.send("ready")
    worst, number = 0.0, 0
    while True:
        if pipe.poll():
            if pipe.recv() == "end":
                return
            pipe.send(worst)
            worst = 0.0
        number += 1
        start = time.monotonic()
        raw.write_json({"jsonrpc": "2.0", "id": number, "method": "ping"})
        while (await raw.read(patience=120))[0] != 1:
            pass
        worst = max(worst, time.monotonic() - start)
        await asyncio.sleep(0.02)


def run_member(server, pipe):
    asyncio.run(ping(server, pipe))


def open_half(server, count, addresses):
    """Half heads from so many addresses of this machine."""
    host, port = server.address.rsplit(":", 1)
    opened = []
    for number in range(count):
        one = socket.socket()
        one.bind((f"127.1.{number % addresses // 250}.{number % addresses % 250 + 1}", 0))
        one.connect((host, int(port)))
        try:
            one.send(HEAD)
        except ConnectionError:
            pass
        opened.append(one)
    return opened


def measure(server, pipe, arguments):
    def worst():
        pipe.send("worst")
        return round(pipe.recv() * 1000, 1)
    figures = {}
    time.sleep(2)
    figures["quiet"] = worst()
    half = open_half(server, arguments.connections, arguments.addresses)
    figures["while they come"] = worst()
    time.sleep(TIME_LIMIT + 3)
    figures["at their time limit"] = worst()
    for one in half:
        one.close()
    half = open_half(server, arguments.connections, arguments.addresses)
    time.sleep(1)
    worst()
    for one in half:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_AT_CLOSE)
    for one in half:
        one.close()
    time.sleep(3)
    figures["at their resets"] = worst()
    return figures


def main():
    parser = argparse.ArgumentParser(prog="half_heads", description=__doc__.split("\n\n")[0])
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--addresses", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory() as directory:
        server = Server(Path(directory) / "data", {"loops": 1})
        server.data_dir.mkdir()
        server.start()
        ours, theirs = multiprocessing.Pipe()
        member = multiprocessing.Process(target=run_member, args=(Address(server), theirs), daemon=True)
        member.start()
        ours.recv()
        try:
            print(f"{arguments.connections} half heads of {arguments.addresses} addresses; the worst answer in ms")
            for _ in range(arguments.rounds):
                print(json.dumps(measure(server, ours, arguments)), flush=True)
        finally:
            ours.send("end")
            member.join(10)
            server.kill()


if __name__ == "__main__":
    main()
