"""The table of amplifications, by theme.

`python -m amplifications` measures them; test_one_user.py holds the server to their bounds."""
from harness.amplification import TABLE

from . import (
    changes, connections, conversations, extras, fan_out, loading, members, online, people, reads, receipts, retention, searches,
    sends)

__all__ = [
    "TABLE", "changes", "connections", "conversations", "extras", "fan_out", "loading", "members", "online", "people", "reads",
    "receipts", "retention", "searches", "sends"]
