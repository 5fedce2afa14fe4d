#include "closing.h"

#include "bytes.h"
#include "event_frame.h"
#include "frame.h"
#include "subscription.h"
#include "topic.h"
#include "wheel.h"

#include <libwebsockets.h>
#include <string.h>

enum { CODE_NONE = 1005, FLUSH_LIMIT_MS = 30000 };

void connection_begin_close(connection *c, int code, const void *reason, size_t count, bool discard) {
  if (c->is_closing) return;
  if (discard) connection_discard_queue(c); else connection_drain_topics(c);
  subscriptions_remove_all(c);
  connection_drop_incoming(c);
  c->is_closing = true;
  c->is_writing_paused = false;
  if (c->is_reading_paused) lws_rx_flow_control(c->wsi, 1);  // to read the answer to the close
  c->close_code = (uint16_t)code;
  uint8_t payload[2 + CLOSE_REASON_MAX] = {(uint8_t)(code >> 8), (uint8_t)code};
  if (count > CLOSE_REASON_MAX) count = CLOSE_REASON_MAX;
  if (count) memcpy(payload + 2, reason, count);
  if (c->is_event_stream) event_append_close(&c->send_queue, code, payload + 2, count);
  else frame_append(&c->send_queue, OPCODE_CLOSE, payload, code == CODE_NONE ? 0 : 2 + count);
  wheel_set_in(c->of_loop->wheel, &c->own_timer, FLUSH_LIMIT_MS);
  connection_mark_dirty(c);
}

void connection_drop_queued(connection *c) {
  if (c->is_closing) return;
  subscriptions_remove_all(c);
  connection_discard_queue(c);
}

void connection_fail(connection *c, int code, const char *reason) {
  if (c->is_closing) return;
  connection_begin_close(c, code, reason, strlen(reason), code == 4002);
  c->reports_close = true;
}

void connection_end(connection *c) {
  subscriptions_remove_all(c);
  connection_free(c);
}
