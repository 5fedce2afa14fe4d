// What the library reports of its sockets.

#pragma once

#include "bytes.h"
#include "connection.h"
#include "event_stream.h"
#include "hangups.h"
#include "http.h"
#include "receive.h"
#include "sockets.h"
#include "tls.h"
#include "upgrade.h"

#include <libwebsockets.h>

// Who is told, for a loop; the user of the library's context. Fields: protocol.c, context.c, loop.c,
// interface.c.
struct protocol {
  const ct_callbacks *callbacks;
  connections *connections;
  hangups *hangups;
  exchanges *exchanges;
  event_streams *event_streams;
  receiver receiver;
  upgrades upgrades;
  adoption adoption;
  bytes head_text;
  certificate certificate;
};

// See ct_exchange_open_stream.
bool protocol_open_stream(protocol *p, ct_exchange_id exchange, ct_text headers);

// The library's callback.
int protocol_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t count);
