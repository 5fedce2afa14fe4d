"""From the rounds to the tables."""
from __future__ import annotations

import statistics
from dataclasses import dataclass

from load import Measurement
from processes import Failure
from servers import RawServer
from works import BYTES, CPU, P99, RISES, Check, Rise, Work

KEEPS_UP = 0.95


@dataclass(frozen=True)
class Row:
    """One target: the figures of Throng and the baseline by round, and whether their medians meet it."""

    work: str
    measure: str
    target: str
    throng: list[float]
    baseline: list[float]
    ratios: list[float]
    baseline_label: str
    unit: str
    met: bool | None
    note: str = ""
    sign: str = ""


class Results:
    """The measurements by work, run and round."""

    def __init__(self) -> None:
        self._measurements: dict[tuple[str, str], dict[int, Measurement]] = {}
        self.failures: list[str] = []

    def add(self, work: str, run: str, round_number: int, measurement: Measurement) -> None:
        self._measurements.setdefault((work, run), {})[round_number] = measurement

    def values(self, work: str, run: str, path: str) -> dict[int, float]:
        """By round; only those in which the figure was taken."""
        found = {}
        for number, measurement in self._measurements.get((work, run), {}).items():
            try:
                found[number] = measurement.value(path)
            except Failure as failure:
                self._note(f"{work}, {run}: {failure}")
        return found

    def faults(self, work: str, run: str) -> str:
        """The events of any round that must not happen, as a text; empty without any."""
        rounds = self._measurements.get((work, run), {}).values()
        names = sorted({name for measurement in rounds for name in measurement.faults})
        return ", ".join(f"{name} {max(m.faults.get(name, 0) for m in rounds):,}" for name in names)

    def others(self) -> list[float]:
        return [m.others for rounds in self._measurements.values() for m in rounds.values()]

    def _note(self, failure: str) -> None:
        if failure not in self.failures:
            self.failures.append(failure)

    def as_json(self) -> list[dict]:
        return [
            {"work": work, "run": run, "round": number, "othersSeconds": round(m.others, 2), "figures": m.figures}
            for (work, run), rounds in self._measurements.items() for number, m in sorted(rounds.items())]


def _number(value: float) -> str:
    size = abs(value)
    return f"{value:,.0f}" if size >= 1000 else f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def _with_range(values: list[float], unit: str = "", sign: str = "") -> str:
    if not values:
        return "–"
    unit = f" {unit}" if unit else ""
    median, low, high = (f"{sign if v >= 0 else ''}{_number(v)}" for v in (statistics.median(values), min(values), max(values)))
    return f"{median}{unit} ({low}–{high})"


def _target(check: Check, baseline_label: str) -> str:
    unit = f" {check.unit}" if check.unit else ""
    parts = []
    if check.most is not None:
        parts.append(f"≤ {check.most:g}{unit}")
    if check.least is not None:
        parts.append(f"≥ {check.least:,.0f}{unit}")
    if check.most_ratio is not None:
        parts.append(f"≤ {check.most_ratio:g} × {baseline_label}")
    if check.least_ratio is not None:
        parts.append(f"≥ {check.least_ratio:g} × {baseline_label}")
    return ", ".join(parts)


def _met(check: Check, throng: list[float], ratios: list[float]) -> bool | None:
    if not throng or check.bounds_ratio and not ratios:
        return None
    value = statistics.median(throng)
    return ((check.most is None or value <= check.most) and (check.least is None or value >= check.least)
            and (check.most_ratio is None or statistics.median(ratios) <= check.most_ratio)
            and (check.least_ratio is None or statistics.median(ratios) >= check.least_ratio))


def _row(results: Results, work: Work, check: Check) -> Row:
    throng = {n: v * check.scale for n, v in results.values(work.name, "throng", check.path).items()}
    if check.beside:
        compared, label = results.values(work.name, "throng", check.beside), check.beside_label
    else:
        compared = {} if check.is_throngs_own else results.values(work.name, "baseline", check.path)
        label = work.baseline.system.label if work.baseline else ""
    baseline = {n: v * check.scale for n, v in compared.items()}
    ratios = [throng[n] / baseline[n] for n in throng if baseline.get(n)]
    faults = results.faults(work.name, "throng")
    met = _met(check, list(throng.values()), ratios)
    return Row(
        work.title, check.measure, _target(check, label), list(throng.values()), list(baseline.values()), ratios, label, check.unit,
        met and not faults, faults)


def _rise_row(results: Results, rise: Rise) -> Row | None:
    rises = {}
    for run in ("throng", "baseline"):
        small, large = (results.values(name, run, CPU[1]) for name in (rise.smaller, rise.larger))
        rises[run] = {n: large[n] - small[n] for n in small if n in large}
    both = [n for n in rises["throng"] if n in rises["baseline"]]
    if not both:
        return None
    throng, baseline = ([rises[run][n] for n in both] for run in ("throng", "baseline"))
    met = statistics.median(t - f for t, f in zip(throng, baseline)) <= 0
    label = "raw-server batch"
    return Row(rise.title, rise.measure, f"rises no more than {label}", throng, baseline, [], label, "µs", met, sign="+")


