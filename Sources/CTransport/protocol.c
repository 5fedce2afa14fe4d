#include "private.h"

#include <stdlib.h>

static accepted_socket *socket_of(struct lws *wsi) { return lws_get_opaque_user_data(wsi); }

static int establish(struct lws *wsi, accepted_socket *socket) {
  ct_request_head head;
  head_read(wsi, socket, &head);
  http_free(socket);
  connection *c = connection_open(wsi, socket);
  c->handler = socket->loop->callbacks.opened(socket->loop->callbacks.context, c->id, &head);
  arrival_free(socket->arrival);
  socket->arrival = NULL;
  return c->handler ? 0 : -1;
}

static void free_connection(accepted_socket *socket) {
  connection *c = socket->connection;
  socket->connection = NULL;
  if (c) connection_free(c);
}

static void free_socket(struct lws *wsi, accepted_socket *socket) {
  free_connection(socket);
  http_free(socket);
  if (socket->arrival) arrival_free(socket->arrival);
  if (socket->loop->adopting == socket) socket->loop->adopting = NULL;
  lws_set_opaque_user_data(wsi, NULL);
  free(socket);
}

// The library has the socket. Its own time limit goes: arrivals.c has one.
static int begin_socket(struct lws *wsi) {
  const ct_loop *loop = lws_context_user(lws_get_context(wsi));
  loop->adopting->arrival->wsi = wsi;
  lws_set_opaque_user_data(wsi, loop->adopting);
  lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0);
  return 0;
}

static int web_socket_callback(
  struct lws *wsi, enum lws_callback_reasons reason, connection *c, void *in, size_t count
) {
  switch (reason) {
  case LWS_CALLBACK_RECEIVE:
    connection_receive(c, in, count);
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
    free_connection(lws_get_opaque_user_data(wsi));
    return 0;
  default:
    return 0;
  }
}

static int http_callback(struct lws *wsi, enum lws_callback_reasons reason, accepted_socket *socket, void *in, size_t count) {
  switch (reason) {
  case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
    return upgrade_decide(wsi, socket, in);
  case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:  // selected, and not yet answered
    socket->loop->any_protocol[0] = '\0';
    return 0;
  case LWS_CALLBACK_CONFIRM_EXTENSION_OKAY:
    return !deflate_confirm(socket->loop, in);
  case LWS_CALLBACK_ADD_HEADERS:  // of the answer to an upgrade
    mask_learn_buffer(socket->loop, in);
    deflate_answer(socket->loop, in);
    return 0;
  case LWS_CALLBACK_ESTABLISHED:
    return establish(wsi, socket);
  case LWS_CALLBACK_HTTP:
    return http_begin(wsi, socket);
  case LWS_CALLBACK_HTTP_BODY:
    return http_body(socket, in, count);
  case LWS_CALLBACK_HTTP_BODY_COMPLETION:
    return http_complete(wsi, socket);
  case LWS_CALLBACK_HTTP_WRITEABLE:
    return http_write(wsi, socket);
  case LWS_CALLBACK_RAW_ADOPT:  // a CONNECT: the library would tunnel
    return -1;
  default:
    return 0;
  }
}

int transport_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t count) {
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
    loop_install_tls(lws_context_user(lws_get_context(wsi)), user);
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
  return socket->connection ? web_socket_callback(wsi, reason, socket->connection, in, count)
                       : http_callback(wsi, reason, socket, in, count);
}
