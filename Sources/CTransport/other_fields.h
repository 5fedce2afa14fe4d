// Header fields that the library has no token for.

#pragma once

#include "bytes.h"

struct lws;

enum { HEADERS_READ = CT_HEAD_READ };  // the library's memory of a head

typedef enum {
  FIELDS_READ,
  FIELDS_UNREADABLE,  // of a form or size that this does not read
  FIELDS_MISREAD      // the library took two lines for one field, and the second matters
} other_fields;

// Without the blanks around it, which are no part of a field's value (RFC 9110 section 5.5).
ct_text text_trimmed(const char *text, size_t count);

// Appends the values of all fields of that name (in small letters, with its colon), joined by
// commas.
other_fields other_fields_append(struct lws *wsi, bytes *to, const char *name);
