// Messages of clients, from their frames.

#pragma once

#include "connection.h"
#include "inflate.h"

// What the connections of a loop share. Fields: receive.c.
typedef struct {
  const ct_options *options;
  inflater *inflater;
  uint8_t *received;              // a whole message and its padding
  const uint8_t *service_buffer;  // the library's; see mask.c
  uint64_t messages;              // received so far
} receiver;

void receiver_init(receiver *r, const ct_options *options);
void receiver_free(receiver *r);
// The library answers an upgrade.
void receiver_learn_buffer(receiver *r, const uint8_t *service_buffer);
static inline uint64_t receiver_messages(const receiver *r) { return r->messages; }

void connection_receive(receiver *r, connection *c, uint8_t *data, size_t count);
void connection_receive_pong(connection *c);
// The library has answered a ping, or is about to send something else.
void connection_check_ping(connection *c);
int connection_peer_closes(connection *c, const uint8_t *payload, size_t count);
void connection_library_closes(connection *c);
