#include "private.h"

#include <stdlib.h>

static size_t bucket_of(const ct_loop *loop, const ct_topic *topic, const connection *c) {
  uint64_t key = (uint64_t)(uintptr_t)topic * 0x9e3779b97f4a7c15u ^ (uint64_t)(uintptr_t)c;
  key *= 0xd6e8feb86659fd93u;
  return (key >> 32) & (loop->bucket_count - 1);
}

static void insert(ct_loop *loop, subscription *s) {
  subscription **bucket = &loop->buckets[bucket_of(loop, s->topic, s->connection)];
  s->next_in_bucket = *bucket;
  *bucket = s;
}

// Keeps about one subscription in a bucket, so that finding one does not depend on how many there are.
static void grow(ct_loop *loop) {
  size_t old_count = loop->bucket_count;
  subscription **old = loop->buckets;
  loop->bucket_count = old_count ? old_count * 2 : 256;
  loop->buckets = ct_allocate(loop->bucket_count, sizeof *loop->buckets);
  for (size_t i = 0; i < old_count; i++) {
    for (subscription *s = old[i], *next; s; s = next) {
      next = s->next_in_bucket;
      insert(loop, s);
    }
  }
  free(old);
}

subscription *subscription_find(const ct_topic *topic, const connection *c) {
  const ct_loop *loop = topic->loop;
  if (!loop->bucket_count) return NULL;
  subscription *s = loop->buckets[bucket_of(loop, topic, c)];
  while (s && (s->topic != topic || s->connection != c)) s = s->next_in_bucket;
  return s;
}

subscription *subscription_add(ct_topic *topic, connection *c, uint8_t mask) {
  ct_loop *loop = topic->loop;
  if (loop->subscription_count++ >= loop->bucket_count) grow(loop);
  subscription *s = ct_allocate(1, sizeof *s);
  s->topic = topic;
  s->connection = c;
  s->index = topic->member_count;
  insert(loop, s);
  s->next = c->subscriptions;
  if (s->next) s->next->previous = s;
  c->subscriptions = s;
  if (topic->member_count == topic->member_capacity) {
    topic->member_capacity = topic->member_capacity ? topic->member_capacity * 2 : 4;
    topic->members = ct_reallocate(topic->members, topic->member_capacity, sizeof *topic->members);
  }
  topic->members[topic->member_count++] =
    (member){.connection = c, .subscription = s, .cursor = topic_end(topic), .mask = mask};
  return s;
}

static void remove_from_bucket(subscription *s) {
  ct_loop *loop = s->topic->loop;
  subscription **link = &loop->buckets[bucket_of(loop, s->topic, s->connection)];
  while (*link != s) link = &(*link)->next_in_bucket;
  *link = s->next_in_bucket;
  loop->subscription_count--;
}

static void remove_from_topic(subscription *s) {
  ct_topic *topic = s->topic;
  topic->members[s->index] = topic->members[--topic->member_count];
  topic->members[s->index].subscription->index = s->index;
}

void subscription_remove(subscription *s) {
  subscription_clear_pending(s);
  remove_from_bucket(s);
  remove_from_topic(s);
  if (s->next) s->next->previous = s->previous;
  if (s->previous) s->previous->next = s->next; else s->connection->subscriptions = s->next;
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
  size_t lag = topic_lag(s->topic, subscription_member(s)->cursor);
  s->connection->lag += lag - s->lag;
  s->lag = lag;
}

size_t ct_loop_longest_search(const ct_loop *loop) {
  size_t longest = 0;
  for (size_t i = 0; i < loop->bucket_count; i++) {
    size_t steps = 0;
    for (const subscription *s = loop->buckets[i]; s; s = s->next_in_bucket) steps++;
    if (steps > longest) longest = steps;
  }
  return longest;
}
