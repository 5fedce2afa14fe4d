#include "private.h"

#include <stdlib.h>

static peer *peer_of(struct lws *wsi) { return lws_get_opaque_user_data(wsi); }

static int establish(struct lws *wsi, peer *p) {
  ct_request_head head;
  head_read(wsi, p, &head);
  http_forget(p);
  connection *c = connection_open(wsi, p);
  c->handler = p->loop->callbacks.opened(p->loop->callbacks.context, c->id, &head);
  return c->handler ? 0 : -1;
}

static void forget_connection(peer *p) {
  connection *c = p->connection;
  p->connection = NULL;
  if (c) connection_free(c);
}

static void forget_peer(struct lws *wsi, peer *p) {
  forget_connection(p);
  http_forget(p);
  if (p->loop->adopting == p) p->loop->adopting = NULL;
  lws_set_opaque_user_data(wsi, NULL);
  free(p);
}

static int web_socket_callback(
  struct lws *wsi, enum lws_callback_reasons reason, connection *c, void *in, size_t count
) {
  switch (reason) {
  case LWS_CALLBACK_RECEIVE:
    connection_receive(c, in, count);
    return 0;
  case LWS_CALLBACK_RECEIVE_PONG:
    c->was_heard = true;
    return 0;
  case LWS_CALLBACK_SERVER_WRITEABLE:
    connection_writeable(c);
    return 0;
  case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
    return connection_peer_closes(c, in, count);
  case LWS_CALLBACK_WS_SERVER_DROP_PROTOCOL:
    connection_library_closes(c);
    return 0;
  case LWS_CALLBACK_CLOSED:
    forget_connection(lws_get_opaque_user_data(wsi));
    return 0;
  default:
    return 0;
  }
}

static int http_callback(struct lws *wsi, enum lws_callback_reasons reason, peer *p, void *in, size_t count) {
  switch (reason) {
  case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
    return upgrade_decide(wsi, p, in);
  case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:  // selected, and not yet answered
    p->loop->any_protocol[0] = '\0';
    return 0;
  case LWS_CALLBACK_ADD_HEADERS:  // of the answer to an upgrade
    mask_learn_buffer(p->loop, in);
    return 0;
  case LWS_CALLBACK_ESTABLISHED:
    return establish(wsi, p);
  case LWS_CALLBACK_HTTP:
    return http_begin(wsi, p);
  case LWS_CALLBACK_HTTP_BODY:
    return http_body(p, in, count);
  case LWS_CALLBACK_HTTP_BODY_COMPLETION:
    return http_complete(wsi, p);
  case LWS_CALLBACK_HTTP_WRITEABLE:
    return http_write(wsi, p);
  case LWS_CALLBACK_RAW_ADOPT:  // a CONNECT: the library would tunnel
    return -1;
  default:
    return 0;
  }
}

int transport_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t count) {
  switch (reason) {
  // These come without a socket of ours behind wsi.
  case LWS_CALLBACK_PROTOCOL_INIT:
  case LWS_CALLBACK_PROTOCOL_DESTROY:
  case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
  case LWS_CALLBACK_GET_THREAD_ID:
  case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS:
    return 0;
  default:
    break;
  }
  peer *p = wsi ? peer_of(wsi) : NULL;
  if (!p) return 0;
  if (reason == LWS_CALLBACK_WSI_DESTROY) {
    forget_peer(wsi, p);
    return 0;
  }
  return p->connection ? web_socket_callback(wsi, reason, p->connection, in, count)
                       : http_callback(wsi, reason, p, in, count);
}
