"""Ports of the tests' servers."""
import random
import socket

_reserved = []


def reserve_port():
    """A port of 127.0.0.1 that nobody else gets while this process lives.

    A bound socket keeps it from others that look for one. The socket does not listen, and allows
    its address to be reused: a server can listen there, again and again, and until one does a
    connection is refused. The range is below the one that outgoing connections get.
    """
    while True:
        one = socket.socket()
        port = random.SystemRandom().randrange(10_000, 32_000)
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            one.close()
            continue
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _reserved.append(one)
        return port
