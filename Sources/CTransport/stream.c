#include "stream.h"

#include "bytes.h"
#include "connection.h"
#include "frame.h"
#include "offer.h"

#include <stdlib.h>
#include <zlib.h>

// A busy topic's entries are compressed once for all that follow its stream. A client's inflater
// keeps what it got compressed, so a subscriber can follow that got every compressed frame since
// the last reset, behind which the compressor refers to nothing older. Everybody else gets the
// plain frame. A connection follows one stream at a time: its window is one.
//
// The length of a compressed frame tells whether its text stands in the window. Who joins a closed
// group could so try texts from before, and read the lengths off the network: a reset prevents it.

enum {
  LEVEL = 5, MEMORY_LEVEL = 8,
  STREAM_BYTES = 300 * 1024,      // the compressor, and frames that wait for a flush
  STOP_SHARE = 8,                 // of what begins a stream; less, for so many seconds, ends it
  STOP_SECONDS = 5,
  RESET_BYTES = 400,              // what a reset costs a follower: its first frames are longer
  RESET_EVENTS = 2000,
  OPCODE_DEFLATED = OPCODE_TEXT | 0x40,  // RSV1
  TAIL = 4                        // of a sync flush; it is not sent
};

struct stream {
  z_stream deflater;
  bytes log;               // the compressed frames of the topic's entries; ends at deflated_end
  uint64_t reset_entry;    // number of the first entry since the last reset
  uint64_t lost;           // plain bytes since then to subscribers that wait for the next reset
  size_t follower_count;
  uint32_t reset_events;
  int quiet_seconds;
  bool is_compressing;
  bool must_reset;         // nothing may refer to what is in the window now
  bool was_in_vain;        // nobody has followed since the reset in this second
  LIST_ENTRY(stream) in_list;
  ct_topic *topic;
};

static uint64_t rate(const ct_topic *topic) {
  return topic->bytes_in_second > topic->bytes_last_second ? topic->bytes_in_second : topic->bytes_last_second;
}

