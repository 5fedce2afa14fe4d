// A socket, plain or with TLS: both are read and written alike. Nothing here blocks.
#ifndef RAW_SERVER_STREAM_H
#define RAW_SERVER_STREAM_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct stream {
  int socket;
  SSL *tls; // NULL for a plain socket
};

// A server context with these PEM files, or NULL, after a line on standard error.
SSL_CTX *stream_context(const char *certificate_file, const char *key_file);

// False without memory. `context` may be NULL: a plain stream.
bool stream_open(struct stream *stream, int socket, SSL_CTX *context);

void stream_close(struct stream *stream);

// The bytes read, which may have stood in the library's buffer; 0 when there are none now, -1 at
// the end of the stream. A TLS stream has to be read until there are none: epoll knows nothing of
// the library's buffer.
ssize_t stream_read(struct stream *stream, void *bytes, size_t capacity);

// The bytes written, fewer than `count` when the socket is full. After that the same bytes, or
// more, have to be written next. -1 when the connection is broken.
ssize_t stream_write(struct stream *stream, const void *bytes, size_t count);

#endif
