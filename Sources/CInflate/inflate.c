#include "CInflate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct cinflate_stream {
  z_stream inflater;
  uint8_t *result;
  size_t room;
};

enum { TAIL = 4, LEAST_ROOM = 4096 };

cinflate_stream *cinflate_create(int window_bits) {
  cinflate_stream *stream = calloc(1, sizeof *stream);
  if (stream && inflateInit2(&stream->inflater, -window_bits) == Z_OK) return stream;
  free(stream);
  return NULL;
}

void cinflate_free(cinflate_stream *stream) {
  if (!stream) return;
  inflateEnd(&stream->inflater);
  free(stream->result);
  free(stream);
}

static int grow(cinflate_stream *stream, size_t used) {
  size_t room = stream->room ? stream->room * 2 : LEAST_ROOM;
  uint8_t *result = realloc(stream->result, room);
  if (!result) return 0;
  stream->result = result;
  stream->room = room;
  stream->inflater.next_out = result + used;
  stream->inflater.avail_out = (uInt)(room - used);
  return 1;
}

// Returns whether all input was taken.
static int take(cinflate_stream *stream, const uint8_t *bytes, size_t size, size_t *used) {
  z_stream *inflater = &stream->inflater;
  inflater->next_in = (uint8_t *)bytes;
  inflater->avail_in = (uInt)size;
  do {
    if (!inflater->avail_out && !grow(stream, *used)) return 0;
    int result = inflate(inflater, Z_SYNC_FLUSH);
    *used = stream->room - inflater->avail_out;
    if (result != Z_OK && result != Z_BUF_ERROR) return 0;
  } while (inflater->avail_in || !inflater->avail_out);
  return 1;
}

const uint8_t *cinflate_message(cinflate_stream *stream, const uint8_t *message, size_t size, size_t *count) {
  static const uint8_t tail[TAIL] = {0, 0, 0xff, 0xff};
  *count = 0;
  stream->inflater.next_out = stream->result;
  stream->inflater.avail_out = (uInt)stream->room;
  if (!stream->room && !grow(stream, 0)) return NULL;
  return take(stream, message, size, count) && take(stream, tail, TAIL, count) ? stream->result : NULL;
}

size_t cinflate_deflate(const uint8_t *message, size_t size, uint8_t *to, size_t room) {
  z_stream deflater = {0};
  if (deflateInit2(&deflater, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
  deflater.next_in = (uint8_t *)message;
  deflater.avail_in = (uInt)size;
  deflater.next_out = to;
  deflater.avail_out = (uInt)room;
  deflate(&deflater, Z_SYNC_FLUSH);
  size_t count = deflater.avail_out && !deflater.avail_in ? room - deflater.avail_out - TAIL : 0;
  deflateEnd(&deflater);
  return count;
}
