#include "topic.h"

#include "bytes.h"
#include "connection.h"
#include "cooldown.h"
#include "event_frame.h"
#include "frame.h"
#include "stream.h"
#include "subscription.h"

#include <stdlib.h>
#include <string.h>

enum { COMPACT_AT = 64 * 1024, ALL_KINDS = 0xff };

void topics_init(topics *all, connections *connections, const ct_options *options) {
  all->connections = connections;
  all->options = options;
}

void topics_free(topics *all) { subscriptions_free(&all->subscriptions); }

ct_topic *topic_create(topics *all, const void *name, size_t count) {
  ct_topic *topic = ct_allocate(1, sizeof *topic + count);
  topic->name_count = count;
  if (count) memcpy(topic->name, name, count);
  topic->of_loop = all;
  topic->compact_at = COMPACT_AT;
  return topic;
}

static void mark_active(ct_topic *topic) {
  topic->was_used = true;
  if (topic->is_active) return;
  topic->is_active = true;
  LIST_INSERT_HEAD(&topic->of_loop->active, topic, active);
}

static void mark_idle(ct_topic *topic) {
  topic->is_active = false;
  LIST_REMOVE(topic, active);
}

// The slow way, which copies; for the end of a subscription, or when another frame has to follow.
static void drain_to_send_queue(subscription *s) {
  connection *c = s->connection;
  if (recipient_of(s)->cursor == topic_end(s->topic)) return;
  subscription_drain(s, connection_send_queue(c), SIZE_MAX, false);
  connection_mark_dirty(c);
}

void connection_drain_topics(connection *c) {
  subscription *s;
  LIST_FOREACH(s, &connection_subscriber(c)->subscriptions, of_connection) drain_to_send_queue(s);
}

void ct_topic_destroy(ct_topic *topic) {
  while (topic->recipient_count) {
    subscription *s = topic->recipients[topic->recipient_count - 1].subscription;
    drain_to_send_queue(s);
    subscription_remove(s);
  }
  if (topic->is_dirty && !topic->is_cooling_down) LIST_REMOVE(topic, dirty);
  cooldown_cancel(topic);
  if (topic->is_active) mark_idle(topic);
  stream_end(topic);
  bytes_free(&topic->log);
  free(topic->entries);
  free(topic->recipients);
  free(topic);
}

void ct_topic_subscribe(ct_topic *topic, ct_connection_id id, uint8_t mask) {
  connection *c = connection_find_open(topic->of_loop->connections, id);
  if (!c) return;
  subscription *s = subscription_find(topic, c);
  if (!s) {
    subscription_add(topic, c, mask);
    return;
  }
  if (recipient_of(s)->mask == mask) return;
  drain_to_send_queue(s);  // earlier entries go by the earlier mask
  recipient_of(s)->mask = mask;
}

void ct_topic_unsubscribe(ct_topic *topic, ct_connection_id id) {
  connection *c = connection_find(topic->of_loop->connections, id);
  subscription *s = c ? subscription_find(topic, c) : NULL;
  if (!s) return;
  drain_to_send_queue(s);
  subscription_remove(s);
}

size_t ct_topic_subscriber_count(const ct_topic *topic) { return topic->recipient_count; }

static void drop_all(ct_topic *topic) {
  topic->first_entry += topic->entry_count;
  topic->log_position += bytes_count(&topic->log);
  topic->entry_count = 0;
  topic->kinds = 0;
  topic->compact_at = COMPACT_AT;
  bytes_clear(&topic->log);
  stream_drop(topic, topic->deflated_end);
}

// A recipient lags: drops the entries before its cursor, each time that the log has doubled.
static void compact(ct_topic *topic) {
  uint64_t slowest = topic_end(topic);
  for (size_t i = 0; i < topic->recipient_count; i++) {
    if (topic->recipients[i].cursor < slowest) slowest = topic->recipients[i].cursor;
  }
  size_t kept = topic_lag(topic, slowest), dropped = bytes_count(&topic->log) - kept;
  size_t entries = (size_t)(slowest - topic->first_entry);
  bytes_drop_first(&topic->log, dropped);
  topic->log_position += dropped;
  topic->first_entry = slowest;
  topic->entry_count -= entries;
  stream_drop(topic, topic->entry_count ? topic->entries[entries].deflated_position : topic->deflated_end);
  memmove(topic->entries, topic->entries + entries, topic->entry_count * sizeof *topic->entries);
  topic->compact_at = kept * 2 > COMPACT_AT ? kept * 2 : COMPACT_AT;
}

// Drops the entries that all have received. The topic is not dirty, so only pending recipients lag.
static void trim(ct_topic *topic) {
  if (!topic->pending_count) drop_all(topic);
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
  stream_compress(topic, &topic->entries[topic->entry_count - 1], payload, count);
  topic->kinds |= kind;
  if (bytes_count(&topic->log) > topic->peak) topic->peak = bytes_count(&topic->log);
}

// Entries in a cooldown must fit into one write; more would make every subscriber look slow.
static void mark_dirty(ct_topic *topic) {
  if (topic->is_dirty) {
    if (bytes_count(&topic->log) > connections_send_queue_bytes(topic->of_loop->connections) / 4) cooldown_finish(topic);
    return;
  }
  bool waits = cooldown_defers(topic);
  topic->is_dirty = true;
  if (!waits) topic_queue_flush(topic);
}

