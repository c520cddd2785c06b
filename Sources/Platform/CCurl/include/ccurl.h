#pragma once
#include <curl/curl.h>

// What Swift cannot import from libcurl: variadic functions, which hide behind macros besides.
// Nothing here decides anything.

CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value);
CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, const void *value);
CURLcode ccurl_set_string(CURL *handle, CURLoption option, const char *value);

// Every callback of one transfer, all with the same context.
CURLcode ccurl_set_callbacks(CURL *handle, curl_write_callback body, curl_write_callback head,
                             curl_opensocket_callback open_socket,
                             curl_prereq_callback about_to_send, void *context);

long ccurl_response_code(CURL *handle);

CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value);
CURLMcode ccurl_multi_set_callbacks(CURLM *multi, curl_socket_callback socket,
                                    curl_multi_timer_callback timer, void *context);

// The next finished transfer and its result, or NULL.
CURL *ccurl_multi_next_finished(CURLM *multi, CURLcode *result);
