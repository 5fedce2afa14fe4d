// One connection to a NATS server by nats.c. Its headers stay inside CNATS.c.
//
// nats.c waits by the wall clock, which may step. So it never connects again by itself, and whether the
// connection lives is found out here: messages to oneself are awaited by the monotonic clock.
//
// Threads: the calls may come from any. Callbacks come from threads of nats.c: those of a subscription
// one at a time, in the order of the messages; those of a client one at a time.
#ifndef CNATS_H
#define CNATS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cn_client cn_client;
typedef struct cn_subscription cn_subscription;

/// A change of a client.
typedef enum cn_event {
  /// A subscriber was too slow: messages were dropped.
  CN_SLOW_SUBSCRIBER = 0,
  /// The server has refused something; the text tells.
  CN_ERROR = 1,
  /// The last event: the connection has ended, and the context is not used any more.
  CN_CLOSED = 2,
} cn_event;

/// The text lives for the call.
typedef void (*cn_event_callback)(void *context, cn_event event, const char *text);
/// Bytes and reply live for the call; the reply is "" where there is none.
typedef void (*cn_message_callback)(void *context, const char *reply, const uint8_t *bytes, int count);
/// No callback comes any more.
typedef void (*cn_end_callback)(void *context);

/// How a client connects. All texts are copied.
typedef struct cn_options {
  /// `nats://…` or `tls://…`, without credentials.
  const char *const *servers;
  int server_count;
  bool uses_tls;
  /// NULL = none; a user without a password is a token.
  const char *user;
  const char *password;
  /// Files; NULL = none.
  const char *ca_file;
  const char *certificate_file;
  const char *key_file;
  const char *credentials_file;
  const char *name;
  /// The subject of the messages to oneself: no other client has it.
  const char *echo_subject;
  int timeout_ms;
} cn_options;

/// Connects, and blocks meanwhile: for longer than `timeout_ms` where the wall clock steps back.
/// @param error set to the reason where NULL is returned, a static text or one of this thread; then no
///   callback comes
cn_client *cn_connect(const cn_options *options, cn_event_callback callback, void *context, const char **error);
/// The longest message that the server takes.
int64_t cn_max_payload(cn_client *client);
/// Writes one message to the socket, and blocks while the server does not read.
/// @return NULL, or the reason
const char *cn_publish(cn_client *client, const char *subject, const char *reply, const uint8_t *bytes, int count);
/// Sends the subscription; the server knows it when a later `cn_confirm` is true.
/// @return NULL without memory or connection; then no callback comes
cn_subscription *cn_subscribe(
    cn_client *client, const char *subject, int max_messages, int max_bytes, cn_message_callback callback,
    cn_end_callback end, void *context);
/// Ends a subscription and frees it; `end` comes when its last callback has returned.
void cn_unsubscribe(cn_subscription *subscription);
/// Sends a message to oneself. May block as `cn_publish`.
void cn_ping(cn_client *client);
/// How many of these have not come back.
uint64_t cn_unanswered(cn_client *client);
/// Waits until the server has had everything, at most for so long by the monotonic clock.
bool cn_confirm(cn_client *client, int timeout_ms);
/// Ends the connection; CN_CLOSED follows. The client is freed. May block as `cn_connect`.
void cn_close(cn_client *client);

#endif
