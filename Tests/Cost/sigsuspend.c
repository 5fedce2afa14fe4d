// Loaded before libc, because valgrind 3.19 clears a bit in the mask that sigsuspend is given, and
// libdispatch's, with which the main thread waits for ever, is a constant: valgrind dies of writing
// there. Here it gets a copy.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
  sigset_t copy = *mask;
  return (int)syscall(SYS_rt_sigsuspend, &copy, _NSIG / 8);
}
