"""What `GET /metrics` of a node tells, as a soak compares it."""
import math
import re
from collections import defaultdict

SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
# These say when or how much there is, or the worst since the start: they move by themselves.
PASSED_OVER = {
    "throng_start_time_seconds", "process_start_time_seconds", "process_max_fds", "process_virtual_memory_bytes",
    "throng_store_disk_free_bytes", "throng_store_longest_hold_seconds", "throng_cluster_lease_seconds", "throng_build_info",
    "throng_link_silence_seconds", "throng_jwks_age_seconds", "throng_tls_certificate_expiry_timestamp_seconds", "throng_ready"}


def samples(text):
    """(name, labels, value) of each line."""
    for line in text.splitlines():
        if found := SAMPLE.match(line):
            yield found[1], dict(LABEL.findall(found[2] or "")), float(found[3])


def gauges(text):
    """Every gauge that must not rise for hours, by its name, and that of the table where it has one: those of a node that
    has not been thought of here are among them."""
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    found = defaultdict(float)
    for name, labels, value in samples(text):
        if kinds.get(name) == "gauge" and name not in PASSED_OVER:
            found[f"{name} {labels['table']}" if "table" in labels else name] += value
    return dict(found)


def value(text, name):
    """The sum of a metric's samples."""
    return sum(number for one, _, number in samples(text) if one == name)


def buckets(text, name, **wanted):
    """The counts of a histogram by bucket, of the series with these labels, added up."""
    found = defaultdict(float)
    for one, labels, number in samples(text):
        if one == f"{name}_bucket" and all(labels.get(key) == text for key, text in wanted.items()):
            found[float(labels["le"])] += number
    return dict(found)


def quantile(share, earlier, later):
    """Of the observations between two readings of a histogram, by straight lines within buckets; None without any."""
    bounds = sorted(later)
    counts = [later[bound] - earlier.get(bound, 0) for bound in bounds]
    if not bounds or counts[-1] <= 0:
        return None
    wanted, below, start = share * counts[-1], 0, 0.0
    for bound, count in zip(bounds, counts):
        if count >= wanted:
            if math.isinf(bound):
                return start
            return start + (bound - start) * (wanted - below) / (count - below) if count > below else start
        below, start = count, bound
    return start


def merged(readings):
    """Buckets of several nodes."""
    found = defaultdict(float)
    for one in readings:
        for bound, count in one.items():
            found[bound] += count
    return dict(found)
