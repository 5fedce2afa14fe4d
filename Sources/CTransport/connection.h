// A WebSocket or an event stream: its handle, its send queue, how far its end has come.
//
// Fields: connection.c, closing.c, flush.c, receive.c, pings.c, hangups.c, event_stream.c.

#pragma once

#include "bytes.h"
#include "event_frame.h"
#include "frame.h"
#include "slots.h"
#include "tls_output.h"
#include "wheel.h"

#include <sys/queue.h>

struct lws;
struct lws_context;
typedef struct connection connection;
typedef struct subscription subscription;

// The connections of a loop.
typedef struct {
  size_t send_queue_bytes;  // as options has it
  uint64_t deliveries;
  uint64_t turn;            // of the loop, which a flush ends
  bytes scratch;            // for what is put together
  tls_output tls_output;
  TAILQ_HEAD(dirty_connections, connection) dirty;
  struct lws_context *context;
  slot_table slots;
  wheel *wheel;
  const ct_options *options;
  const ct_callbacks *callbacks;
  uint64_t open_count, event_stream_count;
  bool is_ending;
  uint64_t closes[CT_CLOSE_CODES];
} connections;

// What topics have for a connection. Fields: topic.c, subscription.c, stream.c.
typedef struct {
  LIST_HEAD(, subscription) subscriptions;
  subscription *last_pending;
  subscription *followed;  // whose compressed frames it gets
  size_t lag;              // bytes of its pending subscriptions
} subscriber;

// What has come of a message. Fields: receive.c.
typedef struct {
  bytes assembly;        // the received fragments of an incomplete message
  uint64_t turn;         // the last one in which a frame came
  uint32_t checked;      // bytes of the assembly that are UTF-8
  bool is_inside_frame;  // more of a frame's payload is to come
  bool is_deflated : 1;  // the incomplete message is compressed
  bool had_rsv1 : 1;     // the last frame that the library reported
} incoming;

// Whether the peer is still there. Fields: pings.c.
typedef struct {
  uint64_t received_at_ping;  // bytes
  uint64_t ping_tick : 62;
  bool has_received : 1;      // since the last ping
  bool awaits_pong : 1;
} liveness;

struct connection {
  // All that a flush reads: one cache line, in which a TAILQ of pending subscriptions would not
  // fit.
  struct lws *wsi;
  connections *of_loop;
  bytes send_queue;  // whole frames, or events; they leave before those of its topics
  subscription *first_pending;
  int descriptor;
  bool is_dead;  // nothing may be written
  bool is_writing_paused, is_blocked, is_tls;

  void *handler;  // NULL once its end was reported
  ct_connection_id id;
  subscriber subscriber;
  incoming incoming;
  liveness liveness;
  // At most this much of the last write is still in the library or kept for TLS, and of an event
  // stream at the beginning of its queue, where it has to stay.
  size_t unsent;
  TAILQ_ENTRY(connection) dirty;
  timer own_timer, handler_timer;
  uint16_t close_code;
  bool is_dirty, is_reading_paused;
  bool is_closing;          // one side has begun to close: nothing more is received or queued
  bool is_close_sent;
  bool is_close_from_peer;  // the peer began
  bool was_writeable;
  bool reports_close;       // the next flush tells the handler of the end
  bool is_postponed;        // its end waits for a later turn; the library does not read it
  bool takes_streams;       // it can get the compressed frames of a topic
  bool is_event_stream;     // no WebSocket: nothing is received, and events are sent in place of frames
};

_Static_assert(offsetof(connection, handler) <= 64, "a flush reads more than one cache line");
_Static_assert(sizeof(connection) <= 264, "malloc takes more than 272 bytes");

void connections_init(connections *all, const ct_options *options, const ct_callbacks *callbacks, wheel *wheel);
void connections_free(connections *all);
// What serves their sockets.
static inline void connections_set_context(connections *all, struct lws_context *context) { all->context = context; }
// All of them are about to be closed.
static inline void connections_begin_ending(connections *all) { all->is_ending = true; }
static inline bool connections_are_ending(const connections *all) { return all->is_ending; }

connection *connection_open(connections *all, struct lws *wsi, bool takes_streams, bool is_event_stream);
// Its handler gets the messages, and is told of the end.
static inline void connection_set_handler(connection *c, void *handler) { c->handler = handler; }
// Its subscriptions have gone.
void connection_free(connection *c);
static inline connection *connection_find(const connections *all, ct_connection_id id) { return slot_get(&all->slots, id); }
// NULL also where it has begun to close.
static inline connection *connection_find_open(const connections *all, ct_connection_id id) {
  connection *c = connection_find(all, id);
  return c && !c->is_closing ? c : NULL;
}

static inline ct_connection_id connection_id(const connection *c) { return c->id; }
static inline bytes *connection_send_queue(connection *c) { return &c->send_queue; }
static inline subscriber *connection_subscriber(connection *c) { return &c->subscriber; }
static inline subscription **connection_first_pending(connection *c) { return &c->first_pending; }
static inline bool connection_takes_streams(const connection *c) { return c->takes_streams; }
static inline bool connection_is_event_stream(const connection *c) { return c->is_event_stream; }
// Empty for whoever puts something together, until the next one does.
static inline bytes *connections_scratch(connections *all) {
  bytes_clear(&all->scratch);
  return &all->scratch;
}
static inline uint64_t connections_open_count(const connections *all) { return all->open_count; }
static inline uint64_t connections_event_stream_count(const connections *all) { return all->event_stream_count; }
static inline size_t connections_send_queue_bytes(const connections *all) { return all->send_queue_bytes; }
static inline void connections_count_delivery(connections *all) { all->deliveries++; }
static inline uint64_t connections_deliveries(const connections *all) { return all->deliveries; }
static inline const uint64_t *connections_closes(const connections *all) { return all->closes; }

// The next flush includes it.
static inline void connection_mark_dirty(connection *c) {
  if (c->is_dirty || c->is_dead) return;
  c->is_dirty = true;
  TAILQ_INSERT_TAIL(&c->of_loop->dirty, c, dirty);
}
void connection_unmark_dirty(connection *c);

// Queues a frame, or an event.
static inline void connection_send(connection *c, int opcode, const void *payload, size_t count) {
  if (c->is_event_stream) event_append(&c->send_queue, payload, count);
  else frame_append(&c->send_queue, opcode, payload, count);
  c->of_loop->deliveries++;
  connection_mark_dirty(c);
}
// Drops what has queued up and is not being sent.
void connection_discard_queue(connection *c);

void connection_set_reading(connection *c, bool enabled);
void connection_pause_writing(connection *c);
// first leaves before all queued frames (count 0: nothing).
void connection_resume_writing(connection *c, const void *first, size_t count);
void connection_set_deadline(connection *c, uint64_t in_ms);
void connection_clear_deadline(connection *c);

// Bytes of its pending subscriptions.
static inline size_t connection_lag(const connection *c) { return c->subscriber.lag; }
// Whether a frame has come in this turn.
static inline bool connection_received_in_turn(const connection *c) { return c->incoming.turn == c->of_loop->turn; }
// What has come of a message is not needed any more.
static inline void connection_drop_incoming(connection *c) { bytes_free(&c->incoming.assembly); }
// The peer has given a sign of life.
static inline void connection_heard(connection *c) { c->liveness.has_received = true; }
void connection_report_close(connection *c);
void connection_cut(connection *c);
