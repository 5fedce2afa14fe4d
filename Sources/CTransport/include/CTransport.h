// The C half of Throng's transport: event loops, WebSockets, event streams, HTTP requests and fan-out
// topics over libwebsockets, libev and OpenSSL, whose headers no other target sees.
//
// Threads. A loop belongs to the thread that ct_loop_start makes for it. Every function is called
// on that thread, before its start or after ct_loop_join, unless it says "any thread". Every
// callback comes on that thread.
// Pointers. An argument of a callback is valid during the call; a function copies its arguments.
// Handles. Connections and exchanges are 64-bit values (slot and generation); an invalid one is
// ignored.

#ifndef CTRANSPORT_H
#define CTRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ct_loop ct_loop;
typedef struct ct_topic ct_topic;
typedef uint64_t ct_connection_id;  // 0 is none
typedef uint64_t ct_exchange_id;    // 0 is none

// Bytes without a terminator; count 0 where the request has no such field.
typedef struct {
  const char *bytes;
  size_t count;
} ct_text;

// A request without its body. The path is decoded and normalised, the query is percent-encoded.
typedef struct {
  ct_text method, path, query, host, origin, authorization, forwarded_for, forwarded_host, forwarded, subprotocols,
    traceparent, peer_address;
  bool is_tls, is_internal;
} ct_request_head;

enum { CT_RECEIVE_PADDING = 64 };  // readable bytes behind a received message

// Whether a connection may come from an address. FULL: only in the place of another one from there.
// UNCOUNTED: it stands for many clients, and the address says nothing.
typedef enum { CT_ADMITTED, CT_FULL, CT_UNCOUNTED } ct_admission;

// Why a connection was closed before it had a request, or while that was served: its time was over;
// too many of all, or of its address; it began without a good PROXY header.
typedef enum { CT_DROP_TIMEOUT, CT_DROP_TOTAL, CT_DROP_ADDRESS, CT_DROP_PROXY_HEADER } ct_drop;

typedef struct {
  void *context;  // given to every callback that is not about one connection
  // Whether a connection from this address to the public listener begins with a PROXY header. NULL:
  // none does.
  bool (*announces_client)(void *context, ct_text peer_address);
  // A connection to the public listener has come, after its PROXY header where it has one. ADMITTED:
  // left follows, when it is a WebSocket, or has ended. NULL: all are admitted.
  ct_admission (*arrived)(void *context, ct_text address);
  void (*left)(void *context, ct_text address);
  // A connection was closed that is no WebSocket. NULL: nobody wants to know.
  void (*dropped)(void *context, ct_text address, ct_drop reason);
  // Decides on an upgrade. 0 accepts; an HTTP status refuses, and the client gets reason (size
  // bytes, ended by a zero).
  int (*upgrade)(void *context, const ct_request_head *head, char *reason, size_t size);
  // The transport has refused an upgrade, or another request, by itself.
  void (*refused)(
    void *context, const ct_request_head *head, int status, const char *reason, bool is_upgrade);
  // A connection is open. The result is given to received and closed.
  void *(*opened)(void *context, ct_connection_id connection, const ct_request_head *head);
  // A whole message; CT_RECEIVE_PADDING bytes behind it may be read.
  void (*received)(void *handler, const uint8_t *bytes, size_t count, bool is_text);
  // The last callback of a connection. code: the peer's (by_peer; 1005 where it has hung up an event
  // stream), ours, or 1006 when it was cut.
  void (*closed)(void *handler, int code, bool by_peer);
  // A whole HTTP request, without its body if that came to the public listener, but for
  // options.public_body_path. It must be answered by ct_exchange_respond, at once or later, or become
  // an event stream.
  void (*requested)(
    void *context, ct_exchange_id exchange, const ct_request_head *head, const uint8_t *body, size_t count,
    bool body_too_large);
  // An exchange of ct_exchange_serve is over: its answer is sent, or its client has gone.
  void (*exchange_ended)(void *context, ct_exchange_id exchange);
  // The deadline of ct_connection_set_deadline has come.
  void (*deadline_reached)(void *handler);
  // The loop did not run for longer than options.pause_ms: deadlines and pings have moved by so many
  // milliseconds. NULL: nobody wants to know.
  void (*paused)(void *context, uint64_t milliseconds);
  // About every 100 ms.
  void (*ticked)(void *context);
  // Before every wait for events. True: more jobs are queued, so do not wait.
  bool (*run_jobs)(void *context);
  // What ct_loop_finish_answers has asked for is done. Called once.
  void (*answered)(void *context);
  // The thread is about to end; every connection is gone. Called once, last.
  void (*ended)(void *context);
} ct_callbacks;

