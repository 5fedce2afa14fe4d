#include "CSystem.h"

#include <sys/timex.h>
#include <sys/vfs.h>

csys_clock csys_clock_state(void) {
  struct timex clock = {0};
  int state = adjtimex(&clock);
  if (state < 0) return CSYS_CLOCK_UNKNOWN;
  return state == TIME_ERROR || (clock.status & STA_UNSYNC) ? CSYS_CLOCK_UNSYNCHRONIZED : CSYS_CLOCK_SYNCHRONIZED;
}

unsigned long csys_file_system(const char *path) {
  struct statfs system;
  return statfs(path, &system) == 0 ? (unsigned long)system.f_type : 0;
}
