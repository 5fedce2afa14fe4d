"""The figures of a cluster (Cluster.md, "Measured"): what a hop between nodes costs, in time, CPU and messages."""
