// epoll(7), which the Glibc module of Swift leaves out. sys/epoll.h stays inside CEpoll.c.
//
// Threads: one at a time per epoll. Sockets are watched level-triggered.
#pragma once
#include <stdbool.h>
#include <stdint.h>

/// A socket that is ready.
typedef struct {
  /// The number given when it was added.
  uint32_t number;
  /// It can be read; the end of the stream and an error count as readable.
  bool readable;
  /// It can be written; the end of connect(2) and an error count as writable.
  bool writable;
} ce_event;

/// Creates an epoll; -1 and errno on failure.
int ce_create(void);

/// Watches a socket for reading, and for writing if `writing`. -1 and errno on failure.
int ce_add(int epoll, int socket, uint32_t number, bool writing);

/// Watches an added socket for reading, and for writing if `writing`.
int ce_change(int epoll, int socket, uint32_t number, bool writing);

/// Stops watching a socket.
int ce_remove(int epoll, int socket);

/// Waits until a socket is ready, for `timeout` nanoseconds (24 days at most), or for a signal.
/// Writes at most `capacity` events (1024 at most) and returns their number; 0 after a signal.
int ce_wait(int epoll, ce_event *events, int capacity, uint64_t timeout);

/// Ends the waits of this thread on time, not up to 50 µs late. -1 and errno on failure.
int ce_wait_precisely(void);
