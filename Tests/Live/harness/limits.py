"""Limits of the library under the server."""
import pytest


def beyond_the_library(value):
    """A parameter whose test fails with libwebsockets 4.1.6, which answers by itself before the
    server is asked. Strict: should a later library do better, the test says so."""
    return pytest.param(value, marks=pytest.mark.xfail(strict=True, reason="libwebsockets 4.1.6 decides this by itself"))
