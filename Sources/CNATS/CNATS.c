#include "CNATS.h"

#include <stdatomic.h>
#include <stdlib.h>

#include <nats/nats.h>

struct cn_client {
  natsConnection *connection;
  cn_event_callback callback;
  void *context;
  // The owner's and that of the last event.
  atomic_int references;
};

struct cn_subscription {
  natsSubscription *native;
  cn_message_callback callback;
  cn_end_callback end;
  void *context;
};

static void release(cn_client *client) {
  if (atomic_fetch_sub(&client->references, 1) == 1) free(client);
}

static void disconnected(natsConnection *connection, void *closure) {
  (void)connection;
  cn_client *client = closure;
  client->callback(client->context, CN_DISCONNECTED, "");
}

static void reconnected(natsConnection *connection, void *closure) {
  (void)connection;
  cn_client *client = closure;
  client->callback(client->context, CN_RECONNECTED, "");
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

static natsStatus set_files(natsOptions *native, const cn_options *options) {
  natsStatus status = NATS_OK;
  if (options->uses_tls) status = natsOptions_SetSecure(native, true);
  if (status == NATS_OK && options->ca_file) status = natsOptions_LoadCATrustedCertificates(native, options->ca_file);
  if (status == NATS_OK && options->certificate_file)
    status = natsOptions_LoadCertificatesChain(native, options->certificate_file, options->key_file);
  if (status == NATS_OK && options->credentials_file)
    status = natsOptions_SetUserCredentialsFromFiles(native, options->credentials_file, NULL);
  return status;
}

static natsStatus set_options(natsOptions *native, const cn_options *options, cn_client *client) {
  // Nothing is kept for a connection that is away: its messages would come late, behind the gap.
  enum { FOREVER = -1, NO_BUFFER = 1 };
  natsStatus status = natsOptions_SetServers(native, (const char **)options->servers, options->server_count);
  if (status == NATS_OK) status = set_files(native, options);
  if (status == NATS_OK) status = natsOptions_SetName(native, options->name);
  if (status == NATS_OK) status = natsOptions_SetTimeout(native, options->timeout_ms);
  if (status == NATS_OK) status = natsOptions_SetPingInterval(native, options->ping_interval_ms);
  if (status == NATS_OK) status = natsOptions_SetMaxPingsOut(native, 2);
  if (status == NATS_OK) status = natsOptions_SetMaxReconnect(native, FOREVER);
  if (status == NATS_OK) status = natsOptions_SetReconnectWait(native, options->reconnect_wait_ms);
  if (status == NATS_OK)
    status = natsOptions_SetReconnectJitter(native, options->reconnect_wait_ms, options->reconnect_wait_ms);
  if (status == NATS_OK) status = natsOptions_SetReconnectBufSize(native, NO_BUFFER);
  // nats.c's own flusher waits a millisecond for more messages; the sender of ours has them together.
  if (status == NATS_OK) status = natsOptions_SetSendAsap(native, true);
  if (status == NATS_OK) status = natsOptions_SetWriteDeadline(native, options->timeout_ms);
  if (status == NATS_OK) status = natsOptions_SetDisconnectedCB(native, disconnected, client);
  if (status == NATS_OK) status = natsOptions_SetReconnectedCB(native, reconnected, client);
  if (status == NATS_OK) status = natsOptions_SetErrorHandler(native, failed, client);
  if (status == NATS_OK) status = natsOptions_SetClosedCB(native, closed, client);
  return status;
}

cn_client *cn_connect(const cn_options *options, cn_event_callback callback, void *context, const char **error) {
  natsOptions *native = NULL;
  cn_client *client = calloc(1, sizeof *client);
  natsStatus status = client == NULL ? NATS_NO_MEMORY : natsOptions_Create(&native);
  if (status == NATS_OK) {
    client->callback = callback;
    client->context = context;
    client->references = 2;
    status = set_options(native, options, client);
  }
  if (status == NATS_OK) status = natsConnection_Connect(&client->connection, native);
  natsOptions_Destroy(native);
  if (status == NATS_OK) return client;
  const char *detail = nats_GetLastError(NULL);
  *error = detail != NULL && *detail != 0 ? detail : natsStatus_GetText(status);
  free(client);
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

static void ended(void *closure) {
  cn_subscription *subscription = closure;
  subscription->end(subscription->context);
  free(subscription);
}

cn_subscription *cn_subscribe(
    cn_client *client, const char *subject, int max_messages, int max_bytes, cn_message_callback callback,
    cn_end_callback end, void *context) {
  cn_subscription *subscription = calloc(1, sizeof *subscription);
  if (subscription == NULL) return NULL;
  subscription->callback = callback;
  subscription->end = end;
  subscription->context = context;
  if (natsConnection_Subscribe(&subscription->native, client->connection, subject, received, subscription) != NATS_OK) {
    free(subscription);
    return NULL;
  }
  // From here on `ended` frees it.
  natsSubscription_SetOnCompleteCB(subscription->native, ended, subscription);
  natsSubscription_SetPendingLimits(subscription->native, max_messages, max_bytes);
  return subscription;
}

void cn_unsubscribe(cn_subscription *subscription) {
  natsSubscription *native = subscription->native;
  natsSubscription_Unsubscribe(native);
  natsSubscription_Destroy(native);
}

bool cn_flush(cn_client *client, int timeout_ms) {
  return natsConnection_FlushTimeout(client->connection, timeout_ms) == NATS_OK;
}

void cn_close(cn_client *client) {
  natsConnection_Destroy(client->connection);
  release(client);
}
