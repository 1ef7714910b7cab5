#pragma once
// System calls that the C library's Swift module leaves out.
#if defined(__linux__)
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/vfs.h>

// Lets nothing write this process's memory to a core file; Swift calls no variadic functions.
static inline int forbidCoreFiles(void) {
  return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L);
}
#endif
