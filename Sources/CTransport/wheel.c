#include "private.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>

// Not empty: the library does not report an empty PONG.
static const char PING[] = "throng";

// After a stop of the process or the machine, clients are judged by what their sockets hold, and
// those have to be read first: so long the time stands still.
enum { READING_MS = 1000 };

static uint64_t clock_now(const ct_loop *loop) {
  if (loop->options.clock) return loop->options.clock();
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// The loop reads its clock at least at each tick: where it did not for long, it could not serve its
// clients, and that is no time of theirs.
static uint64_t milliseconds_now(ct_loop *loop) {
  uint64_t now = clock_now(loop), before = loop->last_reading;
  loop->last_reading = now;
  if (loop->options.pause_ms && now - before > loop->options.pause_ms) {
    loop->pause_end = now + READING_MS;
    loop->paused_ms += now - before;
    loop->untold_pause_ms += now - before + READING_MS;
  } else if (before < loop->pause_end) {
    loop->paused_ms += (now < loop->pause_end ? now : loop->pause_end) - before;
  }
  return now - loop->paused_ms;
}

uint64_t tick_now(ct_loop *loop) { return milliseconds_now(loop) / TICK_MS; }

void wheel_begin(ct_loop *loop) {
  loop->last_reading = clock_now(loop);
  loop->wheel_tick = tick_now(loop);
}

uint64_t wheel_take_pause(ct_loop *loop) {
  uint64_t pause = loop->untold_pause_ms;
  loop->untold_pause_ms = 0;
  return pause;
}

void wheel_clear(timer *timer) {
  if (!timer->deadline) return;
  LIST_REMOVE(timer, in_wheel);
  timer->deadline = 0;
}

void wheel_set(ct_loop *loop, timer *timer, uint64_t deadline) {
  wheel_clear(timer);
  if (deadline <= loop->wheel_tick) deadline = loop->wheel_tick + 1;
  timer->deadline = deadline;
  LIST_INSERT_HEAD(&loop->wheel[deadline % WHEEL_SLOTS], timer, in_wheel);
}

// The first ping comes up to a quarter early, which spreads connections that opened together.
void wheel_start_pings(connection *c) {
  uint64_t interval = ticks(c->loop->options.ping_interval_ms), spread = interval / 4 + 1;
  wheel_set(c->loop, &c->own_timer, c->loop->wheel_tick + interval - (uint32_t)c->id * 2654435761u % spread);
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
  wheel_set(c->loop, &c->own_timer, c->ping_tick + ticks(c->loop->options.ping_timeout_ms));
  if (c->is_blocked || c->is_writing_paused) return;  // the peer's reading counts as an answer, too
  frame_append(&c->send_queue, OPCODE_PING, PING, sizeof PING - 1);
  connection_mark_dirty(c);
}

static void expire_own(connection *c) {
  ct_loop *loop = c->loop;
  if (c->is_closing) {
    connection_cut(c);
  } else if (!c->awaits_pong) {
    ping(c);
  } else if (c->is_writing_paused || c->has_received || received_bytes(c) != c->received_at_ping) {
    c->awaits_pong = false;
    wheel_set(loop, &c->own_timer, c->ping_tick + ticks(loop->options.ping_interval_ms));
  } else {
    connection_fail(c, 4003, "no sign of life");
  }
}

static connection *owner(timer *timer, size_t offset) { return (connection *)((char *)timer - offset); }

static void expire(timer *timer) {
  wheel_clear(timer);
  if (timer->kind == TIMER_ARRIVAL) return arrival_expire(timer);
  if (timer->kind == TIMER_CONNECTION) return expire_own(owner(timer, offsetof(connection, own_timer)));
  connection *c = owner(timer, offsetof(connection, handler_timer));
  if (c->handler) c->loop->callbacks.deadline_reached(c->handler);
}

// A handler may set or clear any timer of the loop, so those that are due leave the slot first.
static void expire_slot(ct_loop *loop, uint64_t now) {
  LIST_HEAD(, timer) due = LIST_HEAD_INITIALIZER(due);
  for (timer *t = LIST_FIRST(&loop->wheel[now % WHEEL_SLOTS]), *next; t; t = next) {
    next = LIST_NEXT(t, in_wheel);
    if (t->deadline > now) continue;
    LIST_REMOVE(t, in_wheel);
    LIST_INSERT_HEAD(&due, t, in_wheel);
  }
  for (timer *t; (t = LIST_FIRST(&due));) expire(t);
}

void ct_connection_set_deadline(ct_loop *loop, ct_connection_id id, uint64_t in_ms) {
  connection *c = connection_get(loop, id);
  if (c) wheel_set(loop, &c->handler_timer, (milliseconds_now(loop) + in_ms + TICK_MS - 1) / TICK_MS);
}

void ct_connection_clear_deadline(ct_loop *loop, ct_connection_id id) {
  connection *c = connection_get(loop, id);
  if (c) wheel_clear(&c->handler_timer);
}

void wheel_turn(ct_loop *loop) {
  uint64_t now = tick_now(loop);
  // After a long sleep each slot is checked once.
  if (now > loop->wheel_tick + WHEEL_SLOTS) loop->wheel_tick = now - WHEEL_SLOTS;
  while (loop->wheel_tick < now) expire_slot(loop, ++loop->wheel_tick);
}
