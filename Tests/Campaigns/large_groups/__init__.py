"""Stored groups of as many members as a community has (Sizing.md, "Large groups")."""
