#include "private.h"

#include <time.h>

enum { CONNECTIONS_IN_PART = 256 };  // each may miss the cache twice: about 50 µs

void histogram_add(ct_histogram *histogram, uint64_t units, uint64_t amount) {
  int bucket = units <= 1 ? 0 : 64 - __builtin_clzll(units - 1);
  histogram->counts[bucket < CT_BUCKETS ? bucket : CT_BUCKETS - 1]++;
  histogram->sum += amount;
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void lag_begin(ct_loop *loop) { loop->tick_due = seconds_now() + TICK_MS / 1e3; }

// libev never runs a timer early, so an early tick means that it was due now.
void lag_count_tick(ct_loop *loop) {
  double now = seconds_now(), due = loop->tick_due < now ? loop->tick_due : now;
  uint64_t late_us = (uint64_t)((now - due) * 1e6);
  histogram_add(&loop->counters.lags, (late_us + CT_LAG_UNIT_US - 1) / CT_LAG_UNIT_US, late_us);
  due += TICK_MS / 1e3;
  loop->tick_due = due > now ? due : now;
}

uint32_t ct_loop_add_waiting(const ct_loop *loop, uint32_t position, ct_waiting *sum) {
  const slot_table *table = &loop->connections;
  uint32_t end = table->count - position > CONNECTIONS_IN_PART ? position + CONNECTIONS_IN_PART : table->count;
  for (; position < end; position++) {
    const connection *c = table->slots[position].object;
    size_t waiting = c && !c->is_dead ? connection_queued_bytes(c) : 0;
    if (!waiting) continue;
    sum->bytes += waiting;
    sum->connections++;
    if (waiting > sum->largest_bytes) sum->largest_bytes = waiting;
  }
  return position < table->count ? position : 0;
}
