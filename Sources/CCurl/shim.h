// libcurl for Swift: its variadic functions behind typed inline ones.
#pragma once
#define CURL_STRICTER  // handles become OpaquePointer instead of untyped pointers
#include <curl/curl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

typedef size_t (*ccurl_io_fn)(char *_Nonnull, size_t, size_t, void *_Nullable);
typedef int (*ccurl_seek_fn)(void *_Nullable, curl_off_t, int);
typedef int (*ccurl_debug_fn)(CURL *_Nullable, curl_infotype, char *_Nullable, size_t,
                              void *_Nullable);

// glibc keeps what bodies took once it was freed, in every thread's arena: with this threshold fixed,
// whatever has a quarter of a megabyte or more goes back to the system, and two arenas serve all. A
// little of what is free at their end stays: asking for it again and again would cost more.
static inline void ccurl_give_back_bodies(void) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
  mallopt(M_TRIM_THRESHOLD, 512 << 10);
  mallopt(M_ARENA_MAX, 2);
#endif
}

static inline CURLcode ccurl_setopt_long(CURL *_Nonnull h, CURLoption o, long v) {
  return curl_easy_setopt(h, o, v);
}
static inline CURLcode ccurl_setopt_off(CURL *_Nonnull h, CURLoption o, curl_off_t v) {
  return curl_easy_setopt(h, o, v);
}
static inline CURLcode ccurl_setopt_str(CURL *_Nonnull h, CURLoption o, const char *_Nullable v) {
  return curl_easy_setopt(h, o, v);
}
static inline CURLcode ccurl_setopt_ptr(CURL *_Nonnull h, CURLoption o, void *_Nullable v) {
  return curl_easy_setopt(h, o, v);
}
static inline CURLcode ccurl_setopt_list(CURL *_Nonnull h, CURLoption o,
                                         struct curl_slist *_Nullable v) {
  return curl_easy_setopt(h, o, v);
}
static inline CURLcode ccurl_setopt_io(CURL *_Nonnull h, CURLoption o, ccurl_io_fn _Nullable f) {
  return curl_easy_setopt(h, o, f);
}
static inline CURLcode ccurl_setopt_seek(CURL *_Nonnull h, ccurl_seek_fn _Nullable f) {
  return curl_easy_setopt(h, CURLOPT_SEEKFUNCTION, f);
}
static inline CURLcode ccurl_setopt_debug(CURL *_Nonnull h, ccurl_debug_fn _Nonnull f) {
  return curl_easy_setopt(h, CURLOPT_DEBUGFUNCTION, f);
}
// A socket that no child process gets: a connection that one holds stays open when we close it, and
// the server waits on. libcurl does so by itself from 8.11 on.
static inline curl_socket_t ccurl_open_socket(void *_Nullable context, curlsocktype purpose,
                                              struct curl_sockaddr *_Nonnull address) {
#ifdef SOCK_CLOEXEC
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
#else
  int opened = socket(address->family, address->socktype, address->protocol);
  if (opened >= 0) fcntl(opened, F_SETFD, FD_CLOEXEC);
  return opened;
#endif
}
static inline CURLcode ccurl_keep_sockets(CURL *_Nonnull h) {
  return curl_easy_setopt(h, CURLOPT_OPENSOCKETFUNCTION, ccurl_open_socket);
}
// libcurl keeps a copy.
static inline CURLcode ccurl_setopt_blob(CURL *_Nonnull h, CURLoption o, const void *_Nonnull p,
                                         size_t n) {
  struct curl_blob blob = {(void *)p, n, CURL_BLOB_COPY};
  return curl_easy_setopt(h, o, &blob);
}
static inline CURLcode ccurl_getinfo_string(CURL *_Nonnull h, CURLINFO i,
                                            const char *_Nullable *_Nonnull v) {
  return curl_easy_getinfo(h, i, v);
}
static inline CURLcode ccurl_getinfo_long(CURL *_Nonnull h, CURLINFO i, long *_Nonnull v) {
  return curl_easy_getinfo(h, i, v);
}
// CURLMsg.data is an anonymous union, which Swift cannot read.
static inline int ccurl_next_done(CURLM *_Nonnull m, CURLcode *_Nonnull result) {
  int left;
  CURLMsg *msg;
  while ((msg = curl_multi_info_read(m, &left))) {
    if (msg->msg == CURLMSG_DONE) {
      *result = msg->data.result;
      return 1;
    }
  }
  return 0;
}
