#define _GNU_SOURCE
#include "CEpoll.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>

enum { MOST_EVENTS = 1024 };

int ce_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static int control(int epoll, int operation, int socket, uint32_t number, bool writing) {
  struct epoll_event event = {.events = writing ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.u32 = number};
  return epoll_ctl(epoll, operation, socket, &event);
}

int ce_add(int epoll, int socket, uint32_t number, bool writing) { return control(epoll, EPOLL_CTL_ADD, socket, number, writing); }

int ce_change(int epoll, int socket, uint32_t number, bool writing) {
  return control(epoll, EPOLL_CTL_MOD, socket, number, writing);
}

int ce_remove(int epoll, int socket) { return epoll_ctl(epoll, EPOLL_CTL_DEL, socket, NULL); }

int ce_wait(int epoll, ce_event *events, int capacity, uint64_t timeout) {
  struct epoll_event ready[MOST_EVENTS];
  struct timespec time = {.tv_sec = (time_t)(timeout / 1000000000), .tv_nsec = (long)(timeout % 1000000000)};
  int most = capacity < MOST_EVENTS ? capacity : MOST_EVENTS;
  int count = epoll_pwait2(epoll, ready, most, &time, NULL);
  // Before Linux 5.11 there are only whole milliseconds: waking early is more exact than late.
  if (count < 0 && errno == ENOSYS) count = epoll_wait(epoll, ready, most, (int)(timeout / 1000000));
  for (int i = 0; i < count; i++) {
    events[i] = (ce_event){
        .number = ready[i].data.u32,
        .readable = ready[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR),
        .writable = ready[i].events & (EPOLLOUT | EPOLLHUP | EPOLLERR),
    };
  }
  return count > 0 ? count : 0;
}

int ce_wait_precisely(void) { return prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0); }
