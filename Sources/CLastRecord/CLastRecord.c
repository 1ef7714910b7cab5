#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CLastRecord.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifndef NSIG
#define NSIG 65
#endif

// Set before signals are caught, and read by the handler.
static char log_path[4096];
static _Atomic(pid_t) owner;
static atomic_int state; // 0 nothing, 1 being written, 2 written
static atomic_int spare = -1;
static struct sigaction previous[NSIG];
static int is_installed;

struct capture {
  atomic_int pipe, console;
};
static struct capture captures[2] = {{-1, -1}, {-1, -1}};

// Whether a handler is about to drain the pipes, and whether a thread has read from one what it has not
// yet recorded.
static atomic_int is_ending, is_reading;
static pthread_t reader;

static const struct {
  int number;
  const char *name;
  int is_crash;
} signals[] = {
    {SIGHUP, "SIGHUP", 0},   {SIGINT, "SIGINT", 0},   {SIGQUIT, "SIGQUIT", 1},
    {SIGILL, "SIGILL", 1},   {SIGTRAP, "SIGTRAP", 1}, {SIGABRT, "SIGABRT", 1},
    {SIGBUS, "SIGBUS", 1},   {SIGFPE, "SIGFPE", 1},   {SIGUSR1, "", 1},
    {SIGSEGV, "SIGSEGV", 1}, {SIGUSR2, "", 1},        {SIGPIPE, "SIGPIPE", 1},
    {SIGALRM, "SIGALRM", 1}, {SIGTERM, "SIGTERM", 0}, {SIGSYS, "", 1},
    {SIGXCPU, "", 1},        {SIGXFSZ, "", 1},
};
enum { signal_count = sizeof signals / sizeof signals[0] };

// MARK: Text, without the C library's help

struct text {
  char bytes[512];
  size_t count;
};

static void put(struct text *text, const char *bytes) {
  while (*bytes && text->count < sizeof text->bytes) text->bytes[text->count++] = *bytes++;
}

static void put_number(struct text *text, uint64_t value, int base, int width) {
  char digits[24];
  int count = 0;
  do {
    digits[count++] = "0123456789abcdef"[value % (unsigned)base];
    value /= (unsigned)base;
  } while (value && count < 20);
  while (count < width) digits[count++] = '0';
  while (count > 0 && text->count < sizeof text->bytes) text->bytes[text->count++] = digits[--count];
}

// Days and civil dates after Howard Hinnant, "chrono-compatible low-level date algorithms".
static void put_prefix(struct text *text, const char *level, const char *category) {
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_REALTIME, &now);
  int64_t seconds = now.tv_sec < 0 ? 0 : now.tv_sec;
  int64_t shifted = seconds / 86400 + 719468, era = shifted / 146097;
  int64_t of_era = shifted - era * 146097;
  int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  int64_t month = (5 * of_year + 2) / 153, day = of_year - (153 * month + 2) / 5 + 1;
  month = month < 10 ? month + 3 : month - 9;
  year += era * 400 + (month <= 2);
  int64_t rest = seconds % 86400;
  put_number(text, (uint64_t)year, 10, 4);
  put(text, "-");
  put_number(text, (uint64_t)month, 10, 2);
  put(text, "-");
  put_number(text, (uint64_t)day, 10, 2);
  put(text, "T");
  put_number(text, (uint64_t)(rest / 3600), 10, 2);
  put(text, ":");
  put_number(text, (uint64_t)(rest / 60 % 60), 10, 2);
  put(text, ":");
  put_number(text, (uint64_t)(rest % 60), 10, 2);
  put(text, ".");
  put_number(text, (uint64_t)(now.tv_nsec / 1000000), 10, 3);
  put(text, "Z [");
  put(text, level);
  put(text, "] [");
  put(text, category);
  put(text, "] ");
}

static int write_all(int file, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t done = write(file, bytes, count);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done < 0 ? errno : ENOSPC;
    bytes += done;
    count -= (size_t)done;
  }
  return 0;
}

// MARK: The log

