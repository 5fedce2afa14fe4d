// Sessions that do nothing but be there: of many users, from several source addresses, in one thread. They answer pings,
// join a group where one is named, and count what comes.
//
//   crowd ADDRESS PORT TOKENS SOURCES [GROUP]
//
// TOKENS is a file with a token in each line; the Nth session signs in with the Nth. The sources are 127.0.1.1 to 127.0.1.N;
// 0: as the system chooses. It reads commands, each answered by a line of JSON:
//
//   open N PARALLEL     opens so many more, so many at a time. A session that is told to come later (4004) does; the answer
//                       comes when all are there, or with what has failed
//   close N             closes the newest N in order, and waits for the answer of each
//   counts              what came so far; the latencies are forgotten with it
//
// A message whose text has t=NANOSECONDS; of CLOCK_MONOTONIC in it counts into the latencies. It ends with its input.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif

enum { MOST = 1 << 16, BUFFER = 1 << 16, HEAD = 160, SLOTS = 65536, TRIES = 200 };

enum phase { UNUSED, WAITING, CONNECTING, UPGRADING, SIGNING_IN, JOINING, THERE, CLOSING, GONE };

struct session {
  int descriptor;
  enum phase phase;
  int tries;
  uint64_t due;          // when one that was told to wait connects again
  unsigned char *kept;   // the beginning of a frame whose rest has not come
  size_t kept_length;
};

static struct session sessions[MOST];
static char **tokens;
static int token_count, source_count, session_count, poller;
static struct sockaddr_in server;
static const char *group;

static int there, waiting_count, in_progress, parallel = 100;
static int next_to_open, open_target, close_left, told_to_wait, failed;
static int codes[65536];
static uint64_t messages, events, bytes, latency_count, latency_max;
static uint32_t latencies[SLOTS];  // by tenths of a millisecond
static char failure[200];

