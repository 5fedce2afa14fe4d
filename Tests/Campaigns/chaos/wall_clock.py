"""A wrong wall clock for a process. Its monotonic clocks stay right."""
import shutil
import struct
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("wall_clock.c")
# Seconds: clients' tokens are valid by the clocks of all nodes.
TOKEN_LIFETIME = 24 * 3600


class WallClock:
    """A process that starts with its `environment` follows it."""

    def __init__(self, directory, name):
        self._lead = directory / f"{name}.clock"
        library = directory / "wall_clock.so"
        if not library.exists():
            compiler = shutil.which("clang") or "cc"
            words = ["-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", library, SOURCE]
            subprocess.run([compiler, *words], check=True)
        self.set(0)
        self.environment = {"LD_PRELOAD": str(library), "WALL_CLOCK": str(self._lead)}

    def set(self, lead):
        """It is ahead by so many seconds from now on."""
        with open(self._lead, "r+b" if self._lead.exists() else "wb") as file:
            file.write(struct.pack("=q", lead))
