// Shared by the files of this target. Everything here belongs to one loop's thread unless it says
// otherwise.

#ifndef CTRANSPORT_PRIVATE_H
#define CTRANSPORT_PRIVATE_H

#define _GNU_SOURCE
#include "CTransport.h"

#include <ev.h>
#include <libwebsockets.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/queue.h>
#include <zlib.h>

// -- bytes.c: memory. A server without memory cannot keep any promise, so a failed allocation ends
// the process.

void *ct_allocate(size_t count, size_t size);  // zeroed
void *ct_reallocate(void *old, size_t count, size_t size);

// Bytes that are appended at the end and consumed from the front.
typedef struct {
  uint8_t *data;
  size_t start, end, capacity;
} bytes;

static inline size_t bytes_count(const bytes *b) { return b->end - b->start; }
static inline const uint8_t *bytes_first(const bytes *b) { return b->data + b->start; }
uint8_t *bytes_extend(bytes *b, size_t count);  // returns count uninitialised bytes at the end
void bytes_append(bytes *b, const void *from, size_t count);
void bytes_consume(bytes *b, size_t count);     // frees the memory when nothing is left
void bytes_clear(bytes *b);                     // keeps the memory
void bytes_free(bytes *b);

// -- slots.c: 64-bit handles that become invalid when their object is removed.

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

// An entry of the loop's wheel.
typedef enum { TIMER_CONNECTION, TIMER_HANDLER, TIMER_ARRIVAL } timer_kind;
typedef struct timer {
  LIST_ENTRY(timer) in_wheel;
  uint64_t deadline : 62;  // ticks; 0: not in the wheel
  uint64_t kind : 2;
} timer;

// -- protocol.c: one for each socket that the library has, to WSI_DESTROY.

typedef struct arrival arrival;
typedef struct connection connection;
typedef struct request request;
typedef struct subscription subscription;
typedef struct stream stream;

typedef struct {
  ct_loop *loop;
  arrival *arrival;        // until it is a WebSocket
  connection *connection;  // once it is a WebSocket
  request *request;        // while an HTTP request is answered
  bool is_internal;
  char address[CT_ADDRESS_SIZE];
} accepted_socket;

// The library's callback.
int transport_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t count);

// -- topic.c

typedef struct {
  uint64_t position;           // of its first byte, counted from the topic's beginning
  uint64_t deflated_position;  // the same of its compressed frame, where it has one
  ct_connection_id except;
  uint32_t count, deflated_count;
  uint8_t kind;
  bool skippable;
} entry;

// The part of a subscription that a flush reads; kept small and dense.
typedef struct {
  connection *connection;
  subscription *subscription;
  uint64_t cursor;      // number of the first entry that it has not received
  uint32_t exclusions;  // entries from cursor on that name it as their exception
  uint8_t mask;
  bool may_follow, follows;  // the topic's stream (stream.c)
} recipient;

struct subscription {
  ct_topic *topic;
  connection *connection;
  size_t index;  // in topic->recipients
  size_t lag;    // bytes counted in connection->lag
  LIST_ENTRY(subscription) of_connection;
  SLIST_ENTRY(subscription) in_bucket;
  subscription *next_pending, *previous_pending;  // of the connection, while something waits for it
  bool is_pending;
};

struct ct_topic {
  ct_loop *loop;
  bytes log;              // frames of entries, the oldest kept first
  uint64_t log_position;  // of the first byte in log
  entry *entries;
  uint64_t first_entry;   // number of entries[0]
  size_t entry_count, entry_capacity;
  recipient *recipients;
  size_t recipient_count, recipient_capacity, pending_count, peak, compact_at;
  LIST_ENTRY(ct_topic) dirty;        // while it is dirty and not in cooldown
  LIST_ENTRY(ct_topic) active;       // while it holds memory
  TAILQ_ENTRY(ct_topic) cooling_down;
  double cooldown_end;    // seconds of the monotonic clock
  stream *stream;         // while it is busy
  uint64_t deflated_end;  // compressed bytes of all its entries so far
  uint64_t bytes_in_second, bytes_last_second;
  size_t may_follow_count;
  uint8_t kinds;          // union of the kinds in the log
  bool is_dirty, is_active, was_used, is_cooling_down;
  uint64_t end_before, entries_last_second;  // as the second before began; in the second before
  size_t name_count;
  char name[];
};

