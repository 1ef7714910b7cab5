#pragma once
// The last record of a process that dies: what a signal handler may call, which Swift is not.
// No system header, so that their types stay the C library's module's.
#include <stdint.h>

/// Says where the last record goes and, where it is to be left by signals too, starts to catch those
/// that end a process by default, or that mean a crash. Handlers that are there already are called
/// afterwards. Another call changes the file; an empty path stops the writing. 0, or the error number.
///
/// The file is opened when it is needed and never made: it may have been rotated, or deleted.
int clastrecord_start(const char *path, int catches_signals);

/// Changes the file if it is a certain one and no last record stands. 0, or the error number.
int clastrecord_move(const char *from, const char *path);

/// One of the process's streams as it is captured: what is still in the pipe is written to the log
/// and to the console before the last record. `stream` is 1 or 2; a pipe of -1 ends it.
void clastrecord_capture(int stream, int pipe, int console);

/// Announces that this thread, the only one that does so, reads from the captured streams and records what
/// it has read: a handler waits for that for half a second at most. 0 while a handler drains them itself.
int clastrecord_begin_reading(void);

/// Says that what was read is recorded.
void clastrecord_end_reading(void);

/// Whether the last record is being written, or stands: no other should come after it.
int clastrecord_stands(void);

/// Writes the record of a session's end by `exit`, without a lock. 0, or the error number.
int clastrecord_end(int status);

/// Calls a function when the process exits, with its status; with 0 where the system does not say.
/// Where a signal's handler exits, which may have interrupted anything, the record of the session's
/// end is written instead.
int clastrecord_at_exit(void (*function)(int status));

/// Calls functions around fork(2): before it, and after it in the parent and in the child.
int clastrecord_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));

/// Writes as write(2) does, but for the signal where nobody reads any more, which would end the process.
/// The count, or the error number as a negative.
long clastrecord_write(int file, const void *bytes, long count);

/// Ends what the C library holds back of standard output with each line, as a terminal's is.
void clastrecord_buffer_lines(void);
