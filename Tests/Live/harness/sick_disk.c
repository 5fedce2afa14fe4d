// Loaded into the server by tests (LD_PRELOAD): syncs of the log fail while the file SICK_DISK
// names is there. With "once" in it, the first that fails removes it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_log(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path);
  return length > 4 && memcmp(path + length - 4, "-wal", 4) == 0;
}

static int is_sick(int fd) {
  const char *trigger = getenv("SICK_DISK");
  if (!trigger || !is_log(fd)) return 0;
  int file = open(trigger, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char word[8] = {0};
  ssize_t length = read(file, word, 4);
  close(file);
  if (length == 4 && memcmp(word, "once", 4) == 0) unlink(trigger);
  errno = EIO;
  return 1;
}

int fsync(int fd) {
  static int (*next)(int);
  if (!next) next = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  return is_sick(fd) ? -1 : next(fd);
}

int fdatasync(int fd) {
  static int (*next)(int);
  if (!next) next = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  return is_sick(fd) ? -1 : next(fd);
}
