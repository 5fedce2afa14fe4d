#define _GNU_SOURCE
#include "handshake.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char accept_suffix[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
enum { KEY_SIZE = 24, SHA1_SIZE = 20, ACCEPT_CAPACITY = 32 };

size_t handshake_size(const char *bytes, size_t available) {
  const char *end = memmem(bytes, available, "\r\n\r\n", 4);
  return end ? (size_t)(end - bytes) + 4 : 0;
}

// The value of the key's header line, of KEY_SIZE characters, or NULL.
static const char *find_key(const char *head, size_t size) {
  static const char name[] = "\r\nSec-WebSocket-Key:";
  const size_t name_size = sizeof name - 1;
  const char *end = head + size;
  for (const char *at = head; (at = memmem(at, (size_t)(end - at), "\r\n", 2)); at += 2) {
    if ((size_t)(end - at) < name_size || strncasecmp(at, name, name_size) != 0) continue;
    const char *value = at + name_size;
    while (value < end && *value == ' ') value++;
    return end - value > KEY_SIZE ? value : NULL;
  }
  return NULL;
}

static bool make_accept(const char *key, char accept[ACCEPT_CAPACITY]) {
  char joined[KEY_SIZE + sizeof accept_suffix];
  unsigned char digest[SHA1_SIZE];
  memcpy(joined, key, KEY_SIZE);
  memcpy(joined + KEY_SIZE, accept_suffix, sizeof accept_suffix);
  if (!EVP_Digest(joined, sizeof joined - 1, digest, NULL, EVP_sha1(), NULL)) return false;
  EVP_EncodeBlock((unsigned char *)accept, digest, SHA1_SIZE);
  return true;
}

bool handshake_offers_deflate(const char *head, size_t size) {
  static const char name[] = "permessage-deflate";
  return memmem(head, size, name, sizeof name - 1);
}

size_t handshake_answer(const char *head, size_t size, bool deflate, char answer[ANSWER_CAPACITY]) {
  const char *key = find_key(head, size);
  static const char extension[] =
    "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover\r\n";
  char accept[ACCEPT_CAPACITY];
  if (!key || !make_accept(key, accept)) return 0;
  int written = snprintf(
    answer, ANSWER_CAPACITY,
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n%s\r\n", accept,
    deflate ? extension : "");
  return (size_t)written;
}

size_t handshake_room(const char *head, size_t size) {
  const char *at = memchr(head, '/', size), *end = head + size;
  size_t room = 0;
  while (at && ++at < end && *at >= '0' && *at <= '9' && room < MOST_ROOMS) room = 10 * room + (size_t)(*at - '0');
  return room < MOST_ROOMS ? room : 0;
}
