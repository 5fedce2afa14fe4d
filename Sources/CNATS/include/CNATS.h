// One connection to a NATS server by nats.c. Its headers stay inside CNATS.c.
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
  CN_DISCONNECTED = 0,
  /// Connected again, with all subscriptions.
  CN_RECONNECTED = 1,
  /// A subscriber was too slow: messages were dropped.
  CN_SLOW_SUBSCRIBER = 2,
  /// The server has refused something; the text tells.
  CN_ERROR = 3,
  /// The last event: no connection will be made again, and the context is not used any more.
  CN_CLOSED = 4,
} cn_event;

/// The text lives for the call.
typedef void (*cn_event_callback)(void *context, cn_event event, const char *text);
/// Bytes and reply live for the call; the reply is "" where there is none.
typedef void (*cn_message_callback)(void *context, const char *reply, const uint8_t *bytes, int count);
/// No callback comes any more.
typedef void (*cn_end_callback)(void *context);

/// How a client connects. All texts are copied.
typedef struct cn_options {
  /// `nats://…` or `tls://…`, credentials included.
  const char *const *servers;
  int server_count;
  bool uses_tls;
  /// Files; NULL = none.
  const char *ca_file;
  const char *certificate_file;
  const char *key_file;
  const char *credentials_file;
  const char *name;
  int timeout_ms;
  int ping_interval_ms;
  int reconnect_wait_ms;
} cn_options;

/// Connects, and blocks meanwhile.
/// @param error set to the reason where NULL is returned, a static text or one of this thread; then no
///   callback comes
cn_client *cn_connect(const cn_options *options, cn_event_callback callback, void *context, const char **error);
/// The longest message that the server takes.
int64_t cn_max_payload(cn_client *client);
/// Writes one message to the socket, and blocks while the server does not read.
/// @return NULL, or the reason
const char *cn_publish(cn_client *client, const char *subject, const char *reply, const uint8_t *bytes, int count);
/// Sends the subscription; the server knows it after the next `cn_flush`.
/// @return NULL without memory or connection; then no callback comes
cn_subscription *cn_subscribe(
    cn_client *client, const char *subject, int max_messages, int max_bytes, cn_message_callback callback,
    cn_end_callback end, void *context);
/// Ends a subscription and frees it; `end` comes when its last callback has returned.
void cn_unsubscribe(cn_subscription *subscription);
/// Waits until the server has everything.
bool cn_flush(cn_client *client, int timeout_ms);
/// Ends the connection; CN_CLOSED follows. The client is freed.
void cn_close(cn_client *client);

#endif