def rows(results: Results, works: list[Work]) -> list[Row]:
    found = [_row(results, work, check) for work in works for check in work.checks]
    return found + [row for row in (_rise_row(results, rise) for rise in RISES) if row]


def _cells(row: Row) -> list[str]:
    baseline = f"{_with_range(row.baseline, row.unit, row.sign)} {row.baseline_label}" if row.baseline else "–"
    mark = "–" if not row.target else "✔" if row.met else "✘"
    met = "not measured" if row.met is None else " ".join((mark, row.note)).strip()
    return [row.work, row.measure, row.target, _with_range(row.throng, row.unit, row.sign), baseline, _with_range(row.ratios), met]


def _table(heads: list[str], lines: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (heads, ["---"] * len(heads), *lines))


def table(all_rows: list[Row]) -> str:
    """One line a target."""
    return _table(["work", "measure", "target", "Throng", "baseline", "ratio", "met"], [_cells(row) for row in all_rows])


def noise(results: Results, works: list[Work]) -> str:
    """The differences of raw-server's own figures between rounds, which bound the precision of the others."""
    spreads, sentences = [], []
    for work in works:
        if work.baseline and isinstance(work.baseline.system, RawServer):
            values = results.values(work.name, "baseline", CPU[1]).values()
            if len(values) > 1 and min(values) > 0:
                spreads.append((max(values) / min(values), work.name))
    if spreads:
        worst, name = max(spreads)
        median = statistics.median(spread for spread, _ in spreads)
        sentences.append(
            "Machine noise: raw-server's CPU-µs, largest round ÷ smallest, is "
            f"{median:.2f} in the median of the works, {worst:.2f} at worst ({name}).")
    others = results.others()
    if others:
        median, most = statistics.median(others), max(others)
        sentences.append(f"Others used {median:.2f} s of CPU during a run in the median, {most:.2f} s at worst.")
    return " ".join(sentences)


def _compression_cells(results: Results, work: Work, run: str) -> list[str] | None:
    wire, plain, cpu, p99, share = (
        list(results.values(work.name, run, path).values())
        for path in (BYTES[1], "compression.messageBytesPerDelivery", CPU[1], P99[1], "compression.share"))
    if not cpu:
        return None
    return [_with_range(wire), _number(statistics.median(plain)), f"{100 * statistics.median(share):.1f} %", _with_range(cpu),
            _with_range(p99) if work.is_paced else "–"]


def compression_table(results: Results, works: list[Work]) -> str:
    """One line a run of each work that compares compressions."""
    lines = []
    for work in (work for work in works if work.compressed):
        systems = [("throng", "shared (Throng)"), ("baseline", "plain (Throng)")]
        systems += [(run.system.label, run.system.label) for run in work.compressed]
        for run, name in systems:
            cells = _compression_cells(results, work, run)
            if cells:
                lines.append([work.title, name, *cells])
    heads = ["work", "frames", "bytes received per delivery", "of a message", "compressed", "CPU-µs per delivery", "p99 ms"]
    return _table(heads, lines) if lines else ""


def _peer_cells(results: Results, works: list[Work], run: str) -> list[str]:
    cells, memory = [], []
    for work in works:
        cpu, throng = (results.values(work.name, which, CPU[1]) for which in (run, "throng"))
        ratios = [cpu[n] / throng[n] for n in cpu if throng.get(n)]
        cells += [_with_range(list(cpu.values())), _number(statistics.median(ratios)) + " ×" if ratios else "–"]
        reached = results.values(work.name, run, "deliveriesPerSecond").values()
        behind = bool(reached) and statistics.median(reached) < KEEPS_UP * work.deliveries
        cells.append(_number(statistics.median(reached)) + (", falls behind" if behind else "") if reached else "–")
        if work.deliveries:
            p99 = results.values(work.name, run, P99[1]).values()
            cells.append(_number(statistics.median(p99)) if p99 and not behind else "–")
        memory += results.values(work.name, run, "server.rssBytesPerConnection").values()
    return cells + [f"{_number(statistics.median(memory) / 1024)} KB" if memory else "–"]


def peer_table(results: Results, works: list[Work], peers: dict[str, str], configurations: dict[str, str]) -> str:
    """`peers`: for each peer's label its version, or why it was not measured."""
    works = [work for work in works if work.peers]
    if not works or not peers:
        return ""
    heads = ["server"]
    for work in works:
        heads += [f"{work.title}: CPU-µs per delivery", "÷ Throng", "deliveries/s"]
        if work.deliveries:
            heads.append("p99 ms")
    heads += ["memory per connection", "configuration"]
    systems = {"throng": ("Throng", "1 loop, sign-in, rights, JSON"), "baseline": ("raw-server", "batch; at a rate: send")}
    systems.update({label: (version, configurations[label]) for label, version in peers.items()})
    return _table(
        heads, [[name, *_peer_cells(results, works, run), configuration] for run, (name, configuration) in systems.items()])
