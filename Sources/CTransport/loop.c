#include "loop.h"

#include "arrivals.h"
#include "bytes.h"
#include "connection.h"
#include "cooldown.h"
#include "event_stream.h"
#include "fanout.h"
#include "flush.h"
#include "hangups.h"
#include "http.h"
#include "pings.h"
#include "process.h"
#include "receive.h"
#include "stream.h"
#include "tls.h"
#include "wheel.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  TURNS = 4,          // of jobs and flushes before the sockets are looked at again
  COALESCE_AT = 64,   // subscribers of the dirty topics
  COALESCE_TURNS = 3  // polls of the sockets that may delay a flush
};

static _Thread_local ct_loop *current;
static _Thread_local void *held_wakes;

bool ct_loop_is_current(const ct_loop *loop) { return current == loop; }
void ct_loop_adopt_thread(ct_loop *loop) { current = loop; }
void ct_loop_wake(ct_loop *loop) { ev_async_send(loop->events, &loop->waker); }
void *ct_held_wakes(void) { return held_wakes; }
void ct_hold_wakes(void *list) { held_wakes = list; }

// A flush takes a system call per recipient, however much it carries. So it waits for the messages
// that have already arrived, until a poll, which costs less than one delivery, brings none.
static bool is_coalescing(ct_loop *loop) {
  uint64_t messages = receiver_messages(&loop->protocol.receiver);
  bool has_received = messages != loop->coalesced_messages;
  loop->coalesced_messages = messages;
  bool is_large = topics_dirty_subscribers(&loop->topics) >= COALESCE_AT;
  if (has_received && is_large && loop->coalesced_turns++ < COALESCE_TURNS) return true;
  loop->coalesced_turns = 0;
  return false;
}

// Once a turn, because it closes connections.
static void finish_answers(ct_loop *loop) {
  if (!exchanges_end(loop->protocol.exchanges)) return;
  if (loop->listeners) listeners_close(loop->listeners);
  arrivals_close(loop->arrivals);
  loop->callbacks.answered(loop->callbacks.context);
}

// Jobs queue frames, and a flush queues jobs; both are done before the wait for events. Returns
// whether there is more to do.
static bool turn(ct_loop *loop) {
  bool has_more = loop->callbacks.run_jobs(loop->callbacks.context);
  finish_answers(loop);
  has_more |= loop_flush(&loop->topics, &loop->flushes);
  has_more |= loop->callbacks.run_jobs(loop->callbacks.context);
  return has_more || loop_is_dirty(&loop->topics);
}

static void before_poll(struct ev_loop *events, ev_prepare *watcher, int revents) {
  (void)revents;
  ct_loop *loop = watcher->data;
  bool has_hangups = hangups_resume(loop->protocol.hangups), has_expired = arrivals_turn(loop->arrivals);
  bool has_ended = event_streams_turn(loop->protocol.event_streams);
  bool has_more = is_coalescing(loop);
  if (!has_more) {
    has_more = true;
    for (int i = 0; i < TURNS && has_more; i++) has_more = turn(loop);
  }
  has_more |= has_hangups || has_expired || has_ended;
  if (has_more) ev_idle_start(events, &loop->spinner); else ev_idle_stop(events, &loop->spinner);
}

// libev calls these right around the wait: a watcher for it would cost each turn more than both.
static void begin_wait(struct ev_loop *events) {
  ct_loop *loop = ev_userdata(events);
  turn_meter_end(&loop->turns);
}

static void end_wait(struct ev_loop *events) {
  ct_loop *loop = ev_userdata(events);
  turn_meter_begin(&loop->turns);
}

static void on_spin(struct ev_loop *events, ev_idle *watcher, int revents) { (void)events, (void)watcher, (void)revents; }

static void on_wake(struct ev_loop *events, ev_async *watcher, int revents) {
  (void)revents;
  ct_loop *loop = watcher->data;
  if (atomic_load(&loop->is_stopping)) ev_break(events, EVBREAK_ALL);
}

void ct_loop_run_timers(ct_loop *loop) {
  enum { TICKS_PER_SECOND = 1000 / TICK_MS };
  wheel_turn(loop->wheel);
  uint64_t pause = wheel_take_pause(loop->wheel), tick = wheel_tick(loop->wheel);
  if (pause && loop->callbacks.paused) loop->callbacks.paused(loop->callbacks.context, pause);
  listeners_resume(loop->listeners);
  if (tick - loop->idle_checked >= TICKS_PER_SECOND) {
    loop->idle_checked = tick;
    streams_review(&loop->topics);
    topics_free_idle(&loop->topics);
  }
  loop->callbacks.ticked(loop->callbacks.context);
}

// The library's libev plugin never re-arms its own timer; a wake-up makes it check its timeouts.
static void on_tick(struct ev_loop *events, ev_timer *watcher, int revents) {
  (void)events, (void)revents;
  ct_loop *loop = watcher->data;
  lateness_count_tick(&loop->lateness, TICK_MS);
  ct_loop_run_timers(loop);
  context_wake(&loop->context);
}

static void watch(ct_loop *loop) {
  loop->listeners = listeners_create(loop->events, &loop->callbacks, loop->arrivals, loop->wheel);
  ev_prepare_init(&loop->before_poll, before_poll);
  ev_idle_init(&loop->spinner, on_spin);
  ev_async_init(&loop->waker, on_wake);
  ev_timer_init(&loop->ticker, on_tick, TICK_MS / 1e3, TICK_MS / 1e3);
  cooldowns_begin(&loop->topics, loop->events);
  loop->before_poll.data = loop->waker.data = loop->ticker.data = loop;
  ev_set_userdata(loop->events, loop);
  ev_set_loop_release_cb(loop->events, begin_wait, end_wait);
  ev_prepare_start(loop->events, &loop->before_poll);
  ev_async_start(loop->events, &loop->waker);
  ev_timer_start(loop->events, &loop->ticker);
  arrivals_watch(loop->arrivals, loop->events);
  event_streams_watch(loop->protocol.event_streams, loop->events);
}

