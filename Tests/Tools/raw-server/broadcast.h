// Connections and the log of framed messages that all of them are sent.
#ifndef RAW_SERVER_BROADCAST_H
#define RAW_SERVER_BROADCAST_H

#include <stdbool.h>
#include <stddef.h>

struct broadcast;

// `coalescing`: one send() per recipient and loop turn; else one per recipient and message. Ends the process without memory.
struct broadcast *broadcast_make(int epoll, bool coalescing, size_t descriptors);

// Takes over a non-blocking socket; closes it when its number is not below `descriptors`.
void broadcast_add(struct broadcast *all, int socket);

// Handles what epoll reported of a socket; reports of a socket that is closed by now are ignored.
void broadcast_ready(struct broadcast *all, int socket, unsigned events);

// Sends every open connection what it has not been sent; to be called at the end of a loop turn.
void broadcast_flush(struct broadcast *all);

#endif
