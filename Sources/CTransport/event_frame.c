#include "event_frame.h"

#include <stdio.h>
#include <string.h>

// A line break ends a line of the stream, and an empty line an event. JSON has line breaks between
// its tokens only, and the server writes none (JSONWriter escapes those in strings); one that came
// from elsewhere, such as a stored text that somebody has edited, becomes a blank.
static void flatten(uint8_t *text, size_t count) {
  static const char breaks[] = "\r\n";
  for (const char *one = breaks; *one; one++) {
    for (uint8_t *at = text; (at = memchr(at, *one, (size_t)(text + count - at)));) *at = ' ';
  }
}

void event_append(bytes *to, const void *payload, size_t count) {
  static const char begin[] = "data: ", end[] = "\n\n";
  enum { BEGIN = sizeof begin - 1, END = sizeof end - 1 };
  _Static_assert(BEGIN + END == EVENT_EXTRA, "lengths are computed from it");
  uint8_t *space = bytes_extend(to, BEGIN + count + END);
  memcpy(space, begin, BEGIN);
  if (count) memcpy(space + BEGIN, payload, count);
  flatten(space + BEGIN, count);
  memcpy(space + BEGIN + count, end, END);
}

static void append_escaped(bytes *to, const uint8_t *text, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char code[8];
    if (text[i] == '"' || text[i] == '\\') {
      bytes_append(to, "\\", 1);
      bytes_append(to, text + i, 1);
    } else if (text[i] < ' ') {
      bytes_append(to, code, (size_t)snprintf(code, sizeof code, "\\u%04x", text[i]));
    } else {
      bytes_append(to, text + i, 1);
    }
  }
}

void event_append_close(bytes *to, int code, const void *reason, size_t count) {
  char begin[64];
  bytes_append(to, begin, (size_t)snprintf(begin, sizeof begin, "event: close\ndata: {\"code\":%d,\"reason\":\"", code));
  append_escaped(to, reason, count);
  bytes_append(to, "\"}\n\n", 4);
}

void event_append_comment(bytes *to) { bytes_append(to, ":\n\n", 3); }

// The end of the first event whose end is at or behind a place.
static size_t end_behind(const uint8_t *events, size_t count, size_t from) {
  const uint8_t *end = memmem(events + from, count - from, "\n\n", 2);
  return end ? (size_t)(end + 2 - events) : count;
}

size_t event_prefix(const uint8_t *events, size_t count, size_t limit) {
  if (count <= limit) return count;
  for (size_t end = limit; end > 1; end--) {
    const uint8_t *feed = memrchr(events, '\n', end);
    if (!feed || feed == events) break;
    end = (size_t)(feed - events) + 1;
    if (feed[-1] == '\n') return end;
  }
  return end_behind(events, count, 0);
}
