// Sends everything that was queued in this turn.

#pragma once

#include "fanout.h"

// Counts the flush by its deliveries. Returns whether there is more to do at once.
bool loop_flush(topics *all, ct_histogram *flushes);
// Whether a flush would send something.
bool loop_is_dirty(const topics *all);
// Bytes that wait for a connection, as options.send_queue_bytes bounds them.
size_t connection_queued_bytes(const connection *c);
// Adds what waits for a part of the connections. Returns where to go on; 0: all were looked at.
uint32_t connections_add_waiting(const connections *all, uint32_t position, ct_waiting *sum);
void connection_write(connection *c);
void connection_writeable(connection *c);
// The same for an event stream.
void connection_write_events(connection *c);
