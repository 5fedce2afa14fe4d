#include "private.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static void (*log_sink)(int level, const char *text, size_t count);

static void on_log(int level, const char *line) {
  size_t count = strlen(line);
  while (count && (line[count - 1] == '\n' || line[count - 1] == '\r')) count--;
  log_sink(level == LLL_ERR ? 1 : 2, line, count);
}

size_t ct_limit_open_files(size_t wanted) {
  struct rlimit files = {0};
  if (getrlimit(RLIMIT_NOFILE, &files)) return 0;
  rlim_t before = files.rlim_cur;
  files.rlim_cur = wanted < files.rlim_max ? wanted : files.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &files) ? before : files.rlim_cur;
}

void ct_prepare_process(void (*log)(int level, const char *text, size_t count)) {
  signal(SIGPIPE, SIG_IGN);
  log_sink = log;
  // No more than these two levels: the next ones hold URLs.
  lws_set_log_level(LLL_ERR | LLL_WARN, on_log);
}

static const char *use_files(SSL_CTX *context, const char *certificate_file, const char *key_file) {
  if (SSL_CTX_use_certificate_chain_file(context, certificate_file) != 1) return certificate_file;
  if (SSL_CTX_use_PrivateKey_file(context, key_file, SSL_FILETYPE_PEM) != 1) return key_file;
  return SSL_CTX_check_private_key(context) == 1 ? NULL : "the key does not belong to the certificate";
}

bool ct_check_tls(const char *certificate_file, const char *key_file, char *error, size_t error_size) {
  ERR_clear_error();
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  const char *culprit = context ? use_files(context, certificate_file, key_file) : "no TLS";
  if (culprit) {
    const char *reason = ERR_reason_error_string(ERR_get_error());
    snprintf(error, error_size, "%s: %s", culprit, reason ? reason : "unusable");
  }
  SSL_CTX_free(context);
  return !culprit;
}
