#include "private.h"

#include <stdlib.h>
#include <string.h>

enum { COMPACT_AT = 64 * 1024, ALL_KINDS = 0xff };

ct_topic *ct_topic_create(ct_loop *loop) {
  ct_topic *topic = ct_allocate(1, sizeof *topic);
  topic->loop = loop;
  topic->compact_at = COMPACT_AT;
  return topic;
}

static void warm(ct_topic *topic) {
  topic->was_used = true;
  if (topic->is_warm) return;
  topic->is_warm = true;
  topic->previous_warm = NULL;
  topic->next_warm = topic->loop->warm_topics;
  if (topic->next_warm) topic->next_warm->previous_warm = topic;
  topic->loop->warm_topics = topic;
}

static void cool(ct_topic *topic) {
  topic->is_warm = false;
  if (topic->next_warm) topic->next_warm->previous_warm = topic->previous_warm;
  if (topic->previous_warm) topic->previous_warm->next_warm = topic->next_warm;
  else topic->loop->warm_topics = topic->next_warm;
}

// Not the fast way, which is the flush; this one moves what is left when a subscription ends or something has to follow.
static void move_rest(subscription *s) {
  connection *c = s->connection;
  if (subscription_member(s)->cursor == topic_end(s->topic)) return;
  topic_take(s, &c->own, SIZE_MAX, false);
  connection_mark_dirty(c);
}

void topics_move_rest(connection *c) {
  for (subscription *s = c->subscriptions; s; s = s->next) move_rest(s);
}

static void forget_dirty(ct_topic *topic) {
  ct_topic **link = &topic->loop->dirty_topics;
  while (*link && *link != topic) link = &(*link)->next_dirty;
  if (*link) *link = topic->next_dirty;
}

void ct_topic_destroy(ct_topic *topic) {
  while (topic->member_count) {
    subscription *s = topic->members[topic->member_count - 1].subscription;
    move_rest(s);
    subscription_remove(s);
  }
  window_forget(topic);
  if (topic->is_dirty) forget_dirty(topic);
  if (topic->is_warm) cool(topic);
  bytes_free(&topic->log);
  free(topic->entries);
  free(topic->members);
  free(topic);
}

void ct_topic_subscribe(ct_topic *topic, ct_connection_id id, uint8_t mask) {
  connection *c = connection_get(topic->loop, id);
  if (!c || c->is_closing) return;
  subscription *s = subscription_find(topic, c);
  if (!s) {
    subscription_add(topic, c, mask);
    return;
  }
  if (subscription_member(s)->mask == mask) return;
  move_rest(s);  // what was published before goes by the mask of its time
  subscription_member(s)->mask = mask;
}

void ct_topic_unsubscribe(ct_topic *topic, ct_connection_id id) {
  connection *c = connection_get(topic->loop, id);
  subscription *s = c ? subscription_find(topic, c) : NULL;
  if (!s) return;
  move_rest(s);
  subscription_remove(s);
}

size_t ct_topic_subscriber_count(const ct_topic *topic) { return topic->member_count; }

static void forget_all(ct_topic *topic) {
  topic->first_entry += topic->entry_count;
  topic->log_position += bytes_count(&topic->log);
  topic->entry_count = 0;
  topic->kinds = 0;
  topic->compact_at = COMPACT_AT;
  bytes_clear(&topic->log);
}

// Somebody lags: what lies before the slowest is dropped, each time the log has doubled.
static void compact(ct_topic *topic) {
  uint64_t slowest = topic_end(topic);
  for (size_t i = 0; i < topic->member_count; i++) {
    if (topic->members[i].cursor < slowest) slowest = topic->members[i].cursor;
  }
  size_t kept = topic_lag(topic, slowest), dropped = bytes_count(&topic->log) - kept;
  size_t entries = (size_t)(slowest - topic->first_entry);
  topic->log.start += dropped;
  topic->log_position += dropped;
  topic->first_entry = slowest;
  topic->entry_count -= entries;
  memmove(topic->entries, topic->entries + entries, topic->entry_count * sizeof *topic->entries);
  topic->compact_at = kept * 2 > COMPACT_AT ? kept * 2 : COMPACT_AT;
}

// Forgets what everybody has got. The topic is not dirty: who is not pending is up to date.
static void trim(ct_topic *topic) {
  if (!topic->pending_count) forget_all(topic);
  else if (bytes_count(&topic->log) > topic->compact_at) compact(topic);
}

