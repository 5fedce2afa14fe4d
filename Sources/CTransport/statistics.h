#pragma once

#include "base.h"

void histogram_add(ct_histogram *histogram, uint64_t units, uint64_t amount);

// How late the ticks of a loop come. Fields: statistics.c.
typedef struct {
  double due;  // seconds of the monotonic clock
  ct_histogram lags;
} lateness;

void lateness_begin(lateness *l, uint32_t tick_ms);
void lateness_count_tick(lateness *l, uint32_t tick_ms);
static inline ct_histogram lateness_lags(const lateness *l) { return l->lags; }

// How long the turns of a loop are: from the end of a wait for events to the beginning of the next
// one. Fields: statistics.c.
typedef struct {
  int64_t began_ns;  // of the monotonic clock
  ct_histogram lengths;
} turn_meter;

void turn_meter_begin(turn_meter *t);
void turn_meter_end(turn_meter *t);
static inline ct_histogram turn_meter_lengths(const turn_meter *t) { return t->lengths; }
