#include "wheel.h"

#include "bytes.h"

#include <stdlib.h>
#include <time.h>

enum { WHEEL_SLOTS = 512 };

// After a stop of the process or the machine, clients are judged by what their sockets hold, and
// those have to be read first: so long the time stands still.
enum { READING_MS = 1000 };

struct wheel {
  LIST_HEAD(wheel_slot, timer) slots[WHEEL_SLOTS];
  void (*expired[TIMER_KINDS])(timer *timer);
  uint64_t (*clock)(void);
  uint64_t pause_ms, tick;
  uint64_t last_reading, pause_end;     // of the clock, in milliseconds
  uint64_t paused_ms, untold_pause_ms;  // how long the time stood still; what wheel_take_pause has to tell
};

wheel *wheel_create(uint64_t (*clock)(void), uint32_t pause_ms) {
  wheel *w = ct_allocate(1, sizeof *w);
  w->clock = clock;
  w->pause_ms = pause_ms;
  return w;
}

void wheel_free(wheel *w) { free(w); }

void wheel_on_expiry(wheel *w, timer_kind kind, void (*expired)(timer *timer)) { w->expired[kind] = expired; }

static uint64_t clock_now(const wheel *w) {
  if (w->clock) return w->clock();
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// The loop reads its clock at least at each tick: where it did not for long, it could not serve its
// clients, and that is no time of theirs.
static uint64_t milliseconds_now(wheel *w) {
  uint64_t now = clock_now(w), before = w->last_reading;
  w->last_reading = now;
  if (w->pause_ms && now - before > w->pause_ms) {
    w->pause_end = now + READING_MS;
    w->paused_ms += now - before;
    w->untold_pause_ms += now - before + READING_MS;
  } else if (before < w->pause_end) {
    w->paused_ms += (now < w->pause_end ? now : w->pause_end) - before;
  }
  return now - w->paused_ms;
}

uint64_t tick_now(wheel *w) { return milliseconds_now(w) / TICK_MS; }
uint64_t wheel_tick(const wheel *w) { return w->tick; }

void wheel_begin(wheel *w) {
  w->last_reading = clock_now(w);
  w->tick = tick_now(w);
}

uint64_t wheel_take_pause(wheel *w) {
  uint64_t pause = w->untold_pause_ms;
  w->untold_pause_ms = 0;
  return pause;
}

void wheel_clear(timer *timer) {
  if (!timer->deadline) return;
  LIST_REMOVE(timer, in_wheel);
  timer->deadline = 0;
}

void wheel_set(wheel *w, timer *timer, uint64_t deadline) {
  wheel_clear(timer);
  if (deadline <= w->tick) deadline = w->tick + 1;
  timer->deadline = deadline;
  LIST_INSERT_HEAD(&w->slots[deadline % WHEEL_SLOTS], timer, in_wheel);
}

void wheel_set_in(wheel *w, timer *timer, uint32_t ms) { wheel_set(w, timer, w->tick + ticks(ms)); }

void wheel_set_from_now(wheel *w, timer *timer, uint64_t ms) {
  wheel_set(w, timer, (milliseconds_now(w) + ms + TICK_MS - 1) / TICK_MS);
}

static void expire(const wheel *w, timer *timer) {
  wheel_clear(timer);
  w->expired[timer->kind](timer);
}

// A handler may set or clear any timer of the loop, so those that are due leave the slot first.
static void expire_slot(wheel *w, uint64_t now) {
  LIST_HEAD(, timer) due = LIST_HEAD_INITIALIZER(due);
  for (timer *t = LIST_FIRST(&w->slots[now % WHEEL_SLOTS]), *next; t; t = next) {
    next = LIST_NEXT(t, in_wheel);
    if (t->deadline > now) continue;
    LIST_REMOVE(t, in_wheel);
    LIST_INSERT_HEAD(&due, t, in_wheel);
  }
  for (timer *t; (t = LIST_FIRST(&due));) expire(w, t);
}

void wheel_turn(wheel *w) {
  uint64_t now = tick_now(w);
  // After a long sleep each slot is checked once.
  if (now > w->tick + WHEEL_SLOTS) w->tick = now - WHEEL_SLOTS;
  while (w->tick < now) expire_slot(w, ++w->tick);
}
