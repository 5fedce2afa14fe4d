// permessage-deflate in the upgrade.

#pragma once

#include "base.h"

#include <libwebsockets.h>

// Fields: offer.c, upgrade.c (which has to know how far the library reads).
typedef struct {
  bool is_agreed;
  bool has_no_takeover;  // the client asked for server_no_context_takeover
  uint8_t window_bits;   // the largest window that the client allows
  int accept_at;         // which mention of the extension the library is to accept, counted down
  bool ends_early;       // it then reads no further
} deflate_terms;

enum { DEFLATE_WINDOW_BITS = 15 };  // the largest window

deflate_terms deflate_terms_read(const char *field, size_t count);
enum { EXTENSIONS_READ = 254 };  // bytes of the field that the library can read
// Whether the client keeps a whole window from message to message.
bool deflate_keeps_window(const deflate_terms *terms);
// Whether the library is to accept the extension at this mention.
bool deflate_confirm(deflate_terms *terms, const char *name);
// Adds the agreed parameters to the answer.
void deflate_answer(deflate_terms *terms, struct lws_process_html_args *answer);
int extension_callback(
  struct lws_context *context, const struct lws_extension *extension, struct lws *wsi,
  enum lws_extension_callback_reasons reason, void *user, void *in, size_t count);