static inline uint64_t topic_end(const ct_topic *topic) { return topic->first_entry + topic->entry_count; }
// Bytes from the cursor on, wanted or not.
static inline size_t topic_lag(const ct_topic *topic, uint64_t cursor) {
  if (cursor == topic_end(topic)) return 0;
  uint64_t position = topic->entries[cursor - topic->first_entry].position;
  return (size_t)(topic->log_position + bytes_count(&topic->log) - position);
}
// Whether every byte from the cursor on is for the recipient.
static inline bool recipient_gets_all(const ct_topic *topic, const recipient *r) {
  return !r->exclusions && !(topic->kinds & ~r->mask);
}
// Moves the subscriber's entries to a buffer, in order, up to limit bytes (at least one frame).
// skips: skippable entries are dropped and counted.
void subscription_drain(subscription *s, bytes *to, size_t limit, bool skips);
// Moves everything that topics hold for a connection to the end of its send queue.
void connection_drain_topics(connection *c);
// Bytes of the entries that subscription_drain would move.
size_t subscription_wanted_bytes(const subscription *s);
// Frees memory that was not used for a second.
void topics_free_idle(ct_loop *loop);
// The next flush includes the topic.
void topic_queue_flush(ct_topic *topic);

// -- stream.c: the compressed frames of a busy topic.

bool stream_can_follow(const connection *c);
// Before an entry is appended: begins a stream or an epoch, where it is time.
void stream_prepare(ct_topic *topic);
// Gives an entry its compressed frame, where somebody may want one.
void stream_compress(ct_topic *topic, entry *e, const void *payload, size_t count);
// The number of the entry with which the last epoch began; at it a recipient may join.
uint64_t stream_epoch_start(const ct_topic *topic);
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
void streams_review(ct_loop *loop);

// -- cooldown.c: two flushes of a topic are at least options.flush_window_ms apart.

void cooldown_init(ct_loop *loop);
void cooldown_begin(ct_topic *topic);    // after a flush
bool cooldown_defers(ct_topic *topic);   // whether a topic that becomes dirty has to wait
void cooldown_finish(ct_topic *topic);
void cooldown_cancel(ct_topic *topic);   // before the topic is freed

// -- subscription.c

subscription *subscription_find(const ct_topic *topic, const connection *c);
subscription *subscription_add(ct_topic *topic, connection *c, uint8_t mask);
void subscription_remove(subscription *s);
static inline recipient *recipient_of(const subscription *s) { return &s->topic->recipients[s->index]; }
void subscription_set_pending(subscription *s);
void subscription_clear_pending(subscription *s);
// Brings connection->lag up to date with the topic.
void subscription_count_lag(subscription *s);

// -- connection.c

struct connection {
  // All that a flush reads: one cache line, in which a TAILQ of pending subscriptions would not
  // fit.
  struct lws *wsi;
  ct_loop *loop;
  bytes send_queue;  // whole frames; they leave before those of its topics
  subscription *first_pending;
  int descriptor;
  bool is_dead;  // nothing may be written
  bool is_writing_paused, is_blocked, is_tls;

  void *handler;  // NULL once its end was reported
  ct_connection_id id;
  bytes assembly;  // the received fragments of an incomplete message
  size_t checked;  // bytes of the assembly that are UTF-8
  LIST_HEAD(, subscription) subscriptions;
  subscription *last_pending;
  subscription *followed;  // whose compressed frames it gets
  size_t lag;      // bytes of its pending subscriptions
  size_t unsent;   // at most this much of the last write is still in the library
  TAILQ_ENTRY(connection) dirty;
  timer own_timer, handler_timer;
  uint64_t ping_tick;
  uint64_t received_at_ping;     // bytes
  uint64_t receive_turn;         // the last turn in which a frame came
  uint16_t close_code;
  bool is_dirty, is_reading_paused;
  bool is_closing;          // one side has begun to close: nothing more is received or queued
  bool is_close_sent;
  bool is_close_from_peer;  // the peer began
  bool is_inside_frame;     // more of a frame's payload is to come
  bool has_received;        // since the last ping
  bool awaits_pong;
  bool was_writeable;
  bool reports_close;       // the next flush tells the handler of the end
  bool has_deflate : 1;     // permessage-deflate was agreed on
  bool has_no_takeover : 1; // each compressed message must stand alone
  bool is_deflated : 1;     // the incomplete message is compressed
  uint8_t window_bits : 4;  // of its inflater
  bool had_rsv1 : 1;        // the last frame that the library reported
  bool is_postponed : 1;    // its end waits for a later turn; the library does not read it
};

