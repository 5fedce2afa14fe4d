#include "bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *ct_checked(void *memory) {
  if (memory) return memory;
  fputs("out of memory\n", stderr);
  abort();
}

void *ct_allocate(size_t count, size_t size) { return ct_checked(calloc(count, size)); }

void *ct_reallocate(void *old, size_t count, size_t size) { return ct_checked(reallocarray(old, count, size)); }

static void bytes_compact(bytes *b) {
  if (!b->start) return;
  memmove(b->data, b->data + b->start, bytes_count(b));
  b->end -= b->start;
  b->start = 0;
}

uint8_t *bytes_extend(bytes *b, size_t count) {
  if (b->capacity - b->end < count) {
    // A move pays only when it frees more than it moves.
    if (b->start > bytes_count(b)) bytes_compact(b);
    if (b->capacity - b->end < count) {
      size_t capacity = b->capacity < 256 ? 256 : b->capacity * 2;
      while (capacity - b->end < count) capacity *= 2;
      b->data = ct_reallocate(b->data, capacity, 1);
      b->capacity = capacity;
    }
  }
  uint8_t *space = b->data + b->end;
  b->end += count;
  return space;
}

void bytes_append(bytes *b, const void *from, size_t count) {
  if (count) memcpy(bytes_extend(b, count), from, count);
}

void bytes_consume(bytes *b, size_t count) {
  b->start += count;
  if (b->start == b->end) bytes_free(b);
}

void bytes_free(bytes *b) {
  free(b->data);
  *b = (bytes){0};
}
