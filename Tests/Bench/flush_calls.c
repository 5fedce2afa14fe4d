// What a flush costs: the same bytes to many sockets, by one send() for each or by io_uring with one
// call for all. flush_calls.py builds and starts it, and makes a table of what it prints: a line for
// each run with the sockets, the way, the round, CPU-µs and µs of a send, and the sends that were not
// whole.
//
// The sockets are TCP over loopback, and their other ends belong to a process that only reads. The
// sender waits between two passes as a loop waits for the next message. A thread sleeps beside it: in
// a process with one thread the kernel does not count who uses a descriptor, and a server has
// several.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <liburing.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ENTRIES = 1024, WARM_UP = 20, PATIENCE_S = 10, EXIT_NO_URING = 3 };

struct options {
  int rounds, rate;
  double seconds;
  size_t bytes;
  int sender_core, receiver_core;  // -1: any
};

struct flush {
  struct io_uring ring;
  int *sockets;
  size_t count, size;
  const char *bytes;
};

static void fail(const char *what) {
  fprintf(stderr, "flush_calls: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void *allocated(void *memory) {
  if (!memory) fail("memory");
  return memory;
}

static void pin(int core) {
  if (core < 0) return;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  if (sched_setaffinity(0, sizeof cores, &cores)) fail("sched_setaffinity");
}

// -- The ways. Each returns how many sends were not whole.

enum { FLAGS = MSG_NOSIGNAL | MSG_DONTWAIT };

static size_t by_send(struct flush *f) {
  size_t failed = 0;
  for (size_t i = 0; i < f->count; i++) failed += send(f->sockets[i], f->bytes, f->size, FLAGS) != (ssize_t)f->size;
  return failed;
}

static size_t take_completions(struct flush *f, size_t *failed) {
  struct io_uring_cqe *completion;
  unsigned head, count = 0;
  io_uring_for_each_cqe(&f->ring, head, completion) {
    *failed += completion->res != (int)f->size;
    count++;
  }
  io_uring_cq_advance(&f->ring, count);
  return count;
}

static void submit(struct flush *f, size_t count) {
  int submitted = io_uring_submit(&f->ring);
  if (submitted == (int)count) return;
  errno = submitted < 0 ? -submitted : 0;
  fail("io_uring_submit");
}

// MSG_DONTWAIT lets no send outlive the call, so that the bytes may move after it.
static size_t by_ring(struct flush *f) {
  size_t failed = 0;
  for (size_t first = 0; first < f->count; first += ENTRIES) {
    size_t part = f->count - first < ENTRIES ? f->count - first : ENTRIES;
    for (size_t i = first; i < first + part; i++) {
      struct io_uring_sqe *entry = io_uring_get_sqe(&f->ring);
      io_uring_prep_send(entry, f->sockets[i], f->bytes, f->size, FLAGS);
      io_uring_sqe_set_data64(entry, i);
    }
    submit(f, part);
    errno = 0;
    if (take_completions(f, &failed) != part) fail("a send has outlived its call");
  }
  return failed;
}

// Registered sockets, and completions of failures alone. MSG_WAITALL makes a part a failure.
static size_t by_quiet_ring(struct flush *f) {
  size_t failed = 0;
  for (size_t first = 0; first < f->count; first += ENTRIES) {
    size_t part = f->count - first < ENTRIES ? f->count - first : ENTRIES;
    for (size_t i = first; i < first + part; i++) {
      struct io_uring_sqe *entry = io_uring_get_sqe(&f->ring);
      io_uring_prep_send(entry, (int)i, f->bytes, f->size, FLAGS | MSG_WAITALL);
      io_uring_sqe_set_flags(entry, IOSQE_FIXED_FILE | IOSQE_CQE_SKIP_SUCCESS);
      io_uring_sqe_set_data64(entry, i);
    }
    submit(f, part);
    (void)take_completions(f, &failed);
  }
  return failed;
}

static const struct {
  const char *name;
  size_t (*flush)(struct flush *);
} ways[] = {{"send", by_send}, {"ring", by_ring}, {"quiet", by_quiet_ring}};
enum { WAYS = sizeof ways / sizeof *ways };

// -- The sockets

static int listen_on_loopback(struct sockaddr_in *address) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  socklen_t size = sizeof *address;
  *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (listener < 0 || bind(listener, (struct sockaddr *)address, size) || listen(listener, SOMAXCONN) ||
      getsockname(listener, (struct sockaddr *)address, &size)) {
    fail("listen");
  }
  return listener;
}

