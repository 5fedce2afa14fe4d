#include "receive.h"

#include "bytes.h"
#include "closing.h"
#include "flush.h"
#include "mask.h"
#include "utf8.h"

#include <errno.h>
#include <libwebsockets.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
  CODE_PROTOCOL = 1002, CODE_UNSUPPORTED = 1003, CODE_NONE = 1005, CODE_INVALID = 1007, CODE_TOO_BIG = 1009,
  CODE_MAX = 4999, RSV1 = 0x40
};

void receiver_init(receiver *r, const ct_options *options) {
  r->options = options;
  r->inflater = inflater_create();
  r->received = ct_allocate(options->max_message_bytes + CT_RECEIVE_PADDING, 1);
}

void receiver_free(receiver *r) {
  inflater_free(r->inflater);
  free(r->received);
}

void receiver_learn_buffer(receiver *r, const uint8_t *service_buffer) { r->service_buffer = service_buffer; }

static void deliver(receiver *r, connection *c, const uint8_t *message, size_t count, bool is_text) {
  r->messages++;
  if (c->handler) c->of_loop->callbacks->received(c->handler, message, count, is_text);
}

// The library's buffer may end with the message; the JSON parser reads beyond it.
static void deliver_whole(receiver *r, connection *c, const uint8_t *data, size_t count, bool is_text) {
  if (count) memcpy(r->received, data, count);
  deliver(r, c, r->received, count, is_text);
}

static void deliver_assembled(receiver *r, connection *c, bool is_text) {
  bytes message = bytes_take(&c->incoming.assembly);  // the handler may close the connection
  c->incoming.checked = 0;
  memset(bytes_extend(&message, CT_RECEIVE_PADDING), 0, CT_RECEIVE_PADDING);
  deliver(r, c, bytes_first(&message), bytes_count(&message) - CT_RECEIVE_PADDING, is_text);
  bytes_free(&message);
}

// A final text may not end inside a character. The library would check byte by byte, which takes
// longer than parsing the text.
static bool is_utf8(const uint8_t *text, size_t count, bool is_final, size_t *whole) {
  return utf8_check(text, count, whole) && (!is_final || *whole == count);
}

static bool is_assembly_utf8(connection *c, bool is_final) {
  size_t whole = 0;
  size_t unchecked = bytes_count(&c->incoming.assembly) - c->incoming.checked;
  if (!is_utf8(bytes_first(&c->incoming.assembly) + c->incoming.checked, unchecked, is_final, &whole)) return false;
  c->incoming.checked += (uint32_t)whole;
  return true;
}

static void deliver_deflated(receiver *r, connection *c, bool is_text) {
  size_t count = 0, whole = 0;
  inflate_result result = inflate_message(r->inflater, &c->incoming.assembly, r->received, r->options->max_message_bytes, &count);
  bytes_free(&c->incoming.assembly);
  if (result == INFLATE_TOO_BIG) {
    connection_fail(c, CODE_TOO_BIG, "message too big");
  } else if (result == INFLATE_INVALID) {
    connection_fail(c, CODE_INVALID, "invalid compressed data");
  } else if (is_text && !is_utf8(r->received, count, true, &whole)) {
    connection_fail(c, CODE_INVALID, "invalid UTF-8");
  } else {
    deliver(r, c, r->received, count, is_text);
  }
}

// Compressing may lengthen a text a little.
static size_t received_max(const receiver *r, const connection *c) {
  size_t max = r->options->max_message_bytes;
  return c->incoming.is_deflated ? max + max / 256 + 64 : max;
}

static void mark_received(connection *c) {
  connection_heard(c);
  c->incoming.turn = c->of_loop->turn;
}

