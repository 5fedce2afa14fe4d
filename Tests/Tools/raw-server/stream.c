#include "stream.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

SSL_CTX *stream_context(const char *certificate_file, const char *key_file) {
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  if (context && SSL_CTX_use_certificate_chain_file(context, certificate_file) == 1 &&
      SSL_CTX_use_PrivateKey_file(context, key_file, SSL_FILETYPE_PEM) == 1) {
    // The log moves in memory, and a part of it may go out: the rest is written later, from where
    // it then lies.
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    return context;
  }
  ERR_print_errors_fp(stderr);
  SSL_CTX_free(context);
  return NULL;
}

bool stream_open(struct stream *stream, int socket, SSL_CTX *context) {
  *stream = (struct stream){.socket = socket};
  if (!context) return true;
  stream->tls = SSL_new(context);
  if (!stream->tls || SSL_set_fd(stream->tls, socket) != 1) return false;
  SSL_set_accept_state(stream->tls);
  return true;
}

void stream_close(struct stream *stream) {
  SSL_free(stream->tls);
  close(stream->socket);
}

// 0 when the call may be repeated later, else -1.
static ssize_t tls_result(struct stream *stream, int result) {
  int error = SSL_get_error(stream->tls, result);
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

ssize_t stream_read(struct stream *stream, void *bytes, size_t capacity) {
  if (stream->tls) {
    ERR_clear_error();
    size_t count = 0;
    int result = SSL_read_ex(stream->tls, bytes, capacity, &count); // it makes the handshake, too
    return result == 1 ? (ssize_t)count : tls_result(stream, result);
  }
  ssize_t count = recv(stream->socket, bytes, capacity, MSG_DONTWAIT);
  if (count < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
  return count > 0 ? count : -1;
}

ssize_t stream_write(struct stream *stream, const void *bytes, size_t count) {
  if (!stream->tls) {
    ssize_t sent = send(stream->socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent >= 0 ? sent : errno == EAGAIN || errno == EINTR ? 0 : -1;
  }
  size_t written = 0;
  while (written < count) { // a record at a time
    ERR_clear_error();
    size_t record = 0;
    int result = SSL_write_ex(stream->tls, (const unsigned char *)bytes + written, count - written, &record);
    if (result != 1) return tls_result(stream, result) == 0 ? (ssize_t)written : -1;
    written += record;
  }
  return (ssize_t)written;
}
