// A C door to epoll(7), which the Glibc module of Swift leaves out. Nothing of sys/epoll.h is seen outside CEpoll.c.
//
// Threads: one at a time per epoll. Sockets are watched level-triggered.
#pragma once
#include <stdbool.h>
#include <stdint.h>

/// A socket that is ready.
typedef struct {
  /// The number it was added with.
  uint32_t number;
  /// There is something to read; the end of the stream and an error count as that.
  bool readable;
  /// There is room to write; the end of connecting, well or badly, counts as that.
  bool writable;
} ce_event;

/// A new epoll, or -1 and errno.
int ce_create(void);

/// Watches a socket for reading, and for writing too where it is asked for. -1 and errno on failure.
int ce_add(int epoll, int socket, uint32_t number, bool writing);

/// Changes what a socket is watched for.
int ce_change(int epoll, int socket, uint32_t number, bool writing);

/// Watches a socket no longer.
int ce_remove(int epoll, int socket);

/// Waits until a socket is ready, or for `timeout` nanoseconds (24 days at most), or for a signal, and writes at most `capacity` events (1024 at most).
/// Gives how many there are; 0 after a signal.
int ce_wait(int epoll, ce_event *events, int capacity, uint64_t timeout);

/// Lets the waits of this thread end when they are due, and not up to 50 microseconds later. -1 and errno on failure.
int ce_wait_precisely(void);
