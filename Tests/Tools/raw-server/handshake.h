// The upgrade (RFC 6455 section 4).
#ifndef RAW_SERVER_HANDSHAKE_H
#define RAW_SERVER_HANDSHAKE_H

#include <stddef.h>

enum { ANSWER_CAPACITY = 256 };

// The size of the HTTP head at the start of `bytes`, 0 while its end has not come.
size_t handshake_size(const char *bytes, size_t available);

// Writes the answer to the request `head` and returns its size; 0 when there is no usable Sec-WebSocket-Key.
size_t handshake_answer(const char *head, size_t size, char answer[ANSWER_CAPACITY]);

#endif
