#include "private.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum {
  STEP_MAX = 256 * 1024, STEP_MIN = 4096,
  TLS_RECORD = 16 * 1024,  // more would go out in several writes, and the library would copy all but the first
  ROUNDS = 4,              // flushes in one turn, when telling of closes makes new work
  CLOSE_LIMIT_MS = 5000,
  AHEAD_MEMORY = 6, AHEAD_LIBRARY = 3  // subscribers for whom a flush has its memory fetched
};

static size_t step_limit(const connection *c) {
  if (c->is_tls) return TLS_RECORD;
  size_t limit = c->loop->options.send_queue_bytes / 4;
  return limit > STEP_MAX ? STEP_MAX : limit < STEP_MIN ? STEP_MIN : limit;
}

// What the library would do with a raw write while it owes nothing, which costs it two hundred instructions and a dozen
// lines of cold memory in a large room. Returns how much has left, or -1 when the connection is lost.
static ssize_t send_directly(connection *c, const uint8_t *frames, size_t count) {
  if (c->is_tls) return 0;
  ssize_t sent = send(c->socket, frames, count, MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent >= 0 ? sent : errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
}

// Whole frames only: the library may put a PONG between two writes, and never inside one. Nothing of earlier writes is
// still in the library; what the socket does not take now goes there.
static void write_frames(connection *c, const uint8_t *frames, size_t count) {
  ssize_t sent = send_directly(c, frames, count);
  if (sent >= 0 && (size_t)sent < count &&
      lws_write(c->wsi, (unsigned char *)frames + sent, count - (size_t)sent, LWS_WRITE_RAW) < 0) sent = -1;
  if (sent < 0) {
    connection_cut(c);
    return;
  }
  if ((size_t)sent == count) return;
  if (!lws_partial_buffered(c->wsi)) return;
  c->is_choked = true;
  c->unsent = count;
}

static bool can_write(connection *c) {
  if (c->is_dead || c->is_held || c->is_choked) return false;
  if (!lws_partial_buffered(c->wsi)) return true;
  c->is_choked = true;  // a PONG of the library's is stuck
  c->unsent = 0;
  return false;
}

static void write_own(connection *c) {
  size_t count = frame_prefix(bytes_first(&c->own), bytes_count(&c->own), step_limit(c));
  write_frames(c, bytes_first(&c->own), count);
  if (!c->is_dead) bytes_take(&c->own, count);
}

// The way without a copy: everything behind the cursor is for the member, and it fits.
static bool write_log(connection *c, ct_topic *topic, member *m, size_t limit) {
  size_t count = topic_lag(topic, m->cursor);
  if (count > limit || !topic_is_plain(topic, m)) return false;
  c->loop->counters.deliveries += topic_end(topic) - m->cursor;
  m->cursor = topic_end(topic);
  write_frames(c, bytes_first(&topic->log) + bytes_count(&topic->log) - count, count);
  return true;
}

static void write_gathered(connection *c) {
  bytes *scratch = &c->loop->scratch;
  size_t limit = step_limit(c);
  bytes_clear(scratch);
  if (bytes_count(&c->own)) {
    size_t count = frame_prefix(bytes_first(&c->own), bytes_count(&c->own), limit);
    bytes_append(scratch, bytes_first(&c->own), count);
    bytes_take(&c->own, count);
  }
  while (!bytes_count(&c->own) && c->first_pending && bytes_count(scratch) < limit) {
    subscription *s = c->first_pending;
    topic_take(s, scratch, limit, false);  // clears pending when it took everything
    if (s->is_pending) break;
  }
  if (bytes_count(scratch)) write_frames(c, bytes_first(scratch), bytes_count(scratch));
}

static void write_step(connection *c) {
  subscription *s = c->first_pending;
  if (!s) {
    write_own(c);
  } else if (!bytes_count(&c->own) && !s->next_pending && write_log(c, s->topic, subscription_member(s), step_limit(c))) {
    subscription_clear_pending(s);
  } else {
    write_gathered(c);
  }
}

// One frame that alone is more than the bound is on its way already, and nobody can be slow before it is through:
// what counts is what waits behind it.
static size_t under_way(const connection *c) {
  return c->unsent > c->loop->options.send_queue_bytes ? 0 : c->unsent;
}

static size_t waiting(const connection *c) { return bytes_count(&c->own) + under_way(c) + c->lag; }

// Too much waits. What is not for the connection after all goes first, then what may be skipped, then the connection.
static void relieve(connection *c) {
  size_t bound = c->loop->options.send_queue_bytes, wanted = bytes_count(&c->own) + under_way(c);
  for (subscription *s = c->first_pending; s; s = s->next_pending) wanted += topic_wanted(s);
  bool must_skip = wanted > bound;
  while (c->first_pending) topic_take(c->first_pending, &c->own, SIZE_MAX, must_skip);
  if (waiting(c) > bound) connection_fail(c, 4002, "slow consumer");
}

// What holds after every attempt to write.
static void settle(connection *c) {
  if (c->is_dead) return;
  if (c->first_pending) subscription_count_lag(c->first_pending);
  if (!c->is_closing && waiting(c) > c->loop->options.send_queue_bytes) relieve(c);
  if (!c->is_closing || c->is_close_sent || c->is_choked || bytes_count(&c->own)) return;
  c->is_close_sent = true;
  wheel_set(c, c->loop->wheel_at + ticks(CLOSE_LIMIT_MS));
}

void connection_write(connection *c) {
  while ((c->first_pending || bytes_count(&c->own)) && can_write(c)) write_step(c);
  settle(c);
}

void connection_writeable(connection *c) {
  c->was_writeable = true;
  if (c->is_dead || lws_partial_buffered(c->wsi)) return;
  if (c->is_choked) c->was_heard = true;  // it reads, so it lives
  c->is_choked = false;
  c->unsent = 0;
  connection_write(c);
}

// Lets the library write what it owes first (a PONG) and then call back, all without waiting for an event.
// The connection may be gone afterwards.
static void write_behind_pong(connection *c) {
  ct_loop *loop = c->loop;
  ct_connection_id id = c->id;
  struct lws_pollfd writeable = {.fd = lws_get_socket_fd(c->wsi), .events = LWS_POLLOUT};
  for (int attempt = 0; attempt < 2; attempt++) {
    c->was_writeable = false;
    writeable.revents = LWS_POLLOUT;
    if (lws_service_fd(loop->context, &writeable) || !connection_get(loop, id) || c->was_writeable) return;
  }
  lws_callback_on_writable(c->wsi);
}

static void flush_connection(connection *c) {
  if (c->tells_close) connection_tell_close(c);
  bool may_owe_pong = c->heard_turn == c->loop->turn && bytes_count(&c->own);
  if (may_owe_pong && can_write(c)) write_behind_pong(c); else connection_write(c);
}

static void flush_later(member *m) {
  subscription_set_pending(m->subscription);
  subscription_count_lag(m->subscription);
  connection_mark_dirty(m->connection);
}

static bool has_only_this(const connection *c) { return !c->first_pending && !bytes_count(&c->own); }

// Nothing new has a kind that the member wants, and nothing old waits for it.
static bool pass_over(ct_topic *topic, member *m) {
  if ((topic->kinds & m->mask) || m->subscription->is_pending) return false;
  m->cursor = topic_end(topic);
  m->exceptions = 0;
  return true;
}

// A large room is more memory than the caches hold, and each subscriber's lies somewhere else.
static void fetch_ahead(const ct_topic *topic, size_t i) {
  if (i + AHEAD_MEMORY >= topic->member_count) return;
  const char *next = (const char *)topic->members[i + AHEAD_MEMORY].connection;
  __builtin_prefetch(next);
  __builtin_prefetch(next + 63);  // where it does not begin with a line
  // Asking the library is the only way to fetch what it will be asked for.
  (void)lws_partial_buffered(topic->members[i + AHEAD_LIBRARY].connection->wsi);
}

static void flush_topic(ct_topic *topic, bool is_only_one) {
  for (size_t i = 0; i < topic->member_count; i++) {
    fetch_ahead(topic, i);
    member *m = &topic->members[i];
    if (m->cursor == topic_end(topic) || pass_over(topic, m)) continue;
    connection *c = m->connection;
    if (is_only_one && has_only_this(c) && can_write(c) && write_log(c, topic, m, step_limit(c))) continue;
    flush_later(m);
  }
}

static void flush_topics(ct_loop *loop) {
  bool is_only_one = loop->dirty_topics && !loop->dirty_topics->next_dirty;
  loop->dirty_subscribers = 0;
  for (ct_topic *topic; (topic = loop->dirty_topics);) {
    loop->dirty_topics = topic->next_dirty;
    topic->is_dirty = false;
    flush_topic(topic, is_only_one);
    window_begin(topic);
  }
}

static void flush_connections(ct_loop *loop) {
  connection *last = loop->last_dirty;
  for (connection *c; last && (c = loop->first_dirty);) {
    bool is_last = c == last;
    connection_unmark_dirty(c);
    flush_connection(c);
    if (is_last) break;
  }
}

bool loop_flush(ct_loop *loop) {
  for (int round = 0; round < ROUNDS && (loop->dirty_topics || loop->first_dirty); round++) {
    flush_topics(loop);
    flush_connections(loop);
  }
  loop->turn++;
  return loop->dirty_topics || loop->first_dirty;
}
