// The server's side of TLS for tests, over a non-blocking socket, with a certificate of its own. No
// call blocks.
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct ssl_ctx_st tp_context;
typedef struct ssl_st tp_connection;

/// Creates a context with a new self-signed certificate for `name`, and writes that as PEM to
/// `certificate_file` unless NULL. NULL on failure.
tp_context *tp_context_create(const char *name, const char *certificate_file);

void tp_context_release(tp_context *context);

/// Creates the TLS state of an accepted socket, which stays the caller's; NULL without memory.
tp_connection *tp_create(tp_context *context, int socket);

void tp_release(tp_connection *connection);

/// Goes on with the handshake or reads: the number of bytes, 0 without any now, -1 after the end or
/// a failure.
long tp_read(tp_connection *connection, void *bytes, size_t capacity);

/// Writes all bytes, which the socket must have room for.
bool tp_write(tp_connection *connection, const void *bytes, size_t length);

/// Tells the client the end of the stream, and leaves the socket open.
void tp_end(tp_connection *connection);
