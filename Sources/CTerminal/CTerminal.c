#include "CTerminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#if defined(__linux__)
#include <pty.h>
#include <sys/syscall.h>
#else
#include <util.h>
#endif

extern char **environ;

int cterminal_open(int *controller, int *program, int like) {
  struct termios modes;
  struct winsize size = {.ws_row = 24, .ws_col = 80};
  int has_modes = tcgetattr(like, &modes) == 0;
  uint16_t columns, rows;
  if (cterminal_size(like, &columns, &rows)) {
    size.ws_col = columns;
    size.ws_row = rows;
  }
  if (openpty(controller, program, NULL, has_modes ? &modes : NULL, &size) != 0) return errno;
  fcntl(*controller, F_SETFD, FD_CLOEXEC);
  fcntl(*program, F_SETFD, FD_CLOEXEC);
  return 0;
}

int cterminal_size(int terminal, uint16_t *columns, uint16_t *rows) {
  struct winsize size;
  if (ioctl(terminal, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return 0;
  *columns = size.ws_col;
  *rows = size.ws_row;
  return 1;
}

void cterminal_copy_size(int from, int to) {
  struct winsize size;
  if (ioctl(from, TIOCGWINSZ, &size) == 0) ioctl(to, TIOCSWINSZ, &size);
}

static void tell(int report, int32_t kind, int32_t value) {
  struct cterminal_message message = {kind, value};
  while (write(report, &message, sizeof message) < 0 && errno == EINTR) {
  }
}

/// Closes everything from a descriptor on: locks that this process inherited end with their owner.
static void close_from(int first) {
#if defined(SYS_close_range)
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
  long limit = sysconf(_SC_OPEN_MAX);
  for (int fd = first; fd < (limit > 0 && limit < 65536 ? limit : 65536); fd++) close(fd);
}

static void default_signals(void) {
  for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/// The program's side of the fork: a job of its own in the foreground of the terminal. Writes the
/// error number to `failed` where there is no program to become.
static void become(char *const arguments[], char *const environment[], int failed) {
  setpgid(0, 0);
  signal(SIGTTOU, SIG_IGN);
  tcsetpgrp(STDIN_FILENO, getpid());
  default_signals();
  environ = (char **)environment;
  execvp(arguments[0], arguments);
  int32_t failure = errno;
  _exit(write(failed, &failure, sizeof failure) < 0 ? 126 : 127);
}

/// The monitor: leads the terminal's session, so that the program's job is no orphan and can be
/// stopped, and tells what becomes of the program. Ends with it, or when the terminal is gone.
static void watch(int program_end, char *const arguments[], char *const environment[],
                            int report) {
  default_signals();
  setsid();
  ioctl(program_end, TIOCSCTTY, 0);
  for (int fd = 0; fd < 3; fd++) dup2(program_end, fd);
  // Only the report is kept, as descriptor 3.
  if (report != 3) dup2(report, 3);
  close_from(4);
  fcntl(3, F_SETFD, FD_CLOEXEC);

  // Closed by a successful exec, and written to by any other.
  int start[2];
  int32_t failure = 0;
  if (pipe(start) != 0) {
    tell(3, CTERMINAL_FAILED, errno);
    _exit(1);
  }
  for (int end = 0; end < 2; end++) fcntl(start[end], F_SETFD, FD_CLOEXEC);
  pid_t program = fork();
  if (program == 0) become(arguments, environment, start[1]);
  if (program < 0) failure = errno;
  close(start[1]);
  while (failure == 0 && read(start[0], &failure, sizeof failure) < 0 && errno == EINTR) {
  }
  close(start[0]);
  if (failure != 0) {
    tell(3, CTERMINAL_FAILED, failure);
    _exit(1);
  }
  tell(3, CTERMINAL_STARTED, program);
  // The terminal is the program's alone, so that its end is seen when the program ends.
  for (int fd = 0; fd < 3; fd++) close(fd);
  int status;
  for (;;) {
    pid_t changed = waitpid(program, &status, WUNTRACED | WCONTINUED);
    if (changed < 0 && errno == EINTR) continue;
    if (changed < 0) _exit(1);
    tell(3, CTERMINAL_CHANGED, status);
    if (!WIFSTOPPED(status) && !WIFCONTINUED(status)) _exit(0);
  }
}

int32_t cterminal_start(int program_end, char *const arguments[], char *const environment[],
                        int report) {
  pid_t monitor = fork();
  if (monitor == 0) watch(program_end, arguments, environment, report);
  return monitor < 0 ? -errno : monitor;
}
