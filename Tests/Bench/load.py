"""One measurement: a fresh server, `throng bench` against it, the figures that it prints."""
from __future__ import annotations

import json
import pathlib
import shutil
import tempfile
from dataclasses import dataclass, replace

from machine import Disturbance
from processes import Failure, run
from servers import Setup
from works import CPU, Run

# Connecting, joining, draining; more means that something hangs.
SECONDS_BESIDES = 120


@dataclass(frozen=True)
class Measurement:
    """The generator's JSON, and the CPU seconds of other processes meanwhile."""

    figures: dict
    others: float
    # The deliveries made per delivery counted: more where senders get their own messages, too.
    uncounted: float

    def value(self, path: str) -> float:
        found = _at(self.figures, path)
        if not isinstance(found, (int, float)):
            raise Failure(f"the generator reports no {path}")
        return found / self.uncounted if path == CPU[1] else float(found)

    @property
    def faults(self) -> dict[str, int]:
        """The number of each event that must not happen."""
        statuses = self.figures.get("statuses", {})
        counts = {name: statuses.get(name) for name in ("Dropped", "droppedLater", "errors")}
        counts["lost"] = self.figures.get("lost")
        counts["errors of the others"] = self.figures.get("established", {}).get("errors")
        return {name: count for name, count in counts.items() if count}


def _at(figures: object, path: str) -> object:
    """The figure at a path, in which a name may have a dot ("p99.9"); None where there is none."""
    if not isinstance(figures, dict):
        return None
    name, dot, rest = path.partition(".")
    return figures.get(path) if path in figures or not dot else _at(figures.get(name), rest)


def _option(words: tuple[str, ...], name: str) -> float:
    return float(words[words.index(name) + 1]) if name in words else 0


def _uncounted(work_run: Run) -> float:
    members, senders = (_option(work_run.scenario, name) for name in ("--members", "--publishers"))
    return (members + senders) / members if work_run.system.senders_receive else 1


def _figures(command: list[object], core: int | None, seconds: float) -> dict:
    status, output, errors = run(command, core, seconds)
    try:
        figures = json.loads(output)
    except ValueError:
        raise Failure(f"throng bench, exit {status}: {(errors.strip().splitlines() or ['no output'])[-1]}") from None
    if figures.get("failures"):
        raise Failure("; ".join(figures["failures"]))
    if status != 0:
        raise Failure(f"throng bench, exit {status}")
    return figures


def _scenario(work_run: Run, setup: Setup) -> list[str]:
    if work_run.has_texts and not setup.texts:
        raise Failure("there are no texts: the corpus could not be installed")
    return [*work_run.scenario, *(["--texts", str(setup.texts)] if work_run.has_texts else [])]


def measure(work_run: Run, setup: Setup, seconds: float) -> Measurement:
    """Raises Failure when the server or the generator fails."""
    directory = pathlib.Path(tempfile.mkdtemp(dir=setup.directory))
    try:
        with work_run.system.start(replace(setup, directory=directory)) as server:
            disturbance = Disturbance(server.pid)
            command = [
                setup.throng, "bench", *_scenario(work_run, setup), *server.arguments, "--pid", str(server.pid),
                "--duration", f"{seconds:g}", "--quiet", "--json", "-"]
            core = setup.generator_core if work_run.system.pinned else None
            figures = _figures(command, core, seconds + SECONDS_BESIDES)
            figures.update(server.figures())
            return Measurement(figures, disturbance.seconds(), _uncounted(work_run))
    finally:
        shutil.rmtree(directory, ignore_errors=True)
