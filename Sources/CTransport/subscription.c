#include "private.h"

#include <stdlib.h>

static struct bucket *bucket_of(const ct_loop *loop, const ct_topic *topic, const connection *c) {
  uint64_t key = (uint64_t)(uintptr_t)topic * 0x9e3779b97f4a7c15u ^ (uint64_t)(uintptr_t)c;
  key *= 0xd6e8feb86659fd93u;
  return &loop->buckets[(key >> 32) & (loop->bucket_count - 1)];
}

static void insert(ct_loop *loop, subscription *s) {
  struct bucket *bucket = bucket_of(loop, s->topic, s->connection);
  SLIST_INSERT_HEAD(bucket, s, in_bucket);
}

// Keeps about one subscription in a bucket, so that a search takes the same time at any number.
static void grow(ct_loop *loop) {
  size_t old_count = loop->bucket_count;
  struct bucket *old = loop->buckets;
  loop->bucket_count = old_count ? old_count * 2 : 256;
  loop->buckets = ct_allocate(loop->bucket_count, sizeof *loop->buckets);
  for (size_t i = 0; i < old_count; i++) {
    for (subscription *s; (s = SLIST_FIRST(&old[i]));) {
      SLIST_REMOVE_HEAD(&old[i], in_bucket);
      insert(loop, s);
    }
  }
  free(old);
}

subscription *subscription_find(const ct_topic *topic, const connection *c) {
  const ct_loop *loop = topic->loop;
  if (!loop->bucket_count) return NULL;
  subscription *s;
  SLIST_FOREACH(s, bucket_of(loop, topic, c), in_bucket) {
    if (s->topic == topic && s->connection == c) break;
  }
  return s;
}

subscription *subscription_add(ct_topic *topic, connection *c, uint8_t mask) {
  ct_loop *loop = topic->loop;
  if (loop->subscription_count++ >= loop->bucket_count) grow(loop);
  subscription *s = ct_allocate(1, sizeof *s);
  s->topic = topic;
  s->connection = c;
  s->index = topic->recipient_count;
  insert(loop, s);
  LIST_INSERT_HEAD(&c->subscriptions, s, of_connection);
  if (topic->recipient_count == topic->recipient_capacity) {
    topic->recipient_capacity = topic->recipient_capacity ? topic->recipient_capacity * 2 : 4;
    topic->recipients = ct_reallocate(topic->recipients, topic->recipient_capacity, sizeof *topic->recipients);
  }
  topic->recipients[topic->recipient_count++] =
    (recipient){.connection = c, .subscription = s, .cursor = topic_end(topic), .mask = mask, .may_follow = stream_can_follow(c)};
  topic->may_follow_count += stream_can_follow(c);
  return s;
}

static void remove_from_bucket(subscription *s) {
  ct_loop *loop = s->topic->loop;
  struct bucket *bucket = bucket_of(loop, s->topic, s->connection);
  SLIST_REMOVE(bucket, s, subscription, in_bucket);
  loop->subscription_count--;
}

static void remove_from_topic(subscription *s) {
  ct_topic *topic = s->topic;
  topic->recipients[s->index] = topic->recipients[--topic->recipient_count];
  topic->recipients[s->index].subscription->index = s->index;
}

void subscription_remove(subscription *s) {
  subscription_clear_pending(s);
  stream_leave(recipient_of(s));
  s->topic->may_follow_count -= recipient_of(s)->may_follow;
  remove_from_bucket(s);
  remove_from_topic(s);
  LIST_REMOVE(s, of_connection);
  free(s);
}

void subscription_set_pending(subscription *s) {
  if (s->is_pending) return;
  connection *c = s->connection;
  s->is_pending = true;
  s->topic->pending_count++;
  s->next_pending = NULL;
  s->previous_pending = c->last_pending;
  if (c->last_pending) c->last_pending->next_pending = s; else c->first_pending = s;
  c->last_pending = s;
}

void subscription_clear_pending(subscription *s) {
  if (!s->is_pending) return;
  connection *c = s->connection;
  s->is_pending = false;
  s->topic->pending_count--;
  if (s->next_pending) s->next_pending->previous_pending = s->previous_pending; else c->last_pending = s->previous_pending;
  if (s->previous_pending) s->previous_pending->next_pending = s->next_pending; else c->first_pending = s->next_pending;
  c->lag -= s->lag;
  s->lag = 0;
}

void subscription_count_lag(subscription *s) {
  size_t lag = topic_lag(s->topic, recipient_of(s)->cursor);
  s->connection->lag += lag - s->lag;
  s->lag = lag;
}

size_t ct_loop_longest_search(const ct_loop *loop) {
  size_t longest = 0;
  for (size_t i = 0; i < loop->bucket_count; i++) {
    size_t steps = 0;
    const subscription *s;
    SLIST_FOREACH(s, &loop->buckets[i], in_bucket) steps++;
    if (steps > longest) longest = steps;
  }
  return longest;
}
