#include "statistics.h"

#include <time.h>

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

void lateness_begin(lateness *l, uint32_t tick_ms) { l->due = seconds_now() + tick_ms / 1e3; }

// libev never runs a timer early, so an early tick means that it was due now.
void lateness_count_tick(lateness *l, uint32_t tick_ms) {
  double now = seconds_now(), due = l->due < now ? l->due : now;
  uint64_t late_us = (uint64_t)((now - due) * 1e6);
  histogram_add(&l->lags, (late_us + CT_LAG_UNIT_US - 1) / CT_LAG_UNIT_US, late_us);
  due += tick_ms / 1e3;
  l->due = due > now ? due : now;
}

static int64_t nanoseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void turn_meter_begin(turn_meter *t) { t->began_ns = nanoseconds_now(); }

void turn_meter_end(turn_meter *t) {
  uint64_t length_us = (uint64_t)(nanoseconds_now() - t->began_ns) / 1000;
  histogram_add(&t->lengths, (length_us + CT_LAG_UNIT_US - 1) / CT_LAG_UNIT_US, length_us);
}