typedef struct {
  size_t max_message_bytes, send_queue_bytes, max_body_bytes;
  const char *public_body_path;  // copied; NULL: bodies to the public listener are dropped
  size_t max_public_body_bytes;
  uint32_t ping_interval_ms, ping_timeout_ms, handshake_timeout_s;
  uint32_t flush_window_ms;  // the least time between two flushes of a topic; 0: every turn flushes
  double (*flush_clock)(void);  // monotonic seconds for the window; NULL: the system's
  uint64_t (*clock)(void);      // monotonic milliseconds for deadlines and pings; NULL: the system's
  uint32_t pause_ms;            // between two readings of the clock; longer is no time (0: all is)
  uint32_t loops;               // of the process, which share its files
  uint32_t max_waiting;         // connections without a request; 0: by the files that may be open
  uint32_t ipv6_prefix_bits;    // addresses of IPv6 that share them are one
  bool accepts_binary;
  size_t stream_bytes;           // of the compressors of topics; 0: permessage-deflate is declined
  // A topic is compressed that has so many subscribers who take it, and so many bytes for all of
  // them in a second.
  size_t stream_subscribers, stream_bytes_in_second;
  const char *subprotocol;       // copied
  const char *certificate_file;  // NULL: the public listener is plain
  const char *key_file;
} ct_options;

// Observations by size: counts[i] those of at most 2^i units that no smaller bucket has; the last
// bucket has no bound.
enum { CT_BUCKETS = 18 };
typedef struct {
  uint64_t counts[CT_BUCKETS], sum;
} ct_histogram;

enum { CT_LAG_UNIT_US = 250 };

// Counted since the loop was made.
typedef struct {
  uint64_t connections_open, deliveries, skipped_entries;
  uint64_t event_streams;        // of the open connections
  uint64_t connections_waiting;  // now, without their PROXY header, head or ClientHello
  // Compressed topics: open streams and their followers, resets, bytes sent, and the bytes
  // that plain frames would have taken.
  uint64_t streams, followers, resets, deflated_bytes, deflated_plain_bytes;
  ct_histogram flushes;  // by their deliveries, which are the sum too
  ct_histogram lags;     // how late a tick came, in units of CT_LAG_UNIT_US; the sum is microseconds
  ct_histogram turns;    // how long a turn was, between two waits for events; units as of lags
} ct_counters;

// Bytes that wait to be sent to connections.
typedef struct {
  uint64_t bytes, largest_bytes;  // of all, and of the connection with the most
  uint64_t connections;           // for which anything waits
} ct_waiting;

enum { CT_CLOSE_CODES = 5000 };  // ct_loop_closes counts codes below this

// -- Process. Any thread.

// Ignores SIGPIPE, and sends the library's errors and warnings to log (level 1 error, 2 warning;
// text without line end; any thread). Once per process, before the first loop.
void ct_prepare_process(void (*log)(int level, const char *text, size_t count));

// Sets how many files the process may open, up to the hard limit, and returns the number. Before
// the first loop, and no more than needed: at the end of each connection Debian's libwebsockets
// searches a table of that size.
size_t ct_limit_open_files(size_t wanted);

// Bytes that the process has allocated and not freed.
size_t ct_memory_in_use(void);
// Returns freed memory to the system, in a time proportional to it.
void ct_memory_trim(void);

// A certificate chain and its key, which never change; OpenSSL's SSL_CTX.
typedef struct ssl_ctx_st ct_tls;

// Reads two PEM files that belong together. NULL: the reason is in error. Where the certificate is
// good and the key's file is not, the result has the key of previous (NULL: there is none) if that
// belongs to it, and the reason is in error as well.
ct_tls *ct_tls_read(
  const char *certificate_file, const char *key_file, const ct_tls *previous, char *error, size_t error_size);
// When the first certificate of the chain expires, in Unix seconds.
int64_t ct_tls_expiry(const ct_tls *tls);
void ct_tls_free(ct_tls *tls);

// A Unix socket's file, which is removed only while it is the same file.
typedef struct {
  uint64_t device, inode;
} ct_socket_file;

// Binds a Unix socket with mode 0660, and listens. Replaces a socket that nobody listens on, and no
// other file. Returns the descriptor, or -1 with the reason in error.
int ct_listen_file(const char *path, ct_socket_file *file, char *error, size_t error_size);
void ct_remove_socket(const char *path, ct_socket_file file);
// Another descriptor of the same socket, for another loop; -1 where there is none left.
int ct_duplicate(int descriptor);

