#include "private.h"

#include <time.h>

// All cooldowns are equally long, so the list is in the order of their ends. The timer runs only
// while a dirty topic waits in it.

// Not ev_now, which follows the wall clock: a correction would prolong the cooldowns.
static double monotonic(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double now(const ct_loop *loop) { return loop->options.flush_clock ? loop->options.flush_clock() : monotonic(); }

void cooldown_cancel(ct_topic *topic) {
  if (!topic->is_cooling_down) return;
  topic->is_cooling_down = false;
  if (topic->is_dirty) topic->loop->deferred_count--;
  TAILQ_REMOVE(&topic->loop->cooling_down, topic, cooling_down);
}

void cooldown_finish(ct_topic *topic) {
  if (!topic->is_cooling_down) return;
  cooldown_cancel(topic);
  if (topic->is_dirty) topic_queue_flush(topic);
}

static void finish_due(ct_loop *loop) {
  for (ct_topic *first; (first = TAILQ_FIRST(&loop->cooling_down)) && first->cooldown_end <= now(loop);) {
    cooldown_finish(first);
  }
}

// Finishes no cooldown, whatever the time: cooldown_defers has just said that its topic is in one.
static void arm(ct_loop *loop) {
  if (!loop->deferred_count || ev_is_active(&loop->cooldown_timer)) return;
  double left = TAILQ_FIRST(&loop->cooling_down)->cooldown_end - now(loop);
  ev_timer_set(&loop->cooldown_timer, left > 0 ? left : 0, 0);
  ev_timer_start(loop->events, &loop->cooldown_timer);
}

static void on_timer(struct ev_loop *events, ev_timer *watcher, int revents) {
  (void)events, (void)revents;
  finish_due(watcher->data);
  arm(watcher->data);
}

void cooldown_init(ct_loop *loop) {
  TAILQ_INIT(&loop->cooling_down);
  ev_timer_init(&loop->cooldown_timer, on_timer, 0, 0);
  loop->cooldown_timer.data = loop;
}

void cooldown_begin(ct_topic *topic) {
  ct_loop *loop = topic->loop;
  if (!loop->options.flush_window_ms || topic->is_cooling_down) return;
  topic->is_cooling_down = true;
  topic->cooldown_end = now(loop) + loop->options.flush_window_ms / 1e3;
  TAILQ_INSERT_TAIL(&loop->cooling_down, topic, cooling_down);
}

bool cooldown_defers(ct_topic *topic) {
  finish_due(topic->loop);
  if (!topic->is_cooling_down) return false;
  topic->loop->deferred_count++;
  arm(topic->loop);
  return true;
}