static void fail(const char *what) {
  fprintf(stderr, "crowd: %s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void watch(int number, int operation, uint32_t wanted) {
  struct epoll_event event = {.events = wanted, .data.u32 = (uint32_t)number};
  if (epoll_ctl(poller, operation, sessions[number].descriptor, &event) != 0) fail("epoll_ctl");
}

static void send_all(int number, const void *data, size_t length) {
  // Little is ever under way to the server: what does not fit is a fault.
  ssize_t sent = send(sessions[number].descriptor, data, length, MSG_NOSIGNAL);
  if (sent != (ssize_t)length && !failure[0]) snprintf(failure, sizeof failure, "session %d cannot send", number);
}

// A frame with a mask of zeros, which leaves the payload as it is.
static void send_frame(int number, int opcode, const void *payload, size_t length) {
  unsigned char frame[4200];
  size_t head = length < 126 ? 6 : 8;
  if (length + head > sizeof frame) fail("a frame is too long");
  frame[0] = (unsigned char)(0x80 | opcode);
  if (length < 126) {
    frame[1] = (unsigned char)(0x80 | length);
  } else {
    frame[1] = 0x80 | 126;
    frame[2] = (unsigned char)(length >> 8);
    frame[3] = (unsigned char)length;
  }
  memset(frame + head - 4, 0, 4);
  memcpy(frame + head, payload, length);
  send_all(number, frame, head + length);
}

// Life

static void forget(int number) {
  struct session *session = &sessions[number];
  close(session->descriptor);
  session->descriptor = -1;
  free(session->kept);
  session->kept = NULL;
  session->kept_length = 0;
}

static void wait_and_retry(int number, uint64_t milliseconds) {
  struct session *session = &sessions[number];
  forget(number);
  in_progress--;
  if (++session->tries > TRIES) {
    session->phase = GONE;
    failed++;
    return;
  }
  session->phase = WAITING;
  session->due = now() + milliseconds * 1000000;
  waiting_count++;
}

static void end(int number, int code) {
  struct session *session = &sessions[number];
  switch (session->phase) {
    case CONNECTING: case UPGRADING: case SIGNING_IN: case JOINING:
      codes[code]++;
      wait_and_retry(number, 200);
      return;
    case THERE:
      codes[code]++;
      there--;
      break;
    case CLOSING: close_left--; break;
    default: return;
  }
  forget(number);
  session->phase = GONE;
}

static void begin(int number) {
  struct session *session = &sessions[number];
  int one = 1;
  session->descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (session->descriptor < 0) fail("socket");
  setsockopt(session->descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (source_count > 0) {
    struct sockaddr_in source = {.sin_family = AF_INET};
    source.sin_addr.s_addr = htonl(0x7F000100u + 1u + (uint32_t)(number % source_count));
    setsockopt(session->descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    if (bind(session->descriptor, (struct sockaddr *)&source, sizeof source) != 0) fail("bind");
  }
  session->phase = CONNECTING;
  in_progress++;
  if (connect(session->descriptor, (struct sockaddr *)&server, sizeof server) != 0 && errno != EINPROGRESS) {
    wait_and_retry(number, 200);
    return;
  }
  watch(number, EPOLL_CTL_ADD, EPOLLOUT);
}

static void become_there(int number) {
  sessions[number].phase = THERE;
  in_progress--;
  there++;
}

static void upgrade(int number) {
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(sessions[number].descriptor, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) {
    end(number, 1006);
    return;
  }
  char request[4096];
  int count = snprintf(
      request, sizeof request,
      "GET /ws?platform=Web&token=%s HTTP/1.1\r\nHost: throng\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n", tokens[number]);
  if (count >= (int)sizeof request) fail("a token is too long");
  sessions[number].phase = UPGRADING;
  watch(number, EPOLL_CTL_MOD, EPOLLIN);
  send_all(number, request, (size_t)count);
}

// What comes

static int has(const unsigned char *text, size_t length, const char *part) {
  return memmem(text, length, part, strlen(part)) != NULL;
}

static void note_latency(const unsigned char *text, size_t length) {
  const unsigned char *place = memmem(text, length, "t=", 2);
  if (!place) return;
  uint64_t sent = 0;
  for (place += 2; place < text + length && *place >= '0' && *place <= '9'; place++) sent = sent * 10 + (*place - '0');
  uint64_t instant = now(), latency = instant > sent ? instant - sent : 0;
  latency_count++;
  if (latency > latency_max) latency_max = latency;
  uint64_t slot = latency / 100000;
  latencies[slot < SLOTS ? slot : SLOTS - 1]++;
}

static void take_text(int number, const unsigned char *text, size_t length) {
  struct session *session = &sessions[number];
  size_t head = length < HEAD ? length : HEAD;
  if (has(text, head, "\"method\":\"onRecvNewMessage\"")) {
    messages++;
    note_latency(text, length);
  } else if (session->phase == SIGNING_IN && has(text, head, "\"onConnectSuccess\"")) {
    if (!group) {
      become_there(number);
      return;
    }
    char request[400];
    int count = snprintf(
        request, sizeof request, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"joinGroup\",\"params\":{\"groupID\":\"%s\"}}", group);
    session->phase = JOINING;
    send_frame(number, 1, request, (size_t)count);
  } else if (session->phase == JOINING && has(text, head, "\"id\":1,")) {
    // 10013: it was a member before.
    if (has(text, head, "\"error\"") && !has(text, length, "10013") && !failure[0])
      snprintf(failure, sizeof failure, "joinGroup: %.*s", (int)(length < 150 ? length : 150), text);
    become_there(number);
  } else {
    events++;
  }
}

static void take_close(int number, const unsigned char *payload, size_t length) {
  int code = length >= 2 ? payload[0] << 8 | payload[1] : 1005;
  if (code == 4004 && sessions[number].phase != THERE && sessions[number].phase != CLOSING) {
    // The reason says how long: "7008 retry after 1234 ms".
    uint64_t milliseconds = 0;
    const unsigned char *place = memmem(payload, length, "after ", 6);
    if (place)
      for (place += 6; place < payload + length && *place >= '0' && *place <= '9'; place++)
        milliseconds = milliseconds * 10 + (uint64_t)(*place - '0');
    told_to_wait++;
    wait_and_retry(number, milliseconds > 0 && milliseconds < 600000 ? milliseconds : 1000);
    return;
  }
  end(number, code);
}

// Returns how much of it was read: whole frames, and the head of the answer to the upgrade.
static size_t take(int number, unsigned char *data, size_t length) {
  struct session *session = &sessions[number];
  size_t start = 0;
  if (session->phase == UPGRADING) {
    unsigned char *tail = memmem(data, length, "\r\n\r\n", 4);
    if (!tail) return 0;
    if (memcmp(data, "HTTP/1.1 101", 12) != 0) {
      end(number, 1006);
      return length;
    }
    session->phase = SIGNING_IN;
    start = (size_t)(tail + 4 - data);
  }
  while (length - start >= 2 && session->descriptor >= 0) {
    size_t head = 2, size = data[start + 1] & 0x7F;
    if (size >= 126) {
      size_t count = size == 126 ? 2 : 8;
      if (length - start < 2 + count) break;
      size = 0;
      for (size_t index = 0; index < count; index++) size = size << 8 | data[start + 2 + index];
      head += count;
    }
    if (length - start < head + size) break;
    unsigned char *payload = data + start + head;
    switch (data[start] & 0x0F) {
      case 1: take_text(number, payload, size); break;
      case 8: take_close(number, payload, size); break;
      case 9: send_frame(number, 10, payload, size); break;
      default: break;
    }
    start += head + size;
  }
  return start;
}

static void receive(int number) {
  static unsigned char buffer[BUFFER * 2];
  struct session *session = &sessions[number];
  while (session->descriptor >= 0) {
    size_t kept = session->kept_length;
    if (kept > 0) memcpy(buffer, session->kept, kept);
    ssize_t count = recv(session->descriptor, buffer + kept, sizeof buffer - kept, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
      end(number, 1006);
      return;
    }
    bytes += (uint64_t)count;
    size_t length = kept + (size_t)count, used = take(number, buffer, length), left = length - used;
    if (session->descriptor < 0) return;
    if (left == sizeof buffer) fail("a frame is longer than the buffer");
    free(session->kept);
    session->kept = left > 0 ? malloc(left) : NULL;
    if (left > 0) memcpy(session->kept, buffer + used, left);
    session->kept_length = left;
    if ((size_t)count < sizeof buffer - kept) return;
  }
}

// Commands

static enum { IDLE, OPENING, ENDING } command_under_way;
static uint64_t command_began;

static uint64_t quantile(double share) {
  uint64_t wanted = (uint64_t)(share * (double)latency_count), seen = 0;
  for (int slot = 0; slot < SLOTS; slot++)
    if ((seen += latencies[slot]) > wanted) return (uint64_t)slot;
  return 0;
}

static void print_codes(void) {
  const char *comma = "";
  printf("\"codes\":{");
  for (int code = 0; code < 65536; code++)
    if (codes[code]) {
      printf("%s\"%d\":%d", comma, code, codes[code]);
      comma = ",";
    }
  printf("}");
}

static void answer(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  double cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  cpu += (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  printf(
      "{\"there\":%d,\"failed\":%d,\"toldToWait\":%d,\"seconds\":%.3f,\"messages\":%llu,\"events\":%llu,\"bytes\":%llu,"
      "\"latencies\":%llu,\"p50Ms\":%.1f,\"p99Ms\":%.1f,\"maxMs\":%.1f,\"cpu\":%.2f,\"failure\":\"",
      there, failed, told_to_wait, (double)(now() - command_began) / 1e9, (unsigned long long)messages, (unsigned long long)events,
      (unsigned long long)bytes, (unsigned long long)latency_count, (double)quantile(0.5) / 10, (double)quantile(0.99) / 10,
      (double)latency_max / 1e6, cpu);
  for (const char *place = failure; *place; place++)
    if (*place != '"' && *place != '\\' && (unsigned char)*place >= ' ') putchar(*place);
  printf("\",");
  print_codes();
  printf("}\n");
  fflush(stdout);
}

static void command(const char *line) {
  int count;
  command_began = now();
  if (sscanf(line, "open %d %d", &count, &parallel) == 2 && count > 0 && parallel > 0 && open_target + count <= token_count) {
    open_target += count;
    command_under_way = OPENING;
  } else if (sscanf(line, "close %d", &count) == 1 && count >= 0) {
    static const unsigned char normal[2] = {0x03, 0xE8};
    for (int number = session_count - 1; number >= 0 && count > 0; number--)
      if (sessions[number].phase == THERE) {
        sessions[number].phase = CLOSING;
        there--;
        close_left++;
        count--;
        send_frame(number, 8, normal, sizeof normal);
      }
    command_under_way = ENDING;
  } else if (strcmp(line, "counts") == 0) {
    answer();
    latency_count = latency_max = 0;
    memset(latencies, 0, sizeof latencies);
  } else {
    printf("{\"failure\":\"refused: %s\"}\n", line);
    fflush(stdout);
  }
}

static int read_commands(void) {
  static char buffer[1024];
  static size_t used;
  ssize_t length = read(STDIN_FILENO, buffer + used, sizeof buffer - 1 - used);
  if (length <= 0) return length < 0 && errno == EINTR;
  used += (size_t)length;
  buffer[used] = 0;
  char *start = buffer, *last;
  while ((last = strchr(start, '\n'))) {
    *last = 0;
    command(start);
    start = last + 1;
  }
  used -= (size_t)(start - buffer);
  memmove(buffer, start, used);
  return used < sizeof buffer - 1;
}

static void open_more(void) {
  if (waiting_count > 0) {
    uint64_t instant = now();
    for (int number = 0; number < session_count && in_progress < parallel && waiting_count > 0; number++)
      if (sessions[number].phase == WAITING && sessions[number].due <= instant) {
        waiting_count--;
        begin(number);
      }
  }
  while (next_to_open < open_target && in_progress < parallel) {
    session_count = ++next_to_open;
    begin(next_to_open - 1);
  }
}

static void read_tokens(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) fail(path);
  tokens = calloc(MOST, sizeof *tokens);
  char *line = NULL;
  size_t size = 0;
  ssize_t length;
  while (token_count < MOST && (length = getline(&line, &size, file)) > 0) {
    if (line[length - 1] == '\n') line[length - 1] = 0;
    tokens[token_count++] = strdup(line);
  }
  free(line);
  fclose(file);
}

int main(int count, char **words) {
  if (count < 5) {
    fprintf(stderr, "usage: crowd ADDRESS PORT TOKENS SOURCES [GROUP]\n");
    return 2;
  }
  server = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(words[2]))};
  if (inet_pton(AF_INET, words[1], &server.sin_addr) != 1) fail(words[1]);
  read_tokens(words[3]);
  source_count = atoi(words[4]);
  group = count > 5 ? words[5] : NULL;
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  poller = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event input = {.events = EPOLLIN, .data.u32 = UINT32_MAX};
  if (poller < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, STDIN_FILENO, &input) != 0) fail("epoll");
  for (;;) {
    struct epoll_event found[512];
    int ready = epoll_wait(poller, found, 512, waiting_count > 0 ? 10 : -1);
    if (ready < 0 && errno != EINTR) fail("epoll_wait");
    for (int index = 0; index < ready; index++) {
      if (found[index].data.u32 == UINT32_MAX) {
        if (!read_commands()) return 0;
        continue;
      }
      int number = (int)found[index].data.u32;
      if (sessions[number].phase == CONNECTING)
        upgrade(number);
      else if (sessions[number].descriptor >= 0)
        receive(number);
    }
    if (command_under_way == OPENING) open_more();
    if ((command_under_way == OPENING && next_to_open == open_target && in_progress == 0 && waiting_count == 0) ||
        (command_under_way == ENDING && close_left == 0)) {
      command_under_way = IDLE;
      answer();
    }
  }
}
