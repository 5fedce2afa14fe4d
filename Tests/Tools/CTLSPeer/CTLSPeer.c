#include "CTLSPeer.h"

#include <openssl/ec.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>

static X509 *self_signed(EVP_PKEY *key, const char *name) {
  X509 *certificate = X509_new();
  if (!certificate) return NULL;
  X509_NAME *subject = X509_get_subject_name(certificate);
  bool made = X509_set_version(certificate, 2) && ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) &&
              X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) && X509_gmtime_adj(X509_getm_notAfter(certificate), 3600) &&
              X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0) &&
              X509_set_issuer_name(certificate, subject) && X509_set_pubkey(certificate, key) &&
              X509_sign(certificate, key, EVP_sha256());
  if (made) return certificate;
  X509_free(certificate);
  return NULL;
}

static bool write_pem(X509 *certificate, const char *path) {
  FILE *file = fopen(path, "w");
  if (!file) return false;
  bool written = PEM_write_X509(file, certificate) == 1;
  return fclose(file) == 0 && written;
}

tp_context *tp_context_create(const char *name, const char *certificate_file) {
  EVP_PKEY *key = EVP_EC_gen("P-256");
  X509 *certificate = key ? self_signed(key, name) : NULL;
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  bool usable = context && certificate && SSL_CTX_use_certificate(context, certificate) == 1 &&
                SSL_CTX_use_PrivateKey(context, key) == 1 && (!certificate_file || write_pem(certificate, certificate_file));
  X509_free(certificate);
  EVP_PKEY_free(key);
  if (usable) return context;
  SSL_CTX_free(context);
  return NULL;
}

void tp_context_release(tp_context *context) { SSL_CTX_free(context); }

tp_connection *tp_create(tp_context *context, int socket) {
  SSL *connection = SSL_new(context);
  if (connection && SSL_set_fd(connection, socket) == 1) {
    SSL_set_accept_state(connection);
    return connection;
  }
  SSL_free(connection);
  return NULL;
}

void tp_release(tp_connection *connection) { SSL_free(connection); }

long tp_read(tp_connection *connection, void *bytes, size_t capacity) {
  size_t count = 0;
  int result = SSL_read_ex(connection, bytes, capacity, &count);
  if (result == 1) return (long)count;
  int error = SSL_get_error(connection, result);
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

bool tp_write(tp_connection *connection, const void *bytes, size_t length) {
  size_t written = 0;
  return SSL_write_ex(connection, bytes, length, &written) == 1 && written == length;
}

void tp_end(tp_connection *connection) { SSL_shutdown(connection); }
