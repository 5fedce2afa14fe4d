#include "frame.h"

#include <stdbool.h>

enum { FINAL = 0x80, MASKED = 0x80, MASK_SIZE = 4, SHORT_HEAD = 2, LONG_HEAD = 4, LENGTH_16 = 126, LENGTH_64 = 127 };

static void unmask(unsigned char *payload, size_t length, const unsigned char *mask) {
  for (size_t i = 0; i < length; i++) payload[i] ^= mask[i & 3];
}

enum frame_state frame_read(unsigned char *bytes, size_t available, struct frame *frame, size_t *used) {
  if (available < SHORT_HEAD) return FRAME_PARTIAL;
  size_t length = bytes[1] & 0x7f;
  if (!(bytes[0] & FINAL) || !(bytes[1] & MASKED) || length == LENGTH_64) return FRAME_REFUSED;

  size_t head = length == LENGTH_16 ? LONG_HEAD : SHORT_HEAD;
  if (available < head + MASK_SIZE) return FRAME_PARTIAL;
  if (head == LONG_HEAD) length = (size_t)bytes[2] << 8 | bytes[3];
  *used = head + MASK_SIZE + length;
  if (available < *used) return FRAME_PARTIAL;

  *frame = (struct frame){.opcode = bytes[0] & 0x0f, .payload = bytes + head + MASK_SIZE, .length = length};
  unmask(frame->payload, length, bytes + head);
  return FRAME_WHOLE;
}

size_t frame_write_head(unsigned char *out, unsigned opcode, size_t length) {
  bool is_long = length >= LENGTH_16;
  out[0] = (unsigned char)(FINAL | opcode);
  out[1] = (unsigned char)(is_long ? LENGTH_16 : length);
  if (!is_long) return SHORT_HEAD;
  out[2] = (unsigned char)(length >> 8);
  out[3] = (unsigned char)length;
  return LONG_HEAD;
}
