// Preloaded into a redis-server: answers its wall clock from a page that a test writes.
//
// gettimeofday, time and clock_gettime of the real-time clocks return the time of the page. All
// other clocks stay real, so timers, and with them the server's housekeeping, keep running.
// held_clock_page.h describes the page.
//
// The dynamic linker may call this file before the allocator is ready (jemalloc reads clocks while
// it starts). It therefore allocates nothing, looks up no symbol, and calls the kernel directly.
//
// Only Linux has such calls; elsewhere the library is empty, and HeldClock says so.
#ifdef __linux__

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "held_clock_page.h"

static struct HeldClockPage* page = NULL;

// Redis runs one event loop, in its main thread, so this needs no lock.
static int timer_work_is_running = 0;

static struct HeldClockPage* MapPage(const char* path) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return NULL;
  struct stat status;
  void* memory = MAP_FAILED;
  if (fstat(file, &status) == 0 && status.st_size >= (off_t)sizeof(struct HeldClockPage)) {
    memory = mmap(NULL, sizeof(struct HeldClockPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  close(file);
  return memory == MAP_FAILED ? NULL : (struct HeldClockPage*)memory;
}

__attribute__((constructor)) static void Attach(void) {
  const int saved_errno = errno;
  const char* path = getenv(REDOUBLE_HELD_CLOCK_PAGE_VARIABLE);
  if (path != NULL && path[0] != '\0') page = MapPage(path);
  errno = saved_errno;
}

static int IsWallClock(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

int clock_gettime(clockid_t clock, struct timespec* result) {
  if (page == NULL || !IsWallClock(clock)) return (int)syscall(SYS_clock_gettime, clock, result);
  const int64_t now_us = __atomic_load_n(&page->now_us, __ATOMIC_SEQ_CST);
  result->tv_sec = now_us / 1000000;
  result->tv_nsec = (now_us % 1000000) * 1000;
  return 0;
}

int gettimeofday(struct timeval* restrict result, void* restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  result->tv_sec = now.tv_sec;
  result->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* result) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return (time_t)-1;
  if (result != NULL) *result = now.tv_sec;
  return now.tv_sec;
}

// Counts the turns of the event loop in which the timer was due. A wait that ends without an event
// has lasted until the next timer (Redis uses no other timeout). The loop then runs serverCron and
// beforeSleep, and both are done when it waits again.
int epoll_wait(int loop, struct epoll_event* events, int capacity, int timeout_ms) {
  if (timer_work_is_running) {
    timer_work_is_running = 0;
    if (page != NULL) __atomic_fetch_add(&page->idle_turns, 1, __ATOMIC_SEQ_CST);
  }
  const int count =
      (int)syscall(SYS_epoll_pwait, loop, events, capacity, timeout_ms, NULL, _NSIG / 8);
  timer_work_is_running = count == 0 && timeout_ms > 0;
  return count;
}

#endif  // __linux__
