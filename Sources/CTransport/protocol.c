#include "protocol.h"

#include "arrivals.h"
#include "closing.h"
#include "flush.h"
#include "head.h"
#include "mask.h"
#include "offer.h"
#include "pings.h"

#include <stdlib.h>

static accepted_socket *socket_of(struct lws *wsi) { return lws_get_opaque_user_data(wsi); }

// The library tells of the connection right behind the decision, which has read the head.
static const ct_request_head *upgraded_head(struct lws *wsi, const accepted_socket *socket) {
  upgrades *u = &socket->protocol->upgrades;
  if (u->last != wsi) head_read(wsi, &socket->peer, &u->head_text, &u->head);
  return &u->head;
}

// Returns whether the connection has a handler.
static bool open_connection(accepted_socket *socket, connection *c, const ct_request_head *head) {
  const ct_callbacks *callbacks = socket->protocol->callbacks;
  socket->connection = c;
  pings_start(c);
  void *handler = callbacks->opened(callbacks->context, connection_id(c), head);
  connection_set_handler(c, handler);
  arrival_free(socket->arrival);
  socket->arrival = NULL;
  socket->peer.query = (ct_text){0};
  return handler;
}

static int establish(struct lws *wsi, accepted_socket *socket) {
  protocol *p = socket->protocol;
  const ct_request_head *head = upgraded_head(wsi, socket);
  http_free(&socket->request);
  connection *c = connection_open(p->connections, wsi, deflate_keeps_window(&p->upgrades.terms), false);
  hangups_watch(p->hangups, c);
  return open_connection(socket, c, head) ? 0 : -1;
}

bool protocol_open_stream(protocol *p, ct_exchange_id exchange, ct_text headers) {
  struct lws *wsi = exchange_socket(p->exchanges, exchange);
  if (!wsi) return false;
  accepted_socket *socket = socket_of(wsi);
  const ct_request_head *head = exchange_head(p->exchanges, exchange);
  http_free(&socket->request);
  connection *c = connection_open(p->connections, wsi, false, true);
  event_stream_begin(p->event_streams, c, headers);
  if (!open_connection(socket, c, head)) connection_cut(c);
  return true;
}

static void end_connection(accepted_socket *socket) {
  connection *c = socket->connection;
  socket->connection = NULL;
  if (!c) return;
  connection_end(c);
  hangups_count(socket->protocol->hangups);
}

static void free_socket(struct lws *wsi, accepted_socket *socket) {
  adoption *adoption = &socket->protocol->adoption;
  end_connection(socket);
  http_free(&socket->request);
  if (socket->arrival) arrival_free(socket->arrival);
  if (adoption->adopting == socket) adoption->adopting = NULL;
  lws_set_opaque_user_data(wsi, NULL);
  free(socket);
}

static protocol *protocol_of(struct lws *wsi) { return lws_context_user(lws_get_context(wsi)); }

// The library has the socket. Its own time limit goes: arrivals.c has one.
static int begin_socket(struct lws *wsi) {
  accepted_socket *socket = protocol_of(wsi)->adoption.adopting;
  arrival_set_wsi(socket->arrival, wsi);
  lws_set_opaque_user_data(wsi, socket);
  lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0);
  return 0;
}

static int web_socket_callback(
  struct lws *wsi, enum lws_callback_reasons reason, accepted_socket *socket, void *in, size_t count
) {
  connection *c = socket->connection;
  switch (reason) {
  case LWS_CALLBACK_RECEIVE:
    connection_receive(&socket->protocol->receiver, c, in, count);
    return 0;
  case LWS_CALLBACK_RECEIVE_PONG:
    connection_receive_pong(c);
    return 0;
  case LWS_CALLBACK_SERVER_WRITEABLE:
    connection_check_ping(c);
    connection_writeable(c);
    return 0;
  case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
    return connection_peer_closes(c, in, count);
  case LWS_CALLBACK_WS_SERVER_DROP_PROTOCOL:
    connection_library_closes(c);
    return 0;
  case LWS_CALLBACK_CLOSED:
    end_connection(socket);
    return 0;
  default:
    return 0;
  }
}

static int http_callback(struct lws *wsi, enum lws_callback_reasons reason, accepted_socket *socket, void *in, size_t count) {
  protocol *p = socket->protocol;
  switch (reason) {
  case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
    return upgrade_decide(&p->upgrades, wsi, &socket->peer, in);
  case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:  // selected, and not yet answered
    p->upgrades.any_protocol[0] = '\0';
    return 0;
  case LWS_CALLBACK_CONFIRM_EXTENSION_OKAY:
    return !deflate_confirm(&p->upgrades.terms, in);
  case LWS_CALLBACK_ADD_HEADERS:  // of the answer to an upgrade
    receiver_learn_buffer(&p->receiver, mask_service_buffer(in));
    deflate_answer(&p->upgrades.terms, in);
    return 0;
  case LWS_CALLBACK_ESTABLISHED:
    return establish(wsi, socket);
  case LWS_CALLBACK_HTTP:
    return http_begin(p->exchanges, wsi, socket->arrival, &socket->peer, &socket->request);
  case LWS_CALLBACK_HTTP_BODY:
    return http_body(socket->request, in, count);
  case LWS_CALLBACK_HTTP_BODY_COMPLETION:
    return http_complete(socket->request);
  case LWS_CALLBACK_HTTP_WRITEABLE:
    return http_write(&socket->request);
  case LWS_CALLBACK_RAW_ADOPT:  // a CONNECT: the library would tunnel
    return -1;
  default:
    return 0;
  }
}

int protocol_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t count) {
  switch (reason) {
  // These are not about an accepted socket.
  case LWS_CALLBACK_PROTOCOL_INIT:
  case LWS_CALLBACK_PROTOCOL_DESTROY:
  case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
  case LWS_CALLBACK_GET_THREAD_ID:
    return 0;
  case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED:
    return begin_socket(wsi);
  case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS:
    certificate_install(&protocol_of(wsi)->certificate, user);
    return 0;
  default:
    break;
  }
  accepted_socket *socket = wsi ? socket_of(wsi) : NULL;
  if (!socket) return 0;
  if (reason == LWS_CALLBACK_WSI_DESTROY) {
    free_socket(wsi, socket);
    return 0;
  }
  if (!socket->connection) return http_callback(wsi, reason, socket, in, count);
  return connection_is_event_stream(socket->connection) ? 0 : web_socket_callback(wsi, reason, socket, in, count);
}
