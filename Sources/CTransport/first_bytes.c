#include "base.h"

#include <string.h>
#include <strings.h>

// What a connection begins with, told from the bytes that have come so far. The library gets a
// connection when its whole head is there, as it sees the end of one (parsers.c of libwebsockets
// 4.1): an empty line, whose lines may end without a carriage return, or an empty first line.

static const uint8_t PROXY_LINE[] = {'P', 'R', 'O', 'X', 'Y', ' '};
static const uint8_t PROXY_SIGNATURE[] = {'\r', '\n', '\r', '\n', 0, '\r', '\n', 'Q', 'U', 'I', 'T', '\n'};

// 1: it does; 0: it does not; -1: it may.
static int begins_with(const uint8_t *bytes, size_t count, const uint8_t *start, size_t start_count) {
  if (memcmp(bytes, start, count < start_count ? count : start_count)) return 0;
  return count < start_count ? -1 : 1;
}

static int has_proxy_header(const uint8_t *bytes, size_t count) {
  int line = begins_with(bytes, count, PROXY_LINE, sizeof PROXY_LINE);
  return line ? line : begins_with(bytes, count, PROXY_SIGNATURE, sizeof PROXY_SIGNATURE);
}

// The length of the head with its empty line; 0: its end has not come.
static size_t head_count(const uint8_t *bytes, size_t count) {
  const uint8_t *end = bytes + count, *line = bytes;
  while (line < end) {
    if (*line == '\n') return (size_t)(line - bytes) + 1;
    if (*line == '\r' && end - line > 1 && line[1] == '\n') return (size_t)(line - bytes) + 2;
    const uint8_t *feed = memchr(line, '\n', (size_t)(end - line));
    if (!feed) return 0;
    line = feed + 1;
  }
  return 0;
}

// Whether the target of the request holds a zero, written or escaped. The library would close the
// connection without an answer.
static bool has_zero(const uint8_t *head, size_t count) {
  const uint8_t *end = memchr(head, '\n', count);
  if (!end) end = head + count;
  if (memchr(head, 0, (size_t)(end - head))) return true;
  // As a rule there is no escape, which is soon seen.
  for (const uint8_t *at = head; (at = memchr(at, '%', (size_t)(end - at))); at++) {
    if (end - at > 2 && at[1] == '0' && at[2] == '0') return true;
  }
  return false;
}

static bool is_blank(uint8_t c) { return c == ' ' || c == '\t'; }

// A line of a head. Blanks around the value are no part of it (RFC 9110 section 5.5).
typedef struct {
  const uint8_t *name_end, *value, *value_end;
} field_line;

static bool field_read(const uint8_t *line, const uint8_t *end, field_line *f) {
  const uint8_t *colon = line;
  while (colon < end && *colon != ':' && *colon > ' ') colon++;
  if (colon == line || colon == end || *colon != ':' || memchr(colon, '\r', (size_t)(end - colon))) return false;
  *f = (field_line){.name_end = colon + 1, .value = colon + 1, .value_end = end};
  while (f->value < end && is_blank(*f->value)) f->value++;
  while (f->value_end > f->value && is_blank(f->value_end[-1])) f->value_end--;
  return true;
}

// The library itself skips spaces before a value.
static bool has_blanks(const field_line *f, const uint8_t *end) {
  return f->value_end != end || memchr(f->name_end, '\t', (size_t)(f->value - f->name_end));
}

size_t ct_head_trim(uint8_t *head, size_t count) {
  uint8_t *to = head;
  const uint8_t *end = head + count;
  for (const uint8_t *line = head, *feed; line < end; line = feed + 1) {
    feed = memchr(line, '\n', (size_t)(end - line));
    if (!feed) feed = end - 1;
    const uint8_t *stop = feed > line && feed[-1] == '\r' ? feed - 1 : feed;
    field_line f;
    if (line == head || !field_read(line, stop, &f) || !has_blanks(&f, stop)) {
      f = (field_line){.name_end = line, .value = line, .value_end = stop};
    }
    size_t name = (size_t)(f.name_end - line), value = (size_t)(f.value_end - f.value), tail = (size_t)(feed + 1 - stop);
    memmove(to, line, name);
    if (name) {
      memmove(to + name + 1, f.value, value);  // the blanks that go have left room for one
      to[name++] = ' ';
    } else {
      memmove(to, f.value, value);
    }
    memmove(to + name + value, stop, tail);
    to += name + value + tail;
  }
  return (size_t)(to - head);
}

static bool is_named(const uint8_t *line, const field_line *f, const char *name) {
  return (size_t)(f->name_end - line) == strlen(name) && !strncasecmp((const char *)line, name, strlen(name));
}

static bool is_word(const field_line *f, const char *word) {
  return (size_t)(f->value_end - f->value) == strlen(word) && !strncasecmp((const char *)f->value, word, strlen(word));
}

enum { PLAIN_IN_PATH = 1, PLAIN_IN_QUERY = 2, PLAIN = PLAIN_IN_PATH | PLAIN_IN_QUERY };

static const uint8_t plain[256] = {
  ['a' ... 'z'] = PLAIN, ['A' ... 'Z'] = PLAIN, ['0' ... '9'] = PLAIN, ['-'] = PLAIN, ['_'] = PLAIN, ['/'] = PLAIN_IN_PATH,
  ['.'] = PLAIN_IN_QUERY, ['~'] = PLAIN_IN_QUERY, ['='] = PLAIN_IN_QUERY, ['&'] = PLAIN_IN_QUERY};

