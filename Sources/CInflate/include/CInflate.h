// The receiving end of permessage-deflate (RFC 7692): what a client does with compressed messages.

#ifndef CINFLATE_H
#define CINFLATE_H

#include <stddef.h>
#include <stdint.h>

typedef struct cinflate_stream cinflate_stream;

// window_bits: 8 to 15. NULL: there is no memory.
cinflate_stream *cinflate_create(int window_bits);
void cinflate_free(cinflate_stream *stream);

// Inflates one message, which may refer to earlier ones. *count becomes the length of the result,
// which is valid until the next call; NULL: the message is invalid.
const uint8_t *cinflate_message(cinflate_stream *stream, const uint8_t *message, size_t size, size_t *count);

// Deflates a message that refers to no earlier one, as a client may send it. Returns its length, or
// 0 where room is too small.
size_t cinflate_deflate(const uint8_t *message, size_t size, uint8_t *to, size_t room);

#endif