static int connect_to(const struct sockaddr_in *address) {
  int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (client < 0 || connect(client, (const struct sockaddr *)address, sizeof *address)) fail("connect");
  return client;
}

static int accept_one(int listener) {
  int on = 1, accepted = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (accepted < 0 || setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on)) fail("accept");
  return accepted;
}

// Ends with its parent.
static _Noreturn void read_all(const struct sockaddr_in *address, size_t count, _Atomic uint64_t *received, int core) {
  static char bytes[64 << 10];
  struct epoll_event found[256];
  pin(core);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int set = epoll_create1(EPOLL_CLOEXEC);
  for (size_t i = 0; i < count; i++) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = connect_to(address)};
    if (epoll_ctl(set, EPOLL_CTL_ADD, event.data.fd, &event)) fail("epoll_ctl");
  }
  for (;;) {
    int ready = epoll_wait(set, found, 256, -1);
    for (int i = 0; i < ready; i++) {
      ssize_t got = recv(found[i].data.fd, bytes, sizeof bytes, MSG_DONTWAIT);
      if (got > 0) atomic_fetch_add(received, (uint64_t)got);
      else if (got == 0 || errno != EAGAIN) exit(0);
    }
  }
}

static void await_received(_Atomic uint64_t *received, uint64_t sent) {
  const struct timespec pause = {.tv_nsec = 1000000};
  for (int left = PATIENCE_S * 1000; atomic_load(received) != sent; left--) {
    errno = 0;
    if (!left) fail("the other side has not got what was sent");
    nanosleep(&pause, NULL);
  }
}

static void make_ring(struct flush *f) {
  struct io_uring_params parameters = {
    .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SUBMIT_ALL};
  int result = io_uring_queue_init_params(ENTRIES, &f->ring, &parameters);
  if (!result) return;
  fprintf(stderr, "flush_calls: this system has no io_uring for us: %s\n", strerror(-result));
  exit(EXIT_NO_URING);
}

// A server may use the ring only where a full socket is told at once, as send() tells it.
static void check_full_socket(void) {
  enum { BLOCK = 1 << 20, BLOCKS = 1000 };
  struct sockaddr_in address;
  int listener = listen_on_loopback(&address), client = connect_to(&address), server = accept_one(listener);
  struct flush f = {.sockets = &server, .count = 1, .size = BLOCK, .bytes = allocated(calloc(1, BLOCK))};
  make_ring(&f);
  if (io_uring_register_files(&f.ring, &server, 1)) fail("io_uring_register_files");
  size_t failed = 0;
  for (int i = 0; i < BLOCKS && !failed; i++) failed = by_ring(&f);  // by a part, or by EAGAIN
  errno = 0;
  if (!failed || !by_ring(&f) || !by_quiet_ring(&f)) fail("a full socket has taken everything");
  io_uring_queue_exit(&f.ring);
  free((char *)f.bytes);
  close(client);
  close(server);
  close(listener);
}

// -- A run

static double seconds_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void sleep_until(double seconds) {
  struct timespec due = {.tv_sec = (time_t)seconds};
  due.tv_nsec = (long)((seconds - (double)due.tv_sec) * 1e9);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR) continue;
}

