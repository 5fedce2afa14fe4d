"""A cluster with as many connections as its processes may have (Cluster.md, "Beyond 10,000 connections")."""
