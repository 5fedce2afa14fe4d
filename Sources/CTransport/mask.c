#include "mask.h"

#include "frame.h"

// RFC 6455 section 5.1: a server must refuse an unmasked frame. The library accepts it silently.
// But it reads into one buffer and unmasks in place, so the header lies in front of the payload.

enum { SHORT_MAX = 125, MEDIUM_MAX = 65535, MASK = 4 };

const uint8_t *mask_service_buffer(const struct lws_process_html_args *answer) {
  return (const uint8_t *)answer->p + answer->max_len - SERVICE_BUFFER;
}

static size_t length_bytes(size_t count) { return count <= SHORT_MAX ? 0 : count <= MEDIUM_MAX ? 2 : 8; }

static uint8_t length_code(size_t count) {
  return count <= SHORT_MAX ? (uint8_t)count : count <= MEDIUM_MAX ? 126 : 127;
}

// Whether the two bytes can begin the header of a data frame of that length.
static bool is_header(const uint8_t *at, int begin, size_t count, uint8_t mask_bit) {
  return (at[0] & 0x7f) == begin && at[1] == (mask_bit | length_code(count));
}

bool is_unmasked(struct lws *wsi, const uint8_t *buffer, const uint8_t *payload, size_t count) {
  if (!count || payload < buffer || payload >= buffer + SERVICE_BUFFER) return false;  // a copy
  size_t before = (size_t)(payload - buffer), bare = 2 + length_bytes(count), masked = bare + MASK;
  int opcode = !lws_is_first_fragment(wsi) ? 0 : lws_frame_is_binary(wsi) ? OPCODE_BINARY : OPCODE_TEXT;
  int begin = opcode | lws_get_reserved_bits(wsi);
  if (before >= masked && is_header(payload - masked, begin, count, 0x80)) return false;
  // The header may have come with an earlier read and be overwritten; the frame passes then.
  return before >= bare && is_header(payload - bare, begin, count, 0);
}
