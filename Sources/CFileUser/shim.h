#pragma once
// System calls that the C library's Swift module leaves out.
#if defined(__linux__)
#include <sys/fsuid.h>
#include <sys/vfs.h>
#endif
