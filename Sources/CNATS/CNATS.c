#include "CNATS.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <nats/nats.h>

struct cn_client {
  natsConnection *connection;
  cn_event_callback callback;
  void *context;
  // The owner's, that of the last event, and that of the echo.
  atomic_int references;
  natsSubscription *echo;
  char *echo_subject;
  pthread_mutex_t mutex;
  pthread_cond_t echoed;
  // The number of the last message to oneself, and of the last that has come back.
  uint64_t last_sent;
  uint64_t last_echoed;
};

struct cn_subscription {
  natsSubscription *native;
  cn_message_callback callback;
  cn_end_callback end;
  void *context;
  // The owner's, and that of the last callback: a connection that is lost ends its subscriptions.
  atomic_int references;
};

static cn_client *make(const cn_options *options, cn_event_callback callback, void *context) {
  cn_client *client = calloc(1, sizeof *client);
  if (client == NULL) return NULL;
  client->echo_subject = strdup(options->echo_subject);
  if (client->echo_subject == NULL) {
    free(client);
    return NULL;
  }
  client->callback = callback;
  client->context = context;
  client->references = 2;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_mutex_init(&client->mutex, NULL);
  pthread_cond_init(&client->echoed, &attributes);
  pthread_condattr_destroy(&attributes);
  return client;
}

static void discard(cn_client *client) {
  pthread_cond_destroy(&client->echoed);
  pthread_mutex_destroy(&client->mutex);
  free(client->echo_subject);
  free(client);
}

static void release(cn_client *client) {
  if (atomic_fetch_sub(&client->references, 1) == 1) discard(client);
}

static void failed(natsConnection *connection, natsSubscription *subscription, natsStatus status, void *closure) {
  (void)subscription;
  cn_client *client = closure;
  if (status == NATS_SLOW_CONSUMER) {
    client->callback(client->context, CN_SLOW_SUBSCRIBER, "");
    return;
  }
  const char *text = NULL;
  natsConnection_GetLastError(connection, &text);
  client->callback(client->context, CN_ERROR, text != NULL && *text != 0 ? text : natsStatus_GetText(status));
}

static void closed(natsConnection *connection, void *closure) {
  (void)connection;
  cn_client *client = closure;
  client->callback(client->context, CN_CLOSED, "");
  release(client);
}

static natsStatus set_credentials(natsOptions *native, const cn_options *options) {
  natsStatus status = NATS_OK;
  if (options->uses_tls) status = natsOptions_SetSecure(native, true);
  if (status == NATS_OK && options->ca_file) status = natsOptions_LoadCATrustedCertificates(native, options->ca_file);
  if (status == NATS_OK && options->certificate_file)
    status = natsOptions_LoadCertificatesChain(native, options->certificate_file, options->key_file);
  if (status == NATS_OK && options->credentials_file)
    status = natsOptions_SetUserCredentialsFromFiles(native, options->credentials_file, NULL);
  if (status == NATS_OK && options->user && options->password)
    status = natsOptions_SetUserInfo(native, options->user, options->password);
  if (status == NATS_OK && options->user && !options->password) status = natsOptions_SetToken(native, options->user);
  return status;
}

static natsStatus set_options(natsOptions *native, const cn_options *options, cn_client *client) {
  natsStatus status = natsOptions_SetServers(native, (const char **)options->servers, options->server_count);
  if (status == NATS_OK) status = set_credentials(native, options);
  if (status == NATS_OK) status = natsOptions_SetName(native, options->name);
  if (status == NATS_OK) status = natsOptions_SetTimeout(native, options->timeout_ms);
  if (status == NATS_OK) status = natsOptions_SetAllowReconnect(native, false);
  // nats.c's own flusher waits a millisecond for more messages; the sender of ours has them together.
  if (status == NATS_OK) status = natsOptions_SetSendAsap(native, true);
  if (status == NATS_OK) status = natsOptions_SetWriteDeadline(native, options->timeout_ms);
  if (status == NATS_OK) status = natsOptions_SetErrorHandler(native, failed, client);
  if (status == NATS_OK) status = natsOptions_SetClosedCB(native, closed, client);
  return status;
}

static void came_back(natsConnection *connection, natsSubscription *native, natsMsg *message, void *closure) {
  (void)connection;
  (void)native;
  cn_client *client = closure;
  uint64_t number = 0;
  if (natsMsg_GetDataLength(message) == sizeof number) memcpy(&number, natsMsg_GetData(message), sizeof number);
  natsMsg_Destroy(message);
  pthread_mutex_lock(&client->mutex);
  // A number that was not sent is a stranger's.
  if (number > client->last_echoed && number <= client->last_sent) client->last_echoed = number;
  pthread_cond_broadcast(&client->echoed);
  pthread_mutex_unlock(&client->mutex);
}

static void echo_ended(void *closure) { release(closure); }

