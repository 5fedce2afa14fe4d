#include "arrivals.h"

#include "bytes.h"
#include "hangups.h"
#include "head.h"
#include "refusal.h"
#include "slots.h"
#include "wheel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ev.h>
#include <libwebsockets.h>
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
  LEAST_WAITING = 32, MOST_WAITING = 4096, LEAST_IN_LIBRARY = 64, MOST_IN_LIBRARY = 512,
  MOST_IDLE = 256
};

enum { SOURCE_KEY = 16, SOURCE_BUCKETS = 1024 };

// The connections of one address that are on their way.
typedef struct source {
  LIST_ENTRY(source) in_bucket;
  TAILQ_HEAD(, arrival) arrivals;  // the oldest first
  size_t count;
  uint8_t key[SOURCE_KEY];         // an address of IPv6, or the beginning of one
} source;

typedef enum {
  ARRIVAL_PROXY_HEADER,  // its PROXY header is to come
  ARRIVAL_HEAD,          // its head or ClientHello is to come
  ARRIVAL_IN_LIBRARY,    // the library has it: TLS, a request, an answer
  ARRIVAL_SERVED,        // the same, for a request of a session, whose bounds count
  ARRIVAL_GONE           // it counts no more; the library is about to close it
} arrival_stage;

struct arrival {
  arrivals *all;
  struct lws *wsi;   // NULL: the library does not have it
  uint64_t id;       // in slots
  source *source;    // NULL: it does not count for an address
  TAILQ_ENTRY(arrival) of_stage, of_source;
  timer timer;
  bytes header;      // what has come of its PROXY header, at most CT_PROXY_HEADER_MAX
  bytes query;       // of its request, where the library did not get it
  int descriptor;
  arrival_stage stage;
  bool is_expired;   // its time is over: a turn soon closes it
  bool is_watched;   // by the set
  bool is_idle;   // it has been answered, and waits for its next request
  peer peer;
};

struct arrivals {
  const ct_options *options;
  const ct_callbacks *callbacks;
  const connections *connections;
  wheel *wheel;
  adoption *adoption;
  TAILQ_HEAD(arrival_list, arrival) waiting[2];  // by is_internal, the oldest first
  struct arrival_list in_library;                // of the public listener, the oldest first
  struct arrival_list expired[2];                // by whether they are in it, in order of expiry
  int waiting_count[2], max_waiting, in_library_count, max_in_library, idle_count;
  LIST_HEAD(source_bucket, source) sources[SOURCE_BUCKETS];
  slot_table slots;
  int set;  // the epoll set of those that wait
  ev_io watcher;
  uint8_t *first_bytes;  // CT_HEAD_READ bytes, for the one that is looked at
};

static bool is_in_library(const arrival *a) { return a->stage == ARRIVAL_IN_LIBRARY || a->stage == ARRIVAL_SERVED; }
static bool counts_in_library(const arrival *a) { return a->stage == ARRIVAL_IN_LIBRARY && !a->peer.is_internal; }

// Many end at once; each turn closes a few.
static void on_expiry(timer *timer) {
  arrival *a = (arrival *)((char *)timer - offsetof(arrival, timer));
  arrivals *all = a->all;
  if (!is_in_library(a)) TAILQ_REMOVE(&all->waiting[a->peer.is_internal], a, of_stage);
  else if (counts_in_library(a)) TAILQ_REMOVE(&all->in_library, a, of_stage);
  a->is_expired = true;
  TAILQ_INSERT_TAIL(&all->expired[is_in_library(a)], a, of_stage);
}

static void bound(arrivals *all) {
  struct rlimit files = {0};
  getrlimit(RLIMIT_NOFILE, &files);
  rlim_t loops = all->options->loops ? all->options->loops : 1, share = files.rlim_cur / 4 / loops;
  int waiting = share > MOST_WAITING ? MOST_WAITING : share < LEAST_WAITING ? LEAST_WAITING : (int)share;
  if (all->options->max_waiting) waiting = (int)all->options->max_waiting;
  int in_library = waiting / 8;
  all->max_waiting = waiting;
  all->max_in_library =
    in_library < LEAST_IN_LIBRARY ? LEAST_IN_LIBRARY : in_library > MOST_IN_LIBRARY ? MOST_IN_LIBRARY : in_library;
}

