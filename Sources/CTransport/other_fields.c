#include "other_fields.h"

#include <libwebsockets.h>
#include <string.h>

// The library's lws_hdr_custom_copy finds the first field of a name only, which behind a proxy that
// adds a line of its own is the client's. So this reads the library's memory of the head (parsers.c
// of libwebsockets 4.1 to 4.3). Behind the request line the fields stand there in their order:
//   a field with a token: its value and a zero; a repeated one begins with a blank;
//   any other: two bytes of the name's length, two of the value's, four that do not matter here,
//   the name in small letters with its colon, the value.
// The end is a field without a name, and CR LF. A value begins with a blank or a character above,
// which as a length would be beyond WALK_MAX: nothing can be taken for something else.

enum { RECORD_HEAD = 8, WALK_MAX = 0x2000 };

typedef struct {
  const uint8_t *at, *end;
} field_walk;

typedef struct {
  ct_text name, value;
} field;

ct_text text_trimmed(const char *text, size_t count) {
  while (count && (*text == ' ' || *text == '\t')) text++, count--;
  while (count && (text[count - 1] == ' ' || text[count - 1] == '\t')) count--;
  return (ct_text){.bytes = text, .count = count};
}

// The number of parts of the query, which the library keeps apart.
static size_t query_parts(struct lws *wsi, bytes *scratch) {
  int total = lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_URI_ARGS), parts = 0;
  char *copy = (char *)bytes_extend(scratch, (size_t)total + 2);
  while (lws_hdr_copy_fragment(wsi, copy, total + 2, WSI_TOKEN_HTTP_URI_ARGS, parts) >= 0) parts++;
  bytes_drop_last(scratch, (size_t)total + 2);
  return (size_t)parts;
}

static bool walk_begin(field_walk *w, struct lws *wsi, bytes *scratch) {
  static const char version[] = "HTTP/1.";
  char *path;
  int count;
  if (lws_http_get_uri_and_method(wsi, &path, &count) < 0) return false;
  size_t parts = query_parts(wsi, scratch), query = (size_t)lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_URI_ARGS);
  // A zero ends the path. A part of the query has an unused byte before it and a zero behind it;
  // the library's total counts one byte between two parts.
  size_t line = (size_t)count + 1 + (parts ? query - (parts - 1) + 2 * parts : 0);
  w->at = (const uint8_t *)path + line;
  w->end = w->at + WALK_MAX;
  if ((size_t)count + line + WALK_MAX > HEADERS_READ) w->end = (const uint8_t *)path + HEADERS_READ - RECORD_HEAD * 8;
  return w->at + sizeof version < w->end && !memcmp(w->at, version, sizeof version - 1);
}

// Whether no value that has a token could be taken for another field.
static bool values_are_plain(struct lws *wsi) {
  char first[WALK_MAX];
  for (int token = 0; token < WSI_TOKEN_COUNT; token++) {
    if (token == WSI_TOKEN_HTTP_URI_ARGS) continue;
    for (int part = 0, count; (count = lws_hdr_copy_fragment(wsi, first, sizeof first, token, part)) >= 0; part++) {
      if (!count || (unsigned char)*first < ' ') return false;
    }
  }
  return true;
}

// The next field without a token; false at the end, and where the head cannot be read.
static bool walk_next(field_walk *w, field *found) {
  while (w->at < w->end && *w->at >= ' ') {
    const uint8_t *zero = memchr(w->at, 0, (size_t)(w->end - w->at));
    if (!zero) return false;
    w->at = zero + 1;
  }
  if (w->end - w->at < RECORD_HEAD + 2) return false;
  size_t name = (size_t)w->at[0] << 8 | w->at[1], value = (size_t)w->at[2] << 8 | w->at[3];
  if (!name || name + value > (size_t)(w->end - w->at) - RECORD_HEAD) return false;
  const char *text = (const char *)w->at + RECORD_HEAD;
  *found = (field){.name = {.bytes = text, .count = name}, .value = {.bytes = text + name, .count = value}};
  w->at += RECORD_HEAD + name + value;
  return true;
}

static bool is_at_end(const field_walk *w) {
  static const uint8_t end[RECORD_HEAD + 2] = {[RECORD_HEAD] = '\r', [RECORD_HEAD + 1] = '\n'};
  return w->end - w->at >= (ptrdiff_t)sizeof end && !memcmp(w->at, end, sizeof end);
}

// The library takes a line whose name is the beginning of a known one, such as "Hos: a", and the
// next line with it, for one field.
static bool is_one_name(const ct_text *name) {
  for (size_t i = 0; i < name->count; i++) {
    bool is_last = i + 1 == name->count;
    if ((unsigned char)name->bytes[i] <= ' ' || (name->bytes[i] == ':') != is_last) return false;
  }
  return true;
}

// Whether a name that is none holds one that the server reads, or is one with a blank in it.
static bool hides_a_field(const ct_text *name) {
  static const char *const read[] = {
    "host:", "origin:", "authorization:", "upgrade:", "connection:", "content-length:", "transfer-encoding:", "expect:",
    "forwarded:", "x-forwarded-for:", "x-forwarded-host:", "sec-websocket-"};
  const char *end = name->bytes + name->count, *line = memchr(name->bytes, '\n', name->count);
  if (!line) return true;
  for (; line; line = memchr(line, '\n', (size_t)(end - line))) {
    line++;
    for (size_t i = 0; i < sizeof read / sizeof *read; i++) {
      size_t count = strlen(read[i]);
      if ((size_t)(end - line) >= count && !memcmp(line, read[i], count)) return true;
    }
  }
  return false;
}

other_fields other_fields_append(struct lws *wsi, bytes *to, const char *name) {
  field_walk walk;
  field found;
  size_t start = bytes_count(to), count = strlen(name);
  if (!values_are_plain(wsi) || !walk_begin(&walk, wsi, to)) return FIELDS_UNREADABLE;
  while (walk_next(&walk, &found)) {
    if (!is_one_name(&found.name) && hides_a_field(&found.name)) return FIELDS_MISREAD;
    if (found.name.count != count || memcmp(found.name.bytes, name, count)) continue;
    if (bytes_count(to) > start) bytes_append(to, ",", 1);
    ct_text value = text_trimmed(found.value.bytes, found.value.count);
    bytes_append(to, value.bytes, value.count);
  }
  return is_at_end(&walk) ? FIELDS_READ : FIELDS_UNREADABLE;
}
