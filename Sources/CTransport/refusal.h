// The answers that the transport gives by itself.

#pragma once

#include "base.h"

const char *status_phrase(int status);
enum { REASON_MAX = 256 };
// The body of a refusal: status and reason in a line. Returns its length.
size_t refusal_body(char *to, size_t size, int status, const char *reason);
enum { REFUSAL_MAX = 256 + REASON_MAX };
// The whole answer, at most REFUSAL_MAX bytes. Returns its length.
size_t refusal_text(char to[REFUSAL_MAX], int status, const char *reason);
