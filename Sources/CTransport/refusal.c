#include "refusal.h"

#include <stdio.h>

const char *status_phrase(int status) {
  static const struct {
    int status;
    const char *phrase;
  } phrases[] = {
    {200, "OK"}, {201, "Created"}, {202, "Accepted"}, {204, "No Content"}, {301, "Moved Permanently"}, {302, "Found"},
    {304, "Not Modified"}, {400, "Bad Request"}, {401, "Unauthorized"}, {403, "Forbidden"}, {404, "Not Found"},
    {405, "Method Not Allowed"}, {408, "Request Timeout"}, {409, "Conflict"}, {411, "Length Required"},
    {413, "Content Too Large"}, {415, "Unsupported Media Type"}, {426, "Upgrade Required"}, {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"}, {500, "Internal Server Error"}, {503, "Service Unavailable"},
  };
  for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
    if (phrases[i].status == status) return phrases[i].phrase;
  }
  return "Unnamed";
}

size_t refusal_body(char *to, size_t size, int status, const char *reason) {
  int count = snprintf(to, size, "%d: %s\n", status, *reason ? reason : status_phrase(status));
  return (size_t)count < size ? (size_t)count : size - 1;
}

size_t refusal_text(char to[REFUSAL_MAX], int status, const char *reason) {
  char body[REASON_MAX];
  size_t body_count = refusal_body(body, sizeof body, status, reason);
  const char *more = status == 426 ? "Sec-WebSocket-Version: 13\r\n" : status == 405 ? "Allow: GET\r\n" : "";
  return (size_t)snprintf(
    to, REFUSAL_MAX,
    "HTTP/1.1 %d %s\r\n%sContent-Type: text/plain; charset=utf-8\r\nContent-Length: %zu\r\n"
    "Connection: close\r\n\r\n%s",
    status, status_phrase(status), more, body_count, body);
}
