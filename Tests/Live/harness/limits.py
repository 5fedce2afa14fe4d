"""Limits of the library under the server, and of a run's time."""
import os
import subprocess

import pytest

# The longest tests do a part of their work.
IS_SHORT = bool(os.environ.get("THRONG_LIVE_SHORT"))


def can_start_clusters():
    """Whether Scripts/cluster can start PostgreSQL here: it does not work for root, who needs a user namespace."""
    words = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--", "true"]
    return os.geteuid() != 0 or subprocess.run(words, capture_output=True).returncode == 0


def beyond_the_library(value):
    """A parameter whose test fails with libwebsockets 4.1.6, which answers by itself before the
    server is asked. Strict: should a later library do better, the test says so."""
    return pytest.param(value, marks=pytest.mark.xfail(strict=True, reason="libwebsockets 4.1.6 decides this by itself"))
