"""What connections without a whole request cost a member: the worst answer to a ping while thousands of them
come, end by their time limit, and are reset at once.

    Tests/Campaigns/run-package slowloris [--connections 10000] [--addresses 200] [--rounds 3]
"""
import argparse
import json
import resource
import socket
import struct
import tempfile
import time
from pathlib import Path

from harness.pinger import Pinger
from harness.server import Server

HEAD = b"GET /ws HTTP/1.1\r\nHost: somewhere\r\nX-Long: " + b"x" * 200
TIME_LIMIT = 10  # seconds for a head
RESET_AT_CLOSE = struct.pack("ii", 1, 0)


def open_unfinished(server, count, addresses):
    """Requests whose heads do not end, from so many addresses of this machine."""
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


def measure(server, pinger, arguments):
    def worst():
        return round(pinger.worst() * 1000, 1)
    figures = {}
    time.sleep(2)
    figures["quiet"] = worst()
    unfinished = open_unfinished(server, arguments.connections, arguments.addresses)
    figures["while they come"] = worst()
    time.sleep(TIME_LIMIT + 3)
    figures["at their time limit"] = worst()
    for one in unfinished:
        one.close()
    unfinished = open_unfinished(server, arguments.connections, arguments.addresses)
    time.sleep(1)
    worst()
    for one in unfinished:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_AT_CLOSE)
    for one in unfinished:
        one.close()
    time.sleep(3)
    figures["at their resets"] = worst()
    return figures


def main():
    parser = argparse.ArgumentParser(prog="slowloris", description=__doc__.split("\n\n")[0])
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
        pinger = Pinger(server, pause=0.02)
        try:
            print(f"{arguments.connections} unfinished requests of {arguments.addresses} addresses; the worst answer in ms")
            for _ in range(arguments.rounds):
                print(json.dumps(measure(server, pinger, arguments)), flush=True)
        finally:
            pinger.end()
            server.kill()


if __name__ == "__main__":
    main()
