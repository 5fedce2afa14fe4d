#define _GNU_SOURCE
#include "server.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frame.h"
#include "handshake.h"
#include "stream.h"

// A room's log takes address space only: the kernel gives it memory page by page, as it is written.
enum { LOG_CAPACITY = 64 << 20, READ_SIZE = 64 << 10 };

struct connection {
  struct stream stream;
  struct room *room;    // once it is upgraded
  bool blocked;         // its socket is full; epoll reports when it can be written again
  bool broken;          // writing failed; epoll reports its end
  size_t index;         // among the room's members
  uint64_t cursor;      // the position in the room's log up to which it has been sent everything
  unsigned char *input; // bytes read that are no whole frame yet
  size_t input_size, input_capacity;
};

struct room {
  struct connection **members;
  size_t member_count, member_capacity;
  // Framed messages. Positions count from the room's first message; `base` is that of log[0].
  unsigned char *log;
  uint64_t base, end;
  bool is_listed; // in the server's list of rooms to flush at the end of the turn
  struct room *next_listed;
};

struct server {
  int epoll;
  struct server_options options;
  struct connection **by_socket; // `descriptors` entries
  size_t descriptors;
  struct room *rooms[MOST_ROOMS]; // NULL until a connection enters
  struct room *listed;
};

// As long as the reply of the server under test, so that a message costs both the same bytes.
static const char reply[] =
  "{\"jsonrpc\":\"2.0\",\"id\":1000,\"result\":{\"msgID\":\"eiocy5lwvwhk-yykvov-1\",\"timestamp\":1000000000000,"
  "\"status\":\"Delivered\"}}";

static void *allocated(void *memory) {
  if (memory) return memory;
  perror("raw-server: memory");
  exit(1);
}

struct server *server_make(int epoll, struct server_options options, size_t descriptors) {
  struct server *server = allocated(calloc(1, sizeof *server));
  server->epoll = epoll;
  server->options = options;
  server->descriptors = descriptors;
  server->by_socket = allocated(calloc(descriptors, sizeof(struct connection *)));
  return server;
}

static void watch(struct server *server, struct connection *connection, int operation) {
  struct epoll_event event = {
    .events = EPOLLIN | (connection->blocked ? EPOLLOUT : 0), .data.fd = connection->stream.socket};
  if (epoll_ctl(server->epoll, operation, connection->stream.socket, &event) != 0) perror("raw-server: epoll_ctl");
}

void server_add(struct server *server, int socket) {
  if ((size_t)socket >= server->descriptors) {
    close(socket);
    return;
  }
  struct connection *connection = allocated(calloc(1, sizeof *connection));
  if (!stream_open(&connection->stream, socket, server->options.tls)) allocated(NULL);
  server->by_socket[socket] = connection;
  watch(server, connection, EPOLL_CTL_ADD);
}

static void enter(struct server *server, struct connection *connection, size_t number) {
  struct room *room = server->rooms[number];
  if (!room) {
    room = server->rooms[number] = allocated(calloc(1, sizeof *room));
    room->log = allocated(malloc(LOG_CAPACITY));
  }
  if (room->member_count == room->member_capacity) {
    room->member_capacity = room->member_capacity ? 2 * room->member_capacity : 16;
    room->members = allocated(realloc(room->members, room->member_capacity * sizeof(struct connection *)));
  }
  connection->room = room;
  connection->cursor = room->end;
  connection->index = room->member_count;
  room->members[room->member_count++] = connection;
}

static void drop(struct server *server, struct connection *connection) {
  struct room *room = connection->room;
  if (room) {
    struct connection *last = room->members[--room->member_count];
    room->members[last->index = connection->index] = last;
  }
  server->by_socket[connection->stream.socket] = NULL;
  stream_close(&connection->stream);
  free(connection->input);
  free(connection);
}

// Ends the connection where members may be iterated: epoll reports it, and it is dropped then.
static void break_off(struct connection *connection) {
  connection->broken = true;
  shutdown(connection->stream.socket, SHUT_RDWR);
}

static void send_pending(struct server *server, struct connection *connection) {
  struct room *room = connection->room;
  const unsigned char *pending = room->log + (connection->cursor - room->base);
  ssize_t sent = stream_write(&connection->stream, pending, room->end - connection->cursor);
  if (sent < 0) return break_off(connection);
  connection->cursor += (uint64_t)sent;
  bool blocked = connection->cursor < room->end;
  if (blocked == connection->blocked) return;
  connection->blocked = blocked;
  watch(server, connection, EPOLL_CTL_MOD);
}

static void flush_room(struct server *server, struct room *room) {
  for (size_t i = 0; i < room->member_count; i++) {
    struct connection *member = room->members[i];
    if (member->cursor < room->end && !member->blocked && !member->broken) send_pending(server, member);
  }
}

