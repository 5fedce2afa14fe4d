// An HTTP server that keeps connections by libwebsockets' own means, to show what the library does.
// It ends with 3 when the library calls it without end for one request.
#include <libwebsockets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int requests, completions;

static int callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t count) {
  static char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";
  (void)user, (void)in, (void)count;
  switch (reason) {
  case LWS_CALLBACK_HTTP:
    requests++;
    completions = 0;
    return 0;
  case LWS_CALLBACK_HTTP_BODY_COMPLETION:
    if (++completions > 1000) exit(3);
    lws_callback_on_writable(wsi);
    return 0;
  case LWS_CALLBACK_HTTP_WRITEABLE:
    if (lws_write(wsi, (unsigned char *)answer, sizeof answer - 1, LWS_WRITE_HTTP) < 0) return -1;
    return lws_http_transaction_completed(wsi) ? -1 : 0;
  default:
    return 0;
  }
}

int main(int count, char **arguments) {
  static const struct lws_protocols protocols[] = {{.name = "http", .callback = callback}, {.name = NULL}};
  struct lws_context_creation_info info = {.port = count > 1 ? atoi(arguments[1]) : 0, .protocols = protocols};
  info.iface = "127.0.0.1";
  info.pt_serv_buf_size = 65536;
  lws_set_log_level(LLL_ERR, NULL);
  struct lws_context *context = lws_create_context(&info);
  if (!context) return 1;
  puts("ready");
  fflush(stdout);
  while (lws_service(context, 0) >= 0) {}
  return 0;
}
