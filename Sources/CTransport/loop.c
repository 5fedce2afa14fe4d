#include "private.h"

#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  RECEIVE_STEP = 2048,      // memory of every connection
  PACKET_MAX = 1 << 20,     // a longer write would be cut and copied
  TURNS = 4,                // of jobs and flushes before the sockets are looked at again
  COALESCE_AT = 64,         // subscribers of the dirty topics
  COALESCE_TURNS = 3,       // polls of the sockets that may delay a flush
  NEVER_S = 24 * 3600
};

static _Thread_local ct_loop *current;

bool ct_loop_is_current(const ct_loop *loop) { return current == loop; }
void ct_loop_adopt_thread(ct_loop *loop) { current = loop; }
void ct_loop_wake(ct_loop *loop) { ev_async_send(loop->events, &loop->waker); }

// A flush takes a system call per recipient, however much it carries. So it waits for the messages
// that have already arrived, until a poll, which costs less than one delivery, brings none.
static bool is_coalescing(ct_loop *loop) {
  bool has_received = loop->messages_received != loop->coalesced_messages;
  loop->coalesced_messages = loop->messages_received;
  if (has_received && loop->dirty_subscribers >= COALESCE_AT && loop->coalesced_turns++ < COALESCE_TURNS) return true;
  loop->coalesced_turns = 0;
  return false;
}

// Jobs queue frames, and a flush queues jobs; both are done before the wait for events. Returns
// whether there is more to do.
static bool turn(ct_loop *loop) {
  bool has_more = loop->callbacks.run_jobs(loop->callbacks.context);
  has_more |= loop_flush(loop);
  has_more |= loop->callbacks.run_jobs(loop->callbacks.context);
  return has_more || loop_is_dirty(loop);
}

static void before_poll(struct ev_loop *events, ev_prepare *watcher, int revents) {
  (void)revents;
  ct_loop *loop = watcher->data;
  bool has_hangups = hangups_resume(loop), has_expired = arrivals_turn(loop), has_more = is_coalescing(loop);
  if (!has_more) {
    has_more = true;
    for (int i = 0; i < TURNS && has_more; i++) has_more = turn(loop);
  }
  has_more |= has_hangups || has_expired;
  if (has_more) ev_idle_start(events, &loop->spinner); else ev_idle_stop(events, &loop->spinner);
}

static void on_spin(struct ev_loop *events, ev_idle *watcher, int revents) { (void)events, (void)watcher, (void)revents; }

static void on_wake(struct ev_loop *events, ev_async *watcher, int revents) {
  (void)revents;
  ct_loop *loop = watcher->data;
  if (atomic_load(&loop->is_stopping)) ev_break(events, EVBREAK_ALL);
}

void ct_loop_run_timers(ct_loop *loop) {
  enum { TICKS_PER_SECOND = 1000 / TICK_MS };
  wheel_turn(loop);
  uint64_t pause = wheel_take_pause(loop);
  if (pause && loop->callbacks.paused) loop->callbacks.paused(loop->callbacks.context, pause);
  for (int i = 0; i < loop->listener_count; i++) listener_resume(&loop->listeners[i], loop->wheel_tick);
  if (loop->wheel_tick - loop->idle_checked >= TICKS_PER_SECOND) {
    loop->idle_checked = loop->wheel_tick;
    streams_review(loop);
    topics_free_idle(loop);
  }
  loop->callbacks.ticked(loop->callbacks.context);
}

// The library's libev plugin never re-arms its own timer; a wake-up makes it check its timeouts.
static void on_tick(struct ev_loop *events, ev_timer *watcher, int revents) {
  (void)events, (void)revents;
  ct_loop *loop = watcher->data;
  lag_count_tick(loop);
  ct_loop_run_timers(loop);
  lws_cancel_service(loop->context);
}

static void watch(ct_loop *loop) {
  ev_prepare_init(&loop->before_poll, before_poll);
  ev_idle_init(&loop->spinner, on_spin);
  ev_async_init(&loop->waker, on_wake);
  ev_timer_init(&loop->ticker, on_tick, TICK_MS / 1e3, TICK_MS / 1e3);
  cooldown_init(loop);
  loop->before_poll.data = loop->waker.data = loop->ticker.data = loop;
  ev_prepare_start(loop->events, &loop->before_poll);
  ev_async_start(loop->events, &loop->waker);
  ev_timer_start(loop->events, &loop->ticker);
  arrivals_watch(loop);
}