enum { CT_ADDRESS_SIZE = 46, CT_PROXY_HEADER_MAX = 4096 };

typedef enum { CT_PROXY_INCOMPLETE, CT_PROXY_INVALID, CT_PROXY_PEER, CT_PROXY_ANNOUNCED } ct_proxy_result;

// Reads a PROXY header, version 1 or 2, at the beginning of bytes. *used becomes how many of them
// belong to it: all, as long as it is incomplete. PEER: the connection is the proxy's own (LOCAL,
// UNKNOWN). ANNOUNCED: address becomes the source's, ended by a zero.
ct_proxy_result ct_proxy_header_read(const uint8_t *bytes, size_t count, size_t *used, char address[CT_ADDRESS_SIZE]);

enum { CT_HEAD_READ = 40 * 1024 };

typedef enum {
  CT_BYTES_INCOMPLETE,
  CT_BYTES_WHOLE,         // a head, a ClientHello, or what the library or OpenSSL refuses
  CT_BYTES_BLANKS,        // the head of an upgrade that ct_head_trim has to change
  CT_BYTES_QUERY,         // the head of an upgrade with a query that the library need not read
  CT_BYTES_UPGRADE,       // another head of an upgrade: a frame that the library reads in the same call may be lost
  CT_BYTES_PROXY_HEADER,
  CT_BYTES_ZERO,          // a head whose target holds a zero
  CT_BYTES_TOO_LONG       // CT_HEAD_READ bytes without the end of a head
} ct_first_bytes;

// Tells what a connection begins with. *head becomes the length of a head that is whole, else 0.
ct_first_bytes ct_first_bytes_read(const uint8_t *bytes, size_t count, bool is_tls, size_t *head);
// Removes the blanks around the values of a whole head, and returns its new length.
size_t ct_head_trim(uint8_t *head, size_t count);
// The query of a whole head without its question mark, where the library would hand it on as it stands;
// no bytes where it might not, where the query is short, and where there is none.
ct_text ct_head_query(const uint8_t *head, size_t count);
// Removes this query and its question mark, and returns the head's new length.
size_t ct_head_cut_query(uint8_t *head, size_t count, ct_text query);

// Binds and listens; *port becomes the bound port (0: any free one). Several shared sockets may
// have one address; the first of them is refused when another process has it. Returns the
// descriptor, or -1 with the reason in error.
int ct_listen(const char *host, int *port, bool shared, bool first, char *error, size_t error_size);

// -- Loops.

// Returns NULL with the reason in error when the library cannot make a context.
ct_loop *ct_loop_create(const ct_options *options, const ct_callbacks *callbacks, char *error, size_t error_size);
// Transfers a listening socket, before the thread starts.
void ct_loop_add_listener(ct_loop *loop, int descriptor, bool is_internal);
// New connections to the public listener use the certificate and key, in place of the files'.
void ct_loop_use_tls(ct_loop *loop, const ct_tls *tls);
// Makes the thread. 0, or an errno.
int ct_loop_start(ct_loop *loop, const char *thread_name);
// Any thread: asks the loop to run its turn soon.
void ct_loop_wake(ct_loop *loop);
// The calling thread's list of loops that it wakes later; NULL = it wakes them at once.
void *ct_held_wakes(void);
void ct_hold_wakes(void *list);
// Does what is due by the clock, as the loop does every 100 ms by itself; on its thread. For tests
// whose clock has moved.
void ct_loop_run_timers(ct_loop *loop);
// Lets the HTTP requests that have come be answered, and those that come meanwhile; then closes the
// listeners, and executes no request any more: answered follows. That is when no answer is in
// flight, from the whole request to its last byte in the system's hands, or when so many have ended.
// False: it has happened, or the loop has ended.
bool ct_loop_finish_answers(ct_loop *loop, size_t at_most);
// Any thread: asks the thread to close all connections and end.
void ct_loop_stop(ct_loop *loop);
// Any thread but the loop's: waits for the thread's end.
void ct_loop_join(ct_loop *loop);
// Frees everything. The thread has ended or was never started.
void ct_loop_destroy(ct_loop *loop);
// Any thread: whether the calling thread is the loop's.
bool ct_loop_is_current(const ct_loop *loop);
// Makes the calling thread count as the loop's, once that one has ended; NULL reverts it.
void ct_loop_adopt_thread(ct_loop *loop);
ct_counters ct_loop_counters(const ct_loop *loop);
// Adds what waits for a part of the connections. position: 0 begins; the result continues, and is 0
// when all were looked at.
uint32_t ct_loop_add_waiting(const ct_loop *loop, uint32_t position, ct_waiting *sum);
// Closes by code: CT_CLOSE_CODES numbers, valid as long as the loop.
const uint64_t *ct_loop_closes(const ct_loop *loop);

