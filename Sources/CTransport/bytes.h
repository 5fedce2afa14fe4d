// Memory. A server without memory cannot keep any promise, so a failed allocation ends the process.

#pragma once

#include "base.h"

void *ct_checked(void *memory);                // returns it, or ends the process where it is NULL
void *ct_allocate(size_t count, size_t size);  // zeroed
void *ct_reallocate(void *old, size_t count, size_t size);

// Bytes that are appended at the end and consumed from the front. Fields: bytes.c.
typedef struct {
  uint8_t *data;
  size_t start, end, capacity;
} bytes;

static inline size_t bytes_count(const bytes *b) { return b->end - b->start; }
static inline size_t bytes_capacity(const bytes *b) { return b->capacity; }
static inline const uint8_t *bytes_first(const bytes *b) { return b->data + b->start; }
// The last count bytes.
static inline const uint8_t *bytes_last(const bytes *b, size_t count) { return b->data + b->end - count; }
// These keep the memory.
static inline void bytes_drop_first(bytes *b, size_t count) { b->start += count; }
static inline void bytes_drop_last(bytes *b, size_t count) { b->end -= count; }
static inline void bytes_clear(bytes *b) { b->start = b->end = 0; }
// Leaves it empty and without memory.
static inline bytes bytes_take(bytes *b) {
  bytes taken = *b;
  *b = (bytes){0};
  return taken;
}

uint8_t *bytes_extend(bytes *b, size_t count);  // returns count uninitialised bytes at the end
void bytes_append(bytes *b, const void *from, size_t count);
void bytes_consume(bytes *b, size_t count);     // frees the memory when nothing is left
void bytes_free(bytes *b);
