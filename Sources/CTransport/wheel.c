#include "private.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>

// Not empty: the library does not report an empty PONG.
static const char PING[] = "throng";

uint64_t tick_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return ((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000) / TICK_MS;
}

void wheel_clear(connection *c) {
  if (!c->deadline) return;
  LIST_REMOVE(c, in_wheel);
  c->deadline = 0;
}

void wheel_set(connection *c, uint64_t deadline) {
  wheel_clear(c);
  if (deadline <= c->loop->wheel_tick) deadline = c->loop->wheel_tick + 1;
  c->deadline = deadline;
  LIST_INSERT_HEAD(&c->loop->wheel[deadline % WHEEL_SLOTS], c, in_wheel);
}

// The first ping comes up to a quarter early, which spreads connections that opened together.
void wheel_start_pings(connection *c) {
  uint64_t interval = ticks(c->loop->options.ping_interval_ms), spread = interval / 4 + 1;
  wheel_set(c, c->loop->wheel_tick + interval - (uint32_t)c->id * 2654435761u % spread);
}

// Bytes that the system has received: the library does not report a PING or an empty PONG.
static uint64_t received_bytes(const connection *c) {
  struct tcp_info info = {0};
  socklen_t size = sizeof info;
  if (getsockopt(c->descriptor, IPPROTO_TCP, TCP_INFO, &info, &size)) return 0;
  return info.tcpi_bytes_received;
}

static void ping(connection *c) {
  c->awaits_pong = true;
  c->has_received = false;
  c->ping_tick = c->loop->wheel_tick;
  c->received_at_ping = received_bytes(c);
  wheel_set(c, c->ping_tick + ticks(c->loop->options.ping_timeout_ms));
  if (c->is_blocked || c->is_writing_paused) return;  // the peer's reading counts as an answer, too
  frame_append(&c->send_queue, OPCODE_PING, PING, sizeof PING - 1);
  connection_mark_dirty(c);
}

static void expire(connection *c) {
  ct_loop *loop = c->loop;
  if (c->is_closing) {
    connection_cut(c);
  } else if (!c->awaits_pong) {
    ping(c);
  } else if (c->is_writing_paused || c->has_received || received_bytes(c) != c->received_at_ping) {
    c->awaits_pong = false;
    wheel_set(c, c->ping_tick + ticks(loop->options.ping_interval_ms));
  } else {
    connection_fail(c, 4003, "no sign of life");
  }
}

static void expire_slot(ct_loop *loop, uint64_t now) {
  for (connection *c = LIST_FIRST(&loop->wheel[now % WHEEL_SLOTS]), *next; c; c = next) {
    next = LIST_NEXT(c, in_wheel);
    if (c->deadline > now) continue;
    wheel_clear(c);
    expire(c);
  }
}

void wheel_turn(ct_loop *loop) {
  uint64_t now = tick_now();
  // After a long sleep each slot is checked once.
  if (now > loop->wheel_tick + WHEEL_SLOTS) loop->wheel_tick = now - WHEEL_SLOTS;
  while (loop->wheel_tick < now) expire_slot(loop, ++loop->wheel_tick);
}
