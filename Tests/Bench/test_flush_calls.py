"""From the lines of flush_calls.c to the table."""
import pytest

import flush_calls
from processes import Failure


def test_a_ratio_is_to_send_in_the_same_round():
    lines = ["64 ring 1 1.0 1.5 0", "64 send 1 2.0 2.0 0", "64 send 2 4.0 4.0 0", "64 ring 2 3.0 3.0 0",
             "1000 send 1 5.0 5.0 0", "1000 ring 1 4.0 4.5 0"]
    table = flush_calls.table(flush_calls.runs(lines)).splitlines()[2:]
    assert table == [
        "| 1,000 | `send()` | 5.00 (5.00–5.00) |  | 5.00 (5.00–5.00) |  |",
        "| 1,000 | io_uring | 4.00 (4.00–4.00) | 0.80 (0.80–0.80) | 4.50 (4.50–4.50) | 0.90 (0.90–0.90) |",
        "| 64 | `send()` | 3.00 (2.00–4.00) |  | 3.00 (2.00–4.00) |  |",
        "| 64 | io_uring | 2.00 (1.00–3.00) | 0.62 (0.50–0.75) | 2.25 (1.50–3.00) | 0.75 (0.75–0.75) |"]


def test_a_send_that_was_not_whole_is_a_failure():
    with pytest.raises(Failure):
        flush_calls.runs(["64 ring 1 1.0 1.5 2"])
