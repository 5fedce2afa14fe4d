// How bytes leave over TLS: the records of one write in one call of the system.

#pragma once

#include "bytes.h"

#include <sys/types.h>

struct bio_method_st;
struct ssl_st;

// Of a loop. Fields: tls_output.c.
typedef struct {
  struct bio_method_st *method;  // writes the records of connections that have had several at once
  bytes joined;                  // records that leave with the last one of the write
  bool is_joining;               // the last one is to come
} tls_output;

void tls_output_init(tls_output *all);
// The connections have gone.
void tls_output_free(tls_output *all);
// Returns how many bytes have been taken, or -1 when the connection is lost. Those that are left,
// and maybe more behind them, have to be what is written next.
ssize_t tls_output_write(tls_output *all, struct ssl_st *tls, const uint8_t *from, size_t count);
