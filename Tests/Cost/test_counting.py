"""Whether what is counted is what it is called: a count of nothing would keep within every
bound."""


def test_counts_count(start):
    _, profile = start
    assert profile.instructions > 10_000_000
    assert sum(profile.swift) > 1_000_000
    assert profile.allocations > 10_000
    assert profile.locks > 1_000
    assert profile.calls_to("http_begin") == 0  # the cut comes before it


def test_counting_costs_nothing(server):
    """Two turns without work differ by nothing that matters."""
    assert min(abs(server.cost(lambda: None, 1).instructions) for _ in range(3)) < 20_000
