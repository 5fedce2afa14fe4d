// The functions of CTransport.h that name a loop and one of its parts.

#include "arrivals.h"
#include "closing.h"
#include "connection.h"
#include "flush.h"
#include "frame.h"
#include "http.h"
#include "listener.h"
#include "loop.h"
#include "statistics.h"
#include "subscription.h"
#include "tls.h"
#include "topic.h"

void ct_loop_add_listener(ct_loop *loop, int descriptor, bool is_internal) {
  listeners_add(loop->listeners, descriptor, is_internal);
}

void ct_loop_use_tls(ct_loop *loop, const ct_tls *tls) { certificate_use(&loop->protocol.certificate, tls); }

ct_counters ct_loop_counters(const ct_loop *loop) {
  ct_counters counters = {
    .connections_open = connections_open_count(&loop->connections), .deliveries = connections_deliveries(&loop->connections),
    .event_streams = connections_event_stream_count(&loop->connections),
    .connections_waiting = (uint64_t)arrivals_waiting_count(loop->arrivals), .flushes = loop->flushes,
    .lags = lateness_lags(&loop->lateness), .turns = turn_meter_lengths(&loop->turns)};
  topics_count(&loop->topics, &counters);
  return counters;
}

const uint64_t *ct_loop_closes(const ct_loop *loop) { return connections_closes(&loop->connections); }

uint32_t ct_loop_add_waiting(const ct_loop *loop, uint32_t position, ct_waiting *sum) {
  return connections_add_waiting(&loop->connections, position, sum);
}

// -- Connections

bool ct_connection_is_open(const ct_loop *loop, ct_connection_id id) { return connection_find_open(&loop->connections, id); }

bool ct_connection_is_event_stream(const ct_loop *loop, ct_connection_id id) {
  const connection *c = connection_find(&loop->connections, id);
  return c && connection_is_event_stream(c);
}

void ct_connection_send(ct_loop *loop, ct_connection_id id, const void *data, size_t count, bool is_text) {
  connection *c = connection_find_open(&loop->connections, id);
  if (c) connection_send(c, is_text ? OPCODE_TEXT : OPCODE_BINARY, data, count);
}

void ct_connection_drain_topics(ct_loop *loop, ct_connection_id id) {
  connection *c = connection_find_open(&loop->connections, id);
  if (c) connection_drain_topics(c);
}

void ct_connection_close(ct_loop *loop, ct_connection_id id, int code, const char *reason, size_t count) {
  connection *c = connection_find(&loop->connections, id);
  if (c) connection_begin_close(c, code, reason, count, false);
}

void ct_connection_set_reading(ct_loop *loop, ct_connection_id id, bool enabled) {
  connection *c = connection_find_open(&loop->connections, id);
  if (c) connection_set_reading(c, enabled);
}

void ct_connection_pause_writing(ct_loop *loop, ct_connection_id id) {
  connection *c = connection_find_open(&loop->connections, id);
  if (c) connection_pause_writing(c);
}

void ct_connection_resume_writing(ct_loop *loop, ct_connection_id id, const void *first, size_t count) {
  connection *c = connection_find_open(&loop->connections, id);
  if (c) connection_resume_writing(c, first, count);
}

void ct_connection_drop_queued(ct_loop *loop, ct_connection_id id) {
  connection *c = connection_find_open(&loop->connections, id);
  if (c) connection_drop_queued(c);
}

void ct_connection_set_deadline(ct_loop *loop, ct_connection_id id, uint64_t in_ms) {
  connection *c = connection_find(&loop->connections, id);
  if (c) connection_set_deadline(c, in_ms);
}

void ct_connection_clear_deadline(ct_loop *loop, ct_connection_id id) {
  connection *c = connection_find(&loop->connections, id);
  if (c) connection_clear_deadline(c);
}

// -- Topics

ct_topic *ct_topic_create(ct_loop *loop, const void *name, size_t count) { return topic_create(&loop->topics, name, count); }

size_t ct_loop_busiest_topics(const ct_loop *loop, ct_topic_activity *found, size_t capacity) {
  return topics_busiest(&loop->topics, found, capacity);
}

size_t ct_loop_longest_search(const ct_loop *loop) { return subscriptions_longest_search(&loop->topics); }

// -- HTTP

void ct_exchange_respond(
  ct_loop *loop, ct_exchange_id exchange, int status, ct_text content_type, ct_text headers, const uint8_t *body,
  size_t count
) {
  exchange_respond(loop->protocol.exchanges, exchange, status, content_type, headers, body, count);
}

bool ct_exchange_serve(ct_loop *loop, ct_exchange_id exchange) { return exchange_serve(loop->protocol.exchanges, exchange); }

bool ct_exchange_open_stream(ct_loop *loop, ct_exchange_id exchange, ct_text headers) {
  return protocol_open_stream(&loop->protocol, exchange, headers);
}

bool ct_loop_finish_answers(ct_loop *loop, size_t at_most) {
  return !connections_are_ending(&loop->connections) && exchanges_finish(loop->protocol.exchanges, at_most);
}
