#pragma once

#include "base.h"

#include <libwebsockets.h>

enum { SERVICE_BUFFER = 64 * 1024 };  // the library's read buffer

// The library writes its answer to an upgrade into that buffer, up to its end. Returns its beginning.
const uint8_t *mask_service_buffer(const struct lws_process_html_args *answer);
// Whether a data frame of count bytes, the first of which are at payload, came without a mask.
bool is_unmasked(struct lws *wsi, const uint8_t *service_buffer, const uint8_t *payload, size_t count);
