"""Limits of the library under the server, and of a run's time."""
import os

import pytest

# The longest tests do a part of their work.
IS_SHORT = bool(os.environ.get("THRONG_LIVE_SHORT"))


def beyond_the_library(value):
    """A parameter whose test fails with libwebsockets 4.1.6, which answers by itself before the
    server is asked. Strict: should a later library do better, the test says so."""
    return pytest.param(value, marks=pytest.mark.xfail(strict=True, reason="libwebsockets 4.1.6 decides this by itself"))
