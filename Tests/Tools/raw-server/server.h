// The connections, their rooms, and the log of framed messages that each room's members are sent.
#ifndef RAW_SERVER_SERVER_H
#define RAW_SERVER_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include <openssl/types.h>

struct server;

struct server_options {
  // One send() per recipient and loop turn; otherwise one per recipient and message.
  bool coalescing;
  // The sender gets a reply, and the others of its room the message; otherwise all get the message.
  bool replying;
  // Each message is deflated by itself, once for all that offer permessage-deflate.
  bool deflating;
  // TLS; NULL for plain connections.
  SSL_CTX *tls;
};

// `descriptors`: the socket numbers to expect are below it. Ends the process without memory.
struct server *server_make(int epoll, struct server_options options, size_t descriptors);

// Owns a non-blocking socket from now on; closes it when its number is not below `descriptors`.
void server_add(struct server *server, int socket);

// Handles the events of a socket; events of a closed socket are ignored.
void server_ready(struct server *server, int socket, unsigned events);

// Sends to every open connection what it has not been sent; to be called at the end of a loop turn.
void server_flush(struct server *server);

#endif
