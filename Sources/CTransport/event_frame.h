// What an event stream gets in place of frames: events and comments of text/event-stream (HTML
// Living Standard, section 9.2).

#pragma once

#include "bytes.h"

enum { EVENT_EXTRA = 8 };  // bytes of an event beside its payload

// payload: JSON text.
void event_append(bytes *to, const void *payload, size_t count);
// The last event: it says why the stream ends.
void event_append_close(bytes *to, int code, const void *reason, size_t count);
// A comment, which a client ignores.
void event_append_comment(bytes *to);
// The longest run of whole events that fits, at least one event.
size_t event_prefix(const uint8_t *events, size_t count, size_t limit);
