#include "event_stream.h"

#include "bytes.h"
#include "flush.h"
#include "hangups.h"

#include <ev.h>
#include <libwebsockets.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

// The library has the socket, and its TLS, but neither reads nor writes it any more: it would take
// what a client sends for the next request, and while it does not read it tells of no room either.
// So an epoll set of ours tells when there is room, and when the client has hung up. What a client
// sends stays in its socket, where the system bounds it.

enum { EVENTS_PER_TURN = 64, CODE_NONE = 1005 };

struct event_streams {
  connections *connections;
  int set;
  ev_io watcher;
  bytes ended;  // identifiers of connections that the library is to close
};

event_streams *event_streams_create(connections *all) {
  event_streams *streams = ct_allocate(1, sizeof *streams);
  streams->connections = all;
  streams->set = epoll_create1(EPOLL_CLOEXEC);
  return streams;
}

bool event_streams_is_usable(const event_streams *all) { return all->set >= 0; }

void event_streams_free(event_streams *all) {
  if (all->set >= 0) close(all->set);
  bytes_free(&all->ended);
  free(all);
}

// The set is edge-triggered: it reports the end once. A client that hangs up closes in order.
static void end(event_streams *all, connection *c, bool is_cut) {
  if (!c->is_closing && !is_cut) {
    c->close_code = CODE_NONE;
    c->is_close_from_peer = true;
  }
  connection_cut(c);
  bytes_append(&all->ended, &c->id, sizeof c->id);
}

static void on_events(struct ev_loop *events, ev_io *watcher, int revents) {
  (void)events, (void)revents;
  event_streams *all = watcher->data;
  struct epoll_event found[EVENTS_PER_TURN];
  int count = epoll_wait(all->set, found, EVENTS_PER_TURN, 0);
  for (int i = 0; i < count; i++) {
    connection *c = connection_find(all->connections, found[i].data.u64);
    if (!c) continue;
    if (found[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) end(all, c, found[i].events & EPOLLERR);
    else connection_write_events(c);
  }
}

void event_streams_watch(event_streams *all, struct ev_loop *events) {
  ev_io_init(&all->watcher, on_events, all->set, EV_READ);
  all->watcher.data = all;
  ev_io_start(events, &all->watcher);
}

void event_streams_unwatch(event_streams *all, struct ev_loop *events) { ev_io_stop(events, &all->watcher); }

static bool watch(event_streams *all, const connection *c) {
  struct epoll_event event = {.events = EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.u64 = c->id};
  return !epoll_ctl(all->set, EPOLL_CTL_ADD, c->descriptor, &event);
}

// Without a length the body lasts until the connection ends. X-Accel-Buffering asks a proxy to pass
// on at once what it gets.
void event_stream_begin(event_streams *all, connection *c, ct_text headers) {
  static const char begin[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nX-Accel-Buffering: no\r\n";
  static const char last[] = "Connection: close\r\n\r\n";
  lws_http_headers_detach(c->wsi);  // 40 KB
  lws_set_timeout(c->wsi, NO_PENDING_TIMEOUT, 0);
  // What TLS wants to send again lies elsewhere when more has queued up behind it.
  if (c->is_tls) SSL_set_mode(lws_get_ssl(c->wsi), SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  bytes_append(&c->send_queue, begin, sizeof begin - 1);
  bytes_append(&c->send_queue, headers.bytes, headers.count);
  bytes_append(&c->send_queue, last, sizeof last - 1);
  connection_write(c);
  if (watch(all, c)) return;
  connection_cut(c);
  bytes_append(&all->ended, &c->id, sizeof c->id);
}

bool event_streams_turn(event_streams *all) {
  for (int left = closes_per_turn(all->connections) / 2; left && bytes_count(&all->ended); left--) {
    ct_connection_id id;
    memcpy(&id, bytes_first(&all->ended), sizeof id);
    bytes_consume(&all->ended, sizeof id);
    connection *c = connection_find(all->connections, id);
    if (c) lws_set_timeout(c->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC);  // frees it
  }
  return bytes_count(&all->ended) > 0;
}
