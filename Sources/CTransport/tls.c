#include "tls.h"

#include <openssl/ssl.h>

// Called for each handshake. The connection's own certificates are replaced, because in the
// library's context a new one would stand beside an old one of another key type.
static int choose_certificate(SSL *connection, void *of_loop) {
  const certificate *c = of_loop;
  if (!c->current) return 1;
  STACK_OF(X509) *chain = NULL;
  SSL_CTX_get0_chain_certs(c->current, &chain);
  SSL_certs_clear(connection);
  return SSL_use_cert_and_key(
    connection, SSL_CTX_get0_certificate(c->current), SSL_CTX_get0_privatekey(c->current), chain, 1);
}

void certificate_install(certificate *c, ct_tls *of_library) { SSL_CTX_set_cert_cb(of_library, choose_certificate, c); }

void certificate_use(certificate *c, const ct_tls *tls) {
  SSL_CTX *next = (SSL_CTX *)tls;  // only counted
  SSL_CTX_up_ref(next);
  SSL_CTX_free(c->current);
  c->current = next;
}

void certificate_free(certificate *c) { SSL_CTX_free(c->current); }
