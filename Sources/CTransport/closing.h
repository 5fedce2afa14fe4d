// The end of a connection: what was queued leaves, then a close frame.

#pragma once

#include "connection.h"

void connection_begin_close(connection *c, int code, const void *reason, size_t count, bool discard);
// Drops the queued frames and those of its topics, which it leaves.
void connection_drop_queued(connection *c);
// Begins to close and reports it: the transport's own decision.
void connection_fail(connection *c, int code, const char *reason);
// The library has closed it.
void connection_end(connection *c);
