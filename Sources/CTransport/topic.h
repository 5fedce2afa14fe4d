// Publishing to a topic, and reading its log for one subscriber.

#pragma once

#include "fanout.h"

void topics_init(topics *all, connections *connections, const ct_options *options);
void topics_free(topics *all);
ct_topic *topic_create(topics *all, const void *name, size_t count);
// Moves the subscriber's entries to a buffer, in order, up to limit bytes (at least one frame).
// skips: skippable entries are dropped and counted.
void subscription_drain(subscription *s, bytes *to, size_t limit, bool skips);
// Moves everything that topics hold for a connection to the end of its send queue.
void connection_drain_topics(connection *c);
// Bytes of the entries that subscription_drain would move.
size_t subscription_wanted_bytes(const subscription *s);
// Frees memory that was not used for a second.
void topics_free_idle(topics *all);
// Fills in what it counts.
void topics_count(const topics *all, ct_counters *to);
size_t topics_busiest(const topics *all, ct_topic_activity *found, size_t capacity);
