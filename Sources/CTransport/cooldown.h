// Two flushes of a topic are at least options.flush_window_ms apart.

#pragma once

#include "fanout.h"

void cooldowns_begin(topics *all, struct ev_loop *events);
void cooldowns_end(topics *all, struct ev_loop *events);  // also where it has not begun
void cooldown_begin(ct_topic *topic);    // after a flush
bool cooldown_defers(ct_topic *topic);   // whether a topic that becomes dirty has to wait
void cooldown_finish(ct_topic *topic);
void cooldown_cancel(ct_topic *topic);   // before the topic is freed
