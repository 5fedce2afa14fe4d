#include "subscription.h"

#include "bytes.h"
#include "connection.h"
#include "stream.h"

#include <stdlib.h>

static struct bucket *bucket_of(const subscriptions *all, const ct_topic *topic, const connection *c) {
  uint64_t key = (uint64_t)(uintptr_t)topic * 0x9e3779b97f4a7c15u ^ (uint64_t)(uintptr_t)c;
  key *= 0xd6e8feb86659fd93u;
  return &all->buckets[(key >> 32) & (all->bucket_count - 1)];
}

static void insert(subscriptions *all, subscription *s) {
  struct bucket *bucket = bucket_of(all, s->topic, s->connection);
  SLIST_INSERT_HEAD(bucket, s, in_bucket);
}

// Keeps about one subscription in a bucket, so that a search takes the same time at any number.
static void grow(subscriptions *all) {
  size_t old_count = all->bucket_count;
  struct bucket *old = all->buckets;
  all->bucket_count = old_count ? old_count * 2 : 256;
  all->buckets = ct_allocate(all->bucket_count, sizeof *all->buckets);
  for (size_t i = 0; i < old_count; i++) {
    for (subscription *s; (s = SLIST_FIRST(&old[i]));) {
      SLIST_REMOVE_HEAD(&old[i], in_bucket);
      insert(all, s);
    }
  }
  free(old);
}

void subscriptions_free(subscriptions *all) { free(all->buckets); }

subscription *subscription_find(const ct_topic *topic, const connection *c) {
  const subscriptions *all = &topic->of_loop->subscriptions;
  if (!all->bucket_count) return NULL;
  subscription *s;
  SLIST_FOREACH(s, bucket_of(all, topic, c), in_bucket) {
    if (s->topic == topic && s->connection == c) break;
  }
  return s;
}

subscription *subscription_add(ct_topic *topic, connection *c, uint8_t mask) {
  subscriptions *all = &topic->of_loop->subscriptions;
  if (all->count++ >= all->bucket_count) grow(all);
  subscription *s = ct_allocate(1, sizeof *s);
  s->topic = topic;
  s->connection = c;
  s->index = topic->recipient_count;
  insert(all, s);
  LIST_INSERT_HEAD(&connection_subscriber(c)->subscriptions, s, of_connection);
  if (topic->recipient_count == topic->recipient_capacity) {
    topic->recipient_capacity = topic->recipient_capacity ? topic->recipient_capacity * 2 : 4;
    topic->recipients = ct_reallocate(topic->recipients, topic->recipient_capacity, sizeof *topic->recipients);
  }
  bool may_follow = connection_takes_streams(c);
  uint8_t form = connection_is_event_stream(c) ? FORM_EVENT : FORM_FRAME;
  topic->recipients[topic->recipient_count++] = (recipient){
    .connection = c, .subscription = s, .cursor = topic_end(topic), .mask = mask, .form = form, .may_follow = may_follow};
  topic->may_follow_count += may_follow;
  return s;
}

static void remove_from_bucket(subscription *s) {
  subscriptions *all = &s->topic->of_loop->subscriptions;
  struct bucket *bucket = bucket_of(all, s->topic, s->connection);
  SLIST_REMOVE(bucket, s, subscription, in_bucket);
  all->count--;
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

void subscriptions_remove_all(connection *c) {
  for (subscription *s; (s = LIST_FIRST(&connection_subscriber(c)->subscriptions));) subscription_remove(s);
}

void subscription_set_pending(subscription *s) {
  if (s->is_pending) return;
  subscription **first = connection_first_pending(s->connection), **last = &connection_subscriber(s->connection)->last_pending;
  s->is_pending = true;
  s->topic->pending_count++;
  s->next_pending = NULL;
  s->previous_pending = *last;
  if (*last) (*last)->next_pending = s; else *first = s;
  *last = s;
}

void subscription_clear_pending(subscription *s) {
  if (!s->is_pending) return;
  subscription **first = connection_first_pending(s->connection), **last = &connection_subscriber(s->connection)->last_pending;
  s->is_pending = false;
  s->topic->pending_count--;
  if (s->next_pending) s->next_pending->previous_pending = s->previous_pending; else *last = s->previous_pending;
  if (s->previous_pending) s->previous_pending->next_pending = s->next_pending; else *first = s->next_pending;
  connection_subscriber(s->connection)->lag -= s->lag;
  s->lag = 0;
}

void subscription_count_lag(subscription *s) {
  size_t lag = topic_lag(s->topic, recipient_of(s)->cursor);
  connection_subscriber(s->connection)->lag += lag - s->lag;
  s->lag = lag;
}

size_t subscriptions_longest_search(const topics *of_loop) {
  const subscriptions *all = &of_loop->subscriptions;
  size_t longest = 0;
  for (size_t i = 0; i < all->bucket_count; i++) {
    size_t steps = 0;
    const subscription *s;
    SLIST_FOREACH(s, &all->buckets[i], in_bucket) steps++;
    if (steps > longest) longest = steps;
  }
  return longest;
}
