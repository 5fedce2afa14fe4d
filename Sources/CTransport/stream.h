// The compressed frames of a busy topic.

#pragma once

#include "fanout.h"

// Before an entry is appended: begins a stream, or resets its compressor, where it is time.
void stream_prepare(ct_topic *topic);
// Gives an entry its compressed frame, where somebody may want one.
void stream_compress(ct_topic *topic, entry *e, const void *payload, size_t count);
// The number of the first entry since the last reset: there a recipient may join.
uint64_t stream_reset_entry(const ct_topic *topic);
void stream_join(recipient *r);
void stream_leave(recipient *r);
// Compressed bytes from the cursor on, and the frames from a position on.
size_t stream_lag(const ct_topic *topic, uint64_t cursor);
const uint8_t *stream_frames(const ct_topic *topic, uint64_t position);
// A recipient has got plain frames of a topic with a stream, which it may be able to follow.
void stream_count_plain(ct_topic *topic, const recipient *r, size_t count);
// A follower has got compressed frames in place of plain ones.
void stream_count_deflated(ct_topic *topic, size_t plain, size_t deflated);
// Drops the frames before a position.
void stream_drop(ct_topic *topic, uint64_t position);
void stream_end(ct_topic *topic);
// Ends the streams of topics that have become quiet. Once a second.
void streams_review(topics *all);
void streams_count(const streams *all, ct_counters *to);