static void fill_protocols(ct_loop *loop) {
  const struct lws_protocols common = {
    .callback = transport_callback, .per_session_data_size = sizeof(void *), .rx_buffer_size = RECEIVE_STEP,
    .tx_packet_size = PACKET_MAX};
  // HTTP and upgrades without an offer; a token holds no blank, so no client can offer this name.
  const char *names[] = {"no subprotocol", loop->subprotocol, loop->any_protocol};
  for (int i = 0; i < 3; i++) {
    loop->protocols[i] = common;
    loop->protocols[i].name = names[i];
  }
}

static struct lws_context_creation_info creation_info(ct_loop *loop) {
  static const lws_retry_bo_t no_pings = {0};  // wheel.c sends them
  struct lws_context_creation_info info = {0};
  info.port = CONTEXT_PORT_NO_LISTEN;
  info.protocols = loop->protocols;
  info.user = loop;
  info.retry_and_idle_policy = &no_pings;
  info.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_LIBEV;
  if (loop->certificate_file) info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
  info.max_http_header_data = HEADERS_READ;
  info.pt_serv_buf_size = SERVICE_BUFFER;
  info.timeout_secs = info.timeout_secs_ah_idle = NEVER_S;  // arrivals.c has the time limits
  static const struct lws_extension extensions[] = {{"permessage-deflate", extension_callback, ""}, {NULL, NULL, NULL}};
  info.extensions = extensions;
  info.alpn = "http/1.1";  // flush.c writes frames directly, which HTTP/2 would not allow
  return info;
}

// Called for each handshake. The connection's own certificates are replaced, because in the
// library's context a new one would stand beside an old one of another key type.
static int choose_certificate(SSL *connection, void *of_loop) {
  const ct_loop *loop = of_loop;
  if (!loop->tls) return 1;
  STACK_OF(X509) *chain = NULL;
  SSL_CTX_get0_chain_certs(loop->tls, &chain);
  SSL_certs_clear(connection);
  return SSL_use_cert_and_key(
    connection, SSL_CTX_get0_certificate(loop->tls), SSL_CTX_get0_privatekey(loop->tls), chain, 1);
}

void loop_install_tls(ct_loop *loop, SSL_CTX *of_library) { SSL_CTX_set_cert_cb(of_library, choose_certificate, loop); }

void ct_loop_use_tls(ct_loop *loop, const ct_tls *tls) {
  SSL_CTX *next = (SSL_CTX *)tls;  // only counted
  SSL_CTX_up_ref(next);
  SSL_CTX_free(loop->tls);
  loop->tls = next;
}

static bool make_context(ct_loop *loop) {
  struct lws_context_creation_info info = creation_info(loop);
  void *foreign[] = {loop->events};
  info.foreign_loops = foreign;
  loop->context = lws_create_context(&info);
  if (!loop->context) return false;
  info.vhost_name = "internal";
  info.options &= ~(uint64_t)LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
  loop->internal_vhost = lws_create_vhost(loop->context, &info);
  info.vhost_name = "public";
  // The library sets up TLS only for a port that could listen, and tells virtual hosts apart by
  // their port: with the same one, a Host header could move a request to the other listener's.
  info.port = CONTEXT_PORT_NO_LISTEN_SERVER;
  if (loop->certificate_file) info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
  // Given one, the library makes no context for client connections: those load all certificates of
  // the system, and leak where there are several loops.
  if (loop->certificate_file) info.provided_client_ssl_ctx = loop->unused_tls = SSL_CTX_new(TLS_client_method());
  info.ssl_cert_filepath = loop->certificate_file;
  info.ssl_private_key_filepath = loop->key_file;
  loop->public_vhost = lws_create_vhost(loop->context, &info);
  return loop->internal_vhost && loop->public_vhost;
}

static char *copy(const char *text) {
  return text ? strcpy(ct_allocate(strlen(text) + 1, 1), text) : NULL;
}

