#include "cooldown.h"

#include <time.h>

// All cooldowns are equally long, so the list is in the order of their ends. The timer runs only
// while a dirty topic waits in it.

// Not ev_now, which follows the wall clock: a correction would prolong the cooldowns.
static double monotonic(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double now(const topics *all) { return all->options->flush_clock ? all->options->flush_clock() : monotonic(); }

void cooldown_cancel(ct_topic *topic) {
  if (!topic->is_cooling_down) return;
  topic->is_cooling_down = false;
  if (topic->is_dirty) topic->of_loop->cooldowns.deferred_count--;
  TAILQ_REMOVE(&topic->of_loop->cooldowns.topics, topic, cooling_down);
}

void cooldown_finish(ct_topic *topic) {
  if (!topic->is_cooling_down) return;
  cooldown_cancel(topic);
  if (topic->is_dirty) topic_queue_flush(topic);
}

static void finish_due(topics *all) {
  for (ct_topic *first; (first = TAILQ_FIRST(&all->cooldowns.topics)) && first->cooldown_end <= now(all);) {
    cooldown_finish(first);
  }
}

// Finishes no cooldown, whatever the time: cooldown_defers has just said that its topic is in one.
static void arm(topics *all) {
  cooldowns *c = &all->cooldowns;
  if (!c->deferred_count || ev_is_active(&c->timer)) return;
  double left = TAILQ_FIRST(&c->topics)->cooldown_end - now(all);
  ev_timer_set(&c->timer, left > 0 ? left : 0, 0);
  ev_timer_start(c->events, &c->timer);
}

static void on_timer(struct ev_loop *events, ev_timer *watcher, int revents) {
  (void)events, (void)revents;
  finish_due(watcher->data);
  arm(watcher->data);
}

void cooldowns_begin(topics *all, struct ev_loop *events) {
  all->cooldowns.events = events;
  TAILQ_INIT(&all->cooldowns.topics);
  ev_timer_init(&all->cooldowns.timer, on_timer, 0, 0);
  all->cooldowns.timer.data = all;
}

void cooldowns_end(topics *all, struct ev_loop *events) { ev_timer_stop(events, &all->cooldowns.timer); }

void cooldown_begin(ct_topic *topic) {
  topics *all = topic->of_loop;
  if (!all->options->flush_window_ms || topic->is_cooling_down) return;
  topic->is_cooling_down = true;
  topic->cooldown_end = now(all) + all->options->flush_window_ms / 1e3;
  TAILQ_INSERT_TAIL(&all->cooldowns.topics, topic, cooling_down);
}

bool cooldown_defers(ct_topic *topic) {
  topics *all = topic->of_loop;
  finish_due(all);
  if (!topic->is_cooling_down) return false;
  all->cooldowns.deferred_count++;
  arm(all);
  return true;
}
