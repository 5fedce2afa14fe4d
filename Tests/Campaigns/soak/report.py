"""The hours so far, what they have shown, and the curves as a picture."""
from collections import Counter, defaultdict
from html import escape

from .slope import LEAST, rises, trend

# By the beginning of a series' name: the share of its level, and the amount, by which it may differ over a life of a process.
ALLOWED = [
    ("process_resident_memory_bytes", 0.05, 3 << 20), ("process_open_fds", 0, 4), ("process_threads", 0, 3),
    ("throng_store_bytes", 0.1, 8 << 20), ("bytes of the database", 0.1, 16 << 20), ("bytes of the log a minute", 0.3, 2000),
    ("p99 of messages", 0.3, 0.02), ("median of messages", 0.3, 0.005), ("throng_table_entries", 0.1, 20),
    ("throng_send_queue", 0.2, 1 << 20), ("throng_recent_message_bytes", 0.1, 1 << 20), ("", 0.1, 20)]
# These outlive a process.
LASTING = {"throng_store_bytes", "bytes of the database", "bytes of the log a minute"}
SHOWN = ["process_resident_memory_bytes", "process_open_fds", "process_threads", "throng_store_bytes", "bytes of the database",
         "bytes of the log a minute", "p99 of messages, s", "median of messages, s"]
# Of the picture, in its own units.
WIDTH, HEIGHT, GAP, LEFT = 300, 120, 46, 60
COLORS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd"]


def allowed(name):
    return next((share, amount) for start, share, amount in ALLOWED if name.startswith(start))


def series(samples):
    """By (name, life): the (hours under load, value) of each sample."""
    found = defaultdict(list)
    for row in samples:
        for name, value in row["values"].items():
            found[name, row["node"] if name in LASTING else row["life"]].append((row["hours"], value))
    return found


def settled(points, warm_up):
    """Without the first `warm_up` hours of a life; of a shorter one without its first half."""
    begin, end = points[0][0], points[-1][0]
    begin += min(warm_up, (end - begin) / 2)
    return [point for point in points if point[0] >= begin]


def trends(samples, warm_up):
    """By (name, life), of the lives that say something."""
    found = {key: trend(settled(points, warm_up)) for key, points in series(samples).items()}
    return {key: one for key, one in found.items() if one}


def rising(samples, warm_up):
    return {key: one for key, one in trends(samples, warm_up).items() if rises(one, *allowed(key[0]))}


def number(value):
    """In four digits."""
    for size, unit in ((1 << 30, " GiB"), (1 << 20, " MiB")):
        if abs(value) >= size:
            return f"{value / size:.4g}{unit}"
    return f"{value:.4g}"


def markdown(places, warm_up):
    """`places`: the name and the state of each."""
    lines = ["# Soak", ""]
    for name, state in places:
        rounds, samples = state.rounds, state.samples
        if not rounds:
            continue
        lines += [f"## {name}", ""]
        kinds = Counter(row["fault"] for row in rounds)
        broken = [text for row in rounds for text in row["violations"]]
        lines.append(f"{state.hours:.2f} hours, {len(rounds)} rounds, {sum(row['acks'] for row in rounds)} messages judged, "
                     f"{len(broken)} violations, {len({row['life'] for row in samples} - {'all'})} lives of processes.")
        lines += ["", "Faults: " + ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())) + ".", ""]
        lines += [f"- VIOLATED {text}" for text in broken]
        found = trends(samples, warm_up)
        if not found:
            lines += [f"No process has lived long enough for a slope: {LEAST} rounds behind its first half.", ""]
            continue
        lines += ["| series | life | hours | level | an hour | 99 % | verdict |", "|---|---|---|---|---|---|---|"]
        for key in sorted(found, key=lambda key: (SHOWN.index(key[0]) if key[0] in SHOWN else len(SHOWN), key)):
            one = found[key]
            verdict = "RISES" if rises(one, *allowed(key[0])) else "flat"
            if key[0] not in SHOWN and verdict == "flat" and one.level == 0:
                continue
            lines.append(f"| {key[0]} | {key[1]} | {one.hours:.2f} | {number(one.level)} | {number(one.slope)} | "
                         f"{number(one.least)} to {number(one.most)} | {verdict} |")
        lines.append("")
    return "\n".join(lines)


# The picture


def svg(places):
    """A row of charts for each place, a line for each node; a gap where a process has ended."""
    charts = []
    for row, (name, state) in enumerate(place for place in places if place[1].samples):
        samples = state.samples
        names = [one for one in SHOWN if any(one in sample["values"] for sample in samples)]
        names.append("throng_table_entries, all")
        for column, one in enumerate(names):
            lines = defaultdict(list)
            for sample in samples:
                values = sample["values"]
                value = values.get(one)
                if one.startswith("throng_table_entries") and sample["node"] != "all":
                    value = sum(count for key, count in values.items() if key.startswith("throng_table_entries"))
                if value is not None:
                    lines[sample["node"], sample["life"]].append((sample["hours"], value))
            charts.append(_chart(column, row, f"{name}: {one}", lines))
    columns = len(SHOWN) + 1
    rows = len({place[0] for place in places if place[1].samples})
    width, height = columns * (WIDTH + LEFT) + GAP, max(rows, 1) * (HEIGHT + GAP) + GAP
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="10">'
            f'<rect width="100%" height="100%" fill="white"/>{"".join(charts)}</svg>\n')


def _chart(column, row, title, lines):
    points = [point for line in lines.values() for point in line]
    if not points:
        return ""
    end = max(hours for hours, _ in points) or 1
    top = max(value for _, value in points) * 1.1 or 1
    nodes = sorted({node for node, _ in lines})
    x, y = LEFT + column * (WIDTH + LEFT), GAP / 2 + row * (HEIGHT + GAP)
    parts = [f'<g transform="translate({x:.0f} {y:.0f})"><text y="-4">{escape(title)}</text>',
             f'<path d="M0 0V{HEIGHT}H{WIDTH}" fill="none" stroke="#888"/>',
             f'<text x="-4" y="8" text-anchor="end">{escape(number(top))}</text>',
             f'<text x="-4" y="{HEIGHT}" text-anchor="end">0</text>',
             f'<text x="{WIDTH}" y="{HEIGHT + 12}" text-anchor="end">{end:.3g} h</text>']
    for (node, _), line in sorted(lines.items()):
        drawn = " ".join(f"{hours / end * WIDTH:.1f},{HEIGHT - value / top * HEIGHT:.1f}" for hours, value in line)
        color = COLORS[nodes.index(node) % len(COLORS)]
        parts.append(f'<polyline points="{drawn}" fill="none" stroke="{color}"/>')
        parts += [f'<circle cx="{hours / end * WIDTH:.1f}" cy="{HEIGHT - value / top * HEIGHT:.1f}" r="1.5" fill="{color}"/>'
                  for hours, value in line]
    return "".join(parts) + "</g>"


def write(directory, places, warm_up):
    """report.md and curves.svg."""
    (directory / "report.md").write_text(markdown(places, warm_up))
    (directory / "curves.svg").write_text(svg(places))
