#include "private.h"

#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

// A failing network ends thousands of connections at once. The library would close all of them in
// one turn of most of a second. It gets a few per turn, so that other requests are read in between.

// The library scans all connections of the loop at each close: 75 microseconds with 10,000 of them.
int closes_per_turn(const ct_loop *loop) {
  enum { CONNECTIONS_SCANNED = 80000, LEAST = 4, MOST = 64 };
  uint64_t connections = loop->counters.connections_open + 1, closes = CONNECTIONS_SCANNED / connections;
  return closes < LEAST ? LEAST : closes > MOST ? MOST : (int)closes;
}

// A reason of its own, beside that of ct_connection_set_reading.
static const int READING_OFF = LWS_RXFLOW_REASON_APPLIES | 1 << 1;
static const int READING_ON = LWS_RXFLOW_REASON_APPLIES | LWS_RXFLOW_REASON_APPLIES_ENABLE_BIT | 1 << 1;

// The library drops an event that it has not handled when it stops reading.
static void postpone(connection *c) {
  if (c->is_postponed) return;
  c->is_postponed = true;
  lws_rx_flow_control(c->wsi, READING_OFF);
  bytes_append(&c->loop->postponed, &c->id, sizeof c->id);
}

// The set is edge-triggered: it reports each hangup once.
static void postpone_hangups(ct_loop *loop) {
  enum { AT_ONCE = 256 };
  struct epoll_event lost[AT_ONCE];
  int count;
  do {
    count = epoll_wait(loop->hangup_set, lost, AT_ONCE, 0);
    for (int i = 0; i < count; i++) {
      connection *c = connection_get(loop, lost[i].data.u64);
      if (c) postpone(c);
    }
  } while (count == AT_ONCE);
}

void hangups_init(ct_loop *loop) { loop->hangup_set = epoll_create1(EPOLL_CLOEXEC); }

void hangups_end(ct_loop *loop) {
  if (loop->hangup_set >= 0) close(loop->hangup_set);
  bytes_free(&loop->postponed);
}

// Without it, where the system refuses, the connection is closed in the turn of its hangup.
void hangups_watch(const connection *c) {
  struct epoll_event event = {.events = EPOLLRDHUP | EPOLLET, .data.u64 = c->id};
  (void)epoll_ctl(c->loop->hangup_set, EPOLL_CTL_ADD, c->descriptor, &event);
}

void hangups_count(ct_loop *loop) {
  if (++loop->closes_in_turn == closes_per_turn(loop) && !loop->is_ending) postpone_hangups(loop);
}

bool hangups_resume(ct_loop *loop) {
  loop->closes_in_turn = 0;
  if (!bytes_count(&loop->postponed)) return false;
  for (int left = closes_per_turn(loop) / 2; left && bytes_count(&loop->postponed); left--) {
    ct_connection_id id;
    memcpy(&id, bytes_first(&loop->postponed), sizeof id);
    bytes_consume(&loop->postponed, sizeof id);
    connection *c = connection_get(loop, id);
    if (!c) continue;
    c->is_postponed = false;
    lws_rx_flow_control(c->wsi, READING_ON);
  }
  return bytes_count(&loop->postponed) > 0;
}
