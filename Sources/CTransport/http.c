#include "http.h"

#include "other_fields.h"
#include "refusal.h"
#include "slots.h"

#include <libwebsockets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

// Connections of the internal listener are kept for further requests. libwebsockets 4.1.6 has a fault
// there: it reads the head of a request that it has in its buffer, because the client did not wait for
// the answer before, and then takes the same bytes for the body, without end. So a connection on which
// something has come early ends behind its answer, and what came early is not looked at.

enum {
  ANSWER_MS = 60000,              // for the server to answer
  PROGRESS_MS = 30000,            // for the client to read the next STEP of it
  BODY_MS = 60000,                // for the whole body
  KEPT_S = 120,                   // for the whole head of the next request
  STEP = 256 * 1024,
  DISCARD_MAX = 64 * 1024 * 1024  // a body longer than this is not read to its end
};

struct exchanges {
  const ct_options *options;
  const ct_callbacks *callbacks;
  // The head that was read last, of a request that is there still; the text of the head.
  const request *last;
  ct_request_head head;
  bytes head_text;
  bool is_head_sound;
  slot_table slots;
  size_t answers_in_flight;  // requests from their delivery, or refusal, to the end of the answer
  size_t answers_left;       // that are still waited for before the end
  bool is_finishing, has_finished;
};

struct request {
  exchanges *all;
  struct lws *wsi;
  arrival *arrival;
  const peer *peer;
  ct_exchange_id id;
  bytes body, response;
  size_t body_max;  // of a body that is kept; 0: it is read and dropped
  bool is_head, is_too_large, is_answered, is_delivered, is_served;
  bool keeps_connection;
};

exchanges *exchanges_create(const ct_options *options, const ct_callbacks *callbacks) {
  exchanges *all = ct_allocate(1, sizeof *all);
  *all = (exchanges){.options = options, .callbacks = callbacks};
  return all;
}

void exchanges_free(exchanges *all) {
  slot_table_free(&all->slots);
  bytes_free(&all->head_text);
  free(all);
}

static bool header_is(struct lws *wsi, enum lws_token_indexes token, const char *value) {
  char text[32];
  int count = lws_hdr_copy(wsi, text, sizeof text, token);
  if (count <= 0) return false;
  ct_text trimmed = text_trimmed(text, (size_t)count);
  return trimmed.count == strlen(value) && !strncasecmp(trimmed.bytes, value, trimmed.count);
}

// -1: invalid; otherwise the library waits for that many bytes.
static int64_t body_length(struct lws *wsi) {
  char text[20];
  if (!lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH)) return 0;
  int count = lws_hdr_copy(wsi, text, sizeof text, WSI_TOKEN_HTTP_CONTENT_LENGTH);
  ct_text digits = text_trimmed(text, count > 0 ? (size_t)count : 0);
  if (!digits.count || strspn(digits.bytes, "0123456789") < digits.count) return -1;
  return strtoll(digits.bytes, NULL, 10);
}

// Whether the client and the library both take another request behind this one. Without a length the
// library would await 100 MB of a POST.
static bool may_keep(struct lws *wsi) {
  static const enum lws_token_indexes with_body[] = {WSI_TOKEN_POST_URI, WSI_TOKEN_PUT_URI, WSI_TOKEN_PATCH_URI};
  char version[16];
  if (lws_hdr_copy(wsi, version, sizeof version, WSI_TOKEN_HTTP) <= 0 || strncmp(version, "HTTP/1.1", 8)) return false;
  if (lws_hdr_total_length(wsi, WSI_TOKEN_CONNECTION) && !header_is(wsi, WSI_TOKEN_CONNECTION, "keep-alive")) return false;
  if (lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH)) return true;
  for (size_t i = 0; i < sizeof with_body / sizeof *with_body; i++) {
    if (lws_hdr_total_length(wsi, with_body[i])) return false;
  }
  return true;
}

// Whether the library has bytes that no request has used. Those of other connections count, too, which
// is seldom: then this one ends as if it had some.
static bool has_early_bytes(struct lws *wsi) { return !lws_service_adjust_timeout(lws_get_context(wsi), 1, 0); }

static request *request_open(exchanges *all, struct lws *wsi, arrival *a, const peer *p) {
  request *r = ct_allocate(1, sizeof *r);
  r->all = all;
  r->wsi = wsi;
  r->arrival = a;
  r->peer = p;
  r->id = slot_put(&all->slots, r);
  r->is_head = lws_hdr_total_length(wsi, WSI_TOKEN_HEAD_URI) > 0;
  return r;
}

