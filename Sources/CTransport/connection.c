#include "private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { CODE_NONE = 1005, CODE_CUT = 1006, FLUSH_LIMIT_MS = 30000, CODE_MAX = CT_CLOSE_CODES - 1 };

connection *connection_open(struct lws *wsi, peer *p) {
  connection *c = ct_allocate(1, sizeof *c);
  c->wsi = wsi;
  c->loop = p->loop;
  c->is_tls = lws_is_ssl(wsi);
  c->socket = lws_get_socket_fd(wsi);
  c->id = slot_put(&p->loop->connections, c);
  p->connection = c;
  p->loop->counters.connections_open++;
  wheel_start_pings(c);
  losses_watch(c);
  return c;
}

void connection_unmark_dirty(connection *c) {
  if (!c->is_dirty) return;
  ct_loop *loop = c->loop;
  c->is_dirty = false;
  if (c->next_dirty) c->next_dirty->previous_dirty = c->previous_dirty; else loop->last_dirty = c->previous_dirty;
  if (c->previous_dirty) c->previous_dirty->next_dirty = c->next_dirty; else loop->first_dirty = c->next_dirty;
}

void connection_tell_close(connection *c) {
  void *handler = c->handler;
  c->tells_close = false;
  if (!handler) return;
  c->handler = NULL;
  int code = c->close_code ? c->close_code : CODE_CUT;
  c->loop->closes[code <= CODE_MAX ? code : 0]++;
  c->loop->callbacks.closed(handler, code, c->is_peers_close);
}

static void remove_subscriptions(connection *c) {
  while (c->subscriptions) subscription_remove(c->subscriptions);
}

// The last thing a connection does: its slot is free before its handler hears, so that the handle is stale.
void connection_free(connection *c) {
  remove_subscriptions(c);
  wheel_clear(c);
  slot_remove(&c->loop->connections, c->id);
  c->is_closing = c->is_dead = true;
  c->loop->counters.connections_open--;
  connection_tell_close(c);
  connection_unmark_dirty(c);
  bytes_free(&c->own);
  bytes_free(&c->assembly);
  losses_count(c->loop);
  free(c);
}

connection *connection_get(const ct_loop *loop, ct_connection_id id) { return slot_get(&loop->connections, id); }

void connection_mark_dirty(connection *c) {
  if (c->is_dirty || c->is_dead) return;
  ct_loop *loop = c->loop;
  c->is_dirty = true;
  c->next_dirty = NULL;
  c->previous_dirty = loop->last_dirty;
  if (loop->last_dirty) loop->last_dirty->next_dirty = c; else loop->first_dirty = c;
  loop->last_dirty = c;
}

static void move_everything(connection *c) {
  for (subscription *s = c->subscriptions; s; s = s->next) topic_take(s, &c->own, SIZE_MAX, false);
}

void connection_begin_close(connection *c, int code, const void *reason, size_t count, bool discard) {
  if (c->is_closing) return;
  if (discard) bytes_free(&c->own); else move_everything(c);
  remove_subscriptions(c);
  bytes_free(&c->assembly);
  c->is_closing = true;
  c->is_held = false;
  if (c->is_paused) lws_rx_flow_control(c->wsi, 1);  // the answer to the close must be heard
  c->close_code = (uint16_t)code;
  uint8_t payload[2 + CLOSE_REASON_MAX] = {(uint8_t)(code >> 8), (uint8_t)code};
  if (count > CLOSE_REASON_MAX) count = CLOSE_REASON_MAX;
  if (count) memcpy(payload + 2, reason, count);
  frame_append(&c->own, OPCODE_CLOSE, payload, code == CODE_NONE ? 0 : 2 + count);
  wheel_set(c, c->loop->wheel_at + ticks(FLUSH_LIMIT_MS));
  connection_mark_dirty(c);
}

void connection_fail(connection *c, int code, const char *reason) {
  if (c->is_closing) return;
  connection_begin_close(c, code, reason, strlen(reason), code == 4002);
  c->tells_close = true;
}

// The subscriptions stay until the library has closed it: this may be called from a walk over a topic's members.
void connection_cut(connection *c) {
  if (c->is_dead) return;
  c->is_closing = c->is_dead = true;
  connection_unmark_dirty(c);
  bytes_free(&c->own);
  // The library reads the end of the stream then, and closes.
  shutdown(c->socket, SHUT_RDWR);
  if (c->is_paused) lws_rx_flow_control(c->wsi, 1);
}

static connection *open_connection(const ct_loop *loop, ct_connection_id id) {
  connection *c = connection_get(loop, id);
  return c && !c->is_closing ? c : NULL;
}

bool ct_connection_is_open(const ct_loop *loop, ct_connection_id id) { return open_connection(loop, id); }

void ct_connection_send(ct_loop *loop, ct_connection_id id, const void *data, size_t count, bool is_text) {
  connection *c = open_connection(loop, id);
  if (!c) return;
  frame_append(&c->own, is_text ? OPCODE_TEXT : OPCODE_BINARY, data, count);
  loop->counters.deliveries++;
  connection_mark_dirty(c);
}

void ct_connection_take_along(ct_loop *loop, ct_connection_id id) {
  connection *c = open_connection(loop, id);
  if (c) topics_move_rest(c);
}

void ct_connection_close(ct_loop *loop, ct_connection_id id, int code, const char *reason, size_t count) {
  connection *c = connection_get(loop, id);
  if (c) connection_begin_close(c, code, reason, count, false);
}

void ct_connection_read(ct_loop *loop, ct_connection_id id, bool enabled) {
  connection *c = open_connection(loop, id);
  if (!c || c->is_dead || c->is_paused == !enabled) return;
  c->is_paused = !enabled;
  lws_rx_flow_control(c->wsi, enabled);
}

void ct_connection_hold(ct_loop *loop, ct_connection_id id) {
  connection *c = open_connection(loop, id);
  if (c) c->is_held = true;
}

static void put_first(connection *c, const void *first, size_t count) {
  bytes rest = c->own;
  c->own = (bytes){0};
  frame_append(&c->own, OPCODE_TEXT, first, count);
  bytes_append(&c->own, bytes_first(&rest), bytes_count(&rest));
  bytes_free(&rest);
  c->loop->counters.deliveries++;
}

void ct_connection_release(ct_loop *loop, ct_connection_id id, const void *first, size_t count) {
  connection *c = open_connection(loop, id);
  if (!c) return;
  c->is_held = false;
  if (count) put_first(c, first, count);
  connection_mark_dirty(c);
}
