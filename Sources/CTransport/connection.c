#include "private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { CODE_NONE = 1005, CODE_CUT = 1006, FLUSH_LIMIT_MS = 30000, CODE_MAX = CT_CLOSE_CODES - 1 };

connection *connection_open(struct lws *wsi, accepted_socket *socket) {
  connection *c = ct_allocate(1, sizeof *c);
  c->wsi = wsi;
  c->loop = socket->loop;
  c->is_tls = lws_is_ssl(wsi);
  c->descriptor = lws_get_socket_fd(wsi);
  c->has_deflate = socket->loop->terms.is_agreed;
  c->has_no_takeover = socket->loop->terms.has_no_takeover;
  c->window_bits = socket->loop->terms.window_bits & 15;
  c->id = slot_put(&socket->loop->connections, c);
  socket->connection = c;
  socket->loop->counters.connections_open++;
  c->handler_timer.kind = TIMER_HANDLER;
  wheel_start_pings(c);
  hangups_watch(c);
  return c;
}

void connection_unmark_dirty(connection *c) {
  if (!c->is_dirty) return;
  c->is_dirty = false;
  TAILQ_REMOVE(&c->loop->dirty_connections, c, dirty);
}

void connection_report_close(connection *c) {
  void *handler = c->handler;
  c->reports_close = false;
  if (!handler) return;
  c->handler = NULL;
  int code = c->close_code ? c->close_code : CODE_CUT;
  c->loop->closes[code <= CODE_MAX ? code : 0]++;
  c->loop->callbacks.closed(handler, code, c->is_close_from_peer);
}

static void remove_subscriptions(connection *c) {
  for (subscription *s; (s = LIST_FIRST(&c->subscriptions));) subscription_remove(s);
}

// Its slot is free before its handler is told, so that the handle is already invalid.
void connection_free(connection *c) {
  remove_subscriptions(c);
  wheel_clear(&c->own_timer);
  wheel_clear(&c->handler_timer);
  slot_remove(&c->loop->connections, c->id);
  c->is_closing = c->is_dead = true;
  c->loop->counters.connections_open--;
  connection_report_close(c);
  connection_unmark_dirty(c);
  bytes_free(&c->send_queue);
  bytes_free(&c->assembly);
  hangups_count(c->loop);
  free(c);
}

connection *connection_get(const ct_loop *loop, ct_connection_id id) { return slot_get(&loop->connections, id); }

void connection_mark_dirty(connection *c) {
  if (c->is_dirty || c->is_dead) return;
  c->is_dirty = true;
  TAILQ_INSERT_TAIL(&c->loop->dirty_connections, c, dirty);
}

void connection_begin_close(connection *c, int code, const void *reason, size_t count, bool discard) {
  if (c->is_closing) return;
  if (discard) bytes_free(&c->send_queue); else connection_drain_topics(c);
  remove_subscriptions(c);
  bytes_free(&c->assembly);
  c->is_closing = true;
  c->is_writing_paused = false;
  if (c->is_reading_paused) lws_rx_flow_control(c->wsi, 1);  // to read the answer to the close
  c->close_code = (uint16_t)code;
  uint8_t payload[2 + CLOSE_REASON_MAX] = {(uint8_t)(code >> 8), (uint8_t)code};
  if (count > CLOSE_REASON_MAX) count = CLOSE_REASON_MAX;
  if (count) memcpy(payload + 2, reason, count);
  frame_append(&c->send_queue, OPCODE_CLOSE, payload, code == CODE_NONE ? 0 : 2 + count);
  wheel_set(c->loop, &c->own_timer, c->loop->wheel_tick + ticks(FLUSH_LIMIT_MS));
  connection_mark_dirty(c);
}

void connection_fail(connection *c, int code, const char *reason) {
  if (c->is_closing) return;
  connection_begin_close(c, code, reason, strlen(reason), code == 4002);
  c->reports_close = true;
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

static connection *open_connection(const ct_loop *loop, ct_connection_id id) {
  connection *c = connection_get(loop, id);
  return c && !c->is_closing ? c : NULL;
}

bool ct_connection_is_open(const ct_loop *loop, ct_connection_id id) { return open_connection(loop, id); }

void ct_connection_send(ct_loop *loop, ct_connection_id id, const void *data, size_t count, bool is_text) {
  connection *c = open_connection(loop, id);
  if (!c) return;
  frame_append(&c->send_queue, is_text ? OPCODE_TEXT : OPCODE_BINARY, data, count);
  loop->counters.deliveries++;
  connection_mark_dirty(c);
}

void ct_connection_drain_topics(ct_loop *loop, ct_connection_id id) {
  connection *c = open_connection(loop, id);
  if (c) connection_drain_topics(c);
}

void ct_connection_close(ct_loop *loop, ct_connection_id id, int code, const char *reason, size_t count) {
  connection *c = connection_get(loop, id);
  if (c) connection_begin_close(c, code, reason, count, false);
}

void ct_connection_set_reading(ct_loop *loop, ct_connection_id id, bool enabled) {
  connection *c = open_connection(loop, id);
  if (!c || c->is_dead || c->is_reading_paused == !enabled) return;
  c->is_reading_paused = !enabled;
  lws_rx_flow_control(c->wsi, enabled);
}

void ct_connection_pause_writing(ct_loop *loop, ct_connection_id id) {
  connection *c = open_connection(loop, id);
  if (c) c->is_writing_paused = true;
}

static void prepend(connection *c, const void *first, size_t count) {
  bytes later = c->send_queue;
  c->send_queue = (bytes){0};
  frame_append(&c->send_queue, OPCODE_TEXT, first, count);
  bytes_append(&c->send_queue, bytes_first(&later), bytes_count(&later));
  bytes_free(&later);
  c->loop->counters.deliveries++;
}

void ct_connection_resume_writing(ct_loop *loop, ct_connection_id id, const void *first, size_t count) {
  connection *c = open_connection(loop, id);
  if (!c) return;
  c->is_writing_paused = false;
  if (count) prepend(c, first, count);
  connection_mark_dirty(c);
}
