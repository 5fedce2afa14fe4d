"""What the loss of one node, or of the bus, costs the sessions of the others (Cluster.md, "The loss of a node")."""
