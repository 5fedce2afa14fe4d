#include "private.h"

#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

// When a network fails, thousands of connections are lost at once. The library would close them in one turn, which takes
// it most of a second. It gets a few per turn, so that the requests of the others are read in between.

// The library looks at all connections of the loop at each close and takes 75 microseconds where there are 10,000.
static int closes_per_turn(const ct_loop *loop) {
  enum { CONNECTIONS_LOOKED_AT = 80000, LEAST = 4, MOST = 64 };
  uint64_t connections = loop->counters.connections_open + 1, closes = CONNECTIONS_LOOKED_AT / connections;
  return closes < LEAST ? LEAST : closes > MOST ? MOST : (int)closes;
}

static const int READING_OFF = LWS_RXFLOW_REASON_APPLIES | 1 << 1;  // a reason of our own, beside ct_connection_read's
static const int READING_ON = LWS_RXFLOW_REASON_APPLIES | LWS_RXFLOW_REASON_APPLIES_ENABLE_BIT | 1 << 1;

// The library forgets an event that it has not looked at when it stops reading.
static void postpone(connection *c) {
  if (c->is_postponed) return;
  c->is_postponed = true;
  lws_rx_flow_control(c->wsi, READING_OFF);
  bytes_append(&c->loop->postponed, &c->id, sizeof c->id);
}

// Each loss is told once: the set is edge-triggered.
static void postpone_hung_up(ct_loop *loop) {
  enum { AT_ONCE = 256 };
  struct epoll_event lost[AT_ONCE];
  int count;
  do {
    count = epoll_wait(loop->lost_sockets, lost, AT_ONCE, 0);
    for (int i = 0; i < count; i++) {
      connection *c = connection_get(loop, lost[i].data.u64);
      if (c) postpone(c);
    }
  } while (count == AT_ONCE);
}

void losses_init(ct_loop *loop) { loop->lost_sockets = epoll_create1(EPOLL_CLOEXEC); }

void losses_end(ct_loop *loop) {
  if (loop->lost_sockets >= 0) close(loop->lost_sockets);
  bytes_free(&loop->postponed);
}

// Where the system refuses, the connection is closed in the turn in which it is lost.
void losses_watch(const connection *c) {
  struct epoll_event event = {.events = EPOLLRDHUP | EPOLLET, .data.u64 = c->id};
  (void)epoll_ctl(c->loop->lost_sockets, EPOLL_CTL_ADD, c->socket, &event);
}

void losses_count(ct_loop *loop) {
  if (++loop->closes_in_turn == closes_per_turn(loop) && !loop->is_ending) postpone_hung_up(loop);
}

bool losses_resume(ct_loop *loop) {
  loop->closes_in_turn = 0;
  for (int left = closes_per_turn(loop) / 2; left && bytes_count(&loop->postponed); left--) {
    ct_connection_id id;
    memcpy(&id, bytes_first(&loop->postponed), sizeof id);
    bytes_take(&loop->postponed, sizeof id);
    connection *c = connection_get(loop, id);
    if (!c) continue;
    c->is_postponed = false;
    lws_rx_flow_control(c->wsi, READING_ON);
  }
  return bytes_count(&loop->postponed) > 0;
}
