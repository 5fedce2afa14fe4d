// A wrong wall clock for one process, by LD_PRELOAD: it is ahead by the seconds in the file that WALL_CLOCK
// names, which may change at any time. Monotonic clocks, and timers by them, stay as they are; libfaketime
// moves timers, too.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *lead;

__attribute__((constructor)) static void open_lead(void) {
  const char *path = getenv("WALL_CLOCK");
  int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) abort();
  void *found = mmap(NULL, sizeof *lead, PROT_READ, MAP_SHARED, file, 0);
  if (found == MAP_FAILED) abort();
  lead = found;
  close(file);
}

static int64_t seconds_ahead(void) { return lead == NULL ? 0 : *lead; }

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (syscall(SYS_clock_gettime, clock, time) != 0) return -1;
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) time->tv_sec += seconds_ahead();
  return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  *time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t *result) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  if (result != NULL) *result = now.tv_sec;
  return now.tv_sec;
}

// A wait by the wall clock ends when that shows its deadline, also where it steps meanwhile: as in the
// kernel, but looked at every 20 ms.
static int is_over(const struct timespec *deadline, struct timespec *next_look) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  int64_t left = (deadline->tv_sec - now.tv_sec) * 1000000000LL + deadline->tv_nsec - now.tv_nsec;
  if (left <= 0) return 1;
  clock_gettime(CLOCK_MONOTONIC, next_look);
  int64_t nanoseconds = next_look->tv_nsec + (left < 20000000 ? left : 20000000);
  next_look->tv_sec += nanoseconds / 1000000000;
  next_look->tv_nsec = nanoseconds % 1000000000;
  return 0;
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict deadline) {
  struct timespec next_look;
  while (!is_over(deadline, &next_look)) {
    if (sem_clockwait(semaphore, CLOCK_MONOTONIC, &next_look) == 0) return 0;
    if (errno != ETIMEDOUT) return -1;
  }
  if (sem_trywait(semaphore) == 0) return 0;
  errno = ETIMEDOUT;
  return -1;
}

// The condition knows which clock its deadlines are by; a monotonic one is not as old as 2001.
int pthread_cond_timedwait(
    pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict deadline) {
  if (deadline->tv_sec < 1000000000) return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, deadline);
  struct timespec next_look;
  while (!is_over(deadline, &next_look)) {
    int outcome = pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &next_look);
    if (outcome != ETIMEDOUT) return outcome;
  }
  return ETIMEDOUT;
}
