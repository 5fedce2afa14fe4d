#include "private.h"

#include <string.h>

// The messages of clients never refer to earlier ones (offer.c asks for client_no_context_takeover),
// so one inflater serves all connections of a loop.

enum { WINDOW_BITS = 15, WINDOW = 1 << WINDOW_BITS };

static bool prepare(ct_loop *loop) {
  if (loop->has_inflater) return inflateReset(&loop->inflater) == Z_OK;
  loop->has_inflater = inflateInit2(&loop->inflater, -WINDOW_BITS) == Z_OK;
  return loop->has_inflater;
}

// A final block ends the stream, and the bytes behind it are another one (RFC 7692 section
// 7.2.3.4), which may refer to what came before.
static bool begin_next_stream(z_stream *inflater, const uint8_t *out, size_t count) {
  size_t known = count < WINDOW ? count : WINDOW;
  return inflateReset(inflater) == Z_OK &&
         (!known || inflateSetDictionary(inflater, out + count - known, (uInt)known) == Z_OK);
}

// A block costs its receiver microseconds, and its sender a few bytes: more than these are no text's.
// Few compressors end a stream within a message, and none a block for a few bytes.
enum { STREAMS_MAX = 16, BLOCKS_MAX = 64, BLOCK_BYTES = 256 };

inflate_result inflate_message(ct_loop *loop, bytes *message, size_t *count) {
  static const uint8_t tail[] = {0, 0, 0xff, 0xff};  // of a sync flush; it is not sent
  z_stream *inflater = &loop->inflater;
  size_t max = loop->options.max_message_bytes;
  if (!prepare(loop)) return INFLATE_INVALID;
  bytes_append(message, tail, sizeof tail);
  inflater->next_in = (uint8_t *)bytes_first(message);
  inflater->avail_in = (uInt)bytes_count(message);
  inflater->next_out = loop->received;
  inflater->avail_out = (uInt)max + 1;  // into the padding: one byte tells that it is too big
  for (size_t blocks = 0, streams = 0; inflater->avail_in;) {
    int result = inflate(inflater, Z_BLOCK);  // to the next end of a block
    *count = max + 1 - inflater->avail_out;
    if (*count > max) return INFLATE_TOO_BIG;
    if (++blocks > BLOCKS_MAX + *count / BLOCK_BYTES) return INFLATE_TOO_BIG;
    if (result == Z_STREAM_END) {
      if (++streams > STREAMS_MAX) return INFLATE_TOO_BIG;
      if (!begin_next_stream(inflater, loop->received, *count)) return INFLATE_INVALID;
    } else if (result != Z_OK) {
      return INFLATE_INVALID;
    }
  }
  enum { BETWEEN_BLOCKS = 128 };  // of zlib's data_type
  return inflater->data_type & BETWEEN_BLOCKS ? INFLATE_OK : INFLATE_INVALID;
}

void inflate_end(ct_loop *loop) {
  if (loop->has_inflater) inflateEnd(&loop->inflater);
}
