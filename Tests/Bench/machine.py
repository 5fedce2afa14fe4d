"""This machine, and the CPU time of other processes during a measurement."""
from __future__ import annotations

import os
import pathlib
import platform
import re
import resource
import subprocess

TICKS = os.sysconf("SC_CLK_TCK")


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def description() -> str:
    """CPU model, cores, memory, kernel, distribution."""
    information = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*: (.*)$", information, re.MULTILINE)
    guest = "guest of a hypervisor, " if " hypervisor " in information else ""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    release = pathlib.Path("/etc/os-release").read_text() if os.path.exists("/etc/os-release") else ""
    name = re.search(r'^PRETTY_NAME="?([^"\n]*)', release, re.MULTILINE)
    return (f"{model[1] if model else platform.machine()}, {os.cpu_count()} cores, {guest}{memory:.0f} GB, "
            f"{name[1] if name else platform.system()}, kernel {platform.release()}")


def commit(root: pathlib.Path) -> str:
    """The short name of HEAD, marked when the tree differs from it."""
    git = ("git", "-C", str(root))
    name = _output(*git, "rev-parse", "--short", "HEAD") or "unknown"
    return name + (" with changes" if _output(*git, "status", "--porcelain") else "")


def file_system(path: pathlib.Path) -> str:
    """The type of the file system that a path lies on."""
    return (_output("df", "--output=fstype", str(path)).splitlines() or ["an unknown file system"])[-1]


def cores() -> tuple[int | None, int | None]:
    """The core of the server and that of the generator; none when there are not two."""
    allowed = sorted(os.sched_getaffinity(0))
    return (allowed[0], allowed[1]) if len(allowed) > 1 else (None, None)


def process_seconds(pid: int) -> float:
    """User and system time of a process, all threads."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _busy_seconds() -> float:
    user, nice, system, _, _, irq, soft_irq, steal = map(int, pathlib.Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + soft_irq + steal) / TICKS


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Disturbance:
    """CPU seconds that neither the server nor the generator used: other processes, the hypervisor."""

    def __init__(self, pid: int):
        self._pid = pid
        self._before = self._others()

    def _others(self) -> float:
        own = resource.getrusage(resource.RUSAGE_SELF)
        return _busy_seconds() - process_seconds(self._pid) - _children_seconds() - own.ru_utime - own.ru_stime

    def seconds(self) -> float:
        return max(0.0, self._others() - self._before)
