#include "process.h"

#include <libwebsockets.h>
#include <malloc.h>
#include <openssl/decodererr.h>
#include <openssl/err.h>
#include <openssl/pemerr.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509err.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static void (*log_sink)(int level, const char *text, size_t count);

// The library's first error line since it was cleared, per thread.
static _Thread_local char first_error[160];

void process_clear_error(void) { first_error[0] = '\0'; }
const char *process_first_error(void) { return first_error; }

// lws_adopt_socket_vhost_readbuf reports its success as an error.
static bool is_noise(const char *line) { return strstr(line, "adopt_socket_readbuf: calling service"); }

static void on_log(int level, const char *line) {
  if (is_noise(line)) return;
  size_t count = strlen(line);
  while (count && (line[count - 1] == '\n' || line[count - 1] == '\r')) count--;
  if (level == LLL_ERR && !first_error[0]) snprintf(first_error, sizeof first_error, "%.*s", (int)count, line);
  log_sink(level == LLL_ERR ? 1 : 2, line, count);
}

size_t ct_limit_open_files(size_t wanted) {
  struct rlimit files = {0};
  if (getrlimit(RLIMIT_NOFILE, &files)) return 0;
  rlim_t before = files.rlim_cur;
  files.rlim_cur = wanted < files.rlim_max ? wanted : files.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &files) ? before : files.rlim_cur;
}

size_t ct_memory_in_use(void) {
  struct mallinfo2 memory = mallinfo2();
  return memory.uordblks + memory.hblkhd;
}

void ct_memory_trim(void) { malloc_trim(0); }

void ct_prepare_process(void (*log)(int level, const char *text, size_t count)) {
  signal(SIGPIPE, SIG_IGN);
  log_sink = log;
  // Only these two levels: the next ones hold URLs.
  lws_set_log_level(LLL_ERR | LLL_WARN, on_log);
}

// Called only for an encrypted key. Without it OpenSSL would prompt on the terminal.
static int refuse_passphrase(char *buffer, int size, int is_writing, void *was_asked) {
  (void)buffer, (void)size, (void)is_writing;
  *(bool *)was_asked = true;
  return -1;
}

// A text that an operator can act on, where OpenSSL's speaks of its internals.
static const char *translated(unsigned long code, const char *pem_kind) {
  int library = ERR_GET_LIB(code), reason = ERR_GET_REASON(code);
  bool is_no_pem = (library == ERR_LIB_PEM && reason == PEM_R_NO_START_LINE)
    || library == ERR_LIB_OSSL_DECODER || library == ERR_LIB_PEM || library == ERR_LIB_ASN1;
  if (is_no_pem) return pem_kind;
  if (library == ERR_LIB_X509 && (reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH)) {
    return "the key does not belong to the certificate";
  }
  if (library == ERR_LIB_SSL && (reason == SSL_R_EE_KEY_TOO_SMALL || reason == SSL_R_CA_KEY_TOO_SMALL)) {
    return "the key is too short to be safe";
  }
  const char *words = ERR_reason_error_string(code);
  return words ? words : "cannot be used";
}

static const char *first_fault(const char *pem_kind) { return translated(ERR_get_error(), pem_kind); }

// NULL where the key can be used with the certificate.
static const char *use_key(SSL_CTX *context, const char *key_file) {
  bool was_asked = false;
  SSL_CTX_set_default_passwd_cb(context, refuse_passphrase);
  SSL_CTX_set_default_passwd_cb_userdata(context, &was_asked);
  if (SSL_CTX_use_PrivateKey_file(context, key_file, SSL_FILETYPE_PEM) != 1) {
    return was_asked ? "the private key is encrypted: remove its passphrase" : first_fault("is not a PEM private key");
  }
  return SSL_CTX_check_private_key(context) == 1 ? NULL : first_fault("cannot be used");
}

// A key that is in place, and another one, say nothing about each other: only a key that cannot be
// read leaves the old one in use.
static bool use_previous_key(SSL_CTX *context, const SSL_CTX *previous, const char *key_file) {
  SSL_CTX *other = SSL_CTX_new(TLS_server_method());
  bool is_readable = other && !use_key(other, key_file);
  SSL_CTX_free(other);
  return !is_readable && previous && SSL_CTX_use_PrivateKey(context, SSL_CTX_get0_privatekey(previous)) == 1;
}

static int64_t seconds_of(const ASN1_TIME *time) {
  struct tm parts = {0};
  return ASN1_TIME_to_tm(time, &parts) == 1 ? (int64_t)timegm(&parts) : INT64_MAX;
}

// The earliest of the whole chain: clients refuse it when any certificate has expired.
int64_t ct_tls_expiry(const SSL_CTX *constant) {
  SSL_CTX *context = (SSL_CTX *)constant;  // the getter of the chain changes nothing

  int64_t earliest = seconds_of(X509_get0_notAfter(SSL_CTX_get0_certificate(context)));
  STACK_OF(X509) *chain = NULL;
  SSL_CTX_get0_chain_certs(context, &chain);
  for (int i = 0; i < sk_X509_num(chain); i++) {
    int64_t end = seconds_of(X509_get0_notAfter(sk_X509_value(chain, i)));
    if (end < earliest) earliest = end;
  }
  return earliest;
}

ct_tls *ct_tls_read(
  const char *certificate_file, const char *key_file, const ct_tls *previous, char *error, size_t error_size
) {
  ERR_clear_error();
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  if (!context || SSL_CTX_use_certificate_chain_file(context, certificate_file) != 1) {
    snprintf(error, error_size, "%s: %s", certificate_file, first_fault("is not a PEM certificate"));
    SSL_CTX_free(context);
    context = NULL;
  } else {
    const char *fault = use_key(context, key_file);
    if (fault) snprintf(error, error_size, "%s: %s", key_file, fault);
    if (fault && !use_previous_key(context, previous, key_file)) {
      SSL_CTX_free(context);
      context = NULL;
    }
  }
  ERR_clear_error();
  return context;
}

void ct_tls_free(ct_tls *tls) { SSL_CTX_free(tls); }
