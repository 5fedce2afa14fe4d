// The library's context of a loop, with its virtual hosts for the two listeners.

#pragma once

#include "protocol.h"

struct ev_loop;

// Fields: context.c.
typedef struct {
  struct lws_protocols protocols[4];  // none, ours, any other
  struct lws_context *library;
  SSL_CTX *unused_tls;
} context;

// False: process_first_error may have the reason.
bool context_make(context *c, protocol *p, const ct_options *options, struct ev_loop *events);
// Its turn comes soon.
void context_wake(const context *c);
// Closes all sockets that the library has.
void context_end(context *c);
void context_free(context *c);
