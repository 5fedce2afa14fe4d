"""What the tests share: the server as a process, clients as connections, tokens, plain HTTP."""
