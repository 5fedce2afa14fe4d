// Tells ThreadSanitizer of the contended half of Synchronization.Mutex; Scripts/sanitize preloads
// it.
//
// An uncontended lock is a compare-and-exchange that is inlined into the caller, where the
// sanitizer sees it. A contended one waits for a futex inside libswiftSynchronization, which is not
// instrumented: without this, every access in a closure of withLock can be reported as a race.
// Tests/Sanitizers/MutexProof.swift shows both, and that races beside a lock are still found.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// The methods of _MutexHandle, from Synchronization.swiftinterface of Swift 6.3.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// Absent in processes without the sanitizer, such as `swift test` itself.
__attribute__((weak)) void __tsan_acquire(void *);
__attribute__((weak)) void __tsan_release(void *);

static SWIFT void (*lock)(uint32_t thread, SELF void *mutex);
static SWIFT void (*unlock)(SELF void *mutex);
static SWIFT bool (*try_lock)(SELF void *mutex);

SWIFT void lock_slowly(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT void unlock_slowly(SELF void *mutex) __asm__(UNLOCK);
SWIFT bool try_lock_slowly(SELF void *mutex) __asm__(TRY_LOCK);

__attribute__((constructor)) static void find_originals(void) {
  *(void **)&lock = dlsym(RTLD_NEXT, LOCK);
  *(void **)&unlock = dlsym(RTLD_NEXT, UNLOCK);
  *(void **)&try_lock = dlsym(RTLD_NEXT, TRY_LOCK);
}

SWIFT void lock_slowly(uint32_t thread, SELF void *mutex) {
  lock(thread, mutex);
  if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void unlock_slowly(SELF void *mutex) {
  if (__tsan_release) __tsan_release(mutex);
  unlock(mutex);
}

SWIFT bool try_lock_slowly(SELF void *mutex) {
  bool locked = try_lock(mutex);
  if (locked && __tsan_acquire) __tsan_acquire(mutex);
  return locked;
}