void http_free(request **of_socket) {
  request *r = *of_socket;
  if (!r) return;
  *of_socket = NULL;
  if (r->all->last == r) r->all->last = NULL;
  if (r->is_delivered || r->is_answered) {
    r->all->answers_in_flight--;
    if (r->all->answers_left) r->all->answers_left--;
  }
  const ct_callbacks *callbacks = r->all->callbacks;
  slot_remove(&r->all->slots, r->id);
  if (r->is_served) callbacks->exchange_ended(callbacks->context, r->id);
  bytes_free(&r->body);
  bytes_free(&r->response);
  free(r);
}

// Read once, where no other request comes between. Its bytes stay until another is read.
static const ct_request_head *head_of(const request *r) {
  exchanges *all = r->all;
  if (all->last != r) all->is_head_sound = head_read(r->wsi, r->peer, &all->head_text, &all->head);
  all->last = r;
  return &all->head;
}

static int refuse(request *r, int status, const char *reason) {
  const ct_callbacks *callbacks = r->all->callbacks;
  callbacks->refused(callbacks->context, head_of(r), status, reason, false);
  r->all->answers_in_flight++;
  static const char plain[] = "text/plain; charset=utf-8";
  char body[REASON_MAX];
  size_t count = refusal_body(body, sizeof body, status, reason);
  ct_text type = {.bytes = plain, .count = sizeof plain - 1}, none = {0};
  exchange_respond(r->all, r->id, status, type, none, (const uint8_t *)body, count);
  return 0;
}

// Reading stops until the answer: the library would loop over a second request; see finish.
static int deliver_request(request *r) {
  if (r->is_delivered) return 0;
  if (r->all->has_finished) return -1;
  r->is_delivered = true;
  r->all->answers_in_flight++;
  const ct_request_head *head = head_of(r);
  arrival_set_deadline(r->arrival, ANSWER_MS);
  lws_rx_flow_control(r->wsi, 0);
  const ct_callbacks *callbacks = r->all->callbacks;
  bytes body = bytes_take(&r->body);  // an event stream takes the request's place
  callbacks->requested(
    callbacks->context, r->id, head, bytes_first(&body), bytes_count(&body), r->is_too_large);
  bytes_free(&body);
  return 0;
}

static size_t body_limit(const exchanges *all, const ct_request_head *head) {
  const ct_options *options = all->options;
  if (head->is_internal) return options->max_body_bytes;
  const char *path = options->public_body_path;
  bool is_kept = path && head->path.count == strlen(path) && !memcmp(head->path.bytes, path, head->path.count);
  return is_kept ? options->max_public_body_bytes : 0;
}

// What the client sends on is read as far as it has come: the system would send a reset before the
// answer otherwise.
static int end_early(struct lws *wsi) {
  char unused[4096];
  for (int i = 0; i < 64 && recv(lws_get_socket_fd(wsi), unused, sizeof unused, MSG_DONTWAIT) > 0; i++) {}
  return -1;
}

// Another head has come before the answer has left: the connection ends behind it.
static int answer_and_end(request *r) {
  size_t count = bytes_count(&r->response);
  if (count && lws_write(r->wsi, (unsigned char *)bytes_first(&r->response), count, LWS_WRITE_HTTP) < 0) return -1;
  bytes_consume(&r->response, count);
  return end_early(r->wsi);
}

int http_begin(exchanges *all, struct lws *wsi, arrival *a, const peer *p, request **of_socket) {
  if (*of_socket && (*of_socket)->is_answered) return answer_and_end(*of_socket);
  http_free(of_socket);
  if (all->has_finished) return -1;
  request *r = *of_socket = request_open(all, wsi, a, p);
  lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0);
  arrival_set_deadline(a, BODY_MS);
  int64_t length = body_length(wsi);
  if (head_is_too_long(wsi, p)) return refuse(r, 431, HEADERS_TOO_LONG);
  const ct_request_head *head = head_of(r);
  if (!all->is_head_sound) return refuse(r, 400, HEADERS_MISREAD);
  if (lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_TRANSFER_ENCODING)) {
    return refuse(r, 411, "a body needs a Content-Length, and no Transfer-Encoding");
  }
  if (length < 0) return refuse(r, 400, "the Content-Length is not one number");
  r->body_max = body_limit(all, head);
  r->keeps_connection = p->is_internal && length <= DISCARD_MAX && may_keep(wsi);
  r->is_too_large = (uint64_t)length > (r->body_max ? r->body_max : all->options->max_body_bytes);
  if (length == 0 || length > DISCARD_MAX) return deliver_request(r);
  if (header_is(wsi, WSI_TOKEN_HTTP_EXPECT, "100-continue")) {
    static const char continue_line[] = "HTTP/1.1 100 Continue\r\n\r\n";
    return lws_write(wsi, (unsigned char *)continue_line, sizeof continue_line - 1, LWS_WRITE_HTTP_HEADERS) < 0 ? -1 : 0;
  }
  return 0;
}

