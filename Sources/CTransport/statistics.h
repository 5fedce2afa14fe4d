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
