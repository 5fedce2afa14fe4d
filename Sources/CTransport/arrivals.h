// Connections that are no WebSockets, and no event streams, yet.

#pragma once

#include "connection.h"
#include "sockets.h"

struct ev_loop;
typedef struct arrivals arrivals;

arrivals *arrivals_create(
  const ct_options *options, const ct_callbacks *callbacks, const connections *connections, wheel *wheel, adoption *adoption);
// False: the system has given no epoll set, so nothing may arrive.
bool arrivals_is_usable(const arrivals *all);
void arrivals_watch(arrivals *all, struct ev_loop *events);
void arrivals_unwatch(arrivals *all, struct ev_loop *events);
void arrivals_free(arrivals *all);
// Those that wait outside the library.
int arrivals_waiting_count(const arrivals *all);

// A connection was accepted.
void arrival_begin(arrivals *all, int descriptor, const peer *p, bool has_proxy_header);
// The library has it.
void arrival_set_wsi(arrival *a, struct lws *wsi);
// It is closed, unless it has become a WebSocket or an event stream by then, or the deadline is replaced.
void arrival_set_deadline(arrival *a, uint32_t ms);
// Its request is a session's: it has a place of its own, and gives way to nobody.
void arrival_serve(arrival *a);
// Whether it may be kept for further requests when it has been answered: not too many are.
bool arrival_may_idle(const arrival *a);
// It has been answered, and is kept for its next request, so long at most; `arrival_set_deadline` ends
// that.
void arrival_set_idle(arrival *a, uint32_t ms);
// The library has closed it, or it is a WebSocket or an event stream.
void arrival_free(arrival *a);
// Closes a few of those whose time is over. Returns whether there are more.
bool arrivals_turn(arrivals *all);
// Closes one that waits at the listener: one whose time is over, or else the oldest. False: none
// waits.
bool arrivals_make_room(arrivals *all, bool is_internal);
void arrivals_close(arrivals *all);
