#include "CTLSClient.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

static void write_error(char *reason, size_t capacity) {
  unsigned long error = ERR_peek_error();
  const char *text = error ? ERR_reason_error_string(error) : NULL;
  snprintf(reason, capacity, "%s", text ? text : "the connection broke");
}

tc_context *tc_context_create(bool verifying, const char *authorities_file, char *reason, size_t capacity) {
  ERR_clear_error();
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  bool trusts = context && (!verifying || (authorities_file ? SSL_CTX_load_verify_file(context, authorities_file)
                                                            : SSL_CTX_set_default_verify_paths(context)) == 1);
  if (!trusts || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) {
    write_error(reason, capacity);
    SSL_CTX_free(context);
    return NULL;
  }
  SSL_CTX_set_verify(context, verifying ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
  // The caller keeps what was not written elsewhere than where it first was, and adds to it.
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  // One recv() for several records.
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, 64 * 1024);
  return context;
}

void tc_context_release(tc_context *context) { SSL_CTX_free(context); }

static bool is_address(const char *host) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

// The name that the certificate must have, and that the server may choose its certificate by (RFC
// 6066: no IP address).
static bool set_host(SSL *connection, const char *host) {
  if (is_address(host)) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), host) == 1;
  return SSL_set1_host(connection, host) == 1 && SSL_set_tlsext_host_name(connection, host) == 1;
}

tc_connection *tc_create(tc_context *context, int socket, const char *host) {
  SSL *connection = SSL_new(context);
  if (!connection) return NULL;
  if (SSL_set_fd(connection, socket) != 1 || !set_host(connection, host)) {
    SSL_free(connection);
    return NULL;
  }
  SSL_set_connect_state(connection);
  return connection;
}

void tc_release(tc_connection *connection) { SSL_free(connection); }

static tc_status status(SSL *connection, int result) {
  if (result == 1) return TC_DONE;
  switch (SSL_get_error(connection, result)) {
  case SSL_ERROR_WANT_READ: return TC_WANTS_READ;
  case SSL_ERROR_WANT_WRITE: return TC_WANTS_WRITE;
  case SSL_ERROR_ZERO_RETURN: return TC_ENDED;
  case SSL_ERROR_SSL:
    // A server that closes its socket without TLS's own end has ended the stream all the same.
    return ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING ? TC_ENDED : TC_FAILED;
  default: return TC_FAILED;
  }
}

static bool is_refused(SSL *connection) {
  return SSL_get_verify_result(connection) != X509_V_OK && SSL_get_verify_mode(connection) != SSL_VERIFY_NONE;
}

tc_status tc_handshake(tc_connection *connection) {
  ERR_clear_error();
  tc_status result = status(connection, SSL_do_handshake(connection));
  return result == TC_FAILED && is_refused(connection) ? TC_UNTRUSTED : result;
}

tc_status tc_read(tc_connection *connection, void *bytes, size_t capacity, size_t *count) {
  *count = 0;
  while (*count < capacity) {
    ERR_clear_error();
    size_t record = 0;
    int result = SSL_read_ex(connection, (char *)bytes + *count, capacity - *count, &record);
    if (result != 1) return status(connection, result);
    *count += record;
  }
  return TC_DONE;
}

size_t tc_bytes_read(const tc_connection *connection) { return BIO_number_read(SSL_get_rbio(connection)); }

tc_status tc_write(tc_connection *connection, const void *bytes, size_t length, size_t *count) {
  *count = 0;
  while (*count < length) {
    ERR_clear_error();
    size_t record = 0;
    int result = SSL_write_ex(connection, (const char *)bytes + *count, length - *count, &record);
    if (result != 1) return status(connection, result);
    *count += record;
  }
  return TC_DONE;
}

void tc_reason(tc_connection *connection, char *reason, size_t capacity) {
  if (is_refused(connection)) {
    snprintf(reason, capacity, "%s", X509_verify_cert_error_string(SSL_get_verify_result(connection)));
  } else {
    write_error(reason, capacity);
  }
}

void tc_websocket_accept(const char *key, char accept[29]) {
  char text[128];
  int length = snprintf(text, sizeof text, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
  unsigned char digest[SHA_DIGEST_LENGTH];
  SHA1((const unsigned char *)text, (size_t)length, digest);
  EVP_EncodeBlock((unsigned char *)accept, digest, sizeof digest);
}