// -- Connections: WebSockets, and event streams, which get an event for each text frame, a comment
// for a ping, and a last event, `close`, in place of the close frame (Protocol.md, "Event streams").

// Queues one text or binary frame; it leaves at the end of the turn.
void ct_connection_send(ct_loop *loop, ct_connection_id connection, const void *bytes, size_t count, bool is_text);
// Queues everything published to its topics so far, before later frames and regardless of
// cooldowns.
void ct_connection_drain_topics(ct_loop *loop, ct_connection_id connection);
// Sends the queued frames, then a close frame, and ignores later ones. reason: at most 123 bytes.
void ct_connection_close(ct_loop *loop, ct_connection_id connection, int code, const char *reason, size_t count);
// Stops and starts reading from the socket.
void ct_connection_set_reading(ct_loop *loop, ct_connection_id connection, bool enabled);
// Frames queue up from now on.
void ct_connection_pause_writing(ct_loop *loop, ct_connection_id connection);
// Ends a pause; first leaves before all queued frames (count 0: nothing).
void ct_connection_resume_writing(ct_loop *loop, ct_connection_id connection, const void *first, size_t count);
// Drops all queued frames, and unsubscribes from all topics with what they still have for it.
void ct_connection_drop_queued(ct_loop *loop, ct_connection_id connection);
// Has deadline_reached called once, in so many milliseconds or up to two ticks later. A later call
// replaces the deadline.
void ct_connection_set_deadline(ct_loop *loop, ct_connection_id connection, uint64_t in_ms);
void ct_connection_clear_deadline(ct_loop *loop, ct_connection_id connection);
bool ct_connection_is_open(const ct_loop *loop, ct_connection_id connection);
bool ct_connection_is_event_stream(const ct_loop *loop, ct_connection_id connection);

// -- Topics: a log of encoded frames, and the connections that receive it.

// The name, which may be empty, is only for ct_loop_busiest_topics.
ct_topic *ct_topic_create(ct_loop *loop, const void *name, size_t count);
// Entries published before are still sent.
void ct_topic_destroy(ct_topic *topic);
// Subscribes from the next entry on, or changes the mask of a subscriber.
void ct_topic_subscribe(ct_topic *topic, ct_connection_id connection, uint8_t mask);
// Entries published before are still sent to it.
void ct_topic_unsubscribe(ct_topic *topic, ct_connection_id connection);
// Lets no entry from the next one on be compressed with a reference to earlier ones.
void ct_topic_reset_stream(ct_topic *topic);
// Appends one text frame, which is JSON text where event streams subscribe, for every subscriber
// whose mask shares a bit with kind, but not for except (0: no exception).
void ct_topic_publish(
  ct_topic *topic, const void *bytes, size_t count, bool skippable, uint8_t kind, ct_connection_id except);
// Sends one text frame to one connection, in order with the published entries.
void ct_topic_send(ct_topic *topic, ct_connection_id connection, const void *bytes, size_t count);
size_t ct_topic_subscriber_count(const ct_topic *topic);
// A topic in which something was published, by what it had in the loop's last second. The name is
// valid until the turn ends.
typedef struct {
  ct_text name;
  uint64_t entries, bytes, subscribers;
} ct_topic_activity;
// Finds those with the most deliveries, the busiest first. Returns how many it has found.
size_t ct_loop_busiest_topics(const ct_loop *loop, ct_topic_activity *found, size_t capacity);
// The most steps that a search for a subscription of this loop can take; for tests.
size_t ct_loop_longest_search(const ct_loop *loop);

// -- HTTP.

// Answers. headers: whole lines, each ended by CR LF. content_type may be empty. A HEAD request
// gets no body.
void ct_exchange_respond(
  ct_loop *loop, ct_exchange_id exchange, int status, ct_text content_type, ct_text headers, const uint8_t *body,
  size_t count);
// The request is a session's, which bounds its requests: its connection no longer counts for its
// address or among those that wait, and exchange_ended follows. False: it is answered or gone.
bool ct_exchange_serve(ct_loop *loop, ct_exchange_id exchange);
// Answers with an event stream: opened is called within. False: it is answered or gone.
bool ct_exchange_open_stream(ct_loop *loop, ct_exchange_id exchange, ct_text headers);

#endif