_Static_assert(offsetof(connection, handler) <= 64, "a flush reads more than one cache line");
_Static_assert(sizeof(connection) <= 264, "malloc takes more than 272 bytes");

connection *connection_open(struct lws *wsi, accepted_socket *socket);
void connection_free(connection *c);
connection *connection_get(const ct_loop *loop, ct_connection_id id);
void connection_begin_close(connection *c, int code, const void *reason, size_t count, bool discard);
// Begins to close and reports it: the transport's own decision.
void connection_fail(connection *c, int code, const char *reason);
void connection_report_close(connection *c);
void connection_cut(connection *c);
void connection_mark_dirty(connection *c);
void connection_unmark_dirty(connection *c);

// -- hangups.c
void hangups_init(ct_loop *loop);
void hangups_end(ct_loop *loop);
// How many connections the library may close in a turn.
int closes_per_turn(const ct_loop *loop);
void hangups_watch(const connection *c);  // until its socket is closed
// Counts a closed connection. Beyond a number per turn, clients that hung up wait for later turns.
void hangups_count(ct_loop *loop);
// Begins a turn with a few of those that wait. Returns whether there are more.
bool hangups_resume(ct_loop *loop);

// -- receive.c
void connection_receive(connection *c, uint8_t *data, size_t count);
void connection_receive_pong(connection *c);
// The library has answered a ping, or is about to send something else.
void connection_check_ping(connection *c);
int connection_peer_closes(connection *c, const uint8_t *payload, size_t count);
void connection_library_closes(connection *c);

// -- inflate.c
typedef enum { INFLATE_OK, INFLATE_TOO_BIG, INFLATE_INVALID } inflate_result;

// Inflates a message into loop->received.
inflate_result inflate_message(ct_loop *loop, bytes *message, size_t *count);
void inflate_end(ct_loop *loop);

// -- utf8.c
// Checks the part of a text that has come: false where it cannot be the start of UTF-8. whole: the
// bytes of its complete characters.
bool utf8_check(const uint8_t *text, size_t count, size_t *whole);

// -- flush.c
// Sends everything that was queued in this turn. Returns whether there is more to do at once.
bool loop_flush(ct_loop *loop);
// Bytes that wait for a connection, as options.send_queue_bytes bounds them.
size_t connection_queued_bytes(const connection *c);
// Whether a flush would send something.
bool loop_is_dirty(const ct_loop *loop);
void connection_write(connection *c);
void connection_writeable(connection *c);

// -- statistics.c
void histogram_add(ct_histogram *histogram, uint64_t units, uint64_t amount);
void lag_begin(ct_loop *loop);
void lag_count_tick(ct_loop *loop);

// -- mask.c
enum { SERVICE_BUFFER = 64 * 1024 };  // the library's read buffer
// The library writes its answer to an upgrade into the same buffer, up to its end.
void mask_learn_buffer(ct_loop *loop, const struct lws_process_html_args *answer);
// Whether a data frame of count bytes, the first of which are at payload, came without a mask.
bool is_unmasked(const connection *c, const uint8_t *payload, size_t count);

// -- wheel.c: two timers for each connection, the transport's own and its handler's, and one for each
// that arrives. The time of a loop stands still while the loop does not run (see wheel.c).
enum { TICK_MS = 100, WHEEL_SLOTS = 512 };
void wheel_set(ct_loop *loop, timer *timer, uint64_t deadline);
void wheel_clear(timer *timer);
void wheel_start_pings(connection *c);
void wheel_turn(ct_loop *loop);
uint64_t tick_now(ct_loop *loop);
// Begins to count time.
void wheel_begin(ct_loop *loop);
// For how long the time has stood, and will stand, still that was not told yet, in milliseconds.
uint64_t wheel_take_pause(ct_loop *loop);
static inline uint64_t ticks(uint32_t ms) { return ((uint64_t)ms + TICK_MS - 1) / TICK_MS; }

// -- listener.c
typedef struct listener {
  ct_loop *loop;
  ev_io watcher;
  uint64_t paused_until;  // tick; 0: it is accepting
  int descriptor_limit;   // a connection with this descriptor or a higher one is refused
  bool is_internal;
} listener;