arrivals *arrivals_create(
  const ct_options *options, const ct_callbacks *callbacks, const connections *connections, wheel *wheel, adoption *adoption
) {
  arrivals *all = ct_allocate(1, sizeof *all);
  all->options = options;
  all->callbacks = callbacks;
  all->connections = connections;
  all->wheel = wheel;
  all->adoption = adoption;
  for (int i = 0; i < 2; i++) {
    TAILQ_INIT(&all->waiting[i]);
    TAILQ_INIT(&all->expired[i]);
  }
  TAILQ_INIT(&all->in_library);
  all->first_bytes = ct_allocate(CT_HEAD_READ, 1);
  all->set = epoll_create1(EPOLL_CLOEXEC);
  bound(all);
  wheel_on_expiry(wheel, TIMER_ARRIVAL, on_expiry);
  return all;
}

bool arrivals_is_usable(const arrivals *all) { return all->set >= 0; }
int arrivals_waiting_count(const arrivals *all) { return all->waiting_count[0] + all->waiting_count[1]; }
void arrival_set_wsi(arrival *a, struct lws *wsi) { a->wsi = wsi; }

// -- The connections of one address

// Those that hold a prefix of IPv6 choose the rest of it freely.
static void source_key(const arrivals *all, const char *address, uint8_t key[SOURCE_KEY]) {
  memset(key, 0, SOURCE_KEY);
  if (inet_pton(AF_INET, address, key + SOURCE_KEY - 4) == 1) {
    key[10] = key[11] = 0xff;
  } else if (inet_pton(AF_INET6, address, key) == 1) {
    for (unsigned bit = all->options->ipv6_prefix_bits; bit < 8 * SOURCE_KEY; bit++) key[bit / 8] &= (uint8_t)~(0x80 >> bit % 8);
  }
}

static struct source_bucket *bucket_of(arrivals *all, const uint8_t key[SOURCE_KEY]) {
  uint64_t halves[2];
  memcpy(halves, key, SOURCE_KEY);
  uint64_t hash = (halves[0] * 0x9e3779b97f4a7c15u ^ halves[1]) * 0xd6e8feb86659fd93u;
  return &all->sources[(hash >> 32) % SOURCE_BUCKETS];
}

static source *source_find(arrivals *all, const uint8_t key[SOURCE_KEY]) {
  source *s;
  LIST_FOREACH(s, bucket_of(all, key), in_bucket) {
    if (!memcmp(s->key, key, SOURCE_KEY)) break;
  }
  return s;
}

static source *source_make(arrivals *all, const uint8_t key[SOURCE_KEY]) {
  source *s = ct_allocate(1, sizeof *s);
  memcpy(s->key, key, SOURCE_KEY);
  TAILQ_INIT(&s->arrivals);
  LIST_INSERT_HEAD(bucket_of(all, key), s, in_bucket);
  return s;
}

static void uncount(arrival *a) {
  source *s = a->source;
  if (!s) return;
  a->source = NULL;
  TAILQ_REMOVE(&s->arrivals, a, of_source);
  if (!--s->count) {
    LIST_REMOVE(s, in_bucket);
    free(s);
  }
  const ct_callbacks *callbacks = a->all->callbacks;
  if (callbacks->left) callbacks->left(callbacks->context, peer_address(&a->peer));
}

// -- The end

static void end_idle(arrival *a) {
  if (!a->is_idle) return;
  a->is_idle = false;
  a->all->idle_count--;
}

