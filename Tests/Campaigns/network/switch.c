// An Ethernet switch between network namespaces, with delay, jitter and loss for each directed pair of ports: what netem
// does where the kernel has it.
//
//   switch DEVICE=NAMESPACE…      (- for the namespace that it is started in)
//
// Port 1 is the first. Each gets a TAP device of that name, and the frames to 02:00:00:00:00:NN go to port NN; all others go
// to every port. It says "ready", and reads commands from its input, each answered by a line:
//
//   delay FROM TO MILLISECONDS JITTER      loss FROM TO SHARE      counts
//
// It ends with its input. Needs CAP_NET_ADMIN and CAP_SYS_ADMIN.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PORTS = 16, FRAME = 1600, MOST_WAITING = 1 << 16, BATCH = 64 };

struct pair {
  uint64_t delay, jitter;  // nanoseconds
  double loss;
  uint64_t last;  // when the latest frame is due: none overtakes another
};

struct frame {
  uint64_t due, number;  // frames that are due at once leave in the order of their coming
  int port;
  int length;
  unsigned char bytes[];
};

static int ports[MOST_PORTS + 1], port_count;
static struct pair pairs[MOST_PORTS + 1][MOST_PORTS + 1];
static struct frame *heap[MOST_WAITING];
static int waiting;
static uint64_t last_number, passed, lost, overflowed;
static uint64_t random_state = 0x9E3779B97F4A7C15;

