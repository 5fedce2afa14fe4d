"""The table of amplifications, by theme.

`python -m amplifications` measures them; test_one_user.py holds the server to their bounds."""
from harness.amplification import TABLE

from . import connections, fan_out, loading, members, reads, retention, sends

__all__ = ["TABLE", "connections", "fan_out", "loading", "members", "reads", "retention", "sends"]
