// What the files of this target share. Everything here belongs to one loop's thread unless it says otherwise.

#ifndef CTRANSPORT_PRIVATE_H
#define CTRANSPORT_PRIVATE_H

#define _GNU_SOURCE
#include "CTransport.h"

#include <ev.h>
#include <libwebsockets.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

// -- bytes.c: memory. A server without memory cannot keep any promise, so a failed allocation ends the process.

void *ct_allocate(size_t count, size_t size);  // zeroed
void *ct_reallocate(void *old, size_t count, size_t size);

// Bytes that are added behind and taken in front.
typedef struct {
  uint8_t *data;
  size_t start, end, capacity;
} bytes;

static inline size_t bytes_count(const bytes *b) { return b->end - b->start; }
static inline const uint8_t *bytes_first(const bytes *b) { return b->data + b->start; }
uint8_t *bytes_extend(bytes *b, size_t count);  // room for count more, already counted in
void bytes_append(bytes *b, const void *from, size_t count);
void bytes_take(bytes *b, size_t count);        // gives the memory back when nothing is left
void bytes_clear(bytes *b);                     // keeps the memory
void bytes_free(bytes *b);

// -- slots.c: 64-bit handles that notice when their object has gone.

typedef struct {
  void *object;
  uint32_t generation, next_free;
} slot;

typedef struct {
  slot *slots;
  uint32_t count, capacity, first_free;  // first_free: index + 1, 0 is none
} slot_table;

uint64_t slot_put(slot_table *table, void *object);
void *slot_get(const slot_table *table, uint64_t id);
void slot_remove(slot_table *table, uint64_t id);
void slot_table_free(slot_table *table);

// -- frame.c: server frames (RFC 6455 section 5.2): never masked, never fragmented.

enum { OPCODE_TEXT = 1, OPCODE_BINARY = 2, OPCODE_CLOSE = 8, OPCODE_PING = 9 };
enum { FRAME_HEADER_MAX = 10, CLOSE_REASON_MAX = 123 };

size_t frame_header(uint8_t header[FRAME_HEADER_MAX], int opcode, size_t count);
void frame_append(bytes *to, int opcode, const void *payload, size_t count);
// The longest run of whole frames that fits, at least one frame.
size_t frame_prefix(const uint8_t *frames, size_t count, size_t limit);

// -- Peers: one for each accepted socket, from accept to WSI_DESTROY.

typedef struct connection connection;
typedef struct request request;
typedef struct subscription subscription;

typedef struct {
  ct_loop *loop;
  connection *connection;  // once it is a WebSocket
  request *request;        // while an HTTP request is answered
  bool is_internal;
  char address[46];        // INET6_ADDRSTRLEN
} peer;

// -- topic.c

typedef struct {
  uint64_t position;  // of its first byte, counted from the topic's beginning
  ct_connection_id except;
  uint32_t count;
  uint8_t kind;
  bool skippable;
} entry;

// What the flush reads for each recipient; kept small and dense.
typedef struct {
  connection *connection;
  subscription *subscription;
  uint64_t cursor;      // number of the first entry it has not got
  uint32_t exceptions;  // entries from cursor on that are not for it
  uint8_t mask;
} member;

struct subscription {
  ct_topic *topic;
  connection *connection;
  size_t index;                              // in topic->members
  size_t lag;                                // bytes counted in connection->lag
  subscription *next, *previous;             // of the connection
  subscription *next_in_bucket;
  subscription *next_pending, *previous_pending;  // of the connection, while something waits for it
  bool is_pending;
};

struct ct_topic {
  ct_loop *loop;
  bytes log;            // frames of entries, the oldest kept first
  uint64_t log_position;  // of the first byte in log
  entry *entries;
  uint64_t first_entry;  // number of entries[0]
  size_t entry_count, entry_capacity;
  member *members;
  size_t member_count, member_capacity, pending_count, peak, compact_at;
  ct_topic *next_dirty, *next_warm, *previous_warm, *next_resting, *previous_resting;
  double rested;         // when it may be flushed again, in seconds of the monotonic clock
  uint8_t kinds;         // union of the kinds in the log
  bool is_dirty, is_warm, was_used, is_resting;
};

