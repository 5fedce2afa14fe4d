"""Runs of `throng bench`, and stand-ins for the server that it measures."""
import asyncio
import contextlib
import json
import re
import signal
import subprocess
import threading
import time

from websockets.sync.server import serve

from .footprint import metric_now
from .server import BINARY, clean_environment, run_throng
from .tokens import SECRET

SHORT = ["--warm-up", "0.2", "--duration", "1"]
# What a closed loop begins with is in the window, however slow the machine is.
SHORT_CLOSED = ["--warm-up", "0", "--duration", "1"]


def arguments(server, *words, secret=SECRET):
    return ["bench", *words, "--url", server.url, "--set", f"auth.secret={secret}", "--quiet"]


def bench(server, *words, status=0, **options):
    """A run to its end; demands its exit status and gives its figures and its table."""
    done = run_throng(*arguments(server, *words, "--json"), cwd=server.data_dir.parent, timeout=120, **options)
    assert done.returncode == status, (done.stdout, done.stderr)
    return json.loads(done.stdout), done.stderr


def groups_of(server):
    return server.rpc("getStats")["result"]["groups"]


def demand_groups(server, count):
    server.wait_until(lambda: groups_of(server) == count, f"there are {count} groups")


def failed(server, *words, url=None, **options):
    """The sentence of a run that must end with 1."""
    call = arguments(server, *words, **options)
    if url:
        call[call.index("--url") + 1] = url
    done = run_throng(*call, cwd=server.data_dir.parent)
    assert done.returncode == 1 and done.stdout == "", done
    assert done.stderr.startswith("throng bench: "), done.stderr
    return done.stderr


class Running:
    """A run under way that tells its progress."""

    def __init__(self, server, *words):
        call = [word for word in arguments(server, *words, "--json") if word != "--quiet"]
        self.process = subprocess.Popen(
            [str(BINARY), *map(str, call)], env=clean_environment(), cwd=server.data_dir.parent, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)

    def progress(self):
        """Waits until the window has lasted for a second at least; gives the last line of progress."""
        for line in self.process.stderr:
            if re.match(r"[1-9]\d* s ", line):
                return line
        raise AssertionError("it ended without such a line")

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def end(self):
        try:
            output, errors = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return self.process.returncode, json.loads(output), errors


def until_interrupted(process):
    """Waits until a process's handler of SIGINT was called: it is one for a single time, and SigCgt names it no more
    (proc(5))."""
    def is_caught():
        with open(f"/proc/{process.pid}/status") as status:
            (caught,) = [int(line.split()[1], 16) for line in status if line.startswith("SigCgt:")]
        return caught >> (signal.SIGINT - 1) & 1

    while is_caught():
        assert process.poll() is None, "it ended by the signal"
        time.sleep(0.01)


async def admit_step_by_step(server, run):
    """Lets a second of a frozen server's time pass whenever it has told somebody to wait with a sign-in, until the run
    (a future) is over; gives how often it has told that."""
    told = 0
    while not run.done():
        now = await asyncio.to_thread(metric_now, server, "throng_sign_ins_refused_total", code="7008")
        if now > told:
            await server.advance(seconds=1)
        told = now
        await asyncio.sleep(0.05)
    return told


@contextlib.contextmanager
def another_server(handle, greet=lambda socket: None):
    """A server that is no Throng: `handle(socket, text, everyone)` for each text; `everyone` are
    the connections that have said something."""
    everyone, lock = [], threading.Lock()

    def listen(socket):
        greet(socket)
        for text in socket:
            with lock:
                if socket not in everyone:
                    everyone.append(socket)
                handle(socket, text, everyone)

    with serve(listen, "127.0.0.1", 0, compression=None) as other:
        thread = threading.Thread(target=other.serve_forever)
        thread.start()
        try:
            yield f"ws://127.0.0.1:{other.socket.getsockname()[1]}"
        finally:
            other.shutdown()
            thread.join()