// The library takes seventy instructions for each byte of a query, most of which are a token. Of what it
// would decode or resolve (escapes, blanks, dots of a path) nothing is plain; an ampersand at the end
// gets a slash behind it.
ct_text ct_head_query(const uint8_t *head, size_t count) {
  enum { SHORT_MAX = 32 };
  static const char start[] = "GET /", version[] = " HTTP/1.";
  const uint8_t *at = head + sizeof start - 1, *end = head + count;
  if (count < sizeof start || memcmp(head, start, sizeof start - 1)) return (ct_text){0};
  while (at < end && plain[*at] & PLAIN_IN_PATH) at++;
  if (at == end || *at != '?') return (ct_text){0};
  const uint8_t *query = ++at;
  while (at < end && plain[*at] & PLAIN_IN_QUERY) at++;
  if (at - query <= SHORT_MAX || at[-1] == '&' || (size_t)(end - at) < sizeof version) return (ct_text){0};
  if (memcmp(at, version, sizeof version - 1)) return (ct_text){0};
  return (ct_text){.bytes = (const char *)query, .count = (size_t)(at - query)};
}

size_t ct_head_cut_query(uint8_t *head, size_t count, ct_text query) {
  if (!query.count) return count;
  uint8_t *first = head + ((const uint8_t *)query.bytes - 1 - head), *behind = first + 1 + query.count;
  memmove(first, behind, (size_t)(head + count - behind));
  return count - 1 - query.count;
}

// What the library gets of a whole head. Of an upgrade it has to get the fields without blanks: it looks
// at some of them by itself, and the others are trimmed where they are read. A request with a body is
// none of these: the library would read it without end from bytes that were taken from the socket.
static ct_first_bytes whole_head(const uint8_t *head, size_t count) {
  bool is_upgrade = false, is_web_socket = false, has_any = false;
  const uint8_t *end = head + count;
  if (count < 4 || memcmp(head, "GET ", 4)) return CT_BYTES_WHOLE;
  for (const uint8_t *line = memchr(head, '\n', count); line && ++line < end; line = memchr(line, '\n', (size_t)(end - line))) {
    const uint8_t *feed = memchr(line, '\n', (size_t)(end - line));
    if (!feed) return CT_BYTES_WHOLE;
    const uint8_t *stop = feed > line && feed[-1] == '\r' ? feed - 1 : feed;
    field_line f;
    if (!field_read(line, stop, &f)) continue;
    if (is_named(line, &f, "content-length:") || is_named(line, &f, "transfer-encoding:")) return CT_BYTES_WHOLE;
    if (is_named(line, &f, "upgrade:")) {
      is_web_socket = !is_upgrade && is_word(&f, "websocket");
      is_upgrade = true;
    }
    has_any |= has_blanks(&f, stop);
  }
  if (is_upgrade && has_any) return CT_BYTES_BLANKS;
  if (!is_web_socket) return CT_BYTES_WHOLE;
  return ct_head_query(head, count).count ? CT_BYTES_QUERY : CT_BYTES_UPGRADE;
}

// RFC 8446 section 5.1: the ClientHello may be spread over several records.
static ct_first_bytes hello_read(const uint8_t *bytes, size_t count) {
  enum { RECORD_HEAD = 5, HANDSHAKE = 0x16, RECORD_MAX = 1 << 14, MESSAGE_HEAD = 4, CLIENT_HELLO = 1 };
  uint8_t head[MESSAGE_HEAD];
  size_t have = 0, total = 0;
  for (size_t at = 0;;) {
    if (at < count && bytes[at] != HANDSHAKE) return CT_BYTES_WHOLE;  // OpenSSL says what is wrong
    if (count - at < RECORD_HEAD) return CT_BYTES_INCOMPLETE;
    size_t length = (size_t)bytes[at + 3] << 8 | bytes[at + 4], here = count - at - RECORD_HEAD;
    if (!length || length > RECORD_MAX) return CT_BYTES_WHOLE;
    if (here > length) here = length;
    for (size_t i = 0; i < here && have < MESSAGE_HEAD; i++) head[have++] = bytes[at + RECORD_HEAD + i];
    total += here;
    if (have == MESSAGE_HEAD) {
      size_t needed = MESSAGE_HEAD + ((size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3]);
      if (head[0] != CLIENT_HELLO || needed > RECORD_MAX || total >= needed) return CT_BYTES_WHOLE;
    }
    if (here < length) return CT_BYTES_INCOMPLETE;
    at += RECORD_HEAD + length;
  }
}

ct_first_bytes ct_first_bytes_read(const uint8_t *bytes, size_t count, bool is_tls, size_t *head) {
  *head = 0;
  int proxy = has_proxy_header(bytes, count);
  if (proxy) return proxy > 0 ? CT_BYTES_PROXY_HEADER : CT_BYTES_INCOMPLETE;
  if (is_tls) return count < CT_HEAD_READ ? hello_read(bytes, count) : CT_BYTES_WHOLE;
  *head = head_count(bytes, count);
  if (!*head) return count < CT_HEAD_READ ? CT_BYTES_INCOMPLETE : CT_BYTES_TOO_LONG;
  if (has_zero(bytes, *head)) return CT_BYTES_ZERO;
  return whole_head(bytes, *head);
}