static inline uint64_t topic_end(const ct_topic *topic) { return topic->first_entry + topic->entry_count; }
// Bytes behind the cursor, whether they are for the member or not.
size_t topic_lag(const ct_topic *topic, uint64_t cursor);
// Whether the member gets every byte behind its cursor.
bool topic_is_plain(const ct_topic *topic, const member *m);
// Moves what is for the subscriber behind its cursor into to, in order, up to limit bytes (at least one frame).
// Without skippable entries if told so: those are counted.
void topic_take(subscription *s, bytes *to, size_t limit, bool lossless_only);
// Puts what topics hold for a connection behind the frames that are for it alone.
void topics_move_rest(connection *c);
// Bytes of what is for the subscriber behind its cursor.
size_t topic_wanted(const subscription *s);
// Gives back memory that was not used for a second.
void topics_cool(ct_loop *loop);
// The next flush takes the topic.
void topic_list_dirty(ct_topic *topic);

// -- window.c: two flushes of a topic are at least options.flush_window_ms apart.

void window_init(ct_loop *loop);
void window_begin(ct_topic *topic);   // it was flushed: it rests
bool window_holds(ct_topic *topic);   // it becomes dirty: whether it has to wait
void window_end(ct_topic *topic);     // it has rested enough
void window_forget(ct_topic *topic);  // it is going

// -- subscription.c

subscription *subscription_find(const ct_topic *topic, const connection *c);
subscription *subscription_add(ct_topic *topic, connection *c, uint8_t mask);
void subscription_remove(subscription *s);
static inline member *subscription_member(const subscription *s) { return &s->topic->members[s->index]; }
void subscription_set_pending(subscription *s);
void subscription_clear_pending(subscription *s);
// Brings connection->lag up to date with the topic.
void subscription_count_lag(subscription *s);

// -- connection.c

struct connection {
  // What a flush looks at: one line of the cache.
  struct lws *wsi;
  ct_loop *loop;
  bytes own;  // frames for it alone; they go before what its topics hold
  subscription *first_pending;
  int socket;
  bool is_dead;  // nothing may be written
  bool is_held, is_choked, is_tls;

  void *handler;  // NULL once it has heard of the end
  ct_connection_id id;
  bytes assembly;  // a message that has not arrived whole
  subscription *subscriptions, *last_pending;
  size_t lag;      // bytes of its pending subscriptions
  size_t unsent;   // at most this much of what was written is still in the library
  connection *next_dirty, *previous_dirty;
  connection *next_in_wheel, *previous_in_wheel;
  uint64_t due, pinged;  // ticks
  uint64_t received_at_ping;  // bytes
  uint64_t heard_turn;
  uint16_t close_code;
  bool is_dirty, is_paused;
  bool is_closing;     // one side has begun to close: nothing more is taken or queued
  bool is_close_sent;
  bool is_peers_close;  // the peer has begun to close
  bool is_inside_frame;  // more of a frame's payload is to come
  bool was_heard;      // since the last ping
  bool awaits_sign;    // a ping is under way
  bool was_writeable;
  bool tells_close;    // the handler hears of the end in the next flush
  bool is_postponed;   // its end waits for a later turn; the library does not read it
};

_Static_assert(offsetof(connection, handler) <= 64, "what a flush looks at has outgrown a line of the cache");

connection *connection_open(struct lws *wsi, peer *p);
void connection_free(connection *c);
connection *connection_get(const ct_loop *loop, ct_connection_id id);
void connection_begin_close(connection *c, int code, const void *reason, size_t count, bool discard);
// Begins to close and tells the handler: the transport's own decision.
void connection_fail(connection *c, int code, const char *reason);
void connection_tell_close(connection *c);
void connection_cut(connection *c);
void connection_mark_dirty(connection *c);
void connection_unmark_dirty(connection *c);

// -- losses.c
void losses_init(ct_loop *loop);
void losses_end(ct_loop *loop);
void losses_watch(const connection *c);  // until its socket is closed
// A connection was closed. When many are in one turn, those that have hung up wait for the next turns.
void losses_count(ct_loop *loop);
// Begins a turn with a few of those that wait. Returns whether there are more.
bool losses_resume(ct_loop *loop);

// -- receive.c
void connection_receive(connection *c, uint8_t *data, size_t count);
int connection_peer_closes(connection *c, const uint8_t *payload, size_t count);
void connection_library_closes(connection *c);

// -- flush.c
// Sends everything that was queued in this turn. Returns whether there is more to do at once.
bool loop_flush(ct_loop *loop);
void connection_write(connection *c);
void connection_writeable(connection *c);

