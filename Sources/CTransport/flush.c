#include "flush.h"

#include "bytes.h"
#include "closing.h"
#include "connection.h"
#include "cooldown.h"
#include "event_frame.h"
#include "frame.h"
#include "slots.h"
#include "statistics.h"
#include "stream.h"
#include "subscription.h"
#include "tls_output.h"
#include "topic.h"
#include "wheel.h"

#include <errno.h>
#include <libwebsockets.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

enum {
  STEP_MAX = 256 * 1024, STEP_MIN = 4096,
  ROUNDS = 4,              // flushes in one turn, when reports of closes make new work
  CLOSE_LIMIT_MS = 5000,
  AHEAD_MEMORY = 6, AHEAD_LIBRARY = 3,  // subscribers for whom a flush has its memory fetched
  CONNECTIONS_IN_PART = 256             // each may miss the cache twice: about 50 µs
};

static size_t step_limit(const connection *c) {
  size_t limit = c->of_loop->send_queue_bytes / 4;
  return limit > STEP_MAX ? STEP_MAX : limit < STEP_MIN ? STEP_MIN : limit;
}

// The way of most deliveries is put together in one function, and the others stay out of it: each call
// saves and restores six registers.
#define IN_PLACE inline __attribute__((always_inline))
#define OUT_OF_PLACE __attribute__((noinline))

// Where the socket is full, OpenSSL wants the bytes of its last record again, which the library then
// keeps.
static OUT_OF_PLACE ssize_t send_over_tls(connection *c, const uint8_t *frames, size_t count) {
  return tls_output_write(&c->of_loop->tls_output, lws_get_ssl(c->wsi), frames, count);
}

