#include "private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

// A connection from its accept to its upgrade, or to its end.
//
// The library keeps the sockets without a request in sorted lists, and searches tables for each that
// it closes. So it gets a socket when its PROXY header, and its whole head or ClientHello, are there:
// the bytes are looked at first and left for the library. What waits before and in it is bounded, by
// address too, and the oldest gives way.

enum {
  PROXY_HEADER_MS = 5000,
  EVENTS_PER_TURN = 64, ADOPTIONS_PER_TURN = 4,  // new clients must not delay the connected ones for long
  DROPS_PER_TURN = 64,
  LEAST_WAITING = 32, MOST_WAITING = 4096, LEAST_IN_LIBRARY = 64, MOST_IN_LIBRARY = 512
};

void arrivals_init(ct_loop *loop) {
  for (int i = 0; i < 2; i++) TAILQ_INIT(&loop->arrivals.waiting[i]);
  TAILQ_INIT(&loop->arrivals.in_library);
  TAILQ_INIT(&loop->arrivals.expired);
  loop->arrivals.first_bytes = ct_allocate(CT_HEAD_READ, 1);
  loop->arrivals.set = epoll_create1(EPOLL_CLOEXEC);
  struct rlimit files = {0};
  getrlimit(RLIMIT_NOFILE, &files);
  rlim_t loops = loop->options.loops ? loop->options.loops : 1, share = files.rlim_cur / 4 / loops;
  int waiting = share > MOST_WAITING ? MOST_WAITING : share < LEAST_WAITING ? LEAST_WAITING : (int)share;
  if (loop->options.max_waiting) waiting = (int)loop->options.max_waiting;
  int in_library = waiting / 8;
  loop->arrivals.max_waiting = waiting;
  loop->arrivals.max_in_library =
    in_library < LEAST_IN_LIBRARY ? LEAST_IN_LIBRARY : in_library > MOST_IN_LIBRARY ? MOST_IN_LIBRARY : in_library;
}

// -- The connections of one address

// Those that hold a prefix of IPv6 choose the rest of it freely.
static void source_key(const ct_loop *loop, const char *address, uint8_t key[SOURCE_KEY]) {
  memset(key, 0, SOURCE_KEY);
  if (inet_pton(AF_INET, address, key + SOURCE_KEY - 4) == 1) {
    key[10] = key[11] = 0xff;
  } else if (inet_pton(AF_INET6, address, key) == 1) {
    for (unsigned bit = loop->options.ipv6_prefix_bits; bit < 8 * SOURCE_KEY; bit++) key[bit / 8] &= (uint8_t)~(0x80 >> bit % 8);
  }
}

static struct source_bucket *bucket_of(ct_loop *loop, const uint8_t key[SOURCE_KEY]) {
  uint64_t halves[2];
  memcpy(halves, key, SOURCE_KEY);
  uint64_t hash = (halves[0] * 0x9e3779b97f4a7c15u ^ halves[1]) * 0xd6e8feb86659fd93u;
  return &loop->arrivals.sources[(hash >> 32) % SOURCE_BUCKETS];
}

static source *source_find(ct_loop *loop, const uint8_t key[SOURCE_KEY]) {
  source *s;
  LIST_FOREACH(s, bucket_of(loop, key), in_bucket) {
    if (!memcmp(s->key, key, SOURCE_KEY)) break;
  }
  return s;
}

static source *source_make(ct_loop *loop, const uint8_t key[SOURCE_KEY]) {
  source *s = ct_allocate(1, sizeof *s);
  memcpy(s->key, key, SOURCE_KEY);
  TAILQ_INIT(&s->arrivals);
  LIST_INSERT_HEAD(bucket_of(loop, key), s, in_bucket);
  return s;
}

static ct_text address_of(const arrival *a) { return (ct_text){.bytes = a->address, .count = strlen(a->address)}; }

static void uncount(arrival *a) {
  source *s = a->source;
  if (!s) return;
  a->source = NULL;
  TAILQ_REMOVE(&s->arrivals, a, of_source);
  if (!--s->count) {
    LIST_REMOVE(s, in_bucket);
    free(s);
  }
  const ct_callbacks *callbacks = &a->loop->callbacks;
  if (callbacks->left) callbacks->left(callbacks->context, address_of(a));
}

// -- The end