// -- mask.c
enum { SERVICE_BUFFER = 64 * 1024 };  // what the library reads into
// The library's answer to an upgrade is written there, too, and its room ends where the buffer does.
void mask_learn_buffer(ct_loop *loop, const struct lws_process_html_args *answer);
// Whether a data frame of count bytes, the first of which are at payload, has come without a mask.
bool is_unmasked(const connection *c, const uint8_t *payload, size_t count);

// -- wheel.c: one timer for each connection.
enum { TICK_MS = 100, WHEEL_SLOTS = 512 };
void wheel_set(connection *c, uint64_t due);
void wheel_clear(connection *c);
void wheel_start_pings(connection *c);
void wheel_turn(ct_loop *loop);
uint64_t tick_now(void);
static inline uint64_t ticks(uint32_t ms) { return ((uint64_t)ms + TICK_MS - 1) / TICK_MS; }

// -- listener.c
typedef struct {
  ct_loop *loop;
  ev_io watcher;
  uint64_t paused_until;  // tick; 0: it is accepting
  int descriptors_end;    // a connection with a descriptor from here on is not taken
  bool is_internal;
} listener;

void listener_close(listener *l);
void listener_resume(listener *l, uint64_t now);
void listeners_close(ct_loop *loop);

// -- head.c
// Fills head from the library's header table; the text lives in loop->head_text until the next call.
void head_read(struct lws *wsi, const peer *p, ct_request_head *head);

enum { HEADERS_MAX = 20 * 1024 };  // a token of 8 KB travels in the query, and may be encoded
#define HEADERS_TOO_LONG "the header fields and the query have at most 20 KiB"
// Whether what the library knows of a head is over HEADERS_MAX; fields that nobody asks for are not counted.
bool head_is_too_long(struct lws *wsi);

// -- upgrade.c
// 0 lets the library upgrade, -1 ends the connection after a refusal was sent.
int upgrade_decide(struct lws *wsi, peer *p, char *protocol);
const char *status_phrase(int status);
enum { REASON_MAX = 256 };
// The body of a refusal: the status and what is wrong, in a line. Returns its length.
size_t refusal_body(char *to, size_t size, int status, const char *reason);

// -- process.c: why the library refused to make something, in its words; empty where it said nothing.
void process_forget_complaint(void);
const char *process_complaint(void);

// -- http.c
int http_begin(struct lws *wsi, peer *p);
int http_body(peer *p, const void *data, size_t count);
int http_complete(struct lws *wsi, peer *p);
int http_write(struct lws *wsi, peer *p);
void http_forget(peer *p);

// -- protocol.c: the library's callback.
int transport_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t count);

// -- loop.c

struct ct_loop {
  ct_options options;
  ct_callbacks callbacks;
  char *subprotocol, *certificate_file, *key_file;
  struct lws_protocols protocols[4];  // none, ours, any other
  char any_protocol[64];              // the name of the last one; see upgrade.c
  struct ev_loop *events;
  struct lws_context *context;
  struct lws_vhost *public_vhost, *internal_vhost;
  SSL_CTX *unused_tls;
  ev_prepare before_poll;
  ev_idle spinner;
  ev_async waker;
  ev_timer ticker, window;
  listener listeners[2];
  int listener_count;
  pthread_t thread;
  atomic_bool is_stopping;
  bool is_ending;
  char thread_name[16];
  slot_table connections, exchanges;
  connection *first_dirty, *last_dirty;
  ct_topic *dirty_topics, *warm_topics, *first_resting, *last_resting;
  size_t held_count;  // of resting topics, those that are dirty
  size_t dirty_subscribers;  // of the topics that the next flush takes
  uint64_t messages_received, gathered_messages;  // so far; before the last look at the sockets
  int gathered_turns;
  int lost_sockets;  // an epoll set of the connections' sockets that tells which have hung up
  int closes_in_turn;
  bytes postponed;  // identifiers of connections, in the order in which they are closed
  subscription **buckets;
  size_t bucket_count, subscription_count;
  bytes scratch, head_text;
  const uint8_t *service_buffer;
  uint8_t *received;  // a whole message and its padding
  peer *adopting;     // until the library has it
  connection *wheel[WHEEL_SLOTS];
  uint64_t wheel_at, turn, cooled;
  ct_counters counters;
  uint64_t closes[CT_CLOSE_CODES];
};

#endif