void connection_receive(receiver *r, connection *c, uint8_t *data, size_t count) {
  mark_received(c);
  if (c->is_closing) return;  // frames after a close frame are ignored
  bool is_text = !lws_frame_is_binary(c->wsi), is_first = lws_is_first_fragment(c->wsi);
  if (!is_text && !r->options->accepts_binary) {
    connection_fail(c, CODE_UNSUPPORTED, "binary message");
    return;
  }
  size_t left = lws_remaining_packet_payload(c->wsi);
  bool begins_frame = !c->incoming.is_inside_frame;
  c->incoming.is_inside_frame = left > 0;
  if (begins_frame && is_unmasked(c->wsi, r->service_buffer, data, count + left)) {
    connection_fail(c, CODE_PROTOCOL, "frame is not masked");
    return;
  }
  bool has_rsv1 = lws_get_reserved_bits(c->wsi) & RSV1;
  c->incoming.had_rsv1 = has_rsv1;
  if (is_first) c->incoming.is_deflated = has_rsv1;
  else if (begins_frame && has_rsv1) {
    connection_fail(c, CODE_PROTOCOL, "RSV1 on a continuation");
    return;
  }
  size_t max = received_max(r, c), before = bytes_count(&c->incoming.assembly);
  if (before + count > max || left > max - before - count) {
    connection_fail(c, CODE_TOO_BIG, "message too big");
    return;
  }
  bool is_final = lws_is_final_fragment(c->wsi);
  bool is_whole = is_final && !before && !c->incoming.is_deflated;
  if (!is_whole) bytes_append(&c->incoming.assembly, data, count);
  if (c->incoming.is_deflated) {
    if (is_final) deliver_deflated(r, c, is_text);
    return;
  }
  size_t whole = 0;
  if (is_text && !(is_whole ? is_utf8(data, count, true, &whole) : is_assembly_utf8(c, is_final))) {
    connection_fail(c, CODE_INVALID, "invalid UTF-8");
    return;
  }
  if (is_whole) deliver_whole(r, c, data, count, is_text);
  else if (is_final) deliver_assembled(r, c, is_text);
}

static void refuse_rsv1(connection *c) { connection_fail(c, CODE_PROTOCOL, "RSV1 on a control frame"); }

// The library lets RSV1 pass where an extension may use it; RFC 7692 section 6.1 allows it on the
// first frame of a message alone.
void connection_receive_pong(connection *c) {
  connection_heard(c);
  c->incoming.had_rsv1 = lws_get_reserved_bits(c->wsi) & RSV1;
  if (c->incoming.had_rsv1) refuse_rsv1(c);
}

// The library reports no ping, but its bits are there until the next frame begins.
void connection_check_ping(connection *c) {
  bool has_rsv1 = lws_get_reserved_bits(c->wsi) & RSV1;
  if (has_rsv1 && !c->incoming.had_rsv1 && !c->incoming.is_inside_frame && !lws_is_first_fragment(c->wsi)) refuse_rsv1(c);
}

static int close_code(const uint8_t *payload, size_t count) {
  if (count == 0) return CODE_NONE;
  if (count == 1) return CODE_PROTOCOL;
  size_t whole = 0;
  if (!is_utf8(payload + 2, count - 2, true, &whole)) return CODE_INVALID;
  int code = payload[0] << 8 | payload[1];  // the library has replaced low invalid codes by 1002
  return code > CODE_MAX ? CODE_PROTOCOL : code;
}

// Answers in place of the library, which would echo a payload of one byte and keeps each closing
// connection in a sorted list. -1 ends the connection after the answer.
int connection_peer_closes(connection *c, const uint8_t *payload, size_t count) {
  mark_received(c);
  if (!c->is_closing) {
    int code = lws_get_reserved_bits(c->wsi) & RSV1 ? CODE_PROTOCOL : close_code(payload, count);
    c->is_writing_paused = false;
    c->is_close_from_peer = true;
    connection_begin_close(c, code, NULL, 0, false);
  }
  connection_write(c);
  return -1;
}

// Whether the peer can still receive. The library does not say why it closes.
static bool is_peer_connected(const connection *c) {
  char byte;
  ssize_t got = recv(lws_get_socket_fd(c->wsi), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN)) return false;
  return !c->is_tls || !(SSL_get_shutdown(lws_get_ssl(c->wsi)) & SSL_RECEIVED_SHUTDOWN);
}

// The library found a breach of the protocol, or the end of the stream. For some breaches it would
// close without a close frame.
void connection_library_closes(connection *c) {
  if (c->is_dead) return;
  bool is_ending = c->of_loop->is_ending;
  if (!is_ending && c->is_closing && !c->is_close_from_peer && lws_get_close_length(c->wsi) >= 2) {
    // A breach after our close frame: without the write side the library cannot send a second one.
    connection_write(c);
    shutdown(c->descriptor, SHUT_WR);
  } else if (!is_ending && !c->is_closing && is_peer_connected(c)) {
    connection_write(c);
    if (lws_get_close_length(c->wsi) < 2) lws_close_reason(c->wsi, LWS_CLOSE_STATUS_PROTOCOL_ERR, NULL, 0);
    const uint8_t *payload = lws_get_close_payload(c->wsi);
    c->close_code = (uint16_t)(payload[0] << 8 | payload[1]);
  }
  c->is_closing = c->is_dead = true;
}