// Takes it out of everything but the library.
static void leave(arrival *a) {
  ct_loop *loop = a->loop;
  if (a->stage == ARRIVAL_GONE) return;
  if (a->is_expired) {
    TAILQ_REMOVE(&loop->arrivals.expired, a, of_stage);
  } else if (a->stage != ARRIVAL_IN_LIBRARY) {
    TAILQ_REMOVE(&loop->arrivals.waiting[a->listener->is_internal], a, of_stage);
  } else if (!a->listener->is_internal) {
    TAILQ_REMOVE(&loop->arrivals.in_library, a, of_stage);
  }
  if (a->stage != ARRIVAL_IN_LIBRARY) {
    loop->arrivals.waiting_count[a->listener->is_internal]--;
    loop->counters.connections_waiting--;
  } else if (!a->listener->is_internal) {
    loop->arrivals.in_library_count--;
  }
  a->stage = ARRIVAL_GONE;
  wheel_clear(&a->timer);
  uncount(a);
}

void arrival_free(arrival *a) {
  leave(a);
  slot_remove(&a->loop->arrivals.slots, a->id);
  bytes_free(&a->header);
  free(a);
}

// Without the shutdown the library would wait for what it has still to send.
static void close_now(arrival *a) {
  if (a->wsi) {
    leave(a);
    shutdown(a->descriptor, SHUT_RDWR);
    lws_set_timeout(a->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC);  // frees it
  } else {
    close(a->descriptor);
    arrival_free(a);
  }
}

static void drop(arrival *a, ct_drop reason) {
  const ct_callbacks *callbacks = &a->loop->callbacks;
  if (callbacks->dropped) callbacks->dropped(callbacks->context, address_of(a), reason);
  close_now(a);
}

// Answers by itself. What has come is read, or the system would send a reset before the answer.
static void refuse(arrival *a, int status, const char *reason) {
  ct_loop *loop = a->loop;
  ct_request_head head = {.is_internal = a->listener->is_internal, .peer_address = address_of(a)};
  loop->callbacks.refused(loop->callbacks.context, &head, status, reason, false);
  char answer[REFUSAL_MAX];
  size_t count = refusal_text(answer, status, reason);
  for (int i = 0; i < 4 && recv(a->descriptor, loop->arrivals.first_bytes, CT_HEAD_READ, 0) > 0; i++) {}
  (void)!send(a->descriptor, answer, count, MSG_NOSIGNAL);
  shutdown(a->descriptor, SHUT_WR);
  close_now(a);
}

bool arrivals_drop_oldest(listener *l) {
  arrival *oldest = TAILQ_FIRST(&l->loop->arrivals.waiting[l->is_internal]);
  if (oldest) drop(oldest, CT_DROP_TOTAL);
  return oldest;
}

// Many end at once; each turn closes a few.
void arrival_expire(timer *timer) {
  arrival *a = (arrival *)((char *)timer - offsetof(arrival, timer));
  ct_loop *loop = a->loop;
  if (a->stage != ARRIVAL_IN_LIBRARY) TAILQ_REMOVE(&loop->arrivals.waiting[a->listener->is_internal], a, of_stage);
  else if (!a->listener->is_internal) TAILQ_REMOVE(&loop->arrivals.in_library, a, of_stage);
  a->is_expired = true;
  TAILQ_INSERT_TAIL(&loop->arrivals.expired, a, of_stage);
}

bool arrivals_turn(ct_loop *loop) {
  if (TAILQ_EMPTY(&loop->arrivals.expired)) return false;
  int waiting = DROPS_PER_TURN, in_library = closes_per_turn(loop) / 2;
  for (arrival *a; (a = TAILQ_FIRST(&loop->arrivals.expired));) {
    int *left = a->wsi ? &in_library : &waiting;
    if ((*left)-- <= 0) return true;
    drop(a, CT_DROP_TIMEOUT);
  }
  return false;
}

void arrivals_close(ct_loop *loop) {
  for (int i = 0; i < 2; i++) {
    for (arrival *a; (a = TAILQ_FIRST(&loop->arrivals.waiting[i]));) close_now(a);
  }
  for (arrival *a, *next = TAILQ_FIRST(&loop->arrivals.expired); (a = next);) {
    next = TAILQ_NEXT(a, of_stage);
    if (!a->wsi) close_now(a);
  }
}

