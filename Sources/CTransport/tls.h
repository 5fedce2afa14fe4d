// The certificate of the public listener, which may be replaced while the loop runs.

#pragma once

#include "base.h"

// Fields: tls.c.
typedef struct {
  ct_tls *current;  // what new connections use; NULL: what the library has read at the start
} certificate;

void certificate_use(certificate *c, const ct_tls *tls);
// Makes the library's connections use it.
void certificate_install(certificate *c, ct_tls *of_library);
void certificate_free(certificate *c);