static void append(ct_topic *topic, const void *payload, size_t count, bool skippable, uint8_t kind, ct_connection_id except) {
  if (topic->entry_count == topic->entry_capacity) {
    topic->entry_capacity = topic->entry_capacity ? topic->entry_capacity * 2 : 8;
    topic->entries = ct_reallocate(topic->entries, topic->entry_capacity, sizeof *topic->entries);
  }
  size_t before = bytes_count(&topic->log);
  frame_append(&topic->log, OPCODE_TEXT, payload, count);
  topic->entries[topic->entry_count++] = (entry){
    .position = topic->log_position + before, .except = except, .count = (uint32_t)(bytes_count(&topic->log) - before),
    .kind = kind, .skippable = skippable};
  topic->kinds |= kind;
  if (bytes_count(&topic->log) > topic->peak) topic->peak = bytes_count(&topic->log);
}

void topic_list_dirty(ct_topic *topic) {
  topic->next_dirty = topic->loop->dirty_topics;
  topic->loop->dirty_topics = topic;
  topic->loop->dirty_subscribers += topic->member_count;
}

// What waits for the window's end may not be too much for one write: it would come to every subscriber as if it were slow.
static void mark_dirty(ct_topic *topic) {
  if (topic->is_dirty) {
    if (bytes_count(&topic->log) > topic->loop->options.send_queue_bytes / 4) window_end(topic);
    return;
  }
  bool waits = window_holds(topic);
  topic->is_dirty = true;
  if (!waits) topic_list_dirty(topic);
}

void ct_topic_publish(
  ct_topic *topic, const void *payload, size_t count, bool skippable, uint8_t kind, ct_connection_id except
) {
  if (!topic->member_count) return;
  connection *c = except ? connection_get(topic->loop, except) : NULL;
  subscription *s = c ? subscription_find(topic, c) : NULL;
  bool was_current = s && subscription_member(s)->cursor == topic_end(topic);
  if (!topic->is_dirty) trim(topic);
  append(topic, payload, count, skippable, kind, s ? except : 0);
  if (was_current) subscription_member(s)->cursor = topic_end(topic);
  else if (s) subscription_member(s)->exceptions++;
  warm(topic);
  mark_dirty(topic);
}

void ct_topic_send(ct_topic *topic, ct_connection_id id, const void *payload, size_t count) {
  connection *c = connection_get(topic->loop, id);
  if (!c || c->is_closing) return;
  subscription *s = subscription_find(topic, c);
  if (s) move_rest(s);
  frame_append(&c->own, OPCODE_TEXT, payload, count);
  topic->loop->counters.deliveries++;
  connection_mark_dirty(c);
}

size_t topic_lag(const ct_topic *topic, uint64_t cursor) {
  if (cursor == topic_end(topic)) return 0;
  uint64_t position = topic->entries[cursor - topic->first_entry].position;
  return (size_t)(topic->log_position + bytes_count(&topic->log) - position);
}

bool topic_is_plain(const ct_topic *topic, const member *m) {
  return !m->exceptions && !(topic->kinds & ~m->mask);
}

static bool is_for(const entry *e, const member *m) {
  return (e->kind & m->mask) && e->except != m->connection->id;
}

size_t topic_wanted(const subscription *s) {
  const ct_topic *topic = s->topic;
  const member *m = subscription_member(s);
  size_t wanted = 0;
  for (uint64_t number = m->cursor; number < topic_end(topic); number++) {
    const entry *e = &topic->entries[number - topic->first_entry];
    if (is_for(e, m)) wanted += e->count;
  }
  return wanted;
}

void topic_take(subscription *s, bytes *to, size_t limit, bool lossless_only) {
  ct_topic *topic = s->topic;
  member *m = subscription_member(s);
  ct_counters *counters = &topic->loop->counters;
  for (; m->cursor < topic_end(topic); m->cursor++) {
    const entry *e = &topic->entries[m->cursor - topic->first_entry];
    if (e->except == m->connection->id) {
      m->exceptions--;
    } else if (!is_for(e, m)) {
      continue;
    } else if (lossless_only && e->skippable) {
      counters->skipped_entries++;
    } else {
      if (bytes_count(to) && bytes_count(to) + e->count > limit) return;
      bytes_append(to, bytes_first(&topic->log) + (e->position - topic->log_position), e->count);
      counters->deliveries++;
    }
  }
  subscription_clear_pending(s);
}

void topics_cool(ct_loop *loop) {
  for (ct_topic *topic = loop->warm_topics, *next; topic; topic = next) {
    next = topic->next_warm;
    bool is_oversized = topic->log.capacity > COMPACT_AT && topic->peak < topic->log.capacity / 4;
    if (!topic->pending_count && (!topic->was_used || is_oversized) && !topic->is_dirty) {
      forget_all(topic);
      bytes_free(&topic->log);
      free(topic->entries);
      topic->entries = NULL;
      topic->entry_capacity = 0;
      cool(topic);
    }
    topic->was_used = false;
    topic->peak = bytes_count(&topic->log);
  }
}