// Does what the library's raw write does while its buffer is empty. That one takes 200 instructions
// and a dozen cache misses per subscriber of a large topic. Returns the bytes sent, or -1 when the
// connection is lost.
static IN_PLACE ssize_t send_directly(connection *c, const uint8_t *frames, size_t count) {
  if (c->is_tls) return send_over_tls(c, frames, count);
  ssize_t sent = send(c->descriptor, frames, count, MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent >= 0 ? sent : errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
}

// What the socket has not accepted; sent < 0: the connection is lost.
static OUT_OF_PLACE void write_unsent(connection *c, const uint8_t *frames, size_t count, ssize_t sent) {
  if (sent >= 0 &&
      lws_write(c->wsi, (unsigned char *)frames + sent, count - (size_t)sent, LWS_WRITE_RAW) < 0) sent = -1;
  if (sent < 0) {
    connection_cut(c);
    return;
  }
  if (!lws_partial_buffered(c->wsi)) return;
  c->is_blocked = true;
  c->unsent = count;
}

// Whole frames only: the library may put a PONG between two writes, and never inside one. Its
// buffer is empty here, and keeps the bytes that the socket does not accept now.
static IN_PLACE void write_frames(connection *c, const uint8_t *frames, size_t count) {
  ssize_t sent = send_directly(c, frames, count);
  if (sent != (ssize_t)count) write_unsent(c, frames, count, sent);
}

static bool can_write(connection *c) {
  if (c->is_dead || c->is_writing_paused || c->is_blocked) return false;
  if (!lws_partial_buffered(c->wsi)) return true;
  c->is_blocked = true;  // by a PONG of the library
  c->unsent = 0;
  return false;
}

static void write_send_queue(connection *c) {
  size_t count = frame_prefix(bytes_first(&c->send_queue), bytes_count(&c->send_queue), step_limit(c));
  write_frames(c, bytes_first(&c->send_queue), count);
  if (!c->is_dead) bytes_consume(&c->send_queue, count);
}

// write_log for a follower of the topic's stream: it gets the compressed frames.
static OUT_OF_PLACE bool write_stream(connection *c, ct_topic *topic, recipient *r, size_t limit) {
  size_t plain = topic_lag(topic, r->cursor), count = stream_lag(topic, r->cursor);
  if (count > limit) return false;
  c->of_loop->deliveries += topic_end(topic) - r->cursor;
  r->cursor = topic_end(topic);
  stream_count_deflated(topic, plain, count);
  write_frames(c, stream_frames(topic, topic->deflated_end - count), count);
  return true;
}

// The way without a copy: everything from the cursor on is for the recipient, and it fits. An event
// stream's part of the log is copied.
static IN_PLACE bool write_log(connection *c, ct_topic *topic, recipient *r, size_t limit) {
  if (!recipient_gets_all(topic, r)) return false;
  if (r->form) return r->form == FORM_DEFLATED && write_stream(c, topic, r, limit);
  size_t count = topic_lag(topic, r->cursor);
  if (count > limit) return false;
  c->of_loop->deliveries += topic_end(topic) - r->cursor;
  r->cursor = topic_end(topic);
  if (topic->stream) stream_count_plain(topic, r, count);
  write_frames(c, bytes_first(&topic->log) + bytes_count(&topic->log) - count, count);
  return true;
}

static OUT_OF_PLACE void write_joined(connection *c) {
  bytes *scratch = connections_scratch(c->of_loop);
  size_t limit = step_limit(c);
  if (bytes_count(&c->send_queue)) {
    size_t count = frame_prefix(bytes_first(&c->send_queue), bytes_count(&c->send_queue), limit);
    bytes_append(scratch, bytes_first(&c->send_queue), count);
    bytes_consume(&c->send_queue, count);
  }
  while (!bytes_count(&c->send_queue) && c->first_pending && bytes_count(scratch) < limit) {
    subscription *s = c->first_pending;
    subscription_drain(s, scratch, limit, false);  // clears pending when nothing is left
    if (s->is_pending) break;
  }
  if (bytes_count(scratch)) write_frames(c, bytes_first(scratch), bytes_count(scratch));
}

static void write_step(connection *c) {
  subscription *s = c->first_pending;
  if (!s) {
    write_send_queue(c);
  } else if (!bytes_count(&c->send_queue) && !s->next_pending && write_log(c, s->topic, recipient_of(s), step_limit(c))) {
    subscription_clear_pending(s);
  } else {
    write_joined(c);
  }
}

// The library reports no room in the socket of an event stream, so what that does not take stays
// in the queue, and event_stream.c hears when there is room. Apart from the way of frames.
static OUT_OF_PLACE void write_events(connection *c) {
  while (!c->is_dead && !c->is_writing_paused && !c->is_blocked) {
    size_t limit = step_limit(c);
    while (!c->unsent && c->first_pending && bytes_count(&c->send_queue) < limit) {
      subscription *s = c->first_pending;
      subscription_drain(s, &c->send_queue, limit, false);
      if (s->is_pending) break;
    }
    if (!bytes_count(&c->send_queue)) return;
    // Whole events: what is not sent may have to give way to another one, or be dropped.
    if (!c->unsent) c->unsent = event_prefix(bytes_first(&c->send_queue), bytes_count(&c->send_queue), limit);
    ssize_t sent = send_directly(c, bytes_first(&c->send_queue), c->unsent);
    if (sent < 0) {
      connection_cut(c);
      return;
    }
    c->unsent -= (size_t)sent;
    c->is_blocked = c->unsent > 0;
    if (sent) bytes_consume(&c->send_queue, (size_t)sent);
  }
}

// A single frame may be larger than the bound. While it is sent, only the bytes behind it count.
static size_t in_flight_bytes(const connection *c) {
  return c->unsent > c->of_loop->send_queue_bytes ? 0 : c->unsent;
}

// Of its queue, and of the last write.
static size_t unsent_bytes(const connection *c) {
  return bytes_count(&c->send_queue) - (c->is_event_stream ? c->unsent : 0) + in_flight_bytes(c);
}

size_t connection_queued_bytes(const connection *c) { return unsent_bytes(c) + connection_lag(c); }

// Over the bound. Drops the bytes not meant for the connection first, then skippable entries, and
// closes it last.
static void enforce_bound(connection *c) {
  size_t bound = c->of_loop->send_queue_bytes, wanted = unsent_bytes(c);
  for (subscription *s = c->first_pending; s; s = s->next_pending) wanted += subscription_wanted_bytes(s);
  bool must_skip = wanted > bound;
  while (c->first_pending) subscription_drain(c->first_pending, &c->send_queue, SIZE_MAX, must_skip);
  if (connection_queued_bytes(c) > bound) connection_fail(c, 4002, "slow consumer");
}

// The end of an event stream is the end of its answer. Over TLS that is told apart from a connection
// that was cut.
static void end_output(connection *c) {
  if (c->is_tls) (void)SSL_shutdown(lws_get_ssl(c->wsi));
  ERR_clear_error();
  shutdown(c->descriptor, SHUT_WR);
}

// Brings the lag, the bound and the close up to date after an attempt to write.
static void finish_write(connection *c) {
  if (c->is_dead) return;
  if (c->first_pending) subscription_count_lag(c->first_pending);
  if (!c->is_closing && connection_queued_bytes(c) > c->of_loop->send_queue_bytes) enforce_bound(c);
  if (!c->is_closing || c->is_close_sent || c->is_blocked || bytes_count(&c->send_queue)) return;
  c->is_close_sent = true;
  wheel_set_in(c->of_loop->wheel, &c->own_timer, CLOSE_LIMIT_MS);
  if (c->is_event_stream) end_output(c);
}

void connection_write(connection *c) {
  if (c->is_event_stream) write_events(c);
  else while ((c->first_pending || bytes_count(&c->send_queue)) && can_write(c)) write_step(c);
  finish_write(c);
}

void connection_write_events(connection *c) {
  if (c->is_blocked) connection_heard(c);  // the peer reads, so it lives
  c->is_blocked = false;
  connection_write(c);
}

void connection_writeable(connection *c) {
  c->was_writeable = true;
  if (c->is_dead || lws_partial_buffered(c->wsi)) return;
  if (c->is_blocked) connection_heard(c);  // the peer reads, so it lives
  c->is_blocked = false;
  c->unsent = 0;
  connection_write(c);
}

// Lets the library write a PONG that it may owe and then call back, all without waiting for an
// event. The connection may be freed afterwards.
static void write_behind_pong(connection *c) {
  connections *all = c->of_loop;
  ct_connection_id id = c->id;
  struct lws_pollfd writeable = {.fd = lws_get_socket_fd(c->wsi), .events = LWS_POLLOUT};
  for (int attempt = 0; attempt < 2; attempt++) {
    c->was_writeable = false;
    writeable.revents = LWS_POLLOUT;
    if (lws_service_fd(all->context, &writeable) || !connection_find(all, id) || c->was_writeable) return;
  }
  lws_callback_on_writable(c->wsi);
}

static void flush_connection(connection *c) {
  if (c->reports_close) connection_report_close(c);
  bool may_owe_pong = connection_received_in_turn(c) && bytes_count(&c->send_queue);
  if (may_owe_pong && can_write(c)) write_behind_pong(c); else connection_write(c);
}

static OUT_OF_PLACE void flush_later(recipient *r) {
  subscription_set_pending(r->subscription);
  subscription_count_lag(r->subscription);
  connection_mark_dirty(r->connection);
}

static bool has_nothing_queued(const connection *c) { return !c->first_pending && !bytes_count(&c->send_queue); }

// True when no entry has a kind that the recipient wants; its cursor then moves to the end.
static bool skip_unwanted(ct_topic *topic, recipient *r) {
  if ((topic->kinds & r->mask) || r->subscription->is_pending) return false;
  stream_leave(r);
  r->cursor = topic_end(topic);
  r->exclusions = 0;
  return true;
}

// The connections of a large group do not fit the caches, and lie scattered in memory.
static void fetch_ahead(const ct_topic *topic, size_t i) {
  if (i + AHEAD_MEMORY >= topic->recipient_count) return;
  const char *next = (const char *)topic->recipients[i + AHEAD_MEMORY].connection;
  __builtin_prefetch(next);
  __builtin_prefetch(next + 63);  // where it does not begin with a line
  // A call of the library is the only way to fetch its part.
  (void)lws_partial_buffered(topic->recipients[i + AHEAD_LIBRARY].connection->wsi);
}

static void flush_topic(ct_topic *topic, bool is_only_one) {
  uint64_t reset_entry = stream_reset_entry(topic);
  for (size_t i = 0; i < topic->recipient_count; i++) {
    fetch_ahead(topic, i);
    recipient *r = &topic->recipients[i];
    if (r->cursor == topic_end(topic) || skip_unwanted(topic, r)) continue;
    if (r->cursor == reset_entry) stream_join(r);
    connection *c = r->connection;
    if (is_only_one && has_nothing_queued(c) && can_write(c) && write_log(c, topic, r, step_limit(c))) continue;
    flush_later(r);
  }
}

static void flush_topics(topics *all) {
  ct_topic *topic = LIST_FIRST(&all->dirty);
  bool is_only_one = topic && !LIST_NEXT(topic, dirty);
  all->dirty_subscribers = 0;
  while ((topic = LIST_FIRST(&all->dirty))) {
    LIST_REMOVE(topic, dirty);
    topic->is_dirty = false;
    flush_topic(topic, is_only_one);
    cooldown_begin(topic);
  }
}

static void flush_connections(connections *all) {
  connection *last = TAILQ_LAST(&all->dirty, dirty_connections);
  for (connection *c; last && (c = TAILQ_FIRST(&all->dirty));) {
    bool is_last = c == last;
    connection_unmark_dirty(c);
    flush_connection(c);
    if (is_last) break;
  }
}

bool loop_is_dirty(const topics *all) { return !LIST_EMPTY(&all->dirty) || !TAILQ_EMPTY(&all->connections->dirty); }

bool loop_flush(topics *all, ct_histogram *flushes) {
  uint64_t before = all->connections->deliveries;
  for (int round = 0; round < ROUNDS && loop_is_dirty(all); round++) {
    flush_topics(all);
    flush_connections(all->connections);
  }
  uint64_t sent = all->connections->deliveries - before;
  if (sent) histogram_add(flushes, sent, sent);
  all->connections->turn++;
  return loop_is_dirty(all);
}

uint32_t connections_add_waiting(const connections *all, uint32_t position, ct_waiting *sum) {
  uint32_t count = slot_places(&all->slots);
  uint32_t end = count - position > CONNECTIONS_IN_PART ? position + CONNECTIONS_IN_PART : count;
  for (; position < end; position++) {
    const connection *c = slot_at(&all->slots, position);
    size_t waiting = c && !c->is_dead ? connection_queued_bytes(c) : 0;
    if (!waiting) continue;
    sum->bytes += waiting;
    sum->connections++;
    if (waiting > sum->largest_bytes) sum->largest_bytes = waiting;
  }
  return position < count ? position : 0;
}
