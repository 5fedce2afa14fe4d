// A loop: all the parts, and the thread that they belong to.

#pragma once

#include "context.h"
#include "listener.h"
#include "protocol.h"
#include "statistics.h"
#include "topic.h"

#include <ev.h>
#include <pthread.h>
#include <stdatomic.h>

// Fields: loop.c, interface.c.
struct ct_loop {
  connections connections;
  topics topics;
  protocol protocol;
  context context;
  ct_options options;  // with texts of its own
  ct_callbacks callbacks;
  wheel *wheel;
  arrivals *arrivals;
  listeners *listeners;  // NULL: it could not be made
  struct ev_loop *events;
  ev_prepare before_poll;
  ev_idle spinner;
  ev_async waker;
  ev_timer ticker;
  pthread_t thread;
  atomic_bool is_stopping;
  char thread_name[16];
  uint64_t coalesced_messages;  // received before the last look at the sockets
  int coalesced_turns;
  uint64_t idle_checked;        // tick
  lateness lateness;
  turn_meter turns;
  ct_histogram flushes;
};
