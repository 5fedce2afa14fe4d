#define _GNU_SOURCE
#include "server.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "frame.h"
#include "handshake.h"
#include "stream.h"

// A room's log takes address space only: the kernel gives it memory page by page, as it is written.
enum { LOG_CAPACITY = 64 << 20, READ_SIZE = 64 << 10 };
enum { DEFLATE_LEVEL = 6, WINDOW_BITS = 15, MEMORY_LEVEL = 8, SYNC_TAIL = 4 };

// Framed messages. Positions count from the room's first message; `base` is that of bytes[0].
struct log {
  unsigned char *bytes;
  uint64_t base, end;
};

struct connection {
  struct stream stream;
  struct room *room;    // once it is upgraded
  struct log *log;      // the one of the room's that it is sent
  bool blocked;         // its socket is full; epoll reports when it can be written again
  bool broken;          // writing failed; epoll reports its end
  size_t index;         // among the room's members
  uint64_t cursor;      // the position in its log up to which it has been sent everything
  unsigned char *input; // bytes read that are no whole frame yet
  size_t input_size, input_capacity;
};

struct room {
  struct connection **members;
  size_t member_count, member_capacity;
  struct log plain, deflated;
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
  z_stream deflater;
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
  int result = deflateInit2(&server->deflater, DEFLATE_LEVEL, Z_DEFLATED, -WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY);
  if (result != Z_OK) allocated(NULL);
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

static void enter(struct server *server, struct connection *connection, size_t number, bool deflate) {
  struct room *room = server->rooms[number];
  if (!room) {
    room = server->rooms[number] = allocated(calloc(1, sizeof *room));
    room->plain.bytes = allocated(malloc(LOG_CAPACITY));
    if (server->options.deflating) room->deflated.bytes = allocated(malloc(LOG_CAPACITY));
  }
  if (room->member_count == room->member_capacity) {
    room->member_capacity = room->member_capacity ? 2 * room->member_capacity : 16;
    room->members = allocated(realloc(room->members, room->member_capacity * sizeof(struct connection *)));
  }
  connection->room = room;
  connection->log = deflate ? &room->deflated : &room->plain;
  connection->cursor = connection->log->end;
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
  const struct log *log = connection->log;
  const unsigned char *pending = log->bytes + (connection->cursor - log->base);
  ssize_t sent = stream_write(&connection->stream, pending, log->end - connection->cursor);
  if (sent < 0) return break_off(connection);
  connection->cursor += (uint64_t)sent;
  bool blocked = connection->cursor < log->end;
  if (blocked == connection->blocked) return;
  connection->blocked = blocked;
  watch(server, connection, EPOLL_CTL_MOD);
}

static void flush_room(struct server *server, struct room *room) {
  for (size_t i = 0; i < room->member_count; i++) {
    struct connection *member = room->members[i];
    if (member->cursor < member->log->end && !member->blocked && !member->broken) send_pending(server, member);
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
static void compact(struct server *server, struct room *room, struct log *log) {
  flush_room(server, room);
  uint64_t keep = log->end;
  for (size_t i = 0; i < room->member_count; i++) {
    const struct connection *member = room->members[i];
    if (member->log == log && member->cursor < keep) keep = member->cursor;
  }
  uint64_t oldest = log->end - log->base > LOG_CAPACITY / 2 ? log->end - LOG_CAPACITY / 2 : log->base;
  if (keep < oldest) keep = oldest;
  memmove(log->bytes, log->bytes + (keep - log->base), log->end - keep);
  log->base = keep;
}

static void append(
  struct server *server, struct room *room, struct log *log, unsigned opcode, const unsigned char *payload, size_t length) {
  if (log->end - log->base + LARGEST_HEAD + length > LOG_CAPACITY) compact(server, room, log);
  unsigned char *out = log->bytes + (log->end - log->base);
  size_t head = frame_write_head(out, opcode, length);
  memcpy(out + head, payload, length);
  log->end += head + length;
}

static void append_deflated(struct server *server, struct room *room, const struct frame *frame) {
  static unsigned char out[2 * READ_SIZE]; // more than deflateBound() of the longest message
  z_stream *deflater = &server->deflater;
  deflateReset(deflater);
  deflater->next_in = frame->payload;
  deflater->avail_in = (unsigned)frame->length;
  deflater->next_out = out;
  deflater->avail_out = sizeof out;
  deflate(deflater, Z_SYNC_FLUSH);
  append(server, room, &room->deflated, frame->opcode | COMPRESSED, out, sizeof out - deflater->avail_out - SYNC_TAIL);
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
  if (server->options.replying && sender->cursor < sender->log->end && !sender->blocked && !sender->broken) send_pending(server, sender);
  bool replying = server->options.replying && sender->cursor == sender->log->end && !sender->broken;
  append(server, room, &room->plain, frame->opcode, frame->payload, frame->length);
  if (server->options.deflating) append_deflated(server, room, frame);
  if (replying) {
    sender->cursor = sender->log->end;
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
  bool deflate = server->options.deflating && handshake_offers_deflate(input, size);
  size_t answered = handshake_answer(input, size, deflate, answer);
  if (answered == 0 || stream_write(&connection->stream, answer, answered) != (ssize_t)answered) return false;
  size_t room = handshake_room(input, size);
  consume(connection, size);
  enter(server, connection, room, deflate);
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
    alive = connection->cursor >= connection->log->base; // else the log has lost the rest of a frame
    if (alive) send_pending(server, connection);
  }
  if (alive && events & ~(unsigned)EPOLLOUT) alive = receive(server, connection);
  if (!alive) drop(server, connection);
}
