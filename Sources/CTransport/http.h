// Requests, and their answers.

#pragma once

#include "arrivals.h"
#include "bytes.h"
#include "head.h"

typedef struct request request;
typedef struct exchanges exchanges;

// head_text: where heads are read to.
exchanges *exchanges_create(const ct_options *options, const ct_callbacks *callbacks, bytes *head_text);
void exchanges_free(exchanges *all);
void exchange_respond(
  exchanges *all, ct_exchange_id exchange, int status, ct_text content_type, ct_text headers, const uint8_t *body,
  size_t count);

// See ct_exchange_serve.
bool exchange_serve(exchanges *all, ct_exchange_id exchange);
// Of a request that waits for its answer; NULL where that is given, or the client has gone.
struct lws *exchange_socket(const exchanges *all, ct_exchange_id exchange);

// A head has come. *r: the request of the same socket, which is replaced. These return 0, or -1 where
// the library has to close.
int http_begin(exchanges *all, struct lws *wsi, arrival *a, const peer *p, request **r);
int http_body(request *r, const void *data, size_t count);
int http_complete(request *r);
int http_write(request **r);
void http_free(request **r);

// The exchanges that have begun are to end, at most so many: see ct_loop_finish_answers. False: they have.
bool exchanges_finish(exchanges *all, size_t at_most);
// True, once: they have ended now, and none begins any more.
bool exchanges_end(exchanges *all);