void listener_close(listener *l);
void listener_resume(listener *l, uint64_t now);
void listeners_close(ct_loop *loop);
// Stops accepting for a while, and logs the reason.
void listener_pause(listener *l, const char *reason);

// -- arrivals.c: connections that are no WebSockets yet.

enum { SOURCE_KEY = 16, SOURCE_BUCKETS = 1024 };

// The connections of one address that are on their way.
typedef struct source {
  LIST_ENTRY(source) in_bucket;
  TAILQ_HEAD(, arrival) arrivals;  // the oldest first
  size_t count;
  uint8_t key[SOURCE_KEY];         // an address of IPv6, or the beginning of one
} source;

typedef enum {
  ARRIVAL_PROXY_HEADER,  // its PROXY header is to come
  ARRIVAL_HEAD,          // its head or ClientHello is to come
  ARRIVAL_IN_LIBRARY,    // the library has it: TLS, a request, an answer
  ARRIVAL_GONE           // it counts no more; the library is about to close it
} arrival_stage;

struct arrival {
  ct_loop *loop;
  listener *listener;
  struct lws *wsi;   // NULL: the library does not have it
  uint64_t id;       // in arrivals.slots
  source *source;    // NULL: it does not count for an address
  TAILQ_ENTRY(arrival) of_stage, of_source;
  timer timer;
  bytes header;      // what has come of its PROXY header, at most CT_PROXY_HEADER_MAX
  int descriptor;
  arrival_stage stage;
  bool is_expired;   // its time is over: a turn soon closes it
  bool is_watched;   // by arrivals.set
  char address[CT_ADDRESS_SIZE];
};

typedef struct {
  TAILQ_HEAD(arrival_list, arrival) waiting[2];  // by is_internal, the oldest first
  struct arrival_list in_library;                // of the public listener, the oldest first
  struct arrival_list expired;                   // in order of expiry
  int waiting_count[2], max_waiting, in_library_count, max_in_library;
  LIST_HEAD(source_bucket, source) sources[SOURCE_BUCKETS];
  slot_table slots;
  int set;  // the epoll set of those that wait
  ev_io watcher;
  uint8_t *first_bytes;  // CT_HEAD_READ bytes, for the one that is looked at
} arrivals;

void arrivals_init(ct_loop *loop);
void arrivals_watch(ct_loop *loop);
// A connection was accepted.
void arrival_begin(listener *l, int descriptor, const char *address, bool has_proxy_header);
// It is closed, unless it has become a WebSocket by then, or the deadline is replaced.
void arrival_set_deadline(arrival *a, uint32_t ms);
void arrival_expire(timer *timer);
// The library has closed it, or it is a WebSocket.
void arrival_free(arrival *a);
// Closes a few of those whose time is over. Returns whether there are more.
bool arrivals_turn(ct_loop *loop);
// Closes the listener's oldest that waits. False: none waits.
bool arrivals_drop_oldest(listener *l);
void arrivals_close(ct_loop *loop);
void arrivals_end(ct_loop *loop);
// Hands the socket to the library; head: bytes that were taken from it. A failure closes it.
void socket_adopt(arrival *a, const uint8_t *head, size_t count);

// -- head.c
// Fills head from the library's header table; its text is in loop->head_text until the next call.
// False where the library has misread a field, see other_fields.c.
bool head_read(struct lws *wsi, const accepted_socket *socket, ct_request_head *head);

// Without the blanks around it, which are no part of a field's value (RFC 9110 section 5.5).
ct_text text_trimmed(const char *text, size_t count);

// -- other_fields.c
typedef enum {
  FIELDS_READ,
  FIELDS_UNREADABLE,  // of a form or size that this does not read
  FIELDS_MISREAD      // the library took two lines for one field, and the second matters
} other_fields;

// Appends the values of all fields of that name (in small letters, with its colon), joined by
// commas.
other_fields other_fields_append(struct lws *wsi, bytes *to, const char *name);

enum { HEADERS_MAX = 20 * 1024 };  // a token of 8 KB travels in the query, and may be encoded
enum { HEADERS_READ = CT_HEAD_READ };
_Static_assert(HEADERS_READ >= 2 * HEADERS_MAX, "the library closes without an answer beyond it");
#define HEADERS_MISREAD "a header field has a name that is the beginning of a known one, and hides the next, or a blank in its name"
#define HEADERS_TOO_LONG "the header fields and the query have at most 20 KiB"
// Whether the fields that the library keeps are over HEADERS_MAX together.
bool head_is_too_long(struct lws *wsi);

