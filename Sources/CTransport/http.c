#include "http.h"

#include "refusal.h"
#include "slots.h"

#include <libwebsockets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
  ANSWER_MS = 60000,              // for the server to answer
  PROGRESS_MS = 30000,            // for the client to read the next STEP of it
  BODY_MS = 60000,                // for the whole body
  STEP = 256 * 1024,
  DISCARD_MAX = 64 * 1024 * 1024  // a body longer than this is not read to its end
};

struct exchanges {
  const ct_options *options;
  const ct_callbacks *callbacks;
  bytes *head_text;
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
};

exchanges *exchanges_create(const ct_options *options, const ct_callbacks *callbacks, bytes *head_text) {
  exchanges *all = ct_allocate(1, sizeof *all);
  *all = (exchanges){.options = options, .callbacks = callbacks, .head_text = head_text};
  return all;
}

void exchanges_free(exchanges *all) {
  slot_table_free(&all->slots);
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

static bool read_head(const request *r, ct_request_head *head) { return head_read(r->wsi, r->peer, r->all->head_text, head); }

static int refuse(request *r, int status, const char *reason) {
  const ct_callbacks *callbacks = r->all->callbacks;
  ct_request_head head;
  read_head(r, &head);
  callbacks->refused(callbacks->context, &head, status, reason, false);
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
  ct_request_head head;
  read_head(r, &head);
  arrival_set_deadline(r->arrival, ANSWER_MS);
  lws_rx_flow_control(r->wsi, 0);
  const ct_callbacks *callbacks = r->all->callbacks;
  bytes body = bytes_take(&r->body);  // an event stream takes the request's place
  callbacks->requested(
    callbacks->context, r->id, &head, bytes_first(&body), bytes_count(&body), r->is_too_large);
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

int http_begin(exchanges *all, struct lws *wsi, arrival *a, const peer *p, request **of_socket) {
  http_free(of_socket);
  if (all->has_finished) return -1;
  request *r = *of_socket = request_open(all, wsi, a, p);
  lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0);
  arrival_set_deadline(a, BODY_MS);
  int64_t length = body_length(wsi);
  if (head_is_too_long(wsi)) return refuse(r, 431, HEADERS_TOO_LONG);
  ct_request_head head;
  if (!read_head(r, &head)) return refuse(r, 400, HEADERS_MISREAD);
  if (lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_TRANSFER_ENCODING)) {
    return refuse(r, 411, "a body needs a Content-Length, and no Transfer-Encoding");
  }
  if (length < 0) return refuse(r, 400, "the Content-Length is not one number");
  r->body_max = body_limit(all, &head);
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
  bytes_append(to, "Connection: close\r\n\r\n", 21);
  if (!r->is_head && status != 204) bytes_append(to, body, count);
  lws_rx_flow_control(r->wsi, 1);
  lws_callback_on_writable(r->wsi);
}

struct lws *exchange_socket(const exchanges *all, ct_exchange_id exchange) {
  const request *r = slot_get(&all->slots, exchange);
  return r && !r->is_answered ? r->wsi : NULL;
}

bool exchange_serve(exchanges *all, ct_exchange_id exchange) {
  request *r = slot_get(&all->slots, exchange);
  if (!r || r->is_answered) return false;
  r->is_served = true;
  arrival_serve(r->arrival);
  return true;
}

// One request per connection. libwebsockets 4.1.6 parses the head of a second one from its buffer,
// then reads the same buffer as the body, without end: one client would stop the loop.
static int finish(request **of_socket) {
  http_free(of_socket);
  return -1;
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
