#include "frame.h"

#include <string.h>

size_t frame_header(uint8_t header[FRAME_HEADER_MAX], int opcode, size_t count) {
  header[0] = (uint8_t)(0x80 | opcode);
  if (count < 126) {
    header[1] = (uint8_t)count;
    return 2;
  }
  if (count < 65536) {
    header[1] = 126;
    header[2] = (uint8_t)(count >> 8);
    header[3] = (uint8_t)count;
    return 4;
  }
  header[1] = 127;
  for (int i = 0; i < 8; i++) header[2 + i] = (uint8_t)((uint64_t)count >> (56 - 8 * i));
  return 10;
}

void frame_append(bytes *to, int opcode, const void *payload, size_t count) {
  uint8_t header[FRAME_HEADER_MAX];
  size_t head = frame_header(header, opcode, count);
  uint8_t *space = bytes_extend(to, head + count);
  memcpy(space, header, head);
  if (count) memcpy(space + head, payload, count);
}

static size_t frame_count(const uint8_t *frame) {
  size_t count = frame[1];
  if (count < 126) return 2 + count;
  if (count == 126) return 4 + ((size_t)frame[2] << 8 | frame[3]);
  count = 0;
  for (int i = 2; i < 10; i++) count = count << 8 | frame[i];
  return 10 + count;
}

size_t frame_header_count(size_t count) {
  if (count < 126 + 2) return 2;
  return count < 65536 + 4 ? 4 : 10;
}

size_t frame_prefix(const uint8_t *frames, size_t count, size_t limit) {
  if (count <= limit) return count;
  size_t taken = frame_count(frames);
  while (taken < count) {
    size_t next = frame_count(frames + taken);
    if (taken + next > limit) break;
    taken += next;
  }
  return taken;
}
