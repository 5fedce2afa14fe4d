"""A cluster that goes from one binary to another, node by node, under load (Cluster.md, "Versions")."""
