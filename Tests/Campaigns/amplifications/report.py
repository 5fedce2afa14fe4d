"""From measurements to a Markdown table: one row for each amplification, `before → now` where there
are both."""
import statistics

MEBIBYTE, KIBIBYTE = 1 << 20, 1 << 10
PHASES = ("during", "after")
AFTER = 1  # seconds that a run goes on when the server is idle again
PENDING = "to be measured"  # in a row of a page


def percentile(values, share):
    """The largest value, which is the 99th percentile of so few."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else None


def others(run, kind):
    """Seconds that the bystander waited, while the attack ran and right after."""
    return [value for phase in PHASES for value in run["bystander"].get(phase, {}).get(kind, [])]


def attempts(run):
    return max(1, run["sent"] + run["sign_ins"] + run["sign_ins_refused"])


def work(run):
    return max(1, run["accepted"] or run["sign_ins"] or attempts(run))


def cpu(run):
    """Leaves out the cost of the bystander alone."""
    return max(0.0, run["cpu"] - run["cpu_quiet"] * (run["seconds"] + run["busy_after"] + AFTER))


def written(run):
    return max(0.0, run["written"] - run["written_quiet"] * (run["seconds"] + run["busy_after"] + AFTER))


def milliseconds(seconds):
    return None if seconds is None else seconds * 1000


COLUMNS = [
    ("accepted/s", lambda run: (run["accepted"] or run["sign_ins"]) / run["seconds"]),
    ("rows", lambda run: run["rows"] / work(run)),
    ("written KB", lambda run: written(run) / work(run) / KIBIBYTE),
    ("fills MB/s", lambda run: max(0, run["filled"]) / run["seconds"] / MEBIBYTE),
    ("answered KB", lambda run: run["answered"] / attempts(run) / KIBIBYTE),
    ("CPU ms", lambda run: cpu(run) / attempts(run) * 1000),
    ("CPU % of a core", lambda run: cpu(run) / (run["seconds"] + run["busy_after"]) * 100),
    ("busy after, s", lambda run: run["busy_after"]),
    ("memory MB, peak", lambda run: run["memory_peak"] / MEBIBYTE),
    ("memory MB, after", lambda run: run["memory_after"] / MEBIBYTE),
    ("p50 of others' sends, ms", lambda run: milliseconds(percentile(others(run, "sends"), 0.5))),
    ("p99 of others' sends, ms", lambda run: milliseconds(percentile(others(run, "sends"), 0.99))),
    ("p99 of sign-ins, ms", lambda run: milliseconds(percentile(others(run, "signIns"), 0.99))),
]


def number(value):
    if value is None:
        return "–"
    size = abs(value)
    return f"{value:,.0f}" if size >= 100 else f"{value:.1f}" if size >= 1 else f"{value:.2f}" if size >= 0.005 else "0"


def cell(column, runs):
    """One figure, or `before → now`."""
    return " → ".join(number(column(run)) for run in runs)


def table(rows):
    """`rows`: (name, request, the runs of it, oldest first)."""
    head = ["amplification", "what one user does", *(title for title, _ in COLUMNS)]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * 2 + " ---: |" * len(COLUMNS)]
    for name, request, runs in rows:
        cells = [cell(column, runs) for _, column in COLUMNS]
        lines.append("| " + " | ".join([f"`{name}`", request, *cells]) + " |")
    return "\n".join(lines)


def fill(page, runs):
    """A page's text, with the figures of these runs, by name, where a row of it says that they are to be measured."""
    lines, titles, figures = [], [], dict(COLUMNS)
    for line in page.split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        run = runs.get(cells[0].strip("`")) if cells else None
        if not cells:
            titles = []
        elif not titles:
            titles = cells
        elif run and PENDING in cells:
            cells = [number(figures[title](run)) if value == PENDING and title in figures else value
                     for title, value in zip(titles, cells)]
            line = "| " + " | ".join(cells) + " |"
        lines.append(line)
    return "\n".join(lines)


def notes(rows):
    """Names the users who were not served, which a table cannot show."""
    found = []
    for name, _, runs in rows:
        for run in runs:
            failed = [line for phase in run["bystander"].values() for line in phase["failed"]]
            if failed:
                found.append(f"- `{name}`{which(run, runs)}: {len(failed)} failures of the bystander's, as: {failed[0][:200]}")
            if not run["alive"]:
                found.append(f"- `{name}`{which(run, runs)}: the server has ended")
    return "\n".join(found)


def which(run, runs):
    return "" if len(runs) < 2 else " (before)" if run is runs[0] else " (now)"


def summary(run):
    """One run in a line, to show the progress."""
    shown = [f"{title} {number(column(run))}" for title, column in COLUMNS]
    return f"{run['name']:30} " + ", ".join(shown)


def quiet(rows):
    """The bystander's figures without an attack: the median over all runs."""
    runs = [run for _, _, found in rows for run in found]
    parts = []
    for kind, word in (("sends", "a send"), ("signIns", "a sign-in")):
        values = [milliseconds(value) for run in runs for value in run["bystander"].get("quiet", {}).get(kind, [])]
        if values:
            parts.append(f"{word} {statistics.median(values):.1f} ms (p99 {percentile(values, 0.99):.1f})")
    return "Without an attack: " + ", ".join(parts) + "." if parts else ""
