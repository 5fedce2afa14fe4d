#include "inflate.h"

#include <stdlib.h>
#include <zlib.h>

// The messages of clients never refer to earlier ones (offer.c asks for client_no_context_takeover),
// so one inflater serves all connections of a loop.

enum { WINDOW_BITS = 15, WINDOW = 1 << WINDOW_BITS };

struct inflater {
  z_stream stream;
  bool has_stream;  // which is made for the first message
};

inflater *inflater_create(void) { return ct_allocate(1, sizeof(inflater)); }

void inflater_free(inflater *i) {
  if (i->has_stream) inflateEnd(&i->stream);
  free(i);
}

static bool prepare(inflater *i) {
  if (i->has_stream) return inflateReset(&i->stream) == Z_OK;
  i->has_stream = inflateInit2(&i->stream, -WINDOW_BITS) == Z_OK;
  return i->has_stream;
}

// A final block ends the stream, and the bytes behind it are another one (RFC 7692 section
// 7.2.3.4), which may refer to what came before.
static bool begin_next_stream(z_stream *stream, const uint8_t *out, size_t count) {
  size_t known = count < WINDOW ? count : WINDOW;
  return inflateReset(stream) == Z_OK &&
         (!known || inflateSetDictionary(stream, out + count - known, (uInt)known) == Z_OK);
}

// A block costs its receiver microseconds, and its sender a few bytes: more than these are no text's.
// Few compressors end a stream within a message, and none a block for a few bytes.
enum { STREAMS_MAX = 16, BLOCKS_MAX = 64, BLOCK_BYTES = 256 };

inflate_result inflate_message(inflater *i, bytes *message, uint8_t *to, size_t max, size_t *count) {
  static const uint8_t tail[] = {0, 0, 0xff, 0xff};  // of a sync flush; it is not sent
  z_stream *stream = &i->stream;
  if (!prepare(i)) return INFLATE_INVALID;
  bytes_append(message, tail, sizeof tail);
  stream->next_in = (uint8_t *)bytes_first(message);
  stream->avail_in = (uInt)bytes_count(message);
  stream->next_out = to;
  stream->avail_out = (uInt)max + 1;  // the byte more tells that it is too big
  for (size_t blocks = 0, streams = 0; stream->avail_in;) {
    int result = inflate(stream, Z_BLOCK);  // to the next end of a block
    *count = max + 1 - stream->avail_out;
    if (*count > max) return INFLATE_TOO_BIG;
    if (++blocks > BLOCKS_MAX + *count / BLOCK_BYTES) return INFLATE_TOO_BIG;
    if (result == Z_STREAM_END) {
      if (++streams > STREAMS_MAX) return INFLATE_TOO_BIG;
      if (!begin_next_stream(stream, to, *count)) return INFLATE_INVALID;
    } else if (result != Z_OK) {
      return INFLATE_INVALID;
    }
  }
  enum { BETWEEN_BLOCKS = 128 };  // of zlib's data_type
  return stream->data_type & BETWEEN_BLOCKS ? INFLATE_OK : INFLATE_INVALID;
}
