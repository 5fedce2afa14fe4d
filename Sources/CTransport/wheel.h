// Timers: two for each connection, the transport's own and its handler's, and one for each that
// arrives. The time of a loop stands still while the loop does not run (see wheel.c).

#pragma once

#include "base.h"

#include <sys/queue.h>

enum { TICK_MS = 100 };

typedef enum { TIMER_CONNECTION, TIMER_HANDLER, TIMER_ARRIVAL, TIMER_KINDS } timer_kind;

// Fields: wheel.c.
typedef struct timer {
  LIST_ENTRY(timer) in_wheel;
  uint64_t deadline : 62;  // ticks; 0: not in the wheel
  uint64_t kind : 2;
} timer;

static inline void timer_init(timer *t, timer_kind kind) { t->kind = kind; }

typedef struct wheel wheel;

// clock: monotonic milliseconds; NULL: the system's. pause_ms: a longer time between two readings
// of it is no time; 0: all is.
wheel *wheel_create(uint64_t (*clock)(void), uint32_t pause_ms);
void wheel_free(wheel *w);
// Tells what to call when a timer of that kind, which is no longer in the wheel, has expired.
void wheel_on_expiry(wheel *w, timer_kind kind, void (*expired)(timer *timer));
// Begins to count time.
void wheel_begin(wheel *w);
void wheel_turn(wheel *w);

// The tick that the wheel has reached, and that of the clock.
uint64_t wheel_tick(const wheel *w);
uint64_t tick_now(wheel *w);
static inline uint64_t ticks(uint32_t ms) { return ((uint64_t)ms + TICK_MS - 1) / TICK_MS; }

void wheel_set(wheel *w, timer *timer, uint64_t deadline);
// From the tick that the wheel has reached.
void wheel_set_in(wheel *w, timer *timer, uint32_t ms);
// From now by the clock.
void wheel_set_from_now(wheel *w, timer *timer, uint64_t ms);
void wheel_clear(timer *timer);

// For how long the time has stood, and will stand, still that was not told yet, in milliseconds.
uint64_t wheel_take_pause(wheel *w);
