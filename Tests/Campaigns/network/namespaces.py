"""Network namespaces that are joined by `switch.c`. They need root, and end with this process."""
import asyncio
import grp
import os
import pwd
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("switch.c")
MOST_PORTS = 16


def is_possible():
    """Whether this process may make namespaces and devices here."""
    return os.geteuid() == 0 and Path("/dev/net/tun").exists() and shutil.which("ip") and shutil.which("cc")


class Network:
    """`names`: a namespace for each; this process is at one more port, `HERE`. Nothing is delayed or lost at first."""

    HERE = "here"

    def __init__(self, directory, names):
        self.directory = Path(directory)
        self.names = [self.HERE, *names]
        assert len(self.names) <= MOST_PORTS
        self._switch = None
        # What each way between a node and an engine loses where no fault does.
        self.loss = 0
        # Commands are answered one after the other.
        self._turn = asyncio.Lock()

    # Namespaces, devices and addresses are this process's own, so that several runs disturb none.

    def _namespace(self, name):
        return f"throng-{os.getpid()}-{name}"

    def _device(self, name):
        return f"thr{os.getpid() % 1_000_000}" if name == self.HERE else "net0"

    def port(self, name):
        return self.names.index(name) + 1

    def address(self, name):
        return f"{self.prefix}.{self.port(name)}"

    @property
    def prefix(self):
        return f"10.77.{os.getpid() % 256}"

    @property
    def subnet(self):
        return f"{self.prefix}.0/24"

    def inside(self, name, account=None):
        """The words before a command that is to run there, as this user, with a group of the same name."""
        words = ["nsenter", f"--net=/run/netns/{self._namespace(name)}"]
        if account:
            words += [f"--setgid={grp.getgrnam(account).gr_gid}", f"--setuid={pwd.getpwnam(account).pw_uid}"]
        return [*words, "--"]

    def program(self, name, program):
        """A script that runs a program there, for whoever starts one program without words before it."""
        script = self.directory / f"{name}-{Path(program).name}"
        script.write_text(f'#!/bin/sh\nexec {" ".join(self.inside(name))} {program} "$@"\n')
        script.chmod(0o755)
        return script

    async def start(self):
        try:
            await self._start()
        except BaseException:
            await self.end()
            raise

    async def _start(self):
        binary = self.directory / "switch"
        await asyncio.to_thread(self._run, "cc", "-std=gnu11", "-O2", "-o", binary, SOURCE)
        for name in self.names[1:]:
            self._run("ip", "netns", "add", self._namespace(name))
        ports = [f"{self._device(name)}={'-' if name == self.HERE else self._namespace(name)}" for name in self.names]
        self._switch = await asyncio.create_subprocess_exec(
            binary, *ports, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        line = await self._switch.stdout.readline()
        assert line == b"ready\n", "the switch has not started"
        for name in self.names:
            ip = ["ip"] if name == self.HERE else ["ip", "-n", self._namespace(name)]
            device = self._device(name)
            self._run(*ip, "link", "set", device, "address", f"02:00:00:00:00:{self.port(name):02x}")
            self._run(*ip, "address", "add", f"{self.address(name)}/24", "dev", device)
            self._run(*ip, "link", "set", device, "up")
            if name != self.HERE:
                self._run(*ip, "link", "set", "lo", "up")

    async def end(self):
        """The devices go with the switch."""
        if self._switch:
            self._switch.stdin.close()
            await self._switch.wait()
        for name in self.names[1:]:
            subprocess.run(["ip", "netns", "delete", self._namespace(name)], stderr=subprocess.DEVNULL)

    # What the network does

    async def delay(self, one, other, milliseconds, jitter=0):
        """Of each way between two."""
        for ends in self._ways(one, other):
            await self._command("delay", *ends, milliseconds, jitter)

    async def lose(self, source, target, share):
        """One way; 1 loses everything."""
        await self._command("loss", self.port(source), self.port(target), share)

    async def counts(self):
        """Frames that have passed, were lost by chance, and had no place."""
        passed, lost, overflowed = map(int, (await self._ask("counts")).split())
        return {"passed": passed, "lost": lost, "overflowed": overflowed}

    def _ways(self, one, other):
        ends = self.port(one), self.port(other)
        return ends, ends[::-1]

    async def _command(self, *words):
        answer = await self._ask(" ".join(map(str, words)))
        assert answer == "done", answer

    async def _ask(self, line):
        async with self._turn:
            self._switch.stdin.write(f"{line}\n".encode())
            await self._switch.stdin.drain()
            return (await self._switch.stdout.readline()).decode().strip()

    @staticmethod
    def _run(*command):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")


class Way:
    """Between a node and an engine, in the place of a proxy: faults cut it. What is sent meanwhile is sent again by TCP."""

    def __init__(self, network, node, engine):
        self.network, self.ends = network, (node, engine)

    async def refuse(self):
        """A network has no way to refuse: it is silent."""
        await self._lose(1)

    async def silence(self):
        await self._lose(1)

    async def open(self):
        await self._lose(self.network.loss)

    async def _lose(self, share):
        for ends in (self.ends, self.ends[::-1]):
            await self.network.lose(*ends, share)

    def cut(self):
        """Connections outlast it."""

    async def close(self):
        """It ends with the network."""
