#pragma once

#include "fanout.h"

subscription *subscription_find(const ct_topic *topic, const connection *c);
subscription *subscription_add(ct_topic *topic, connection *c, uint8_t mask);
void subscription_remove(subscription *s);
void subscriptions_remove_all(connection *c);
void subscription_set_pending(subscription *s);
void subscription_clear_pending(subscription *s);
// Brings the connection's lag up to date with the topic.
void subscription_count_lag(subscription *s);
// The most steps that a search can take.
size_t subscriptions_longest_search(const topics *of_loop);
void subscriptions_free(subscriptions *all);
