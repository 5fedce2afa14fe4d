// Facts about the machine for `throng doctor` that Swift's Glibc module does not have. Any thread.

#ifndef CSYSTEM_H
#define CSYSTEM_H

typedef enum { CSYS_CLOCK_SYNCHRONIZED, CSYS_CLOCK_UNSYNCHRONIZED, CSYS_CLOCK_UNKNOWN } csys_clock;

// Whether something keeps the system's clock right, as the kernel knows it.
csys_clock csys_clock_state(void);

// The type of the file system that holds a path (statfs(2)); 0 where it cannot be told.
unsigned long csys_file_system(const char *path);

#endif
