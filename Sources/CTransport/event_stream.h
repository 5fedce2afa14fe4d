// Event streams: answers to HTTP requests that last (Protocol.md, "Event streams").

#pragma once

#include "connection.h"

struct ev_loop;
typedef struct event_streams event_streams;

event_streams *event_streams_create(connections *all);
// False: the system has given no epoll set.
bool event_streams_is_usable(const event_streams *all);
void event_streams_watch(event_streams *all, struct ev_loop *events);
void event_streams_unwatch(event_streams *all, struct ev_loop *events);
void event_streams_free(event_streams *all);

// Sends the head of the answer. headers: whole lines.
void event_stream_begin(event_streams *all, connection *c, ct_text headers);
// Closes a few of those that have ended. Returns whether there are more.
bool event_streams_turn(event_streams *all);
