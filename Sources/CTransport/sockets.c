#include "sockets.h"

#include "bytes.h"

#include <libwebsockets.h>
#include <netinet/tcp.h>
#include <stdlib.h>

bool socket_adopt(adoption *to, arrival *a, const peer *p, int descriptor, const uint8_t *head, size_t count) {
  int one = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);  // not for Unix sockets
  accepted_socket *socket = ct_allocate(1, sizeof *socket);
  *socket = (accepted_socket){.protocol = to->protocol, .arrival = a, .peer = *p};
  lws_adopt_desc_t description = {
    .vh = p->is_internal ? to->internal_vhost : to->public_vhost,
    .type = LWS_ADOPT_SOCKET | LWS_ADOPT_HTTP | LWS_ADOPT_ALLOW_SSL, .fd.sockfd = descriptor, .opaque = socket};
  to->adopting = socket;
  struct lws *wsi = count ? lws_adopt_socket_vhost_readbuf(description.vh, descriptor, (const char *)head, count)
                          : lws_adopt_descriptor_vhost_via_info(&description);
  // On failure the library has closed the descriptor; if it got as far as making a wsi, WSI_DESTROY
  // has freed the socket and cleared `adopting`.
  bool is_untold = !wsi && to->adopting;
  if (is_untold) free(socket);
  to->adopting = NULL;
  return !is_untold;
}
