#include "private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// The library reads a socket as soon as it has it, so a PROXY header is read before. Its bytes are
// looked at first and then taken, never one more: the next ones are the TLS or HTTP of the client.

enum { WAIT_MS = 5000 };

typedef struct announcement {
  listener *listener;
  ev_io watcher;
  uint64_t deadline;  // tick
  bytes header;       // what has come of it, at most CT_PROXY_HEADER_MAX
  char peer[CT_ADDRESS_SIZE];
  TAILQ_ENTRY(announcement) next;
} announcement;

static void forget(announcement *a) {
  ct_loop *loop = a->listener->loop;
  ev_io_stop(loop->events, &a->watcher);
  TAILQ_REMOVE(&loop->announcements, a, next);
  loop->announcement_count--;
  bytes_free(&a->header);
  free(a);
}

static void refuse(announcement *a) {
  close(a->watcher.fd);
  forget(a);
}

static void on_readable(struct ev_loop *events, ev_io *watcher, int revents) {
  (void)events, (void)revents;
  announcement *a = watcher->data;
  size_t before = bytes_count(&a->header), used = 0;
  uint8_t *space = bytes_extend(&a->header, CT_PROXY_HEADER_MAX - before);
  ssize_t got = recv(watcher->fd, space, CT_PROXY_HEADER_MAX - before, MSG_PEEK);
  a->header.end = a->header.start + before + (got > 0 ? (size_t)got : 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  char address[CT_ADDRESS_SIZE];
  ct_proxy_result result =
    got > 0 ? ct_proxy_header_read(bytes_first(&a->header), bytes_count(&a->header), &used, address) : CT_PROXY_INVALID;
  if (result == CT_PROXY_INVALID || recv(watcher->fd, space, used - before, 0) != (ssize_t)(used - before)) {
    refuse(a);
  } else if (result != CT_PROXY_INCOMPLETE) {
    listener *l = a->listener;
    int descriptor = watcher->fd;
    char peer[CT_ADDRESS_SIZE];
    memcpy(peer, a->peer, sizeof peer);
    forget(a);
    listener_adopt(l, descriptor, result == CT_PROXY_ANNOUNCED ? address : peer);
  }
}

void announcement_await(listener *l, int descriptor, const char *address) {
  announcement *a = ct_allocate(1, sizeof *a);
  a->listener = l;
  a->deadline = l->loop->wheel_tick + ticks(WAIT_MS);
  snprintf(a->peer, sizeof a->peer, "%s", address);
  TAILQ_INSERT_TAIL(&l->loop->announcements, a, next);
  l->loop->announcement_count++;
  ev_io_init(&a->watcher, on_readable, descriptor, EV_READ);
  a->watcher.data = a;
  ev_io_start(l->loop->events, &a->watcher);
}

void announcements_expire(ct_loop *loop, uint64_t now) {
  for (announcement *a; (a = TAILQ_FIRST(&loop->announcements)) && a->deadline <= now;) refuse(a);
}

void announcements_close(ct_loop *loop) {
  for (announcement *a; (a = TAILQ_FIRST(&loop->announcements));) refuse(a);
}
