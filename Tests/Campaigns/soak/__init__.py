"""Hours of mixed load on one node, on PostgreSQL and on three nodes: see Scripts/soak."""
