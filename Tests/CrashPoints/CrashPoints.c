// A library to be loaded before others (ld.so(8), LD_PRELOAD): it kills its process before or after
// the call that CRASH_AT counts to, of those calls that make bytes durable, change names or cut a
// file.
//
// Processes that are given the same file CRASH_COUNT count on from each other, so that the calls of
// several processes are one row. With CRASH_AFTER set the call is made before the process dies. The
// processes that this one starts are spared.
#ifdef __linux__
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic uint64_t *count;
static uint64_t last;
static int dies_after;

__attribute__((constructor)) static void begin(void) {
  const char *number = getenv("CRASH_AT"), *path = getenv("CRASH_COUNT");
  unsetenv("LD_PRELOAD");
  if (number == NULL || path == NULL) return;
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || syscall(SYS_ftruncate, file, (off_t)sizeof *count) != 0) abort();
  void *shared = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (shared == MAP_FAILED) abort();
  close(file);
  last = strtoull(number, NULL, 10);
  dies_after = getenv("CRASH_AFTER") != NULL;
  count = shared;
}

static void die(void) {
  kill(getpid(), SIGKILL);
  while (1) pause();
}

static int is_last(void) { return count != NULL && atomic_fetch_add(count, 1) + 1 == last; }

// The system calls that every architecture has.
#define CRASH_POINT(...)                     \
  do {                                       \
    int dies = is_last();                    \
    if (dies && !dies_after) die();          \
    int result = (int)syscall(__VA_ARGS__);  \
    if (dies) die();                         \
    return result;                           \
  } while (0)

int fsync(int file) { CRASH_POINT(SYS_fsync, file); }
int fdatasync(int file) { CRASH_POINT(SYS_fdatasync, file); }
int ftruncate(int file, off_t length) { CRASH_POINT(SYS_ftruncate, file, length); }
int ftruncate64(int file, off64_t length) { CRASH_POINT(SYS_ftruncate, file, length); }
int rename(const char *from, const char *to) {
  CRASH_POINT(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  CRASH_POINT(SYS_renameat2, from_folder, from, to_folder, to, 0);
}
int link(const char *from, const char *to) {
  CRASH_POINT(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}
int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  CRASH_POINT(SYS_linkat, from_folder, from, to_folder, to, flags);
}
int unlink(const char *path) { CRASH_POINT(SYS_unlinkat, AT_FDCWD, path, 0); }
int unlinkat(int folder, const char *path, int flags) {
  CRASH_POINT(SYS_unlinkat, folder, path, flags);
}
#endif