static int open_log(void) {
  int file = open(log_path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0 && (errno == EMFILE || errno == ENFILE)) {
    // One was kept for this.
    int kept = atomic_exchange(&spare, -1);
    if (kept >= 0) close(kept);
    file = open(log_path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  }
  if (file < 0) return -1;
  char last = '\n';
  off_t end = lseek(file, 0, SEEK_END);
  if (end > 0 && pread(file, &last, 1, end - 1) == 1 && last != '\n') write_all(file, "\n", 1);
  return file;
}

// What a pipe still holds becomes records: of 64 KiB, which is what a pipe takes.
static void drain(int file, struct capture *capture, const char *level, const char *category) {
  int pipe = atomic_load(&capture->pipe), console = atomic_load(&capture->console);
  if (pipe < 0) return;
  static char bytes[65536];
  int flags = fcntl(pipe, F_GETFL);
  fcntl(pipe, F_SETFL, flags | O_NONBLOCK);
  ssize_t count = read(pipe, bytes, sizeof bytes);
  if (count <= 0) return;
  if (console >= 0) write_all(console, bytes, (size_t)count);
  size_t start = 0;
  for (size_t index = 0; index < (size_t)count; index++) {
    int is_last = index + 1 == (size_t)count;
    if (bytes[index] != '\n' && !is_last) continue;
    int is_whole = bytes[index] == '\n';
    struct text prefix = {.count = 0};
    put_prefix(&prefix, level, category);
    if (!is_whole) {
      // The program's line continues, or its end is unknown.
      prefix.count -= 2;
      put(&prefix, "+] ");
    }
    write_all(file, prefix.bytes, prefix.count);
    write_all(file, bytes + start, index + 1 - start);
    if (!is_whole) write_all(file, "\n", 1);
    start = index + 1;
  }
}

// Lets a thread record what it has read. It may wait for what the interrupted thread holds, or be that
// thread: so not for long.
static void await_reader(void) {
  atomic_store(&is_ending, 1);
  struct timespec moment = {0, 1000000};
  for (int round = 0; round < 500 && atomic_load(&is_reading); round++) {
    if (pthread_equal(reader, pthread_self())) return;
    nanosleep(&moment, 0);
  }
}

static void write_last(int number, const char *name, int is_crash, int code, const void *address) {
  int file = open_log();
  if (file < 0) return;
  drain(file, &captures[0], "INFO", "stdout");
  drain(file, &captures[1], "ERROR", "stderr");
  struct text text = {.count = 0};
  if (is_crash) {
    put_prefix(&text, "FAULT", "Session");
    put(&text, "CRASH ");
    if (*name) put(&text, name);
    else {
      put(&text, "signal ");
      put_number(&text, (uint64_t)number, 10, 0);
    }
    if (code > 0 && (number == SIGSEGV || number == SIGBUS)) {
      put(&text, " at address 0x");
      put_number(&text, (uint64_t)(uintptr_t)address, 16, 0);
    } else if (code > 0 && (number == SIGILL || number == SIGTRAP || number == SIGFPE)) {
      put(&text, " in the code at 0x");
      put_number(&text, (uint64_t)(uintptr_t)address, 16, 0);
    } else if (number == SIGABRT) {
      put(&text, ": the process ended itself");
    } else if (code <= 0) {
      put(&text, ": sent by a process");
    }
    put(&text, "\n");
  }
  put_prefix(&text, is_crash ? "FAULT" : "INFO", "Session");
  put(&text, "SESSION END signal ");
  put_number(&text, (uint64_t)number, 10, 0);
  if (*name) {
    put(&text, " (");
    put(&text, name);
    put(&text, ")");
  }
  put(&text, "\n");
  // In one piece, so that nothing comes between.
  write_all(file, text.bytes, text.count);
  close(file);
}

// MARK: Signals

static void handle(int number, siginfo_t *info, void *context) {
  int saved = errno;
  // A child of a fork has its parent's handlers, not its session.
  int is_ours = atomic_load(&owner) == getpid() && log_path[0];
  int is_first = 0;
  if (is_ours) {
    await_reader();
    int nothing = 0;
    is_first = atomic_compare_exchange_strong(&state, &nothing, 1);
    if (is_first) {
      for (int index = 0; index < signal_count; index++) {
        if (signals[index].number != number) continue;
        write_last(
            number, signals[index].name, signals[index].is_crash, info ? info->si_code : 0,
            info ? info->si_addr : 0);
      }
      atomic_store(&state, 2);
    }
    // Two threads may crash at once: the other one's end must not come before the record does.
    struct timespec moment = {0, 1000000};
    for (int round = 0; round < 1000 && atomic_load(&state) == 1; round++) nanosleep(&moment, 0);
  }
  errno = saved;
  struct sigaction *former = &previous[number];
  if (former->sa_flags & SA_SIGINFO) {
    former->sa_sigaction(number, info, context);
  } else if (former->sa_handler == SIG_DFL) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, 0);
    int repeats = number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE;
    // The instruction runs again, and this time the system ends the process where it stands.
    if (repeats && info && info->si_code > 0) return;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &set, 0);
  } else if (former->sa_handler != SIG_IGN) {
    former->sa_handler(number);
  }
  // Whoever was asked before us has kept the process alive: what it records comes after all.
  if (is_first) {
    atomic_store(&state, 0);
    atomic_store(&is_ending, 0);
  }
}

static int is_fault(int number) {
  return number == SIGILL || number == SIGTRAP || number == SIGABRT || number == SIGBUS ||
         number == SIGFPE || number == SIGSEGV || number == SIGSYS;
}

static int install(void) {
  // A stack that has run over has no room for a handler: this thread gets another one for it.
  stack_t stack;
  if (sigaltstack(0, &stack) == 0 && stack.ss_flags & SS_DISABLE) {
    size_t size = 65536;
    void *room = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (room != MAP_FAILED) {
      stack = (stack_t){.ss_sp = room, .ss_size = size};
      sigaltstack(&stack, 0);
    }
  }
  for (int index = 0; index < signal_count; index++) {
    int number = signals[index].number;
    struct sigaction found;
    if (sigaction(number, 0, &found) != 0) return errno;
    int is_default = !(found.sa_flags & SA_SIGINFO) && found.sa_handler == SIG_DFL;
    // What the program handles or ignores, and is no crash, does not end it.
    if (!is_default && !is_fault(number)) continue;
    previous[number] = found;
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    if (sigaction(number, &action, 0) != 0) return errno;
  }
  return 0;
}

