// The application's part in a measurement of webhooks: it answers each request with {} and does
// nothing else, neither reading its contents nor verifying it. One thread, one epoll loop.
//
// webhook-receiver answers    each request is answered at once
// webhook-receiver hangs      requests are read and never answered
//
// Listens at 127.0.0.1, any free port. Prints "listening 127.0.0.1:PORT" when it is ready.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 1024, EVENTS = 256, USAGE = 64, MOST_BYTES = 1 << 20 };

struct connection {
  int socket;
  size_t count;
  // A request that is not whole yet, ended by a zero for the string functions.
  char bytes[MOST_BYTES + 1];
};

static const char answer[] = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";

static void fail(const char *what) {
  fprintf(stderr, "webhook-receiver: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int listen_anywhere(void) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (listener < 0) fail("socket");
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, size) != 0) fail("bind");
  if (listen(listener, BACKLOG) != 0) fail("listen");
  if (getsockname(listener, (struct sockaddr *)&address, &size) != 0) fail("getsockname");
  printf("listening 127.0.0.1:%u\n", ntohs(address.sin_port));
  fflush(stdout);
  return listener;
}

static void watch(int epoll, int socket, void *context) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = context};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event) != 0) fail("epoll_ctl");
}

static void accept_all(int epoll, int listener) {
  int one = 1, client;
  while ((client = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    // The kernel gives the memory page by page, as it is written.
    struct connection *connection = malloc(sizeof *connection);
    if (!connection) fail("memory");
    connection->socket = client;
    connection->count = 0;
    watch(epoll, client, connection);
  }
}

static void drop(struct connection *connection) {
  close(connection->socket);
  free(connection);
}

// The bytes of the request at `text`, which ends with a zero; 0 = it is not whole.
static size_t whole_request(const char *text, size_t count) {
  const char *end = strstr(text, "\r\n\r\n");
  const char *field = strcasestr(text, "\r\ncontent-length:");
  if (!end || !field || field > end) return 0;
  size_t size = (size_t)(end + 4 - text) + strtoul(field + strlen("\r\ncontent-length:"), NULL, 10);
  return size <= count ? size : 0;
}

// False where the connection has ended.
static bool receive(struct connection *connection, bool is_answering) {
  ssize_t count = recv(connection->socket, connection->bytes + connection->count, MOST_BYTES - connection->count, 0);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  connection->count += (size_t)count;
  connection->bytes[connection->count] = 0;
  size_t start = 0, size;
  while ((size = whole_request(connection->bytes + start, connection->count - start)) > 0) {
    start += size;
    // The client waits for it, so it fits the socket's buffer.
    if (is_answering && send(connection->socket, answer, sizeof answer - 1, MSG_NOSIGNAL) < 0) return false;
  }
  connection->count -= start;
  memmove(connection->bytes, connection->bytes + start, connection->count + 1);
  return connection->count < MOST_BYTES;
}

int main(int count, char **arguments) {
  bool is_answering = count == 2 && strcmp(arguments[1], "answers") == 0;
  if (!is_answering && (count != 2 || strcmp(arguments[1], "hangs") != 0)) {
    fputs("usage: webhook-receiver answers|hangs\n", stderr);
    return USAGE;
  }
  int epoll = epoll_create1(0), listener = listen_anywhere();
  if (epoll < 0) fail("epoll_create1");
  watch(epoll, listener, NULL);
  struct epoll_event ready[EVENTS];
  for (;;) {
    int found = epoll_wait(epoll, ready, EVENTS, -1);
    if (found < 0 && errno != EINTR) fail("epoll_wait");
    for (int i = 0; i < found; i++) {
      struct connection *connection = ready[i].data.ptr;
      if (!connection) accept_all(epoll, listener);
      else if (!receive(connection, is_answering)) drop(connection);
    }
  }
}
