#include "utf8.h"

#include <string.h>

enum { STEP = 32 };

static bool is_ascii(const uint8_t text[STEP]) {
  uint64_t words[STEP / 8];
  memcpy(words, text, STEP);
  return !((words[0] | words[1] | words[2] | words[3]) & 0x8080808080808080);
}

static size_t ascii_prefix(const uint8_t *text, size_t count) {
  size_t at = 0;
  while (count - at >= STEP && is_ascii(text + at)) at += STEP;
  while (at < count && text[at] < 0x80) at++;
  return at;
}

// The length of a character of several bytes and the bounds of its second byte (RFC 3629,
// section 4); length 0 where none begins with that byte.
typedef struct { uint8_t length, low, high; } pattern;

static pattern pattern_of(uint8_t first) {
  if (first < 0xc2 || first > 0xf4) return (pattern){0};
  if (first < 0xe0) return (pattern){2, 0x80, 0xbf};
  if (first < 0xf0) return (pattern){3, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf};
  return (pattern){4, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf};
}

bool utf8_check(const uint8_t *text, size_t count, size_t *whole) {
  size_t at = 0;
  while ((at += ascii_prefix(text + at, count - at)) < count) {
    pattern p = pattern_of(text[at]);
    if (!p.length) return false;
    size_t present = p.length < count - at ? p.length : count - at;
    if (present > 1 && (text[at + 1] < p.low || text[at + 1] > p.high)) return false;
    for (size_t i = 2; i < present; i++) {
      if ((text[at + i] & 0xc0) != 0x80) return false;
    }
    if (present < p.length) break;
    at += present;
  }
  *whole = at;
  return true;
}