void server_flush(struct server *server) {
  while (server->listed) {
    struct room *room = server->listed;
    server->listed = room->next_listed;
    room->is_listed = false;
    flush_room(server, room);
  }
}

// Forgets what all members have been sent, and everything older than half the log.
static void compact(struct server *server, struct room *room) {
  flush_room(server, room);
  uint64_t keep = room->end;
  for (size_t i = 0; i < room->member_count; i++) {
    if (room->members[i]->cursor < keep) keep = room->members[i]->cursor;
  }
  uint64_t oldest = room->end - room->base > LOG_CAPACITY / 2 ? room->end - LOG_CAPACITY / 2 : room->base;
  if (keep < oldest) keep = oldest;
  memmove(room->log, room->log + (keep - room->base), room->end - keep);
  room->base = keep;
}

static void append(struct server *server, struct room *room, const struct frame *frame) {
  if (room->end - room->base + LARGEST_HEAD + frame->length > LOG_CAPACITY) compact(server, room);
  unsigned char *out = room->log + (room->end - room->base);
  size_t head = frame_write_head(out, frame->opcode, frame->length);
  memcpy(out + head, frame->payload, frame->length);
  room->end += head + frame->length;
}

static void send_reply(struct connection *connection) {
  unsigned char bytes[LARGEST_HEAD + sizeof reply];
  size_t head = frame_write_head(bytes, OPCODE_TEXT, sizeof reply - 1);
  memcpy(bytes + head, reply, sizeof reply - 1);
  size_t size = head + sizeof reply - 1;
  if (stream_write(&connection->stream, bytes, size) != (ssize_t)size) break_off(connection);
}

static void publish(struct server *server, struct connection *sender, const struct frame *frame) {
  struct room *room = sender->room;
  // A sender that is behind in the log cannot skip its own message: it gets that in place of the
  // reply.
  if (server->options.replying && sender->cursor < room->end && !sender->blocked && !sender->broken) send_pending(server, sender);
  bool replying = server->options.replying && sender->cursor == room->end && !sender->broken;
  append(server, room, frame);
  if (replying) {
    sender->cursor = room->end;
    send_reply(sender);
  }
  if (!server->options.coalescing) {
    flush_room(server, room);
  } else if (!room->is_listed) {
    room->is_listed = true;
    room->next_listed = server->listed;
    server->listed = room;
  }
}

// Removes the first `count` bytes of the input.
static void consume(struct connection *connection, size_t count) {
  connection->input_size -= count;
  memmove(connection->input, connection->input + count, connection->input_size);
}

static bool upgrade(struct server *server, struct connection *connection) {
  char answer[ANSWER_CAPACITY];
  const char *input = (const char *)connection->input;
  size_t size = handshake_size(input, connection->input_size);
  if (size == 0) return connection->input_size < READ_SIZE;
  size_t answered = handshake_answer(input, size, answer);
  if (answered == 0 || stream_write(&connection->stream, answer, answered) != (ssize_t)answered) return false;
  size_t room = handshake_room(input, size);
  consume(connection, size);
  enter(server, connection, room);
  return true;
}

static bool read_frames(struct server *server, struct connection *connection) {
  size_t at = 0, used = 0;
  struct frame frame;
  enum frame_state state;
  while ((state = frame_read(connection->input + at, connection->input_size - at, &frame, &used)) == FRAME_WHOLE) {
    at += used;
    if (frame.opcode == OPCODE_CLOSE) return false;
    if (frame.opcode == OPCODE_TEXT || frame.opcode == OPCODE_BINARY) publish(server, connection, &frame);
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
static bool receive(struct server *server, struct connection *connection) {
  static unsigned char bytes[READ_SIZE];
  ssize_t count;
  while ((count = stream_read(&connection->stream, bytes, sizeof bytes)) > 0) {
    keep_input(connection, bytes, (size_t)count);
    if (!connection->room && !upgrade(server, connection)) return false;
    if (connection->room && !read_frames(server, connection)) return false;
    if (!connection->stream.tls) return true; // epoll reports what is left
  }
  return count == 0;
}

void server_ready(struct server *server, int socket, unsigned events) {
  struct connection *connection = server->by_socket[socket];
  if (!connection) return;
  bool alive = true;
  if (events & EPOLLOUT && connection->blocked && !connection->broken) {
    alive = connection->cursor >= connection->room->base; // else the log has lost the rest of a frame
    if (alive) send_pending(server, connection);
  }
  if (alive && events & ~(unsigned)EPOLLOUT) alive = receive(server, connection);
  if (!alive) drop(server, connection);
}