static int set_path(const char *path) {
  if (strlen(path) >= sizeof log_path) return ENAMETOOLONG;
  // A handler that comes between finds no path rather than half of one.
  log_path[0] = 0;
  atomic_signal_fence(memory_order_seq_cst);
  if (*path) strcpy(log_path + 1, path + 1);
  atomic_signal_fence(memory_order_seq_cst);
  log_path[0] = *path;
  return 0;
}

int clastrecord_move(const char *from, const char *path) {
  if (atomic_load(&owner) != getpid() || !*path || strcmp(log_path, from) != 0) return EINVAL;
  if (clastrecord_stands()) return EALREADY;
  return set_path(path);
}

int clastrecord_start(const char *path, int catches_signals) {
  int error = set_path(path);
  if (error) return error;
  // A fork has left its reader behind.
  if (atomic_load(&owner) != getpid()) atomic_store(&is_reading, 0);
  atomic_store(&owner, getpid());
  atomic_store(&state, 0);
  atomic_store(&is_ending, 0);
  if (!*path) return 0;
  if (atomic_load(&spare) < 0) atomic_store(&spare, open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (is_installed || !catches_signals) return 0;
  is_installed = 1;
  return install();
}

void clastrecord_capture(int stream, int pipe, int console) {
  if (stream != 1 && stream != 2) return;
  atomic_store(&captures[stream - 1].console, console);
  atomic_store(&captures[stream - 1].pipe, pipe);
}

int clastrecord_begin_reading(void) {
  reader = pthread_self();
  atomic_store(&is_reading, 1);
  if (!atomic_load(&is_ending)) return 1;
  atomic_store(&is_reading, 0);
  return 0;
}

void clastrecord_end_reading(void) { atomic_store(&is_reading, 0); }

int clastrecord_stands(void) { return atomic_load_explicit(&state, memory_order_relaxed) != 0; }

int clastrecord_end(int status) {
  if (atomic_load(&owner) != getpid() || !log_path[0]) return EINVAL;
  int nothing = 0;
  if (!atomic_compare_exchange_strong(&state, &nothing, 1)) return EALREADY;
  int file = open_log();
  int error = file < 0 ? errno : 0;
  if (file >= 0) {
    struct text text = {.count = 0};
    put_prefix(&text, status == 0 ? "INFO" : "ERROR", "Session");
    put(&text, "SESSION END exit ");
    put_number(&text, (uint64_t)(status & 0xff), 10, 0);
    put(&text, "\n");
    error = write_all(file, text.bytes, text.count);
    close(file);
  }
  atomic_store(&state, 2);
  return error;
}

// MARK: Exit, fork, and the C library's buffer

static void (*at_exit)(int status);
static sigset_t blocked_at_start;

// Whether this thread is within a signal's handler, which may have interrupted anything: then a signal
// is blocked that was not, and few others are. Threads of a pool block nearly all.
static int is_in_handler(void) {
  sigset_t now;
  if (pthread_sigmask(SIG_BLOCK, 0, &now) != 0) return 0;
  int count = 0;
  for (int number = 1; number < 32; number++) {
    count += sigismember(&now, number) == 1 && sigismember(&blocked_at_start, number) != 1;
  }
  return count > 0 && count <= 4;
}

static void exited_with(int status) {
  if (!at_exit) return;
  if (!is_in_handler()) {
    at_exit(status);
    return;
  }
  clastrecord_end(status);
}

#if defined(__GLIBC__)
static void exited(int status, void *nothing) {
  (void)nothing;
  exited_with(status & 0xff);
}
#else
static void exited(void) { exited_with(0); }
#endif

int clastrecord_at_exit(void (*function)(int status)) {
  int is_new = !at_exit;
  at_exit = function;
  if (!is_new) return 0;
  pthread_sigmask(SIG_BLOCK, 0, &blocked_at_start);
#if defined(__GLIBC__)
  return on_exit(exited, 0);
#else
  return atexit(exited);
#endif
}

int clastrecord_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void)) {
  return pthread_atfork(before, in_parent, in_child);
}

long clastrecord_write(int file, const void *bytes, long count) {
  sigset_t pipe, before, former, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  sigemptyset(&former);
  sigpending(&former);
  ssize_t done = write(file, bytes, (size_t)count);
  int error = errno;
  sigemptyset(&pending);
  sigpending(&pending);
  // One that somebody else has sent stays.
  if (sigismember(&pending, SIGPIPE) == 1 && sigismember(&former, SIGPIPE) != 1) {
    int number;
    sigwait(&pipe, &number);
  }
  pthread_sigmask(SIG_SETMASK, &before, 0);
  return done < 0 ? -(long)error : done;
}

void clastrecord_buffer_lines(void) { setvbuf(stdout, 0, _IOLBF, 0); }