static natsStatus subscribe_echo(cn_client *client) {
  natsStatus status =
      natsConnection_Subscribe(&client->echo, client->connection, client->echo_subject, came_back, client);
  if (status != NATS_OK) return status;
  // Where the connection has ended meanwhile it fails, and the reference stays: a last call may run.
  atomic_fetch_add(&client->references, 1);
  return natsSubscription_SetOnCompleteCB(client->echo, echo_ended, client);
}

cn_client *cn_connect(const cn_options *options, cn_event_callback callback, void *context, const char **error) {
  natsOptions *native = NULL;
  cn_client *client = make(options, callback, context);
  natsStatus status = client == NULL ? NATS_NO_MEMORY : natsOptions_Create(&native);
  if (status == NATS_OK) status = set_options(native, options, client);
  if (status == NATS_OK) status = natsConnection_Connect(&client->connection, native);
  natsOptions_Destroy(native);
  if (status == NATS_OK) {
    // One that fails here is lost at once, which CN_CLOSED tells.
    (void)subscribe_echo(client);
    return client;
  }
  const char *detail = nats_GetLastError(NULL);
  *error = detail != NULL && *detail != 0 ? detail : natsStatus_GetText(status);
  if (client != NULL) discard(client);
  return NULL;
}

int64_t cn_max_payload(cn_client *client) { return natsConnection_GetMaxPayload(client->connection); }

const char *cn_publish(cn_client *client, const char *subject, const char *reply, const uint8_t *bytes, int count) {
  natsStatus status =
      reply == NULL ? natsConnection_Publish(client->connection, subject, bytes, count)
                    : natsConnection_PublishRequest(client->connection, subject, reply, bytes, count);
  return status == NATS_OK ? NULL : natsStatus_GetText(status);
}

static void received(natsConnection *connection, natsSubscription *native, natsMsg *message, void *closure) {
  (void)connection;
  (void)native;
  cn_subscription *subscription = closure;
  const char *reply = natsMsg_GetReply(message);
  subscription->callback(
      subscription->context, reply == NULL ? "" : reply, (const uint8_t *)natsMsg_GetData(message),
      natsMsg_GetDataLength(message));
  natsMsg_Destroy(message);
}

static void release_subscription(cn_subscription *subscription) {
  if (atomic_fetch_sub(&subscription->references, 1) == 1) free(subscription);
}

static void ended(void *closure) {
  cn_subscription *subscription = closure;
  subscription->end(subscription->context);
  release_subscription(subscription);
}

cn_subscription *cn_subscribe(
    cn_client *client, const char *subject, int max_messages, int max_bytes, cn_message_callback callback,
    cn_end_callback end, void *context) {
  cn_subscription *subscription = calloc(1, sizeof *subscription);
  if (subscription == NULL) return NULL;
  subscription->callback = callback;
  subscription->end = end;
  subscription->context = context;
  subscription->references = 2;
  if (natsConnection_Subscribe(&subscription->native, client->connection, subject, received, subscription) != NATS_OK) {
    free(subscription);
    return NULL;
  }
  natsSubscription_SetPendingLimits(subscription->native, max_messages, max_bytes);
  // Where the connection has ended meanwhile it fails: `end` does not come, and nothing is freed that a
  // last callback may use.
  natsSubscription_SetOnCompleteCB(subscription->native, ended, subscription);
  return subscription;
}

void cn_unsubscribe(cn_subscription *subscription) {
  natsSubscription_Unsubscribe(subscription->native);
  natsSubscription_Destroy(subscription->native);
  release_subscription(subscription);
}

static uint64_t ping(cn_client *client) {
  pthread_mutex_lock(&client->mutex);
  uint64_t number = ++client->last_sent;
  pthread_mutex_unlock(&client->mutex);
  natsConnection_Publish(client->connection, client->echo_subject, &number, sizeof number);
  return number;
}

void cn_ping(cn_client *client) { (void)ping(client); }

uint64_t cn_unanswered(cn_client *client) {
  pthread_mutex_lock(&client->mutex);
  uint64_t count = client->last_sent - client->last_echoed;
  pthread_mutex_unlock(&client->mutex);
  return count;
}

bool cn_confirm(cn_client *client, int timeout_ms) {
  struct timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  deadline.tv_sec += timeout_ms / 1000;
  deadline.tv_nsec += (timeout_ms % 1000) * 1000000L;
  if (deadline.tv_nsec >= 1000000000L) {
    deadline.tv_sec += 1;
    deadline.tv_nsec -= 1000000000L;
  }
  uint64_t number = ping(client);
  int outcome = 0;
  pthread_mutex_lock(&client->mutex);
  while (client->last_echoed < number && outcome == 0)
    outcome = pthread_cond_timedwait(&client->echoed, &client->mutex, &deadline);
  bool is_confirmed = client->last_echoed >= number;
  pthread_mutex_unlock(&client->mutex);
  return is_confirmed;
}

void cn_close(cn_client *client) {
  natsSubscription_Destroy(client->echo);
  natsConnection_Destroy(client->connection);
  release(client);
}
