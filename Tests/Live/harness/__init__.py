"""Shared by the tests: the server as a process, clients as connections, tokens, plain HTTP."""
