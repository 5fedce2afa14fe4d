// The upgrade (RFC 6455 section 4).
#ifndef RAW_SERVER_HANDSHAKE_H
#define RAW_SERVER_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>

enum { ANSWER_CAPACITY = 512, MOST_ROOMS = 65536 };

// The size of the HTTP head at the start of `bytes`, 0 while its end has not come.
size_t handshake_size(const char *bytes, size_t available);

// Whether the request `head` offers permessage-deflate.
bool handshake_offers_deflate(const char *head, size_t size);

// Writes the answer to the request `head` and returns its size; 0 without a usable key. With
// `deflate` it accepts permessage-deflate, without a context on either side.
size_t handshake_answer(const char *head, size_t size, bool deflate, char answer[ANSWER_CAPACITY]);

// The number of the room: the path of the request `head`, such as /17; 0 when that is no number
// below MOST_ROOMS.
size_t handshake_room(const char *head, size_t size);

#endif
