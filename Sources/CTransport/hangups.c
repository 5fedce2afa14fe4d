#include "hangups.h"

#include "bytes.h"

#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

// A failing network ends thousands of connections at once. The library would close all of them in
// one turn of most of a second. It gets a few per turn, so that other requests are read in between.

struct hangups {
  connections *connections;
  int set;          // an epoll set of the connections' sockets that tells which have hung up
  int closes_in_turn;
  bytes postponed;  // identifiers of connections, in the order in which they are closed
};

// The library scans all connections of the loop at each close: 75 microseconds with 10,000 of them.
int closes_per_turn(const connections *all) {
  enum { CONNECTIONS_SCANNED = 80000, LEAST = 4, MOST = 64 };
  uint64_t count = connections_open_count(all) + 1, closes = CONNECTIONS_SCANNED / count;
  return closes < LEAST ? LEAST : closes > MOST ? MOST : (int)closes;
}

// A reason of its own, beside that of ct_connection_set_reading.
static const int READING_OFF = LWS_RXFLOW_REASON_APPLIES | 1 << 1;
static const int READING_ON = LWS_RXFLOW_REASON_APPLIES | LWS_RXFLOW_REASON_APPLIES_ENABLE_BIT | 1 << 1;

// The library drops an event that it has not handled when it stops reading.
static void postpone(hangups *h, connection *c) {
  if (c->is_postponed) return;
  c->is_postponed = true;
  lws_rx_flow_control(c->wsi, READING_OFF);
  bytes_append(&h->postponed, &c->id, sizeof c->id);
}

// The set is edge-triggered: it reports each hangup once.
static void postpone_hangups(hangups *h) {
  enum { AT_ONCE = 256 };
  struct epoll_event lost[AT_ONCE];
  int count;
  do {
    count = epoll_wait(h->set, lost, AT_ONCE, 0);
    for (int i = 0; i < count; i++) {
      connection *c = connection_find(h->connections, lost[i].data.u64);
      if (c) postpone(h, c);
    }
  } while (count == AT_ONCE);
}

hangups *hangups_create(connections *all) {
  hangups *h = ct_allocate(1, sizeof *h);
  h->connections = all;
  h->set = epoll_create1(EPOLL_CLOEXEC);
  return h;
}

void hangups_free(hangups *h) {
  if (h->set >= 0) close(h->set);
  bytes_free(&h->postponed);
  free(h);
}

// Without it, where the system refuses, the connection is closed in the turn of its hangup.
void hangups_watch(hangups *h, const connection *c) {
  struct epoll_event event = {.events = EPOLLRDHUP | EPOLLET, .data.u64 = c->id};
  (void)epoll_ctl(h->set, EPOLL_CTL_ADD, c->descriptor, &event);
}

void hangups_count(hangups *h) {
  if (++h->closes_in_turn == closes_per_turn(h->connections) && !h->connections->is_ending) postpone_hangups(h);
}

bool hangups_resume(hangups *h) {
  h->closes_in_turn = 0;
  if (!bytes_count(&h->postponed)) return false;
  for (int left = closes_per_turn(h->connections) / 2; left && bytes_count(&h->postponed); left--) {
    ct_connection_id id;
    memcpy(&id, bytes_first(&h->postponed), sizeof id);
    bytes_consume(&h->postponed, sizeof id);
    connection *c = connection_find(h->connections, id);
    if (!c) continue;
    c->is_postponed = false;
    lws_rx_flow_control(c->wsi, READING_ON);
  }
  return bytes_count(&h->postponed) > 0;
}
