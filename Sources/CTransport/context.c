#include "context.h"

#include "connection.h"
#include "mask.h"
#include "offer.h"
#include "other_fields.h"

#include <openssl/ssl.h>

enum {
  RECEIVE_STEP = 2048,   // memory of every connection
  PACKET_MAX = 1 << 20,  // a longer write would be cut and copied
  NEVER_S = 24 * 3600
};

static void fill_protocols(context *c, const protocol *p, const ct_options *options) {
  const struct lws_protocols common = {
    .callback = protocol_callback, .per_session_data_size = sizeof(void *), .rx_buffer_size = RECEIVE_STEP,
    .tx_packet_size = PACKET_MAX};
  // HTTP and upgrades without an offer; a token holds no blank, so no client can offer this name.
  const char *names[] = {"no subprotocol", options->subprotocol, p->upgrades.any_protocol};
  for (int i = 0; i < 3; i++) {
    c->protocols[i] = common;
    c->protocols[i].name = names[i];
  }
}

static struct lws_context_creation_info creation_info(const context *c, protocol *p, const ct_options *options) {
  static const lws_retry_bo_t no_pings = {0};  // pings.c sends them
  struct lws_context_creation_info info = {0};
  info.port = CONTEXT_PORT_NO_LISTEN;
  info.protocols = c->protocols;
  info.user = p;
  info.retry_and_idle_policy = &no_pings;
  info.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_LIBEV;
  if (options->certificate_file) info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
  info.max_http_header_data = HEADERS_READ;
  info.pt_serv_buf_size = SERVICE_BUFFER;
  info.timeout_secs = info.timeout_secs_ah_idle = NEVER_S;  // arrivals.c has the time limits
  static const struct lws_extension extensions[] = {{"permessage-deflate", extension_callback, ""}, {NULL, NULL, NULL}};
  info.extensions = extensions;
  info.alpn = "http/1.1";  // flush.c writes frames directly, which HTTP/2 would not allow
  return info;
}

bool context_make(context *c, protocol *p, const ct_options *options, struct ev_loop *events) {
  fill_protocols(c, p, options);
  struct lws_context_creation_info info = creation_info(c, p, options);
  void *foreign[] = {events};
  info.foreign_loops = foreign;
  c->library = lws_create_context(&info);
  if (!c->library) return false;
  connections_set_context(p->connections, c->library);
  info.vhost_name = "internal";
  info.options &= ~(uint64_t)LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
  p->adoption.internal_vhost = lws_create_vhost(c->library, &info);
  info.vhost_name = "public";
  // The library sets up TLS only for a port that could listen, and tells virtual hosts apart by
  // their port: with the same one, a Host header could move a request to the other listener's.
  info.port = CONTEXT_PORT_NO_LISTEN_SERVER;
  if (options->certificate_file) info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
  // Given one, the library makes no context for client connections: those load all certificates of
  // the system, and leak where there are several loops.
  if (options->certificate_file) info.provided_client_ssl_ctx = c->unused_tls = SSL_CTX_new(TLS_client_method());
  info.ssl_cert_filepath = options->certificate_file;
  info.ssl_private_key_filepath = options->key_file;
  p->adoption.public_vhost = lws_create_vhost(c->library, &info);
  return p->adoption.internal_vhost && p->adoption.public_vhost;
}

void context_wake(const context *c) { lws_cancel_service(c->library); }

void context_end(context *c) {
  if (c->library) lws_context_destroy(c->library);
  c->library = NULL;
}

void context_free(context *c) { SSL_CTX_free(c->unused_tls); }
