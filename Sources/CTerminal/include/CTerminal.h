#pragma once
// A program on a terminal of its own, in a job of its own: what needs fork(), which Swift has not.
// No system header, so that their types stay the C library's module's.
#include <stdint.h>

/// What the monitor of a program tells, in the order in which it happened.
enum { CTERMINAL_STARTED = 1, CTERMINAL_FAILED, CTERMINAL_CHANGED };

/// One message: for STARTED the program's process id, for FAILED the error number of what failed,
/// for CHANGED the status of waitpid(2).
struct cterminal_message {
  int32_t kind;
  int32_t value;
};

/// Opens a pseudo-terminal with the modes and the size of another, where `like` is one; both ends
/// are closed on exec. 0, or the error number.
int cterminal_open(int *controller, int *program, int like);

/// A terminal's size in characters; 0 where it is none, or has none.
int cterminal_size(int terminal, uint16_t *columns, uint16_t *rows);

/// Gives a terminal the size of another; the system tells the program there.
void cterminal_copy_size(int from, int to);

/// Starts a program on a terminal, watched by a process that writes messages to `report`.
/// The watching process's id, or the error number as a negative.
int32_t cterminal_start(int program_end, char *const arguments[], char *const environment[],
                        int report);
