#include "base.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// https://www.haproxy.org/download/2.6/doc/proxy-protocol.txt

enum { TEXT_MAX = 107, BINARY_HEAD = 16 };

static const uint8_t signature[12] = {'\r', '\n', '\r', '\n', 0, '\r', '\n', 'Q', 'U', 'I', 'T', '\n'};

static void write_six(const uint8_t six[16], char address[CT_ADDRESS_SIZE]) {
  static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
  bool is_four = !memcmp(six, mapped, sizeof mapped);
  inet_ntop(is_four ? AF_INET : AF_INET6, is_four ? six + sizeof mapped : six, address, CT_ADDRESS_SIZE);
}

// The next word of a line whose words have one blank between them; NULL where there is none.
static char *next_word(char **line) {
  char *word = strsep(line, " ");
  return word && *word ? word : NULL;
}

static bool is_port(const char *word) {
  size_t count = word ? strlen(word) : 0;
  return count && count <= 5 && strspn(word, "0123456789") == count && atoi(word) <= 65535 && (count == 1 || *word != '0');
}

static bool read_source(int family, const char *source, const char *destination, char address[CT_ADDRESS_SIZE]) {
  uint8_t from[16], to[16];
  if (!source || !destination || inet_pton(family, source, from) != 1 || inet_pton(family, destination, to) != 1) return false;
  if (family == AF_INET6) write_six(from, address); else inet_ntop(AF_INET, from, address, CT_ADDRESS_SIZE);
  return true;
}

// "PROXY TCP4 192.0.2.1 192.0.2.2 40000 443", without its end.
static ct_proxy_result read_line(char *line, char address[CT_ADDRESS_SIZE]) {
  next_word(&line);
  const char *family = next_word(&line);
  if (!family) return CT_PROXY_INVALID;
  if (!strcmp(family, "UNKNOWN")) return CT_PROXY_PEER;  // whatever stands behind it
  bool is_four = !strcmp(family, "TCP4");
  if (!is_four && strcmp(family, "TCP6")) return CT_PROXY_INVALID;
  const char *source = next_word(&line), *destination = next_word(&line);
  if (!read_source(is_four ? AF_INET : AF_INET6, source, destination, address)) return CT_PROXY_INVALID;
  bool has_ports = is_port(next_word(&line)) && is_port(next_word(&line));
  return has_ports && !line ? CT_PROXY_ANNOUNCED : CT_PROXY_INVALID;
}

static ct_proxy_result read_text(const uint8_t *bytes, size_t count, size_t *used, char address[CT_ADDRESS_SIZE]) {
  const uint8_t *end = memchr(bytes, '\n', count < TEXT_MAX ? count : TEXT_MAX);
  if (!end) return count < TEXT_MAX ? CT_PROXY_INCOMPLETE : CT_PROXY_INVALID;
  *used = (size_t)(end - bytes) + 1;
  char line[TEXT_MAX + 1];
  memcpy(line, bytes, *used);
  if (line[*used - 2] != '\r') return CT_PROXY_INVALID;
  line[*used - 2] = '\0';
  return strlen(line) == *used - 2 ? read_line(line, address) : CT_PROXY_INVALID;
}

static ct_proxy_result read_binary(const uint8_t *bytes, size_t count, size_t *used, char address[CT_ADDRESS_SIZE]) {
  enum { LOCAL = 0x20, PROXY = 0x21, ADDRESSES4 = 12, ADDRESSES6 = 36 };
  enum { UNSPECIFIED = 0x00, TCP4 = 0x11, UDP4 = 0x12, TCP6 = 0x21, UDP6 = 0x22, UNIX_STREAM = 0x31, UNIX_DATAGRAM = 0x32 };
  if (count < BINARY_HEAD) return CT_PROXY_INCOMPLETE;
  uint8_t command = bytes[12], family = bytes[13];
  size_t length = (size_t)bytes[14] << 8 | bytes[15];
  if ((command != LOCAL && command != PROXY) || BINARY_HEAD + length > CT_PROXY_HEADER_MAX) return CT_PROXY_INVALID;
  if (count < BINARY_HEAD + length) return CT_PROXY_INCOMPLETE;
  *used = BINARY_HEAD + length;
  if (command == LOCAL) return CT_PROXY_PEER;
  const uint8_t *source = bytes + BINARY_HEAD;
  switch (family) {
  case TCP4:
    if (length < ADDRESSES4) return CT_PROXY_INVALID;
    inet_ntop(AF_INET, source, address, CT_ADDRESS_SIZE);
    return CT_PROXY_ANNOUNCED;
  case TCP6:
    if (length < ADDRESSES6) return CT_PROXY_INVALID;
    write_six(source, address);
    return CT_PROXY_ANNOUNCED;
  case UNSPECIFIED: case UDP4: case UDP6: case UNIX_STREAM: case UNIX_DATAGRAM:
    return CT_PROXY_PEER;
  default:
    return CT_PROXY_INVALID;  // unassigned
  }
}

ct_proxy_result ct_proxy_header_read(const uint8_t *bytes, size_t count, size_t *used, char address[CT_ADDRESS_SIZE]) {
  static const char text[6] = {'P', 'R', 'O', 'X', 'Y', ' '};
  *used = count;
  size_t begun = count < sizeof text ? count : sizeof text;
  if (!memcmp(bytes, text, begun)) {
    return begun < sizeof text ? CT_PROXY_INCOMPLETE : read_text(bytes, count, used, address);
  }
  begun = count < sizeof signature ? count : sizeof signature;
  if (memcmp(bytes, signature, begun)) return CT_PROXY_INVALID;
  return begun < sizeof signature ? CT_PROXY_INCOMPLETE : read_binary(bytes, count, used, address);
}
