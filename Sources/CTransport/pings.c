#include "pings.h"

#include "closing.h"
#include "event_frame.h"
#include "frame.h"
#include "wheel.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

// Not empty: the library does not report an empty PONG.
static const char PING[] = "throng";

// The first ping comes up to a quarter early, which spreads connections that opened together.
void pings_start(connection *c) {
  wheel *w = c->of_loop->wheel;
  uint64_t interval = ticks(c->of_loop->options->ping_interval_ms), spread = interval / 4 + 1;
  wheel_set(w, &c->own_timer, wheel_tick(w) + interval - (uint32_t)c->id * 2654435761u % spread);
}

// Bytes that the system has received: the library does not report a PING or an empty PONG. Nothing
// comes from the client of an event stream: its system acknowledges what it gets.
static uint64_t received_bytes(const connection *c) {
  struct tcp_info info = {0};
  socklen_t size = sizeof info;
  if (getsockopt(c->descriptor, IPPROTO_TCP, TCP_INFO, &info, &size)) return 0;
  return c->is_event_stream ? info.tcpi_bytes_acked : info.tcpi_bytes_received;
}

// Whether the peer of an event stream, or its system, has everything; also that of a Unix socket,
// which has no acknowledgements.
static bool has_delivered_all(const connection *c) {
  int left = 0;
  return c->is_event_stream && !c->is_blocked && !ioctl(c->descriptor, SIOCOUTQ, &left) && !left;
}

static void ping(connection *c) {
  wheel *w = c->of_loop->wheel;
  c->liveness.awaits_pong = true;
  c->liveness.has_received = false;
  c->liveness.ping_tick = wheel_tick(w);
  c->liveness.received_at_ping = received_bytes(c);
  wheel_set_in(w, &c->own_timer, c->of_loop->options->ping_timeout_ms);
  if (c->is_blocked || c->is_writing_paused) return;  // the peer's reading counts as an answer, too
  if (c->is_event_stream) event_append_comment(&c->send_queue);
  else frame_append(&c->send_queue, OPCODE_PING, PING, sizeof PING - 1);
  connection_mark_dirty(c);
}

static bool is_alive(const connection *c) {
  return c->is_writing_paused || c->liveness.has_received || received_bytes(c) != c->liveness.received_at_ping
    || has_delivered_all(c);
}

static void on_timer(timer *timer) {
  connection *c = (connection *)((char *)timer - offsetof(connection, own_timer));
  if (c->is_closing) {
    connection_cut(c);
  } else if (!c->liveness.awaits_pong) {
    ping(c);
  } else if (is_alive(c)) {
    c->liveness.awaits_pong = false;
    wheel_set(c->of_loop->wheel, &c->own_timer, c->liveness.ping_tick + ticks(c->of_loop->options->ping_interval_ms));
  } else {
    connection_fail(c, 4003, "no sign of life");
  }
}

void pings_init(connections *all) { wheel_on_expiry(all->wheel, TIMER_CONNECTION, on_timer); }