void arrivals_end(ct_loop *loop) {
  if (loop->arrivals.set >= 0) close(loop->arrivals.set);
  slot_table_free(&loop->arrivals.slots);
  free(loop->arrivals.first_bytes);
}

// -- Admission

// Whether the address has a place, if need be that of its oldest connection.
static bool take_place(arrival *a) {
  ct_loop *loop = a->loop;
  const ct_callbacks *callbacks = &loop->callbacks;
  uint8_t key[SOURCE_KEY];
  source_key(loop, a->address, key);
  ct_admission admission = callbacks->arrived ? callbacks->arrived(callbacks->context, address_of(a)) : CT_ADMITTED;
  if (admission == CT_UNCOUNTED) return true;
  source *s = source_find(loop, key);
  if (admission == CT_FULL) {
    if (s) drop(TAILQ_FIRST(&s->arrivals), CT_DROP_ADDRESS);
    if (callbacks->arrived(callbacks->context, address_of(a)) != CT_ADMITTED) return false;
  } else if (s && s->count >= (size_t)loop->arrivals.max_waiting / 4) {
    drop(TAILQ_FIRST(&s->arrivals), CT_DROP_ADDRESS);
  }
  s = source_find(loop, key);
  if (!s) s = source_make(loop, key);
  s->count++;
  a->source = s;
  TAILQ_INSERT_TAIL(&s->arrivals, a, of_source);
  return true;
}

// From now on, and not from the tick that the wheel has reached: right after a jump of its clock, all that
// has passed would be taken from a connection that has just come.
void arrival_set_deadline(arrival *a, uint32_t ms) {
  if (!a->is_expired && a->stage != ARRIVAL_GONE) wheel_set(a->loop, &a->timer, tick_now(a->loop) + ticks(ms) + 1);
}

static void begin_head(arrival *a) {
  a->stage = ARRIVAL_HEAD;
  arrival_set_deadline(a, a->loop->options.handshake_timeout_s * 1000);
}

// -- Reading