// Takes it out of everything but the library.
static void leave(arrival *a) {
  arrivals *all = a->all;
  if (a->stage == ARRIVAL_GONE) return;
  end_idle(a);
  if (a->is_expired) {
    TAILQ_REMOVE(&all->expired[is_in_library(a)], a, of_stage);
  } else if (!is_in_library(a)) {
    TAILQ_REMOVE(&all->waiting[a->peer.is_internal], a, of_stage);
  } else if (counts_in_library(a)) {
    TAILQ_REMOVE(&all->in_library, a, of_stage);
  }
  if (!is_in_library(a)) {
    all->waiting_count[a->peer.is_internal]--;
  } else if (counts_in_library(a)) {
    all->in_library_count--;
  }
  a->stage = ARRIVAL_GONE;
  wheel_clear(&a->timer);
  uncount(a);
}

void arrival_free(arrival *a) {
  leave(a);
  slot_remove(&a->all->slots, a->id);
  bytes_free(&a->header);
  bytes_free(&a->query);
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

// The end of one that was only kept is nobody's loss.
static void drop(arrival *a, ct_drop reason) {
  const ct_callbacks *callbacks = a->all->callbacks;
  if (callbacks->dropped && !a->is_idle) callbacks->dropped(callbacks->context, peer_address(&a->peer), reason);
  close_now(a);
}

// Answers by itself. What has come is read, or the system would send a reset before the answer.
static void refuse(arrival *a, int status, const char *reason) {
  arrivals *all = a->all;
  ct_request_head head = {.is_internal = a->peer.is_internal, .peer_address = peer_address(&a->peer)};
  all->callbacks->refused(all->callbacks->context, &head, status, reason, false);
  char answer[REFUSAL_MAX];
  size_t count = refusal_text(answer, status, reason);
  for (int i = 0; i < 4 && recv(a->descriptor, all->first_bytes, CT_HEAD_READ, 0) > 0; i++) {}
  (void)!send(a->descriptor, answer, count, MSG_NOSIGNAL);
  shutdown(a->descriptor, SHUT_WR);
  close_now(a);
}

// Those whose time is over have their places until a turn has closed them: all of them may, at
// once. So they give way first, and then the oldest. False: there is none.
static bool drop_first(arrivals *all, bool of_library, bool is_internal) {
  arrival *ended;
  TAILQ_FOREACH(ended, &all->expired[of_library], of_stage) {
    if (ended->peer.is_internal == is_internal && ended->stage != ARRIVAL_SERVED) break;
  }
  arrival *first = ended ? ended : TAILQ_FIRST(of_library ? &all->in_library : &all->waiting[is_internal]);
  if (first) drop(first, ended ? CT_DROP_TIMEOUT : CT_DROP_TOTAL);
  return first;
}

bool arrivals_make_room(arrivals *all, bool is_internal) { return drop_first(all, false, is_internal); }

// Returns whether there are more.
static bool drop_expired(struct arrival_list *expired, int at_most) {
  for (arrival *a; at_most > 0 && (a = TAILQ_FIRST(expired)); at_most--) drop(a, CT_DROP_TIMEOUT);
  return !TAILQ_EMPTY(expired);
}

bool arrivals_turn(arrivals *all) {
  struct arrival_list *waiting = &all->expired[false], *in_library = &all->expired[true];
  if (TAILQ_EMPTY(waiting) && TAILQ_EMPTY(in_library)) return false;
  bool has_more = drop_expired(waiting, DROPS_PER_TURN);
  return drop_expired(in_library, closes_per_turn(all->connections) / 2) || has_more;
}

void arrivals_close(arrivals *all) {
  for (int i = 0; i < 2; i++) {
    for (arrival *a; (a = TAILQ_FIRST(&all->waiting[i]));) close_now(a);
  }
  for (arrival *a; (a = TAILQ_FIRST(&all->expired[false]));) close_now(a);
}

void arrivals_free(arrivals *all) {
  if (all->set >= 0) close(all->set);
  slot_table_free(&all->slots);
  free(all->first_bytes);
  free(all);
}

// -- Admission

// Whether the address has a place, if need be that of its oldest connection.
static bool take_place(arrival *a) {
  arrivals *all = a->all;
  const ct_callbacks *callbacks = all->callbacks;
  uint8_t key[SOURCE_KEY];
  source_key(all, a->peer.address, key);
  ct_admission admission = callbacks->arrived ? callbacks->arrived(callbacks->context, peer_address(&a->peer)) : CT_ADMITTED;
  if (admission == CT_UNCOUNTED) return true;
  source *s = source_find(all, key);
  if (admission == CT_FULL) {
    if (s) drop(TAILQ_FIRST(&s->arrivals), CT_DROP_ADDRESS);
    if (callbacks->arrived(callbacks->context, peer_address(&a->peer)) != CT_ADMITTED) return false;
  } else if (s && s->count >= (size_t)all->max_waiting / 4) {
    drop(TAILQ_FIRST(&s->arrivals), CT_DROP_ADDRESS);
  }
  s = source_find(all, key);
  if (!s) s = source_make(all, key);
  s->count++;
  a->source = s;
  TAILQ_INSERT_TAIL(&s->arrivals, a, of_source);
  return true;
}

// From now on, and not from the tick that the wheel has reached: right after a jump of its clock, all that
// has passed would be taken from a connection that has just come.
void arrival_set_deadline(arrival *a, uint32_t ms) {
  end_idle(a);
  if (!a->is_expired && a->stage != ARRIVAL_GONE) wheel_set(a->all->wheel, &a->timer, tick_now(a->all->wheel) + ticks(ms) + 1);
}

void arrival_serve(arrival *a) {
  if (a->stage != ARRIVAL_IN_LIBRARY || a->is_expired) return;
  if (counts_in_library(a)) {
    TAILQ_REMOVE(&a->all->in_library, a, of_stage);
    a->all->in_library_count--;
  }
  a->stage = ARRIVAL_SERVED;
  uncount(a);
}

bool arrival_may_idle(const arrival *a) { return a->all->idle_count < MOST_IDLE; }

void arrival_set_idle(arrival *a, uint32_t ms) {
  arrival_set_deadline(a, ms);
  if (a->stage == ARRIVAL_GONE) return;
  a->is_idle = true;
  a->all->idle_count++;
}

static void begin_head(arrival *a) {
  a->stage = ARRIVAL_HEAD;
  arrival_set_deadline(a, a->all->options->handshake_timeout_s * 1000);
}

// -- Reading

// Reads its PROXY header and not a byte more. False: it is incomplete, or the connection is gone.
static bool read_proxy_header(arrival *a) {
  size_t before = bytes_count(&a->header), used = 0;
  uint8_t *space = bytes_extend(&a->header, CT_PROXY_HEADER_MAX - before);
  ssize_t got = recv(a->descriptor, space, CT_PROXY_HEADER_MAX - before, MSG_PEEK);
  bytes_drop_last(&a->header, CT_PROXY_HEADER_MAX - before - (got > 0 ? (size_t)got : 0));
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
  if (result == CT_PROXY_ANNOUNCED) snprintf(a->peer.address, sizeof a->peer.address, "%s", address);
  begin_head(a);
  if (take_place(a)) return true;
  drop(a, CT_DROP_ADDRESS);
  return false;
}

// Gives the socket to the library; head: bytes that were taken from it.
static void adopt(arrival *a, const uint8_t *head, size_t count) {
  arrivals *all = a->all;
  bool is_internal = a->peer.is_internal;
  if (!is_internal && all->in_library_count >= all->max_in_library) drop_first(all, true, false);
  if (a->is_watched) (void)epoll_ctl(all->set, EPOLL_CTL_DEL, a->descriptor, NULL);
  TAILQ_REMOVE(&all->waiting[is_internal], a, of_stage);
  all->waiting_count[is_internal]--;
  a->stage = ARRIVAL_IN_LIBRARY;
  if (!is_internal) {
    TAILQ_INSERT_TAIL(&all->in_library, a, of_stage);
    all->in_library_count++;
  }
  arrival_set_deadline(a, all->options->handshake_timeout_s * 1000);
  if (!socket_adopt(all->adoption, a, &a->peer, a->descriptor, head, count)) arrival_free(a);
}

static void adopt_trimmed(arrival *a, size_t count) {
  uint8_t *head = a->all->first_bytes;
  if (recv(a->descriptor, head, count, 0) != (ssize_t)count) return close_now(a);
  adopt(a, head, ct_head_trim(head, count));
}

// The listener that keeps connections has no upgrades: a query is that of the connection's one request.
static void adopt_without_query(arrival *a, size_t count) {
  uint8_t *head = a->all->first_bytes;
  if (a->peer.is_internal) return adopt(a, NULL, 0);
  if (recv(a->descriptor, head, count, 0) != (ssize_t)count) return close_now(a);
  ct_text query = ct_head_query(head, count);
  bytes_append(&a->query, query.bytes, query.count);
  a->peer.query = (ct_text){.bytes = (const char *)bytes_first(&a->query), .count = query.count};
  adopt(a, head, ct_head_cut_query(head, count, query));
}

static bool expects_tls(const arrival *a) { return !a->peer.is_internal && a->all->options->certificate_file; }

static void look(arrival *a, bool is_ended, int *adoptions) {
  arrivals *all = a->all;
  if (a->stage == ARRIVAL_PROXY_HEADER && !read_proxy_header(a)) return;
  ssize_t got = recv(a->descriptor, all->first_bytes, CT_HEAD_READ, MSG_PEEK);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return close_now(a);
  size_t head;
  switch (ct_first_bytes_read(all->first_bytes, (size_t)got, expects_tls(a), &head)) {
  case CT_BYTES_INCOMPLETE:
    if (is_ended) close_now(a);
    return;
  case CT_BYTES_WHOLE:
    --*adoptions;
    return adopt(a, NULL, 0);
  case CT_BYTES_BLANKS:
  case CT_BYTES_UPGRADE:
    --*adoptions;
    return adopt_trimmed(a, head);
  case CT_BYTES_QUERY:
    --*adoptions;
    return adopt_without_query(a, head);
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
  arrivals *all = watcher->data;
  int adoptions = ADOPTIONS_PER_TURN;
  struct epoll_event event;
  for (int i = 0; i < EVENTS_PER_TURN && adoptions > 0 && epoll_wait(all->set, &event, 1, 0) == 1; i++) {
    arrival *a = slot_get(&all->slots, event.data.u64);
    if (a && !a->is_expired && !a->wsi) look(a, event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR), &adoptions);
  }
}

void arrivals_watch(arrivals *all, struct ev_loop *events) {
  ev_io_init(&all->watcher, on_arrivals, all->set, EV_READ);
  all->watcher.data = all;
  ev_io_start(events, &all->watcher);
}

void arrivals_unwatch(arrivals *all, struct ev_loop *events) { ev_io_stop(events, &all->watcher); }

// The set is edge-triggered: a part of a head that stays in its socket wakes nobody again.
static bool watch(arrival *a) {
  struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.u64 = a->id};
  a->is_watched = !epoll_ctl(a->all->set, EPOLL_CTL_ADD, a->descriptor, &event);
  return a->is_watched;
}

void arrival_begin(arrivals *all, int descriptor, const peer *p, bool has_proxy_header) {
  if (all->waiting_count[p->is_internal] >= all->max_waiting) arrivals_make_room(all, p->is_internal);
  arrival *a = ct_allocate(1, sizeof *a);
  a->all = all;
  a->descriptor = descriptor;
  a->peer = *p;
  timer_init(&a->timer, TIMER_ARRIVAL);
  a->id = slot_put(&all->slots, a);
  TAILQ_INSERT_TAIL(&all->waiting[p->is_internal], a, of_stage);
  all->waiting_count[p->is_internal]++;
  arrival_set_deadline(a, PROXY_HEADER_MS);
  if (!has_proxy_header) begin_head(a);
  uint64_t id = a->id;
  if (!has_proxy_header && !p->is_internal && !take_place(a)) return drop(a, CT_DROP_ADDRESS);
  int adoptions = 1;
  look(a, false, &adoptions);
  a = slot_get(&all->slots, id);
  if (a && !a->wsi && !watch(a)) close_now(a);
}
