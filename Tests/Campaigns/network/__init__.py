"""A network between the nodes and the engines of a cluster, with delay and loss (Cluster.md, "A network between them")."""