static void run(struct flush *f, int way, int round, const struct options *options) {
  int passes = (int)(options->seconds * options->rate) + 1;
  double cpu = 0, elapsed = 0, start = seconds_of(CLOCK_MONOTONIC);
  size_t failed = 0;
  for (int pass = 0; pass < passes; pass++) {
    sleep_until(start + (double)pass / options->rate);
    double cpu_before = seconds_of(CLOCK_THREAD_CPUTIME_ID), before = seconds_of(CLOCK_MONOTONIC);
    failed += ways[way].flush(f);
    elapsed += seconds_of(CLOCK_MONOTONIC) - before;
    cpu += seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
  }
  double sends = (double)passes * (double)f->count;
  printf("%zu %s %d %.3f %.3f %zu\n", f->count, ways[way].name, round, cpu / sends * 1e6, elapsed / sends * 1e6, failed);
  fflush(stdout);
  if (failed) fail("sockets were full: the reader does not keep up");
}

static void *sleep_for_ever(void *unused) {
  for (;;) pause();
  return unused;
}

static void measure(size_t count, const struct options *options) {
  _Atomic uint64_t *received = mmap(NULL, sizeof *received, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (received == MAP_FAILED) fail("mmap");
  struct sockaddr_in address;
  int listener = listen_on_loopback(&address);
  pid_t reader = fork();
  if (reader < 0) fail("fork");
  if (!reader) read_all(&address, count, received, options->receiver_core);
  pthread_t second;
  if (pthread_create(&second, NULL, sleep_for_ever, NULL)) fail("pthread_create");
  pin(options->sender_core);
  struct flush f = {.count = count, .size = options->bytes, .bytes = allocated(calloc(1, options->bytes))};
  f.sockets = allocated(calloc(count, sizeof *f.sockets));
  for (size_t i = 0; i < count; i++) f.sockets[i] = accept_one(listener);
  make_ring(&f);
  if (io_uring_register_files(&f.ring, f.sockets, (unsigned)count)) fail("io_uring_register_files");
  uint64_t sent = 0;
  for (int pass = 0; pass < WARM_UP; pass++) {
    for (int way = 0; way < WAYS; way++) {
      if (ways[way].flush(&f)) fail("warm-up");
      await_received(received, sent += (uint64_t)count * f.size);
    }
  }
  // The order alternates, so that a drift cancels out.
  for (int round = 1; round <= options->rounds; round++) {
    for (int i = 0; i < WAYS; i++) {
      run(&f, round % 2 ? i : WAYS - 1 - i, round, options);
      sent += (uint64_t)((int)(options->seconds * options->rate) + 1) * count * f.size;
      await_received(received, sent);
    }
  }
  io_uring_queue_exit(&f.ring);
  for (size_t i = 0; i < count; i++) close(f.sockets[i]);
  close(listener);
  waitpid(reader, NULL, 0);
  munmap(received, sizeof *received);
  free((char *)f.bytes);
  free(f.sockets);
}

int main(int count, char **words) {
  struct options options = {.rounds = 5, .rate = 75, .seconds = 2, .bytes = 560, .sender_core = -1, .receiver_core = -1};
  int letter;
  while ((letter = getopt(count, words, "n:r:s:b:f:t:")) != -1) {
    switch (letter) {
    case 'n': options.rounds = atoi(optarg); break;
    case 'r': options.rate = atoi(optarg); break;
    case 's': options.seconds = atof(optarg); break;
    case 'b': options.bytes = strtoul(optarg, NULL, 10); break;
    case 'f': options.sender_core = atoi(optarg); break;
    case 't': options.receiver_core = atoi(optarg); break;
    default: return 64;
    }
  }
  if (options.rounds < 1 || options.rate < 1 || options.seconds <= 0 || !options.bytes || optind == count) {
    fputs("usage: flush_calls [-n ROUNDS] [-r PASSES] [-s SECONDS] [-b BYTES] [-f CORE] [-t CORE] SOCKETS…\n", stderr);
    return 64;
  }
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  check_full_socket();
  for (; optind < count; optind++) {
    size_t sockets = strtoul(words[optind], NULL, 10);
    if (!sockets) return 64;
    pid_t child = fork();  // each measurement begins in a process of its own
    if (child < 0) fail("fork");
    if (!child) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      measure(sockets, &options);
      exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status) return 1;
  }
  return 0;
}
