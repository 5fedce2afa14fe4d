"""What a soak has seen, on the disk: hours of several runs add up."""
import json
import os


class State:
    """The rows of one place, a line of JSON each, in files that only grow. A line that a kill has cut is passed over."""

    def __init__(self, directory):
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        # PostgreSQL's account works below it.
        os.chmod(directory, 0o755)

    def _rows(self, name):
        try:
            lines = (self.directory / f"{name}.jsonl").read_text().split("\n")
        except FileNotFoundError:
            return []
        found = []
        for line in lines:
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError:
                continue
        return found

    def _add(self, name, row):
        with open(self.directory / f"{name}.jsonl", "ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            file.write(json.dumps(row).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    @property
    def samples(self):
        return self._rows("samples")

    @property
    def rounds(self):
        return self._rows("rounds")

    def add_sample(self, **row):
        self._add("samples", row)

    def add_round(self, **row):
        self._add("rounds", row)

    @property
    def hours(self):
        """Under load, of all runs."""
        return sum(row["seconds"] for row in self.rounds) / 3600

    def begin_round(self):
        """A number that no round had, also none that was broken off."""
        number = max((row["number"] for row in self._rows("begun")), default=0) + 1
        self._add("begun", {"number": number})
        return number
