// Handing a socket to the library.

#pragma once

#include "head.h"

struct lws_vhost;
typedef struct arrival arrival;
typedef struct connection connection;
typedef struct request request;
typedef struct protocol protocol;

// One for each socket that the library has, to WSI_DESTROY. Fields: sockets.c, protocol.c.
typedef struct {
  protocol *protocol;
  arrival *arrival;        // until it is a WebSocket or an event stream
  connection *connection;  // once it is one of them
  request *request;        // while an HTTP request is answered
  peer peer;
} accepted_socket;

// Where sockets go. Fields: sockets.c, protocol.c, context.c, loop.c.
typedef struct {
  protocol *protocol;
  struct lws_vhost *public_vhost, *internal_vhost;
  accepted_socket *adopting;  // until the library has it
} adoption;

// head: bytes that were taken from the socket. False: the library has closed it, and has told
// protocol.c of nothing.
bool socket_adopt(adoption *to, arrival *a, const peer *p, int descriptor, const uint8_t *head, size_t count);
