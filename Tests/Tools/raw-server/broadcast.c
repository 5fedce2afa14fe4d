#define _GNU_SOURCE
#include "broadcast.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frame.h"
#include "handshake.h"

enum { LOG_CAPACITY = 64 << 20, READ_SIZE = 64 << 10 };

struct connection {
  int socket;
  bool open;      // upgraded, so it stands among the members
  bool blocked;   // its socket is full; epoll tells when there is room again
  size_t index;   // among the members, when open
  uint64_t cursor; // position in the log up to which it has been sent everything
  unsigned char *input; // bytes read that are no whole frame yet
  size_t input_size, input_capacity;
};

struct broadcast {
  int epoll;
  bool coalescing;
  struct connection **by_socket; // `descriptors` entries
  struct connection **members;
  size_t descriptors, member_count;
  // Framed messages. Positions count from the server's start; `base` is that of log[0].
  unsigned char *log;
  uint64_t base, end, flushed;
};

static void *allocated(void *memory) {
  if (memory) return memory;
  perror("raw-server: memory");
  exit(1);
}

struct broadcast *broadcast_make(int epoll, bool coalescing, size_t descriptors) {
  struct broadcast *all = allocated(calloc(1, sizeof *all));
  all->epoll = epoll;
  all->coalescing = coalescing;
  all->descriptors = descriptors;
  all->by_socket = allocated(calloc(descriptors, sizeof(struct connection *)));
  all->members = allocated(calloc(descriptors, sizeof(struct connection *)));
  all->log = allocated(malloc(LOG_CAPACITY));
  return all;
}

static void watch(struct broadcast *all, struct connection *connection, int operation) {
  struct epoll_event event = {
    .events = EPOLLIN | (connection->blocked ? EPOLLOUT : 0), .data.fd = connection->socket};
  if (epoll_ctl(all->epoll, operation, connection->socket, &event) != 0) perror("raw-server: epoll_ctl");
}

void broadcast_add(struct broadcast *all, int socket) {
  if ((size_t)socket >= all->descriptors) {
    close(socket);
    return;
  }
  struct connection *connection = allocated(calloc(1, sizeof *connection));
  connection->socket = socket;
  all->by_socket[socket] = connection;
  watch(all, connection, EPOLL_CTL_ADD);
}

static void join(struct broadcast *all, struct connection *connection) {
  connection->open = true;
  connection->cursor = all->end;
  connection->index = all->member_count;
  all->members[all->member_count++] = connection;
}

static void drop(struct broadcast *all, struct connection *connection) {
  if (connection->open) {
    struct connection *last = all->members[--all->member_count];
    all->members[last->index = connection->index] = last;
  }
  all->by_socket[connection->socket] = NULL;
  close(connection->socket);
  free(connection->input);
  free(connection);
}

static void send_rest(struct broadcast *all, struct connection *connection) {
  const unsigned char *rest = all->log + (connection->cursor - all->base);
  ssize_t sent = send(connection->socket, rest, all->end - connection->cursor, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent > 0) connection->cursor += (uint64_t)sent;
  bool blocked = connection->cursor < all->end;
  if (blocked == connection->blocked) return;
  connection->blocked = blocked;
  watch(all, connection, EPOLL_CTL_MOD);
}

void broadcast_flush(struct broadcast *all) {
  if (all->flushed == all->end) return;
  for (size_t i = 0; i < all->member_count; i++) {
    if (!all->members[i]->blocked) send_rest(all, all->members[i]);
  }
  all->flushed = all->end;
}

// Forgets what everybody has been sent, and whatever lies further back than half the log.
static void make_room(struct broadcast *all) {
  broadcast_flush(all);
  uint64_t keep = all->end;
  for (size_t i = 0; i < all->member_count; i++) {
    if (all->members[i]->cursor < keep) keep = all->members[i]->cursor;
  }
  uint64_t furthest = all->end - all->base > LOG_CAPACITY / 2 ? all->end - LOG_CAPACITY / 2 : all->base;
  if (keep < furthest) keep = furthest;
  memmove(all->log, all->log + (keep - all->base), all->end - keep);
  all->base = keep;
}

static void append(struct broadcast *all, const struct frame *frame) {
  if (all->end - all->base + LARGEST_HEAD + frame->length > LOG_CAPACITY) make_room(all);
  unsigned char *out = all->log + (all->end - all->base);
  size_t head = frame_write_head(out, frame->opcode, frame->length);
  memcpy(out + head, frame->payload, frame->length);
  all->end += head + frame->length;
}

// Removes the first `count` bytes of the input.
static void consume(struct connection *connection, size_t count) {
  connection->input_size -= count;
  memmove(connection->input, connection->input + count, connection->input_size);
}

static bool upgrade(struct broadcast *all, struct connection *connection) {
  char answer[ANSWER_CAPACITY];
  size_t size = handshake_size((const char *)connection->input, connection->input_size);
  if (size == 0) return connection->input_size < READ_SIZE;
  size_t answered = handshake_answer((const char *)connection->input, size, answer);
  if (answered == 0 || send(connection->socket, answer, answered, MSG_NOSIGNAL) != (ssize_t)answered) return false;
  consume(connection, size);
  join(all, connection);
  return true;
}

static bool read_frames(struct broadcast *all, struct connection *connection) {
  size_t at = 0, used = 0;
  struct frame frame;
  enum frame_state state;
  while ((state = frame_read(connection->input + at, connection->input_size - at, &frame, &used)) == FRAME_WHOLE) {
    at += used;
    if (frame.opcode == OPCODE_CLOSE) return false;
    if (frame.opcode != OPCODE_TEXT && frame.opcode != OPCODE_BINARY) continue;
    append(all, &frame);
    if (!all->coalescing) broadcast_flush(all);
  }
  consume(connection, at);
  return state == FRAME_PARTIAL;
}

static void keep_input(struct connection *connection, const unsigned char *bytes, size_t count) {
  size_t needed = connection->input_size + count;
  if (needed > connection->input_capacity) {
    connection->input_capacity = needed + 512;
    connection->input = allocated(realloc(connection->input, connection->input_capacity));
  }
  memcpy(connection->input + connection->input_size, bytes, count);
  connection->input_size = needed;
}

// False when the connection has ended or is to be ended.
static bool receive(struct broadcast *all, struct connection *connection) {
  static unsigned char bytes[READ_SIZE];
  ssize_t count = recv(connection->socket, bytes, sizeof bytes, MSG_DONTWAIT);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  keep_input(connection, bytes, (size_t)count);
  if (!connection->open && !upgrade(all, connection)) return false;
  return !connection->open || read_frames(all, connection);
}

void broadcast_ready(struct broadcast *all, int socket, unsigned events) {
  struct connection *connection = all->by_socket[socket];
  if (!connection) return;
  bool alive = true;
  if (events & EPOLLOUT) {
    alive = connection->cursor >= all->base; // else the log moved on without it: nothing whole is left to send
    if (alive) send_rest(all, connection);
  }
  if (alive && events & ~(unsigned)EPOLLOUT) alive = receive(all, connection);
  if (!alive) drop(all, connection);
}
