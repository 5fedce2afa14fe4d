// 64-bit handles that become invalid when their object is removed.

#pragma once

#include "base.h"

// Fields: slots.c.
typedef struct {
  void *object;
  uint32_t generation, next_free;
} slot;

// Fields: slots.c.
typedef struct {
  slot *slots;
  uint32_t count, capacity, first_free;  // first_free: index + 1, 0 is none
} slot_table;

uint64_t slot_put(slot_table *table, void *object);
void *slot_get(const slot_table *table, uint64_t id);
void slot_remove(slot_table *table, uint64_t id);
void slot_table_free(slot_table *table);

// The objects one after the other, with holes where some were removed.
static inline uint32_t slot_places(const slot_table *table) { return table->count; }
static inline void *slot_at(const slot_table *table, uint32_t place) { return table->slots[place].object; }