static void begin(ct_topic *topic) {
  streams *all = &topic->of_loop->streams;
  if (all->bytes + STREAM_BYTES > topic->of_loop->options->stream_bytes) return;
  stream *s = ct_allocate(1, sizeof *s);
  if (deflateInit2(&s->deflater, LEVEL, Z_DEFLATED, -DEFLATE_WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
    free(s);
    return;
  }
  s->topic = topic;
  s->reset_entry = UINT64_MAX;
  topic->stream = s;
  LIST_INSERT_HEAD(&all->streams, s, in_list);
  all->bytes += STREAM_BYTES;
  all->count++;
}

void stream_end(ct_topic *topic) {
  stream *s = topic->stream;
  if (!s) return;
  for (size_t i = 0; i < topic->recipient_count && s->follower_count; i++) stream_leave(&topic->recipients[i]);
  topic->stream = NULL;
  LIST_REMOVE(s, in_list);
  topic->of_loop->streams.bytes -= STREAM_BYTES;
  topic->of_loop->streams.count--;
  deflateEnd(&s->deflater);
  bytes_free(&s->log);
  free(s);
}

// -- Followers

void stream_leave(recipient *r) {
  if (r->form != FORM_DEFLATED) return;
  r->form = FORM_FRAME;
  connection_subscriber(r->connection)->followed = NULL;
  r->subscription->topic->stream->follower_count--;
  r->subscription->topic->of_loop->streams.followers--;
}

// A connection that follows another topic changes to one that is twice as busy.
static bool is_taken(const recipient *r) {
  subscription *other = connection_subscriber(r->connection)->followed;
  return other && rate(r->subscription->topic) < 2 * rate(other->topic);
}

void stream_join(recipient *r) {
  ct_topic *topic = r->subscription->topic;
  stream *s = topic->stream;
  if (!s || r->form == FORM_DEFLATED || !r->may_follow || r->cursor != s->reset_entry || is_taken(r)) return;
  subscription *other = connection_subscriber(r->connection)->followed;
  if (other) stream_leave(recipient_of(other));
  r->form = FORM_DEFLATED;
  connection_subscriber(r->connection)->followed = r->subscription;
  s->follower_count++;
  s->was_in_vain = false;
  topic->of_loop->streams.followers++;
}

uint64_t stream_reset_entry(const ct_topic *topic) { return topic->stream ? topic->stream->reset_entry : UINT64_MAX; }

void stream_count_plain(ct_topic *topic, const recipient *r, size_t count) {
  if (r->may_follow && !connection_subscriber(r->connection)->followed) topic->stream->lost += count;
}

void stream_count_deflated(ct_topic *topic, size_t plain, size_t deflated) {
  topic->of_loop->streams.deflated_plain_bytes += plain;
  topic->of_loop->streams.deflated_bytes += deflated;
}

// -- Resets

static bool has_enough(const ct_topic *topic) {
  return topic->may_follow_count && topic->may_follow_count >= topic->of_loop->options->stream_subscribers;
}

static bool is_busy(const ct_topic *topic, uint64_t share) {
  return topic->bytes_in_second * topic->may_follow_count * share >= topic->of_loop->options->stream_bytes_in_second;
}

static bool is_reset_due(const ct_topic *topic) {
  const stream *s = topic->stream;
  size_t waiting = topic->may_follow_count - s->follower_count;
  if (!s->follower_count) return has_enough(topic) && !s->was_in_vain;
  return waiting && (s->lost >= (uint64_t)s->follower_count * RESET_BYTES || s->reset_events >= RESET_EVENTS);
}

static void reset(ct_topic *topic) {
  stream *s = topic->stream;
  deflateReset(&s->deflater);
  s->reset_entry = topic_end(topic);
  s->lost = 0;
  s->reset_events = 0;
  s->was_in_vain = !s->follower_count;
  s->must_reset = false;
  s->is_compressing = true;
  topic->of_loop->streams.resets++;
}

void stream_prepare(ct_topic *topic) {
  if (!topic->stream && has_enough(topic) && is_busy(topic, 1)) begin(topic);
  stream *s = topic->stream;
  if (!s) return;
  // At once, also between the entries of one flush, though only those who follow already can go on.
  if (s->must_reset && s->is_compressing) {
    reset(topic);
    return;
  }
  if (topic->is_dirty) return;
  if (is_reset_due(topic)) {
    reset(topic);
  } else if (!s->follower_count) {
    s->is_compressing = false;
    s->reset_entry = UINT64_MAX;
  }
}

void ct_topic_reset_stream(ct_topic *topic) {
  if (topic->stream) topic->stream->must_reset = true;
}

// -- Frames

void stream_compress(ct_topic *topic, entry *e, const void *payload, size_t count) {
  stream *s = topic->stream;
  e->deflated_position = topic->deflated_end;
  if (!s || !s->is_compressing) return;
  bytes *scratch = connections_scratch(topic->of_loop->connections);
  s->deflater.next_in = (uint8_t *)payload;
  s->deflater.avail_in = (uInt)count;
  do {
    size_t room = deflateBound(&s->deflater, s->deflater.avail_in) + 16;
    s->deflater.next_out = bytes_extend(scratch, room);
    s->deflater.avail_out = (uInt)room;
    deflate(&s->deflater, Z_SYNC_FLUSH);
    bytes_drop_last(scratch, s->deflater.avail_out);
  } while (!s->deflater.avail_out);
  size_t before = bytes_count(&s->log);
  frame_append(&s->log, OPCODE_DEFLATED, bytes_first(scratch), bytes_count(scratch) - TAIL);
  s->reset_events++;
  e->deflated_count = (uint32_t)(bytes_count(&s->log) - before);
  topic->deflated_end += e->deflated_count;
}

size_t stream_lag(const ct_topic *topic, uint64_t cursor) {
  if (cursor == topic_end(topic)) return 0;
  return (size_t)(topic->deflated_end - topic->entries[cursor - topic->first_entry].deflated_position);
}

const uint8_t *stream_frames(const ct_topic *topic, uint64_t position) {
  return bytes_last(&topic->stream->log, topic->deflated_end - position);
}

void stream_drop(ct_topic *topic, uint64_t position) {
  if (!topic->stream) return;
  bytes *log = &topic->stream->log;
  uint64_t kept = topic->deflated_end - position;
  if (!kept) bytes_clear(log);
  else if (kept < bytes_count(log)) bytes_drop_first(log, bytes_count(log) - (size_t)kept);
}

// -- Every second

void streams_review(topics *all) {
  for (stream *s = LIST_FIRST(&all->streams.streams), *next; s; s = next) {
    next = LIST_NEXT(s, in_list);
    ct_topic *topic = s->topic;
    s->quiet_seconds = is_busy(topic, STOP_SHARE) ? 0 : s->quiet_seconds + 1;
    s->was_in_vain = false;
    if (s->quiet_seconds >= STOP_SECONDS) stream_end(topic);
  }
}

void streams_count(const streams *all, ct_counters *to) {
  to->streams = all->count;
  to->followers = all->followers;
  to->resets = all->resets;
  to->deflated_bytes = all->deflated_bytes;
  to->deflated_plain_bytes = all->deflated_plain_bytes;
}
