// libcurl for Swift: its variadic functions behind typed inline ones.
#pragma once
#define CURL_STRICTER  // handles become OpaquePointer instead of untyped pointers
#include <curl/curl.h>

typedef size_t (*ccurl_io_fn)(char *_Nonnull, size_t, size_t, void *_Nullable);
typedef int (*ccurl_seek_fn)(void *_Nullable, curl_off_t, int);

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
