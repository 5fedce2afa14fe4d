// Compressed messages of clients.

#pragma once

#include "bytes.h"

typedef enum { INFLATE_OK, INFLATE_TOO_BIG, INFLATE_INVALID } inflate_result;

typedef struct inflater inflater;

inflater *inflater_create(void);
void inflater_free(inflater *i);
// Inflates a message to a memory of max bytes and one more.
inflate_result inflate_message(inflater *i, bytes *message, uint8_t *to, size_t max, size_t *count);
