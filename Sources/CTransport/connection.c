#include "connection.h"

#include <libwebsockets.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { CODE_CUT = 1006, CODE_MAX = CT_CLOSE_CODES - 1 };

static void on_deadline(timer *timer) {
  connection *c = (connection *)((char *)timer - offsetof(connection, handler_timer));
  if (c->handler) c->of_loop->callbacks->deadline_reached(c->handler);
}

void connections_init(connections *all, const ct_options *options, const ct_callbacks *callbacks, wheel *wheel) {
  all->options = options;
  all->callbacks = callbacks;
  all->wheel = wheel;
  all->send_queue_bytes = options->send_queue_bytes;
  all->turn = 1;
  TAILQ_INIT(&all->dirty);
  tls_output_init(&all->tls_output);
  wheel_on_expiry(wheel, TIMER_HANDLER, on_deadline);
}

void connections_free(connections *all) {
  slot_table_free(&all->slots);
  bytes_free(&all->scratch);
  tls_output_free(&all->tls_output);
}

connection *connection_open(connections *all, struct lws *wsi, bool takes_streams, bool is_event_stream) {
  connection *c = ct_allocate(1, sizeof *c);
  c->wsi = wsi;
  c->of_loop = all;
  c->is_tls = lws_is_ssl(wsi);
  c->descriptor = lws_get_socket_fd(wsi);
  c->takes_streams = takes_streams;
  c->is_event_stream = is_event_stream;
  c->id = slot_put(&all->slots, c);
  all->open_count++;
  all->event_stream_count += is_event_stream;
  timer_init(&c->own_timer, TIMER_CONNECTION);
  timer_init(&c->handler_timer, TIMER_HANDLER);
  return c;
}

void connection_unmark_dirty(connection *c) {
  if (!c->is_dirty) return;
  c->is_dirty = false;
  TAILQ_REMOVE(&c->of_loop->dirty, c, dirty);
}

void connection_report_close(connection *c) {
  void *handler = c->handler;
  c->reports_close = false;
  if (!handler) return;
  c->handler = NULL;
  int code = c->close_code ? c->close_code : CODE_CUT;
  c->of_loop->closes[code <= CODE_MAX ? code : 0]++;
  c->of_loop->callbacks->closed(handler, code, c->is_close_from_peer);
}

// Its slot is free before its handler is told, so that the handle is already invalid.
void connection_free(connection *c) {
  wheel_clear(&c->own_timer);
  wheel_clear(&c->handler_timer);
  slot_remove(&c->of_loop->slots, c->id);
  c->is_closing = c->is_dead = true;
  c->of_loop->open_count--;
  c->of_loop->event_stream_count -= c->is_event_stream;
  connection_report_close(c);
  connection_unmark_dirty(c);
  bytes_free(&c->send_queue);
  connection_drop_incoming(c);
  free(c);
}

// The subscriptions stay until the library has closed it: flush_topic may call this in its loop.
void connection_cut(connection *c) {
  if (c->is_dead) return;
  c->is_closing = c->is_dead = true;
  connection_unmark_dirty(c);
  bytes_free(&c->send_queue);
  // The library then reads the end of the stream, and closes.
  shutdown(c->descriptor, SHUT_RDWR);
  if (c->is_reading_paused) lws_rx_flow_control(c->wsi, 1);
}

// An event stream is never read.
void connection_set_reading(connection *c, bool enabled) {
  if (c->is_dead || c->is_event_stream || c->is_reading_paused == !enabled) return;
  c->is_reading_paused = !enabled;
  lws_rx_flow_control(c->wsi, enabled);
}

void connection_pause_writing(connection *c) { c->is_writing_paused = true; }

// Bytes at the beginning of the queue that are being sent.
static size_t kept_bytes(const connection *c) { return c->is_event_stream ? c->unsent : 0; }

void connection_discard_queue(connection *c) {
  size_t kept = kept_bytes(c);
  if (kept) bytes_drop_last(&c->send_queue, bytes_count(&c->send_queue) - kept); else bytes_free(&c->send_queue);
}

static void prepend(connection *c, const void *first, size_t count) {
  bytes later = bytes_take(&c->send_queue);
  size_t kept = kept_bytes(c);
  bytes_append(&c->send_queue, bytes_first(&later), kept);
  connection_send(c, OPCODE_TEXT, first, count);
  bytes_append(&c->send_queue, bytes_first(&later) + kept, bytes_count(&later) - kept);
  bytes_free(&later);
}

void connection_resume_writing(connection *c, const void *first, size_t count) {
  c->is_writing_paused = false;
  if (count) prepend(c, first, count);
  connection_mark_dirty(c);
}

void connection_set_deadline(connection *c, uint64_t in_ms) { wheel_set_from_now(c->of_loop->wheel, &c->handler_timer, in_ms); }
void connection_clear_deadline(connection *c) { wheel_clear(&c->handler_timer); }
