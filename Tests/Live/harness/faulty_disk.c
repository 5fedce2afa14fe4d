// Loaded into the server by tests (LD_PRELOAD): syncs of the log fail while the file FAULTY_DISK
// names is there. With "once" in it, the first that fails removes it; with "next", one succeeds before.
//
// The file FAULTY_DISK_PLATTER names is what a power failure would leave of the log. The log itself is
// what the system has in its cache, and every process reads. As on Linux, what a failed sync could
// not write counts as written: only bytes that were written since reach the platter with the next
// one.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { off_t from, to; } *dirty;
static size_t dirty_count, dirty_capacity;

static int is_log(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path);
  return length > 4 && memcmp(path + length - 4, "-wal", 4) == 0;
}

static int is_faulty(void) {
  const char *trigger = getenv("FAULTY_DISK");
  int file = trigger ? open(trigger, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return 0;
  char word[8] = {0};
  ssize_t length = read(file, word, 4);
  close(file);
  if (length == 4 && memcmp(word, "once", 4) == 0) unlink(trigger);
  if (length == 4 && memcmp(word, "next", 4) == 0) {
    file = open(trigger, O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, "once", 4) != 4) abort();
    close(file);
    return 0;
  }
  return 1;
}

static void note(int fd, ssize_t count, off_t offset) {
  if (count <= 0 || !is_log(fd)) return;
  pthread_mutex_lock(&lock);
  if (dirty_count == dirty_capacity) {
    dirty_capacity = dirty_capacity ? dirty_capacity * 2 : 256;
    dirty = realloc(dirty, dirty_capacity * sizeof *dirty);
    if (!dirty) abort();
  }
  dirty[dirty_count].from = offset;
  dirty[dirty_count++].to = offset + count;
  pthread_mutex_unlock(&lock);
}

static ssize_t (*next_pwrite)(int, const void *, size_t, off_t);

static ssize_t write_through(int fd, const void *bytes, size_t count, off_t offset) {
  if (!next_pwrite) next_pwrite = (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite64");
  return next_pwrite(fd, bytes, count, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
  ssize_t done = write_through(fd, bytes, count, offset);
  note(fd, done, offset);
  return done;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) { return pwrite(fd, bytes, count, offset); }

// With the lock.
static void reach_platter(int fd) {
  const char *path = getenv("FAULTY_DISK_PLATTER");
  int platter = path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (platter < 0) return;
  struct stat log, there;
  if (!fstat(fd, &log) && !fstat(platter, &there) && log.st_size < there.st_size && ftruncate(platter, log.st_size)) abort();
  for (size_t i = 0; i < dirty_count; i++) {
    char bytes[4096];
    for (off_t at = dirty[i].from; at < dirty[i].to;) {
      size_t left = (size_t)(dirty[i].to - at);
      ssize_t count = pread(fd, bytes, left < sizeof bytes ? left : sizeof bytes, at);
      if (count <= 0) break;  // cut off since
      if (write_through(platter, bytes, (size_t)count, at) != count) abort();
      at += count;
    }
  }
  close(platter);
}

static int sync_with(const char *name, int fd) {
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  if (!is_log(fd)) return next(fd);
  pthread_mutex_lock(&lock);
  int result = is_faulty() ? -1 : next(fd);
  if (!result) reach_platter(fd);
  dirty_count = 0;
  pthread_mutex_unlock(&lock);
  if (result) errno = EIO;
  return result;
}

int fsync(int fd) { return sync_with("fsync", fd); }
int fdatasync(int fd) { return sync_with("fdatasync", fd); }