void ct_topic_publish(
  ct_topic *topic, const void *payload, size_t count, bool skippable, uint8_t kind, ct_connection_id except
) {
  if (!topic->recipient_count) return;
  connection *c = except ? connection_find(topic->of_loop->connections, except) : NULL;
  subscription *s = c ? subscription_find(topic, c) : NULL;
  bool was_current = s && recipient_of(s)->cursor == topic_end(topic);
  if (!topic->is_dirty) trim(topic);
  topic->bytes_in_second += count;
  stream_prepare(topic);
  append(topic, payload, count, skippable, kind, s ? except : 0);
  if (was_current) {
    stream_leave(recipient_of(s));  // it misses this entry
    recipient_of(s)->cursor = topic_end(topic);
  } else if (s) {
    recipient_of(s)->exclusions++;
  }
  mark_active(topic);
  mark_dirty(topic);
}

void ct_topic_send(ct_topic *topic, ct_connection_id id, const void *payload, size_t count) {
  connection *c = connection_find_open(topic->of_loop->connections, id);
  if (!c) return;
  subscription *s = subscription_find(topic, c);
  if (s) drain_to_send_queue(s);
  connection_send(c, OPCODE_TEXT, payload, count);
}

static bool is_for(const entry *e, const recipient *r) {
  return (e->kind & r->mask) && e->except != connection_id(r->connection);
}

// Bytes that a recipient gets of an entry.
static size_t sent_count(const entry *e, const recipient *r) {
  if (r->form == FORM_FRAME) return e->count;
  return r->form == FORM_DEFLATED ? e->deflated_count : e->count - frame_header_count(e->count) + EVENT_EXTRA;
}

size_t subscription_wanted_bytes(const subscription *s) {
  const ct_topic *topic = s->topic;
  const recipient *r = recipient_of(s);
  size_t wanted = 0;
  for (uint64_t number = r->cursor; number < topic_end(topic); number++) {
    const entry *e = &topic->entries[number - topic->first_entry];
    if (is_for(e, r)) wanted += r->form == FORM_EVENT ? sent_count(e, r) : e->count;
  }
  return wanted;
}

static void append_entry(const ct_topic *topic, const entry *e, const recipient *r, bytes *to) {
  const uint8_t *frame = bytes_first(&topic->log) + (e->position - topic->log_position);
  size_t header = frame_header_count(e->count);
  switch (r->form) {
  case FORM_DEFLATED: return bytes_append(to, stream_frames(topic, e->deflated_position), e->deflated_count);
  case FORM_EVENT: return event_append(to, frame + header, e->count - header);
  default: return bytes_append(to, frame, e->count);
  }
}

static void count_entry(ct_topic *topic, const recipient *r, const entry *e) {
  if (r->form == FORM_DEFLATED) stream_count_deflated(topic, e->count, e->deflated_count);
  else if (topic->stream) stream_count_plain(topic, r, e->count);
}

void subscription_drain(subscription *s, bytes *to, size_t limit, bool skips) {
  ct_topic *topic = s->topic;
  recipient *r = recipient_of(s);
  connections *all = topic->of_loop->connections;
  stream_join(r);
  for (; r->cursor < topic_end(topic); r->cursor++) {
    const entry *e = &topic->entries[r->cursor - topic->first_entry];
    bool is_skipped = skips && e->skippable;
    if (is_skipped || !is_for(e, r)) {
      stream_leave(r);  // it misses this entry
      if (e->except == connection_id(r->connection)) r->exclusions--;
      else if (is_skipped && is_for(e, r)) topic->of_loop->skipped_entries++;
    } else {
      if (bytes_count(to) && bytes_count(to) + sent_count(e, r) > limit) return;
      append_entry(topic, e, r, to);
      count_entry(topic, r, e);
      connections_count_delivery(all);
    }
  }
  subscription_clear_pending(s);
}

void topics_free_idle(topics *all) {
  for (ct_topic *topic = LIST_FIRST(&all->active), *next; topic; topic = next) {
    next = LIST_NEXT(topic, active);
    size_t capacity = bytes_capacity(&topic->log);
    bool is_oversized = capacity > COMPACT_AT && topic->peak < capacity / 4;
    if (!topic->pending_count && (!topic->was_used || is_oversized) && !topic->is_dirty) {
      drop_all(topic);
      bytes_free(&topic->log);
      free(topic->entries);
      topic->entries = NULL;
      topic->entry_capacity = 0;
      mark_idle(topic);
    }
    topic->was_used = false;
    topic->entries_last_second = topic_end(topic) - topic->end_before;
    topic->end_before = topic_end(topic);
    topic->bytes_last_second = topic->bytes_in_second;
    topic->bytes_in_second = 0;
    topic->peak = bytes_count(&topic->log);
  }
}

void topics_count(const topics *all, ct_counters *to) {
  to->skipped_entries = all->skipped_entries;
  streams_count(&all->streams, to);
}

static uint64_t activity_deliveries(const ct_topic_activity *a) { return a->entries * a->subscribers; }

size_t topics_busiest(const topics *all, ct_topic_activity *found, size_t capacity) {
  size_t count = 0;
  ct_topic *topic;
  LIST_FOREACH(topic, &all->active, active) {
    ct_topic_activity activity = {
      .name = {topic->name, topic->name_count}, .entries = topic->entries_last_second, .bytes = topic->bytes_last_second,
      .subscribers = topic->recipient_count};
    if (!activity.entries || !topic->name_count) continue;
    size_t place = count;
    while (place && activity_deliveries(&found[place - 1]) < activity_deliveries(&activity)) place--;
    if (place >= capacity) continue;
    if (count < capacity) count++;
    memmove(found + place + 1, found + place, (count - place - 1) * sizeof *found);
    found[place] = activity;
  }
  return count;
}
