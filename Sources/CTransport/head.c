#include "head.h"

#include "other_fields.h"

#include <libwebsockets.h>
#include <string.h>

_Static_assert(HEADERS_READ >= 2 * HEADERS_MAX, "the library closes without an answer beyond it");

ct_text peer_address(const peer *p) { return (ct_text){.bytes = p->address, .count = strlen(p->address)}; }

// The library has decoded the query and split it at each ampersand; encoding it again restores the
// client's meaning.
static bool is_plain(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-._~=/:@!$'()*,?", c));
}

static void append_encoded(bytes *to, const unsigned char *text, size_t count) {
  static const char digits[] = "0123456789ABCDEF";
  for (size_t i = 0; i < count; i++) {
    // A token in the query is plain.
    size_t first = i;
    while (i < count && is_plain(text[i])) i++;
    bytes_append(to, text + first, i - first);
    if (i == count) return;
    const char code[] = {'%', digits[text[i] >> 4], digits[text[i] & 15]};
    bytes_append(to, code, sizeof code);
  }
}

static void append_query(struct lws *wsi, const peer *p, bytes *to) {
  if (p->query.count) return bytes_append(to, p->query.bytes, p->query.count);
  int total = lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_URI_ARGS);
  if (total <= 0) return;
  bytes part = {0};
  char *copy = (char *)bytes_extend(&part, (size_t)total + 2);
  for (int i = 0, count; (count = lws_hdr_copy_fragment(wsi, copy, total + 2, WSI_TOKEN_HTTP_URI_ARGS, i)) >= 0; i++) {
    if (i) bytes_append(to, "&", 1);
    append_encoded(to, (unsigned char *)copy, (size_t)count);
  }
  bytes_free(&part);
}

static void append_header(struct lws *wsi, bytes *to, enum lws_token_indexes token) {
  int total = lws_hdr_total_length(wsi, token);
  if (total <= 0) return;
  char *copy = (char *)bytes_extend(to, (size_t)total + 1);
  int count = lws_hdr_copy(wsi, copy, total + 1, token);
  ct_text value = text_trimmed(copy, count > 0 ? (size_t)count : 0);
  memmove(copy, value.bytes, value.count);
  bytes_drop_last(to, (size_t)total + 1 - value.count);
}

static const struct {
  enum lws_token_indexes token;
  const char *name;
} methods[] = {
  {WSI_TOKEN_GET_URI, "GET"},       {WSI_TOKEN_POST_URI, "POST"},   {WSI_TOKEN_PUT_URI, "PUT"},
  {WSI_TOKEN_DELETE_URI, "DELETE"}, {WSI_TOKEN_PATCH_URI, "PATCH"}, {WSI_TOKEN_HEAD_URI, "HEAD"},
  {WSI_TOKEN_OPTIONS_URI, "OPTIONS"},
};

static int method_of(struct lws *wsi) {
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    if (lws_hdr_total_length(wsi, methods[i].token)) return (int)i;
  }
  return -1;
}

bool head_read(struct lws *wsi, const peer *p, bytes *text, ct_request_head *head) {
  static const enum lws_token_indexes tokens[] = {
    WSI_TOKEN_HOST, WSI_TOKEN_ORIGIN, WSI_TOKEN_HTTP_AUTHORIZATION, WSI_TOKEN_PROTOCOL, WSI_TOKEN_X_FORWARDED_FOR};
  static const char *const names[] = {"x-forwarded-host:", "forwarded:", "traceparent:"};
  enum { HEADERS = sizeof tokens / sizeof *tokens, NAMES = sizeof names / sizeof *names, PARTS = 2 + HEADERS + NAMES };
  size_t ends[PARTS], *end = ends;
  int method = method_of(wsi);

  bytes_clear(text);
  if (method >= 0) append_header(wsi, text, methods[method].token);
  *end++ = bytes_count(text);
  append_query(wsi, p, text);
  *end++ = bytes_count(text);
  for (int i = 0; i < HEADERS; i++) {
    append_header(wsi, text, tokens[i]);
    *end++ = bytes_count(text);
  }
  other_fields others = other_fields_append(wsi, text, names, NAMES, end);

  *head = (ct_request_head){.is_tls = lws_is_ssl(wsi), .is_internal = p->is_internal};
  ct_text *parts[PARTS] = {&head->path, &head->query, &head->host, &head->origin, &head->authorization,
                           &head->subprotocols, &head->forwarded_for, &head->forwarded_host, &head->forwarded,
                           &head->traceparent};
  for (int i = 0; i < PARTS; i++) {
    size_t start = i ? ends[i - 1] : 0;
    *parts[i] = (ct_text){.bytes = (const char *)bytes_first(text) + start, .count = ends[i] - start};
  }
  // A field that the library has swallowed may be the one that the last proxy wrote.
  if (others != FIELDS_READ) {
    head->forwarded_for = head->forwarded_host = head->forwarded = head->traceparent = (ct_text){0};
  }
  if (method >= 0) head->method = (ct_text){.bytes = methods[method].name, .count = strlen(methods[method].name)};
  head->peer_address = peer_address(p);
  return others != FIELDS_MISREAD;
}

bool head_is_too_long(struct lws *wsi, const peer *p) {
  size_t total = p->query.count;
  for (int token = 0; token < WSI_TOKEN_COUNT; token++) total += (size_t)lws_hdr_total_length(wsi, token);
  return total > HEADERS_MAX;
}
