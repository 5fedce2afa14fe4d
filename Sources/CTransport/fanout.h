// What a loop keeps of its topics: logs of encoded frames, and where each recipient is in them.
//
// Fields: topic.c, subscription.c, stream.c, cooldown.c, flush.c.

#pragma once

#include "bytes.h"
#include "connection.h"

#include <ev.h>
#include <sys/queue.h>

typedef struct stream stream;

// Fields: cooldown.c.
typedef struct {
  struct ev_loop *events;
  ev_timer timer;
  TAILQ_HEAD(, ct_topic) topics;  // the one that ends first is first
  size_t deferred_count;          // those of them that are dirty
} cooldowns;

// Fields: stream.c.
typedef struct {
  LIST_HEAD(, stream) streams;
  size_t bytes;
  // As ct_counters has them.
  uint64_t count, followers, resets, deflated_bytes, deflated_plain_bytes;
} streams;

// Fields: subscription.c.
typedef struct {
  SLIST_HEAD(bucket, subscription) *buckets;
  size_t bucket_count, count;
} subscriptions;

typedef struct {
  connections *connections;
  const ct_options *options;
  LIST_HEAD(, ct_topic) dirty, active;
  size_t dirty_subscribers;  // of the topics that the next flush includes
  uint64_t skipped_entries;
  cooldowns cooldowns;
  streams streams;
  subscriptions subscriptions;
} topics;

typedef struct {
  uint64_t position;           // of its first byte, counted from the topic's beginning
  uint64_t deflated_position;  // the same of its compressed frame, where it has one
  ct_connection_id except;
  uint32_t count, deflated_count;
  uint8_t kind;
  bool skippable;
} entry;

// What a recipient gets of an entry.
enum { FORM_FRAME, FORM_DEFLATED, FORM_EVENT };  // the second: while it follows the topic's stream (stream.c)

// The part of a subscription that a flush reads; kept small and dense.
typedef struct {
  connection *connection;
  subscription *subscription;
  uint64_t cursor;      // number of the first entry that it has not received
  uint32_t exclusions;  // entries from cursor on that name it as their exception
  uint8_t mask;
  uint8_t form;
  bool may_follow;      // the topic's stream
} recipient;

struct subscription {
  ct_topic *topic;
  connection *connection;
  size_t index;  // in topic->recipients
  size_t lag;    // bytes counted in the connection's lag
  LIST_ENTRY(subscription) of_connection;
  SLIST_ENTRY(subscription) in_bucket;
  subscription *next_pending, *previous_pending;  // of the connection, while something waits for it
  bool is_pending;
};

struct ct_topic {
  topics *of_loop;
  bytes log;              // frames of entries, the oldest kept first
  uint64_t log_position;  // of the first byte in log
  entry *entries;
  uint64_t first_entry;   // number of entries[0]
  size_t entry_count, entry_capacity;
  recipient *recipients;
  size_t recipient_count, recipient_capacity, pending_count, peak, compact_at;
  LIST_ENTRY(ct_topic) dirty;        // while it is dirty and not in cooldown
  LIST_ENTRY(ct_topic) active;       // while it holds memory
  TAILQ_ENTRY(ct_topic) cooling_down;
  double cooldown_end;    // seconds of the monotonic clock
  stream *stream;         // while it is busy
  uint64_t deflated_end;  // compressed bytes of all its entries so far
  uint64_t bytes_in_second, bytes_last_second;
  size_t may_follow_count;
  uint8_t kinds;          // union of the kinds in the log
  bool is_dirty, is_active, was_used, is_cooling_down;
  uint64_t end_before, entries_last_second;  // as the second before began; in the second before
  size_t name_count;
  char name[];
};

static inline uint64_t topic_end(const ct_topic *topic) { return topic->first_entry + topic->entry_count; }
// Bytes from the cursor on, wanted or not.
static inline size_t topic_lag(const ct_topic *topic, uint64_t cursor) {
  if (cursor == topic_end(topic)) return 0;
  uint64_t position = topic->entries[cursor - topic->first_entry].position;
  return (size_t)(topic->log_position + bytes_count(&topic->log) - position);
}
// Whether every byte from the cursor on is for the recipient.
static inline bool recipient_gets_all(const ct_topic *topic, const recipient *r) {
  return !r->exclusions && !(topic->kinds & ~r->mask);
}
static inline recipient *recipient_of(const subscription *s) { return &s->topic->recipients[s->index]; }
// The next flush includes the topic.
static inline void topic_queue_flush(ct_topic *topic) {
  LIST_INSERT_HEAD(&topic->of_loop->dirty, topic, dirty);
  topic->of_loop->dirty_subscribers += topic->recipient_count;
}
// Of the topics that the next flush includes.
static inline size_t topics_dirty_subscribers(const topics *all) { return all->dirty_subscribers; }
