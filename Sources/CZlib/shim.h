#pragma once
#include <zlib.h>

// inflateInit2 is a macro. 32: gzip or zlib, whichever the header says; 15: any window.
static inline int czlib_inflate_init(z_stream *_Nonnull stream) {
  return inflateInit2(stream, 15 + 32);
}
