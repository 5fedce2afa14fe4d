// Requests that want to become WebSockets.

#pragma once

#include "bytes.h"
#include "head.h"
#include "offer.h"

// Fields: upgrade.c, protocol.c, context.c, loop.c.
typedef struct {
  const ct_options *options;
  const ct_callbacks *callbacks;
  char any_protocol[64];  // the name of a protocol of the library's; see upgrade.c
  deflate_terms terms;    // of the upgrade that is being answered
  const struct lws *last;  // whose head was read last, with the head and its text
  ct_request_head head;
  bytes head_text;
} upgrades;

// 0 lets the library upgrade, -1 ends the connection after a refusal was sent.
int upgrade_decide(upgrades *all, struct lws *wsi, const peer *p, char *protocol);