static void describe_failure(const ct_loop *loop, char *error, size_t error_size) {
  const char *complaint = process_first_error();
  if (!loop->events) {
    snprintf(error, error_size, "libev has no epoll");
  } else if (loop->arrivals.set < 0) {
    snprintf(error, error_size, "the system has no further epoll set");
  } else if (strstr(complaint, "evlib")) {
    snprintf(
      error, error_size,
      "libwebsockets finds no plugin for libev; install the package libwebsockets-evlib-ev, or your system's of that kind (%s)",
      complaint);
  } else {
    snprintf(error, error_size, "libwebsockets refused: %s", *complaint ? complaint : "it does not say why");
  }
}

ct_loop *ct_loop_create(const ct_options *options, const ct_callbacks *callbacks, char *error, size_t error_size) {
  ct_loop *loop = ct_allocate(1, sizeof *loop);
  loop->options = *options;
  loop->callbacks = *callbacks;
  loop->subprotocol = copy(options->subprotocol);
  loop->certificate_file = copy(options->certificate_file);
  loop->key_file = copy(options->key_file);
  loop->received = ct_allocate(options->max_message_bytes + CT_RECEIVE_PADDING, 1);
  wheel_begin(loop);
  loop->turn = 1;
  TAILQ_INIT(&loop->dirty_connections);
  arrivals_init(loop);
  fill_protocols(loop);
  hangups_init(loop);
  loop->events = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
  bool has_epoll = loop->events && loop->arrivals.set >= 0;
  if (has_epoll) watch(loop);
  process_clear_error();
  if (has_epoll && make_context(loop)) return loop;
  describe_failure(loop, error, error_size);
  ct_loop_destroy(loop);
  return NULL;
}

static void close_everything(ct_loop *loop) {
  loop->is_ending = true;
  listeners_close(loop);
  arrivals_close(loop);
  if (loop->context) lws_context_destroy(loop->context);
  loop->context = NULL;
}

static void unwatch(ct_loop *loop) {
  if (!loop->events) return;
  ev_prepare_stop(loop->events, &loop->before_poll);
  ev_idle_stop(loop->events, &loop->spinner);
  ev_async_stop(loop->events, &loop->waker);
  ev_timer_stop(loop->events, &loop->ticker);
  ev_io_stop(loop->events, &loop->arrivals.watcher);
  ev_timer_stop(loop->events, &loop->cooldown_timer);
  ev_loop_destroy(loop->events);
  loop->events = NULL;
}

static void *run(void *argument) {
  ct_loop *loop = argument;
  current = loop;
  pthread_setname_np(pthread_self(), loop->thread_name);
  lag_begin(loop);
  wheel_begin(loop);
  ev_run(loop->events, 0);
  close_everything(loop);
  loop->callbacks.ended(loop->callbacks.context);
  current = NULL;
  return NULL;
}

// All signals are blocked on the thread: the process handles them on another.
int ct_loop_start(ct_loop *loop, const char *thread_name) {
  snprintf(loop->thread_name, sizeof loop->thread_name, "%s", thread_name);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int reason = pthread_create(&loop->thread, NULL, run, loop);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return reason;
}

void ct_loop_stop(ct_loop *loop) {
  atomic_store(&loop->is_stopping, true);
  ct_loop_wake(loop);
}

void ct_loop_join(ct_loop *loop) { pthread_join(loop->thread, NULL); }

void ct_loop_destroy(ct_loop *loop) {
  close_everything(loop);
  unwatch(loop);
  SSL_CTX_free(loop->unused_tls);
  SSL_CTX_free(loop->tls);
  slot_table_free(&loop->connections);
  slot_table_free(&loop->exchanges);
  bytes_free(&loop->scratch);
  inflate_end(loop);
  hangups_end(loop);
  arrivals_end(loop);
  bytes_free(&loop->head_text);
  free(loop->buckets);
  free(loop->received);
  free(loop->subprotocol);
  free(loop->certificate_file);
  free(loop->key_file);
  free(loop);
}

ct_counters ct_loop_counters(const ct_loop *loop) { return loop->counters; }
const uint64_t *ct_loop_closes(const ct_loop *loop) { return loop->closes; }
