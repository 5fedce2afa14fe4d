// Server frames (RFC 6455 section 5.2): never masked, never fragmented.

#pragma once

#include "bytes.h"

enum { OPCODE_TEXT = 1, OPCODE_BINARY = 2, OPCODE_CLOSE = 8, OPCODE_PING = 9 };
enum { FRAME_HEADER_MAX = 10, CLOSE_REASON_MAX = 123 };

size_t frame_header(uint8_t header[FRAME_HEADER_MAX], int opcode, size_t count);
void frame_append(bytes *to, int opcode, const void *payload, size_t count);
// The longest run of whole frames that fits, at least one frame.
size_t frame_prefix(const uint8_t *frames, size_t count, size_t limit);
// Of a frame of count bytes.
size_t frame_header_count(size_t count);
