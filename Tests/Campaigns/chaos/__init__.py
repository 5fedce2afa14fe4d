"""Faults of a cluster under load, and whether its promises hold (Cluster.md, "Faults")."""