static char *copy(const char *text) {
  return text ? strcpy(ct_allocate(strlen(text) + 1, 1), text) : NULL;
}

static bool has_sets(const ct_loop *loop) {
  return arrivals_is_usable(loop->arrivals) && event_streams_is_usable(loop->protocol.event_streams);
}

static void describe_failure(const ct_loop *loop, char *error, size_t error_size) {
  const char *complaint = process_first_error();
  if (!loop->events) {
    snprintf(error, error_size, "libev has no epoll");
  } else if (!has_sets(loop)) {
    snprintf(error, error_size, "the system has no further epoll set");
  } else if (strstr(complaint, "evlib")) {
    snprintf(
      error, error_size,
      "libwebsockets finds no plugin for libev; install the package libwebsockets-evlib-ev, or your system's of that kind (%s)",
      complaint);
  } else {
    snprintf(error, error_size, "libwebsockets refused: %s", *complaint ? complaint : "it does not say why");
  }
}

// What does not need the library or libev.
static void make_parts(ct_loop *loop) {
  const ct_options *options = &loop->options;
  const ct_callbacks *callbacks = &loop->callbacks;
  protocol *p = &loop->protocol;
  loop->wheel = wheel_create(options->clock, options->pause_ms);
  wheel_begin(loop->wheel);
  connections_init(&loop->connections, options, callbacks, loop->wheel);
  pings_init(&loop->connections);
  topics_init(&loop->topics, &loop->connections, options);
  loop->arrivals = arrivals_create(options, callbacks, &loop->connections, loop->wheel, &p->adoption);
  p->callbacks = callbacks;
  p->connections = &loop->connections;
  p->hangups = hangups_create(&loop->connections);
  p->event_streams = event_streams_create(&loop->connections);
  p->exchanges = exchanges_create(options, callbacks);
  receiver_init(&p->receiver, options);
  p->upgrades = (upgrades){.options = options, .callbacks = callbacks};
  p->adoption.protocol = p;
}

ct_loop *ct_loop_create(const ct_options *options, const ct_callbacks *callbacks, char *error, size_t error_size) {
  ct_loop *loop = ct_allocate(1, sizeof *loop);
  loop->options = *options;
  loop->options.subprotocol = copy(options->subprotocol);
  loop->options.certificate_file = copy(options->certificate_file);
  loop->options.key_file = copy(options->key_file);
  loop->options.public_body_path = copy(options->public_body_path);
  loop->callbacks = *callbacks;
  make_parts(loop);
  loop->events = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
  bool has_epoll = loop->events && has_sets(loop);
  if (has_epoll) watch(loop);
  process_clear_error();
  if (has_epoll && context_make(&loop->context, &loop->protocol, &loop->options, loop->events)) return loop;
  describe_failure(loop, error, error_size);
  ct_loop_destroy(loop);
  return NULL;
}

static void close_everything(ct_loop *loop) {
  connections_begin_ending(&loop->connections);
  if (loop->listeners) listeners_close(loop->listeners);
  arrivals_close(loop->arrivals);
  context_end(&loop->context);
}

static void unwatch(ct_loop *loop) {
  if (!loop->events) return;
  ev_prepare_stop(loop->events, &loop->before_poll);
  ev_idle_stop(loop->events, &loop->spinner);
  ev_async_stop(loop->events, &loop->waker);
  ev_timer_stop(loop->events, &loop->ticker);
  arrivals_unwatch(loop->arrivals, loop->events);
  event_streams_unwatch(loop->protocol.event_streams, loop->events);
  cooldowns_end(&loop->topics, loop->events);
  ev_loop_destroy(loop->events);
  loop->events = NULL;
}

static void *run(void *argument) {
  ct_loop *loop = argument;
  current = loop;
  pthread_setname_np(pthread_self(), loop->thread_name);
  lateness_begin(&loop->lateness, TICK_MS);
  turn_meter_begin(&loop->turns);
  wheel_begin(loop->wheel);
  ev_run(loop->events, 0);
  close_everything(loop);
  loop->callbacks.ended(loop->callbacks.context);
  current = NULL;
  return NULL;
}

// All signals are blocked on the thread: the process handles them on another.
int ct_loop_start(ct_loop *loop, const char *thread_name) {
  snprintf(loop->thread_name, sizeof loop->thread_name, "%s", thread_name);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int reason = pthread_create(&loop->thread, NULL, run, loop);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return reason;
}

void ct_loop_stop(ct_loop *loop) {
  atomic_store(&loop->is_stopping, true);
  ct_loop_wake(loop);
}

void ct_loop_join(ct_loop *loop) { pthread_join(loop->thread, NULL); }

void ct_loop_destroy(ct_loop *loop) {
  close_everything(loop);
  unwatch(loop);
  context_free(&loop->context);
  certificate_free(&loop->protocol.certificate);
  exchanges_free(loop->protocol.exchanges);
  receiver_free(&loop->protocol.receiver);
  hangups_free(loop->protocol.hangups);
  event_streams_free(loop->protocol.event_streams);
  bytes_free(&loop->protocol.upgrades.head_text);
  if (loop->listeners) listeners_free(loop->listeners);
  arrivals_free(loop->arrivals);
  topics_free(&loop->topics);
  connections_free(&loop->connections);
  wheel_free(loop->wheel);
  free((char *)loop->options.subprotocol);
  free((char *)loop->options.certificate_file);
  free((char *)loop->options.key_file);
  free((char *)loop->options.public_body_path);
  free(loop);
}
