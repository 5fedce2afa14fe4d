// The head of a request, from the library's header table.

#pragma once

#include "bytes.h"

struct lws;

// Whose connection it is, and what the library did not get of its request. Fields: all.
typedef struct {
  char address[CT_ADDRESS_SIZE];
  bool is_internal;
  ct_text query;  // stays until it is a WebSocket or an event stream; no bytes: the library has it, if any
} peer;

ct_text peer_address(const peer *p);

// Fills head; its bytes are in text until that changes, and in p. False where the library has
// misread a field, see other_fields.c.
bool head_read(struct lws *wsi, const peer *p, bytes *text, ct_request_head *head);

enum { HEADERS_MAX = 20 * 1024 };  // a token of 8 KB travels in the query, and may be encoded
#define HEADERS_MISREAD "a header field has a name that is the beginning of a known one, and hides the next, or a blank in its name"
#define HEADERS_TOO_LONG "the header fields and the query have at most 20 KiB"
// Whether the fields and the query are over HEADERS_MAX together.
bool head_is_too_long(struct lws *wsi, const peer *p);
