// The bare server to compare Throng with: it sends every message to every connection of a room and
// does nothing else. One thread, one epoll loop; no sign-in, no rights, no JSON, no pings.
//
// raw-server PORT send     one send() per recipient and message: the limit without coalescing
// raw-server PORT batch    one send() per recipient and loop turn: the limit with it
// --reply                  the sender gets a reply as long as Throng's in place of its own message
// --deflate                permessage-deflate: each message by itself, once for all that offer it
// --tls CERTIFICATE KEY    wss, with these PEM files
//
// The path is the number of the room: /17; any other path is room 0. Listens at 127.0.0.1; PORT 0
// is any free port. Prints "listening 127.0.0.1:PORT" when it is ready.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server.h"
#include "stream.h"

enum { BACKLOG = 4096, EVENTS = 1024, USAGE = 64, MOST_DESCRIPTORS = 1 << 20 };

static void fail(const char *what) {
  fprintf(stderr, "raw-server: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void usage(void) {
  fputs("usage: raw-server PORT send|batch [--reply] [--deflate] [--tls CERTIFICATE KEY]\n", stderr);
  exit(USAGE);
}

static uint16_t parse_port(const char *text) {
  char *end;
  unsigned long port = strtoul(text, &end, 10);
  if (*text == 0 || *end != 0 || port > UINT16_MAX) usage();
  return (uint16_t)port;
}

// As many as the hard limit allows.
static size_t raise_descriptors(void) {
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) fail("getrlimit");
  files.rlim_cur = files.rlim_max < MOST_DESCRIPTORS ? files.rlim_max : MOST_DESCRIPTORS;
  if (setrlimit(RLIMIT_NOFILE, &files) != 0) fail("setrlimit");
  return files.rlim_cur;
}

static int listen_at(uint16_t port) {
  int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0) fail("socket");
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, size) != 0) fail("bind");
  if (listen(listener, BACKLOG) != 0) fail("listen");
  if (getsockname(listener, (struct sockaddr *)&address, &size) != 0) fail("getsockname");
  printf("listening 127.0.0.1:%u\n", ntohs(address.sin_port));
  fflush(stdout);
  return listener;
}

static void accept_all(struct server *server, int listener) {
  int one = 1, client;
  while ((client = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    server_add(server, client);
  }
}

static void run(int epoll, int listener, struct server *server) {
  struct epoll_event ready[EVENTS];
  for (;;) {
    int count = epoll_wait(epoll, ready, EVENTS, -1);
    if (count < 0 && errno != EINTR) fail("epoll_wait");
    for (int i = 0; i < count; i++) {
      if (ready[i].data.fd == listener) accept_all(server, listener);
      else server_ready(server, ready[i].data.fd, ready[i].events);
    }
    server_flush(server);
  }
}

static struct server_options parse_options(int count, char **arguments) {
  struct server_options options = {.coalescing = strcmp(arguments[2], "batch") == 0};
  if (!options.coalescing && strcmp(arguments[2], "send") != 0) usage();
  for (int i = 3; i < count; i++) {
    if (strcmp(arguments[i], "--reply") == 0) {
      options.replying = true;
    } else if (strcmp(arguments[i], "--deflate") == 0) {
      options.deflating = true;
    } else if (strcmp(arguments[i], "--tls") == 0 && i + 2 < count) {
      options.tls = stream_context(arguments[i + 1], arguments[i + 2]);
      if (!options.tls) exit(1);
      i += 2;
    } else {
      usage();
    }
  }
  return options;
}

int main(int count, char **arguments) {
  if (count < 3) usage();
  uint16_t port = parse_port(arguments[1]);
  struct server_options options = parse_options(count, arguments);

  signal(SIGPIPE, SIG_IGN); // OpenSSL writes without MSG_NOSIGNAL
  size_t descriptors = raise_descriptors();
  int epoll = epoll_create1(0);
  if (epoll < 0) fail("epoll_create1");
  struct server *server = server_make(epoll, options, descriptors);
  int listener = listen_at(port);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) != 0) fail("epoll_ctl");
  run(epoll, listener, server);
}