static void fail(const char *what) {
  fprintf(stderr, "switch: %s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// xorshift64*: a share of 1.
static double chance(void) {
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return (double)((random_state * 0x2545F4914F6CDD1D) >> 11) / (double)(1ULL << 53);
}

static int open_tap(const char *device, const char *namespace, int own) {
  if (strcmp(namespace, "-") != 0) {
    char path[256];
    snprintf(path, sizeof path, "/run/netns/%s", namespace);
    int other = open(path, O_RDONLY | O_CLOEXEC);
    if (other < 0 || setns(other, CLONE_NEWNET) != 0) fail(path);
    close(other);
  }
  int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (tap < 0) fail("/dev/net/tun");
  struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
  snprintf(request.ifr_name, sizeof request.ifr_name, "%s", device);
  if (ioctl(tap, TUNSETIFF, &request) != 0) fail(device);
  if (setns(own, CLONE_NEWNET) != 0) fail("setns");
  return tap;
}

// The waiting frames: the next that is due is at 0.

static int is_before(const struct frame *one, const struct frame *other) {
  return one->due != other->due ? one->due < other->due : one->number < other->number;
}

static void push(struct frame *frame) {
  int place = waiting++;
  for (int parent; place > 0 && is_before(frame, heap[parent = (place - 1) / 2]); place = parent) heap[place] = heap[parent];
  heap[place] = frame;
}

static struct frame *pop(void) {
  struct frame *first = heap[0], *last = heap[--waiting];
  int place = 0;
  for (int child; (child = 2 * place + 1) < waiting; place = child) {
    if (child + 1 < waiting && is_before(heap[child + 1], heap[child])) child++;
    if (!is_before(heap[child], last)) break;
    heap[place] = heap[child];
  }
  heap[place] = last;
  return first;
}

static void forward(int from, int to, const unsigned char *bytes, int length) {
  struct pair *pair = &pairs[from][to];
  if (pair->loss > 0 && chance() < pair->loss) {
    lost++;
    return;
  }
  if (waiting == MOST_WAITING) {
    overflowed++;
    return;
  }
  struct frame *frame = malloc(sizeof *frame + (size_t)length);
  if (!frame) fail("malloc");
  frame->due = now() + pair->delay + (uint64_t)(chance() * (double)pair->jitter);
  if (frame->due < pair->last) frame->due = pair->last;
  pair->last = frame->due;
  frame->number = ++last_number;
  frame->port = to;
  frame->length = length;
  memcpy(frame->bytes, bytes, (size_t)length);
  push(frame);
}

static void receive(int from) {
  static const unsigned char known[5] = {2, 0, 0, 0, 0};
  unsigned char bytes[FRAME];
  for (int count = 0; count < BATCH; count++) {
    ssize_t length = read(ports[from], bytes, sizeof bytes);
    // A device that is down, or has nothing.
    if (length < 14) return;
    int to = memcmp(bytes, known, sizeof known) == 0 ? bytes[5] : 0;
    if (to >= 1 && to <= port_count) {
      if (to != from) forward(from, to, bytes, (int)length);
    } else {
      for (to = 1; to <= port_count; to++)
        if (to != from) forward(from, to, bytes, (int)length);
    }
  }
}

static void send_due(void) {
  while (waiting > 0 && heap[0]->due <= now()) {
    struct frame *frame = pop();
    // A device that is full, or down, loses it as a wire would.
    if (write(ports[frame->port], frame->bytes, (size_t)frame->length) == frame->length)
      passed++;
    else
      overflowed++;
    free(frame);
  }
}

static void command(char *line) {
  int from, to;
  double value, jitter = 0;
  int isDelay = sscanf(line, "delay %d %d %lf %lf", &from, &to, &value, &jitter) >= 3;
  int isLoss = !isDelay && sscanf(line, "loss %d %d %lf", &from, &to, &value) == 3;
  if (strcmp(line, "counts") == 0) {
    printf("%llu %llu %llu\n", (unsigned long long)passed, (unsigned long long)lost, (unsigned long long)overflowed);
  } else if (!(isDelay || isLoss) || from < 1 || from > port_count || to < 1 || to > port_count || value < 0 || jitter < 0 ||
             (isLoss && value > 1)) {
    printf("refused: %s\n", line);
  } else {
    if (isDelay) {
      pairs[from][to].delay = (uint64_t)(value * 1e6);
      pairs[from][to].jitter = (uint64_t)(jitter * 1e6);
    } else {
      pairs[from][to].loss = value;
    }
    printf("done\n");
  }
  fflush(stdout);
}

// Returns 0 at the end of the input.
static int read_commands(void) {
  static char buffer[4096];
  static size_t used;
  ssize_t length = read(STDIN_FILENO, buffer + used, sizeof buffer - 1 - used);
  if (length <= 0) return length < 0 && (errno == EAGAIN || errno == EINTR);
  used += (size_t)length;
  buffer[used] = 0;
  char *start = buffer, *end;
  while ((end = strchr(start, '\n'))) {
    *end = 0;
    command(start);
    start = end + 1;
  }
  used -= (size_t)(start - buffer);
  memmove(buffer, start, used);
  // A line that is longer than any command.
  return used < sizeof buffer - 1;
}

int main(int count, char **words) {
  port_count = count - 1;
  if (port_count < 2 || port_count > MOST_PORTS) {
    fprintf(stderr, "usage: switch DEVICE=NAMESPACE…\n");
    return 2;
  }
  int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  if (own < 0) fail("/proc/self/ns/net");
  struct pollfd polled[MOST_PORTS + 1] = {{.fd = STDIN_FILENO, .events = POLLIN}};
  for (int port = 1; port <= port_count; port++) {
    char *namespace = strchr(words[port], '=');
    if (!namespace) {
      fprintf(stderr, "switch: %s is no DEVICE=NAMESPACE\n", words[port]);
      return 2;
    }
    *namespace = 0;
    ports[port] = open_tap(words[port], namespace + 1, own);
    polled[port] = (struct pollfd){.fd = ports[port], .events = POLLIN};
  }
  printf("ready\n");
  fflush(stdout);
  for (;;) {
    struct timespec rest = {0, 0};
    if (waiting > 0) {
      uint64_t instant = now(), due = heap[0]->due;
      uint64_t nanoseconds = due > instant ? due - instant : 0;
      rest = (struct timespec){(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
    }
    if (ppoll(polled, (nfds_t)port_count + 1, waiting > 0 ? &rest : NULL, NULL) < 0 && errno != EINTR) fail("ppoll");
    if (polled[0].revents && !read_commands()) return 0;
    for (int port = 1; port <= port_count; port++)
      if (polled[port].revents) receive(port);
    send_due();
  }
}
