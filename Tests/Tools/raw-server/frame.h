// WebSocket frames (RFC 6455, section 5): whole messages of at most 65,535 bytes.
#ifndef RAW_SERVER_FRAME_H
#define RAW_SERVER_FRAME_H

#include <stddef.h>

enum { OPCODE_TEXT = 1, OPCODE_BINARY = 2, OPCODE_CLOSE = 8, LARGEST_HEAD = 4 };
enum { COMPRESSED = 0x40 }; // beside the opcode: RSV1

struct frame {
  unsigned opcode;
  unsigned char *payload; // unmasked, inside the bytes that were read
  size_t length;
};

enum frame_state { FRAME_WHOLE, FRAME_PARTIAL, FRAME_REFUSED };

// Reads the client frame at `bytes`, unmasks it in place and sets `*used` to its size.
// Refused: no mask, a fragment, a 64-bit length.
enum frame_state frame_read(unsigned char *bytes, size_t available, struct frame *frame, size_t *used);

// Writes the head of a server frame to `out`, LARGEST_HEAD bytes, and returns the head's size.
size_t frame_write_head(unsigned char *out, unsigned opcode, size_t length);

#endif
