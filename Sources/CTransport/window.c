#include "private.h"

#include <time.h>

// Rests begin in the order in which they end, since all are equally long: the list is sorted by itself. Its timer runs
// only while a topic of it has something to flush.

// Not ev_now, which is the clock of the wall: set back, it would let a topic rest until it has caught up.
static double monotonic(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double now(const ct_loop *loop) { return loop->options.clock ? loop->options.clock() : monotonic(); }

static void detach(ct_topic *topic) {
  ct_loop *loop = topic->loop;
  topic->is_resting = false;
  if (topic->is_dirty) loop->held_count--;
  if (topic->next_resting) topic->next_resting->previous_resting = topic->previous_resting;
  else loop->last_resting = topic->previous_resting;
  if (topic->previous_resting) topic->previous_resting->next_resting = topic->next_resting;
  else loop->first_resting = topic->next_resting;
}

void window_end(ct_topic *topic) {
  if (!topic->is_resting) return;
  detach(topic);
  if (topic->is_dirty) topic_list_dirty(topic);
}

static void end_due(ct_loop *loop) {
  while (loop->first_resting && loop->first_resting->rested <= now(loop)) window_end(loop->first_resting);
}

// What rests is not ended here, whatever the time: who is about to hold a topic has seen it rest.
static void arm(ct_loop *loop) {
  if (!loop->held_count || ev_is_active(&loop->window)) return;
  double left = loop->first_resting->rested - now(loop);
  ev_timer_set(&loop->window, left > 0 ? left : 0, 0);
  ev_timer_start(loop->events, &loop->window);
}

static void on_window(struct ev_loop *events, ev_timer *watcher, int revents) {
  (void)events, (void)revents;
  end_due(watcher->data);
  arm(watcher->data);
}

void window_init(ct_loop *loop) {
  ev_timer_init(&loop->window, on_window, 0, 0);
  loop->window.data = loop;
}

void window_begin(ct_topic *topic) {
  ct_loop *loop = topic->loop;
  if (!loop->options.flush_window_ms || topic->is_resting) return;
  topic->is_resting = true;
  topic->rested = now(loop) + loop->options.flush_window_ms / 1e3;
  topic->next_resting = NULL;
  topic->previous_resting = loop->last_resting;
  if (loop->last_resting) loop->last_resting->next_resting = topic; else loop->first_resting = topic;
  loop->last_resting = topic;
}

bool window_holds(ct_topic *topic) {
  end_due(topic->loop);
  if (!topic->is_resting) return false;
  topic->loop->held_count++;
  arm(topic->loop);
  return true;
}

void window_forget(ct_topic *topic) {
  if (topic->is_resting) detach(topic);
}
