// The listening sockets of a loop.

#pragma once

#include "arrivals.h"

typedef struct listeners listeners;

listeners *listeners_create(struct ev_loop *events, const ct_callbacks *callbacks, arrivals *arrivals, wheel *wheel);
void listeners_free(listeners *all);
void listeners_add(listeners *all, int descriptor, bool is_internal);
// Accepts again where the pause is over.
void listeners_resume(listeners *all);
void listeners_close(listeners *all);
