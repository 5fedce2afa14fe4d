#include "private.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>

// Not empty: the library does not tell of an empty PONG.
static const char PING[] = "throng";

uint64_t tick_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return ((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000) / TICK_MS;
}

void wheel_clear(connection *c) {
  if (!c->due) return;
  if (c->next_in_wheel) c->next_in_wheel->previous_in_wheel = c->previous_in_wheel;
  if (c->previous_in_wheel) c->previous_in_wheel->next_in_wheel = c->next_in_wheel;
  else c->loop->wheel[c->due % WHEEL_SLOTS] = c->next_in_wheel;
  c->due = 0;
}

void wheel_set(connection *c, uint64_t due) {
  wheel_clear(c);
  if (due <= c->loop->wheel_at) due = c->loop->wheel_at + 1;
  connection **first = &c->loop->wheel[due % WHEEL_SLOTS];
  c->due = due;
  c->previous_in_wheel = NULL;
  c->next_in_wheel = *first;
  if (*first) (*first)->previous_in_wheel = c;
  *first = c;
}

// Connections that came together are not pinged together: the first ping of each is up to a quarter early.
void wheel_start_pings(connection *c) {
  uint64_t interval = ticks(c->loop->options.ping_interval_ms), spread = interval / 4 + 1;
  wheel_set(c, c->loop->wheel_at + interval - (uint32_t)c->id * 2654435761u % spread);
}

// Bytes that the system has received: some frames the library keeps to itself (a PING, an empty PONG).
static uint64_t received_bytes(const connection *c) {
  struct tcp_info info = {0};
  socklen_t size = sizeof info;
  if (getsockopt(lws_get_socket_fd(c->wsi), IPPROTO_TCP, TCP_INFO, &info, &size)) return 0;
  return info.tcpi_bytes_received;
}

static void ping(connection *c) {
  c->awaits_sign = true;
  c->was_heard = false;
  c->pinged = c->loop->wheel_at;
  c->received_at_ping = received_bytes(c);
  wheel_set(c, c->pinged + ticks(c->loop->options.ping_timeout_ms));
  if (c->is_choked || c->is_held) return;  // it would not get out; being read is a sign of life, too
  frame_append(&c->own, OPCODE_PING, PING, sizeof PING - 1);
  connection_mark_dirty(c);
}

static void expire(connection *c) {
  ct_loop *loop = c->loop;
  if (c->is_closing) {
    connection_cut(c);
  } else if (!c->awaits_sign) {
    ping(c);
  } else if (c->is_held || c->was_heard || received_bytes(c) != c->received_at_ping) {
    c->awaits_sign = false;
    wheel_set(c, c->pinged + ticks(loop->options.ping_interval_ms));
  } else {
    connection_fail(c, 4003, "no sign of life");
  }
}

static void expire_slot(ct_loop *loop, uint64_t now) {
  connection *next;
  for (connection *c = loop->wheel[now % WHEEL_SLOTS]; c; c = next) {
    next = c->next_in_wheel;
    if (c->due > now) continue;
    wheel_clear(c);
    expire(c);
  }
}

void wheel_turn(ct_loop *loop) {
  uint64_t now = tick_now();
  // After a long sleep each slot is looked at once.
  if (now > loop->wheel_at + WHEEL_SLOTS) loop->wheel_at = now - WHEEL_SLOTS;
  while (loop->wheel_at < now) expire_slot(loop, ++loop->wheel_at);
}