// -- offer.c: permessage-deflate in the upgrade.
typedef struct {
  bool is_agreed;
  bool has_no_takeover;  // the client asked for server_no_context_takeover
  uint8_t window_bits;   // the largest window that the client allows
  int accept_at;         // which mention of the extension the library is to accept, counted down
  bool ends_early;       // it then reads no further
} deflate_terms;

deflate_terms deflate_terms_read(const char *field, size_t count);
enum { EXTENSIONS_READ = 254 };  // bytes of the field that the library can read
// Whether the library is to accept the extension at this mention.
bool deflate_confirm(ct_loop *loop, const char *name);
// Adds the agreed parameters to the answer.
void deflate_answer(ct_loop *loop, struct lws_process_html_args *answer);
int extension_callback(
  struct lws_context *context, const struct lws_extension *extension, struct lws *wsi,
  enum lws_extension_callback_reasons reason, void *user, void *in, size_t count);

// -- upgrade.c
// 0 lets the library upgrade, -1 ends the connection after a refusal was sent.
int upgrade_decide(struct lws *wsi, accepted_socket *socket, char *protocol);
const char *status_phrase(int status);
enum { REASON_MAX = 256 };
// The body of a refusal: status and reason in a line. Returns its length.
size_t refusal_body(char *to, size_t size, int status, const char *reason);
enum { REFUSAL_MAX = 256 + REASON_MAX };
// The whole answer, at most REFUSAL_MAX bytes. Returns its length.
size_t refusal_text(char to[REFUSAL_MAX], int status, const char *reason);

// -- process.c: the library's first error line on this thread since it was cleared; may be empty.
void process_clear_error(void);
const char *process_first_error(void);

// -- http.c
int http_begin(struct lws *wsi, accepted_socket *socket);
int http_body(accepted_socket *socket, const void *data, size_t count);
int http_complete(struct lws *wsi, accepted_socket *socket);
int http_write(struct lws *wsi, accepted_socket *socket);
void http_free(accepted_socket *socket);

// -- loop.c

// Makes the library's connections use loop->tls.
void loop_install_tls(ct_loop *loop, SSL_CTX *of_library);

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
  SSL_CTX *tls;  // what new connections use; NULL: what the library has read at the start
  ev_prepare before_poll;
  ev_idle spinner;
  ev_async waker;
  ev_timer ticker, cooldown_timer;
  listener listeners[2];
  int listener_count;
  pthread_t thread;
  atomic_bool is_stopping;
  bool is_ending;
  char thread_name[16];
  slot_table connections, exchanges;
  TAILQ_HEAD(dirty_connections, connection) dirty_connections;
  LIST_HEAD(, ct_topic) dirty_topics, active_topics;
  TAILQ_HEAD(, ct_topic) cooling_down;  // the one that ends first is first
  size_t deferred_count;                // topics in cooldown that are dirty
  size_t dirty_subscribers;             // of the topics that the next flush includes
  uint64_t messages_received, coalesced_messages;  // so far; before the last look at the sockets
  int coalesced_turns;
  int hangup_set;   // an epoll set of the connections' sockets that tells which have hung up
  int closes_in_turn;
  bytes postponed;  // identifiers of connections, in the order in which they are closed
  SLIST_HEAD(bucket, subscription) *buckets;
  size_t bucket_count, subscription_count;
  bytes scratch, head_text;
  const uint8_t *service_buffer;
  uint8_t *received;          // a whole message and its padding
  z_stream inflater;
  bool has_inflater;
  deflate_terms terms;        // of the upgrade that is being answered
  LIST_HEAD(, stream) streams;
  size_t stream_bytes;
  accepted_socket *adopting;  // until the library has it
  arrivals arrivals;
  LIST_HEAD(wheel_slot, timer) wheel[WHEEL_SLOTS];
  uint64_t wheel_tick, turn, idle_checked;
  uint64_t last_reading, pause_end;     // of the clock, in milliseconds
  uint64_t paused_ms, untold_pause_ms;  // how long the time stood still; what wheel_take_pause has to tell
  double tick_due;  // seconds of the monotonic clock
  ct_counters counters;
  uint64_t closes[CT_CLOSE_CODES];
};

#endif
