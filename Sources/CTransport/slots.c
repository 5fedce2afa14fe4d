#include "slots.h"

#include "bytes.h"

#include <stdlib.h>

static void slots_grow(slot_table *table) {
  table->capacity = table->capacity ? table->capacity * 2 : 64;
  table->slots = ct_reallocate(table->slots, table->capacity, sizeof *table->slots);
}

uint64_t slot_put(slot_table *table, void *object) {
  uint32_t index;
  if (table->first_free) {
    index = table->first_free - 1;
    table->first_free = table->slots[index].next_free;
  } else {
    if (table->count == table->capacity) slots_grow(table);
    index = table->count++;
    table->slots[index].generation = 1;
  }
  table->slots[index].object = object;
  return (uint64_t)table->slots[index].generation << 32 | index;
}

void *slot_get(const slot_table *table, uint64_t id) {
  uint32_t index = (uint32_t)id;
  if (index >= table->count || table->slots[index].generation != (uint32_t)(id >> 32)) return NULL;
  return table->slots[index].object;
}

void slot_remove(slot_table *table, uint64_t id) {
  uint32_t index = (uint32_t)id;
  slot *s = &table->slots[index];
  s->object = NULL;
  if (++s->generation == 0) s->generation = 1;  // id 0 is none
  s->next_free = table->first_free;
  table->first_free = index + 1;
}

void slot_table_free(slot_table *table) {
  free(table->slots);
  *table = (slot_table){0};
}