int http_body(request *r, const void *data, size_t count) {
  if (r && r->body_max && !r->is_delivered && !r->is_answered && !r->is_too_large) bytes_append(&r->body, data, count);
  return 0;
}

int http_complete(request *r) { return r && !r->is_answered ? deliver_request(r) : 0; }

void exchange_respond(
  exchanges *all, ct_exchange_id exchange, int status, ct_text content_type, ct_text headers, const uint8_t *body,
  size_t count
) {
  request *r = slot_get(&all->slots, exchange);
  if (!r || r->is_answered) return;
  r->is_answered = true;
  lws_rx_flow_control(r->wsi, 1);
  r->keeps_connection &= !all->is_finishing && arrival_may_idle(r->arrival) && !has_early_bytes(r->wsi);
  char line[128];
  bytes *to = &r->response;
  bytes_append(to, line, (size_t)snprintf(line, sizeof line, "HTTP/1.1 %d %s\r\n", status, status_phrase(status)));
  if (content_type.count) {
    bytes_append(to, "Content-Type: ", 14);
    bytes_append(to, content_type.bytes, content_type.count);
    bytes_append(to, "\r\n", 2);
  }
  bytes_append(to, headers.bytes, headers.count);
  // RFC 9110 section 8.6: a 204 has no length.
  if (status != 204) bytes_append(to, line, (size_t)snprintf(line, sizeof line, "Content-Length: %zu\r\n", count));
  const char *format = r->keeps_connection ? "Keep-Alive: timeout=%d\r\n\r\n" : "Connection: close\r\n\r\n";
  bytes_append(to, line, (size_t)snprintf(line, sizeof line, format, KEPT_S));
  if (!r->is_head && status != 204) bytes_append(to, body, count);
  lws_callback_on_writable(r->wsi);
}

struct lws *exchange_socket(const exchanges *all, ct_exchange_id exchange) {
  const request *r = slot_get(&all->slots, exchange);
  return r && !r->is_answered ? r->wsi : NULL;
}

const ct_request_head *exchange_head(const exchanges *all, ct_exchange_id exchange) {
  const request *r = slot_get(&all->slots, exchange);
  return r ? head_of(r) : NULL;
}

bool exchange_serve(exchanges *all, ct_exchange_id exchange) {
  request *r = slot_get(&all->slots, exchange);
  if (!r || r->is_answered) return false;
  r->is_served = true;
  arrival_serve(r->arrival);
  return true;
}

// The answer has left.
static int finish(request **of_socket) {
  struct lws *wsi = (*of_socket)->wsi;
  arrival *a = (*of_socket)->arrival;
  // The library stashes what it has read too much of when its callback for the request has returned,
  // which may have been behind the answer.
  bool is_kept = (*of_socket)->keeps_connection, is_early = has_early_bytes(wsi);
  http_free(of_socket);
  if (is_early) return end_early(wsi);
  if (!is_kept || lws_http_transaction_completed(wsi)) return -1;
  // The library's own limit is 5 s.
  lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0);
  arrival_set_idle(a, KEPT_S * 1000);
  return 0;
}

int http_write(request **of_socket) {
  request *r = *of_socket;
  if (!r || !r->is_answered) return 0;
  if (bytes_count(&r->response)) {
    size_t count = bytes_count(&r->response) < STEP ? bytes_count(&r->response) : STEP;
    arrival_set_deadline(r->arrival, PROGRESS_MS);
    if (lws_write(r->wsi, (unsigned char *)bytes_first(&r->response), count, LWS_WRITE_HTTP) < 0) return -1;
    bytes_consume(&r->response, count);
  }
  // What the socket did not take is in the library, which would lose it at the end of the loop.
  if (!bytes_count(&r->response) && !lws_partial_buffered(r->wsi)) return finish(of_socket);
  lws_callback_on_writable(r->wsi);
  return 0;
}

bool exchanges_finish(exchanges *all, size_t at_most) {
  if (all->has_finished) return false;
  all->is_finishing = true;
  all->answers_left = at_most;
  return true;
}

bool exchanges_end(exchanges *all) {
  if (!all->is_finishing || all->has_finished || (all->answers_in_flight && all->answers_left)) return false;
  all->has_finished = true;
  return true;
}