// Reads its PROXY header and not a byte more. False: it is incomplete, or the connection is gone.
static bool read_proxy_header(arrival *a) {
  size_t before = bytes_count(&a->header), used = 0;
  uint8_t *space = bytes_extend(&a->header, CT_PROXY_HEADER_MAX - before);
  ssize_t got = recv(a->descriptor, space, CT_PROXY_HEADER_MAX - before, MSG_PEEK);
  a->header.end = a->header.start + before + (got > 0 ? (size_t)got : 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  char address[CT_ADDRESS_SIZE];
  ct_proxy_result result =
    got > 0 ? ct_proxy_header_read(bytes_first(&a->header), bytes_count(&a->header), &used, address) : CT_PROXY_INVALID;
  if (result == CT_PROXY_INVALID || recv(a->descriptor, space, used - before, 0) != (ssize_t)(used - before)) {
    drop(a, CT_DROP_PROXY_HEADER);
    return false;
  }
  if (result == CT_PROXY_INCOMPLETE) return false;
  bytes_free(&a->header);
  if (result == CT_PROXY_ANNOUNCED) snprintf(a->address, sizeof a->address, "%s", address);
  begin_head(a);
  if (take_place(a)) return true;
  drop(a, CT_DROP_ADDRESS);
  return false;
}

static void make_room_in_library(ct_loop *loop) {
  if (loop->arrivals.in_library_count >= loop->arrivals.max_in_library) drop(TAILQ_FIRST(&loop->arrivals.in_library), CT_DROP_TOTAL);
}

// Gives the socket to the library; head: bytes that were taken from it.
static void adopt(arrival *a, const uint8_t *head, size_t count) {
  ct_loop *loop = a->loop;
  bool is_internal = a->listener->is_internal;
  if (!is_internal) make_room_in_library(loop);
  if (a->is_watched) (void)epoll_ctl(loop->arrivals.set, EPOLL_CTL_DEL, a->descriptor, NULL);
  TAILQ_REMOVE(&loop->arrivals.waiting[is_internal], a, of_stage);
  loop->arrivals.waiting_count[is_internal]--;
  loop->counters.connections_waiting--;
  a->stage = ARRIVAL_IN_LIBRARY;
  if (!is_internal) {
    TAILQ_INSERT_TAIL(&loop->arrivals.in_library, a, of_stage);
    loop->arrivals.in_library_count++;
  }
  arrival_set_deadline(a, loop->options.handshake_timeout_s * 1000);
  socket_adopt(a, head, count);
}

static void adopt_trimmed(arrival *a, size_t count) {
  uint8_t *head = a->loop->arrivals.first_bytes;
  if (recv(a->descriptor, head, count, 0) != (ssize_t)count) return close_now(a);
  adopt(a, head, ct_head_trim(head, count));
}

static bool expects_tls(const arrival *a) { return !a->listener->is_internal && a->loop->certificate_file; }

static void look(arrival *a, bool is_ended, int *adoptions) {
  ct_loop *loop = a->loop;
  if (a->stage == ARRIVAL_PROXY_HEADER && !read_proxy_header(a)) return;
  ssize_t got = recv(a->descriptor, loop->arrivals.first_bytes, CT_HEAD_READ, MSG_PEEK);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return close_now(a);
  size_t head;
  switch (ct_first_bytes_read(loop->arrivals.first_bytes, (size_t)got, expects_tls(a), &head)) {
  case CT_BYTES_INCOMPLETE:
    if (is_ended) close_now(a);
    return;
  case CT_BYTES_WHOLE:
    --*adoptions;
    return adopt(a, NULL, 0);
  case CT_BYTES_BLANKS:
    --*adoptions;
    return adopt_trimmed(a, head);
  case CT_BYTES_PROXY_HEADER:
    return refuse(a, 400, "a PROXY header from an address that is no trusted proxy, or with proxyProtocol off");
  case CT_BYTES_ZERO:
    return refuse(a, 400, "the path and the query hold no zero");
  case CT_BYTES_TOO_LONG:
    return refuse(a, 431, HEADERS_TOO_LONG);
  }
}

// One event at a time: each may end others.
static void on_arrivals(struct ev_loop *events, ev_io *watcher, int revents) {
  (void)events, (void)revents;
  ct_loop *loop = watcher->data;
  int adoptions = ADOPTIONS_PER_TURN;
  struct epoll_event event;
  for (int i = 0; i < EVENTS_PER_TURN && adoptions > 0 && epoll_wait(loop->arrivals.set, &event, 1, 0) == 1; i++) {
    arrival *a = slot_get(&loop->arrivals.slots, event.data.u64);
    if (a && !a->is_expired && !a->wsi) look(a, event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR), &adoptions);
  }
}

void arrivals_watch(ct_loop *loop) {
  ev_io_init(&loop->arrivals.watcher, on_arrivals, loop->arrivals.set, EV_READ);
  loop->arrivals.watcher.data = loop;
  ev_io_start(loop->events, &loop->arrivals.watcher);
}

// The set is edge-triggered: a part of a head that stays in its socket wakes nobody again.
static bool watch(arrival *a) {
  struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.u64 = a->id};
  a->is_watched = !epoll_ctl(a->loop->arrivals.set, EPOLL_CTL_ADD, a->descriptor, &event);
  return a->is_watched;
}

void arrival_begin(listener *l, int descriptor, const char *address, bool has_proxy_header) {
  ct_loop *loop = l->loop;
  if (loop->arrivals.waiting_count[l->is_internal] >= loop->arrivals.max_waiting) arrivals_drop_oldest(l);
  arrival *a = ct_allocate(1, sizeof *a);
  a->loop = loop;
  a->listener = l;
  a->descriptor = descriptor;
  a->timer.kind = TIMER_ARRIVAL;
  a->id = slot_put(&loop->arrivals.slots, a);
  snprintf(a->address, sizeof a->address, "%s", address);
  TAILQ_INSERT_TAIL(&loop->arrivals.waiting[l->is_internal], a, of_stage);
  loop->arrivals.waiting_count[l->is_internal]++;
  loop->counters.connections_waiting++;
  arrival_set_deadline(a, PROXY_HEADER_MS);
  if (!has_proxy_header) begin_head(a);
  uint64_t id = a->id;
  if (!has_proxy_header && !l->is_internal && !take_place(a)) return drop(a, CT_DROP_ADDRESS);
  int adoptions = 1;
  look(a, false, &adoptions);
  a = slot_get(&loop->arrivals.slots, id);
  if (a && !a->wsi && !watch(a)) close_now(a);
}
